//! Derivation of the guarantees of a program without errors.

use r500_isa::values::{FcOp, InstType, TexOp};
use r500_program::Executable;

use super::Assumptions;
use super::machine::span;
use crate::graph::{Graph, Structure};
use crate::{Facts, Verdict};

/// Returns the verdict on a program without errors. `defined`: whether every read is initialised.
pub(super) fn verdict(
    program: &Executable<'_>,
    assumptions: &Assumptions,
    graph: &Graph,
    structure: Option<&Structure>,
    defined: bool,
) -> Verdict {
    let missing = missing_int_constants(graph);
    if missing != 0 {
        return Verdict::Incomplete { int_constants: missing };
    }
    let mut facts = Facts {
        structured: structure.is_some(),
        group_size_invisible: false,
        group_size_invisible_if_covered: false,
        no_inactive_writes: true,
        branch_levels: 0,
        loop_levels: 0,
        call_levels: 0,
        temporaries: 0,
        constants: 0,
        al: (0, 0),
        reads_are_defined: defined && assumptions.inputs.is_some(),
        texture_units: 0,
        targets: 0,
        writes_depth: false,
        kills: false,
        quad_reads: false,
        uses_predicates: false,
        uses_relative: false,
    };
    let mut ignores = false;
    for index in 0..graph.len() {
        let Some(visit) = graph.abstract_state(index) else { continue };
        let (inst, step) = (program.code[index], &graph.infos[index]);
        // A branch operation takes effect after its instruction, so the level shows at the next
        // one, except at the end. Count one more level for an instruction that may open one.
        let opens = graph.flows[index].is_some();
        facts.branch_levels = facts.branch_levels.max(visit.levels.max + u8::from(opens));
        facts.loop_levels = facts.loop_levels.max(visit.loops.max);
        facts.call_levels = facts.call_levels.max(visit.calls.max);
        facts.al = (facts.al.0.min(visit.al.min), facts.al.1.max(visit.al.max));
        facts.no_inactive_writes &= !step.write_inactive || step.ty == InstType::FC;
        facts.quad_reads |= step.reads_quad;
        facts.uses_predicates |= step.predicate_reads != 0;
        for access in step.reads.iter().chain(step.writes.iter()) {
            let above = u8::try_from(span(access, visit.al).1 + 1).unwrap_or(128);
            facts.temporaries = facts.temporaries.max(above);
            facts.uses_relative |= access.relative;
        }
        for access in step.constants.iter() {
            let above = u16::try_from(span(access, visit.al).1 + 1).unwrap_or(256);
            facts.constants = facts.constants.max(above);
            facts.uses_relative |= access.relative;
        }
        for (target, mask) in step.outputs {
            facts.targets |= u8::from(mask != 0) << (target & 3);
        }
        facts.writes_depth |= step.depth;
        if step.fetch {
            facts.texture_units |= 1 << inst.tex_inst().tex_id();
        }
        facts.kills |= step.ty == InstType::TEX && inst.tex_inst().inst() == TexOp::TEXKILL;
        ignores |= graph.flows[index].is_some_and(|flow| flow.ignore_uncovered);
    }
    let alone = facts.structured && facts.no_inactive_writes;
    facts.group_size_invisible = alone && !(ignores && facts.quad_reads);
    facts.group_size_invisible_if_covered = alone && !(ignores && facts.quad_reads && facts.kills);
    Verdict::Clean(facts)
}

/// Returns the integer constants that loops name and that are not given.
fn missing_int_constants(graph: &Graph) -> u32 {
    let named = (0..graph.len()).filter(|&index| graph.reaches(index)).filter_map(|index| {
        let flow = graph.flows[index]?;
        let counts = flow.is_loop_begin() || flow.op == FcOp::ENDLOOP;
        counts.then_some(flow.int & 31)
    });
    named.filter(|&n| graph.int_constant(n).is_none()).fold(0, |mask, n| mask | 1 << n)
}
