//! Branch simplification.
//!
//! | before | after |
//! | --- | --- |
//! | `IF c; BREAK; ENDIF` | `BREAK IF c` |
//! | `IF c; x; BREAK; ENDIF` | `x; BREAK IF c`, where pixels that stay need nothing that `x` writes |
//! | `ELSE; ENDIF` | `ENDIF` |
//! | `IF c; ENDIF` | nothing |
//! | `ENDIF; ENDIF` | one ENDIF that closes two levels (`B_POP_CNT`) |
//!
//! A pixel executes the same instructions on its own path, so its results stay the same, given the structure that the
//! [structurizer](r500_check::graph::Structure) recognised. The rewrites change how long an uncovered pixel without a
//! vote follows its group. That is observable only through quad differences between covered and uncovered pixels. Such
//! results depend on the group size anyway, so they are preserved only in programs that kill pixels of a quad
//! (TEXKILL).

use r500_check::dataflow::{Dataflow, Liveness};
use r500_check::graph::{Graph, Role, Structure};
use r500_isa::InstInfo;
use r500_isa::values::{BranchOp, InstType, TexOp};
use r500_isa::words::{FcAddr, FcInst};
use r500_program::Program;

use crate::layout::Code;

/// Greatest value of `B_POP_CNT`.
const MOST_LEVELS: u8 = 31;
/// How many instructions before BREAK may be hoisted out of its branch.
const MOST_SPECULATED: usize = 2;

/// The analyses of a structured program.
pub(crate) struct Analyses {
    pub(crate) graph: Graph,
    pub(crate) structure: Structure,
    pub(crate) live: Liveness,
    /// Whether uncovered pixels may follow the others without a vote.
    ignores_uncovered: bool,
}

impl Analyses {
    /// Analyses a program; `None` if it is unstructured or contains calls.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        let graph = Graph::new(program).ok()?;
        if graph.gave_up() {
            return None;
        }
        let structure = Structure::recover(&graph).ok()?;
        if !structure.subs.is_empty() {
            return None;
        }
        // Uncovered pixels that follow their group without a vote: see the documentation of this module.
        let dataflow = Dataflow::new(&graph, Some(&structure));
        let live = if shows_followers(program, &graph) {
            Liveness::of(&dataflow)
        } else {
            Liveness::of_covered(&dataflow)
        };
        let ignores = |at: usize| graph.flow(at).is_some_and(|flow| flow.ignore_uncovered);
        let ignores_uncovered = (0..graph.len()).any(|at| graph.reaches(at) && ignores(at));
        Some(Self { graph, structure, live, ignores_uncovered })
    }

    /// Returns whether a fetch may read values of pixels that do not execute it, so that its operands must stay in
    /// their registers.
    pub(crate) fn keeps_quads(&self, at: usize) -> bool {
        self.structure.divergent[at] || self.ignores_uncovered
    }

    pub(crate) fn role(&self, at: usize) -> Option<Role> {
        self.structure.roles.get(at).copied().flatten()
    }
}

/// Returns whether a program that kills pixels of quads may observe how long an uncovered pixel follows its group.
pub(crate) fn shows_followers(program: &Program, graph: &Graph) -> bool {
    let reached = || (0..graph.len()).filter(|&at| graph.reaches(at));
    let quads = reached().any(|at| graph.info(at).reads_quad);
    let ignores = reached().any(|at| graph.flow(at).is_some_and(|f| f.ignore_uncovered));
    let kills = reached().any(|at| {
        let inst = program.code[at];
        inst.ty() == InstType::TEX && inst.tex_inst().inst() == TexOp::TEXKILL
    });
    quads && ignores && kills
}

/// Rewrites guarded BREAKs and CONTINUEs as conditional ones.
pub(crate) fn branches_to_breaks(program: &Program, analyses: &Analyses, code: &mut Code) -> bool {
    if shows_followers(program, &analyses.graph) {
        return false;
    }
    let mut removed = vec![false; code.lines.len()];
    let mut changed = false;
    for at in 0..code.lines.len() {
        let Some(found) = GuardedBreak::at(program, analyses, at) else { continue };
        let own = at..=found.endif;
        let foreign = code.lines.iter().enumerate().any(|(from, line)| {
            !own.contains(&from)
                && line.target.is_some_and(|to| (at + 1..=found.endif).contains(&(to as usize)))
        });
        if foreign {
            continue;
        }
        let guard = program.code[at];
        let mut inst = program.code[found.jump];
        let fc = inst.fc_inst();
        let levels = fc.b_pop_cnt() - 1;
        let op = if levels == 0 { BranchOp::NONE } else { BranchOp::DECR };
        inst.0[0] = guard.0[0];
        inst.0[2] = fc
            .with(FcInst::JUMP_FUNC, !guard.fc_inst().jump_func())
            .with(FcInst::B_POP_CNT, levels)
            .with(FcInst::B_OP1, op)
            .bits();
        inst.0[3] = inst.fc_addr().with(FcAddr::BOOL_ADDR, guard.fc_addr().bool_addr()).bits();
        // IF and ENDIF are removed; BREAK stays, after the hoisted instructions.
        let origins: Vec<u32> = [at, found.jump, found.endif]
            .into_iter()
            .flat_map(|line| code.lines[line].origins.clone())
            .collect();
        let line = &mut code.lines[found.jump];
        line.inst = inst;
        line.origins = origins;
        removed[at] = true;
        removed[found.endif] = true;
        changed = true;
    }
    if changed {
        code.retain(|at| !removed[at]);
    }
    changed
}

/// An IF without ELSE whose arm ends in an unconditional BREAK or CONTINUE.
struct GuardedBreak {
    jump: usize,
    endif: usize,
}

impl GuardedBreak {
    fn at(program: &Program, analyses: &Analyses, at: usize) -> Option<Self> {
        let Some(Role::If { other }) = analyses.role(at) else { return None };
        let jump = (at + 1..=at + 1 + MOST_SPECULATED).find(|&next| {
            matches!(analyses.role(next), Some(Role::Break { .. } | Role::Continue { .. }))
        })?;
        let endif = jump + 1;
        let closes = program.code.get(endif)?.fc_inst();
        if analyses.role(endif) != Some(Role::EndIf) || other != endif || closes.b_pop_cnt() != 1 {
            return None;
        }
        let flow = analyses.graph.flow(jump)?;
        let plain = flow.outcome.always() && flow.b_op1 == BranchOp::DECR && flow.pop > 0;
        let end = analyses.graph.window().end;
        if !plain || !analyses.graph.reaches(jump) || (at..=endif).any(|line| Some(line) == end) {
            return None;
        }
        // Hoisted instructions also run in the pixels that stay, which therefore must not need their results.
        let after = analyses.live.live_in(endif + 1);
        for line in at + 1..jump {
            let info = analyses.graph.info(line);
            let harmless = info.is_alu()
                && !info.alu_result_write
                && !info.write_inactive
                && info.predicate_writes == 0
                && info.predicate_reads == 0
                && !info.reads_quad
                && analyses.role(line) == Some(Role::Straight);
            let mut written = writes(info)?;
            if !harmless || written.any(|channel| after.contains(channel)) {
                return None;
            }
        }
        Some(Self { jump, endif })
    }
}

/// Returns the channels that an instruction writes; `None` if an address depends on aL.
fn writes(info: &InstInfo) -> Option<impl Iterator<Item = r500_check::dataflow::ChannelId>> {
    use r500_check::dataflow::ChannelId;
    if info.writes.iter().any(|access| access.relative) {
        return None;
    }
    let mut channels = Vec::new();
    for bit in 0..4u8 {
        for access in info.writes.iter().filter(|access| access.may >> bit & 1 != 0) {
            channels.push(ChannelId::Temp(access.addr, bit));
        }
        for (target, mask) in info.outputs {
            if mask >> bit & 1 != 0 {
                channels.push(ChannelId::Output(target, bit));
            }
        }
    }
    if info.depth {
        channels.push(ChannelId::Depth);
    }
    Some(channels.into_iter())
}

/// Removes empty branches, and ELSE before ENDIF.
pub(crate) fn remove_empty(program: &Program, analyses: &Analyses, code: &mut Code) -> bool {
    let mut removed = vec![false; code.lines.len()];
    for at in 0..code.lines.len().saturating_sub(1) {
        let endif = at + 1;
        let end = analyses.graph.window().end;
        let closes = analyses.role(endif) == Some(Role::EndIf);
        if !closes || end == Some(at) || end == Some(endif) {
            continue;
        }
        match analyses.role(at) {
            // IF then jumps to ENDIF with the level open, as ELSE would have left it.
            Some(Role::Else { after }) if after == endif => removed[at] = true,
            Some(Role::If { .. }) if program.code[endif].fc_inst().b_pop_cnt() == 1 => {
                let target = u32::try_from(endif).ok();
                let lines = code.lines.iter().enumerate();
                if lines.filter(|&(from, _)| from != at).all(|(_, line)| line.target != target) {
                    removed[at] = true;
                    removed[endif] = true;
                }
            }
            _ => {}
        }
    }
    let changed = removed.contains(&true);
    if changed {
        code.retain(|at| !removed[at]);
    }
    changed
}

/// Merges the first ENDIF of a pair into the second, from the last pair to the first. Jumps of its branch then target
/// the instruction after the merged ENDIF and close its levels too, or target the merged ENDIF with their level open.
pub(crate) fn merge_endifs(program: &Program, analyses: &Analyses, code: &mut Code) -> bool {
    for inner in (0..code.lines.len().saturating_sub(1)).rev() {
        let outer = inner + 1;
        let both = [inner, outer].iter().all(|&at| analyses.role(at) == Some(Role::EndIf));
        if !both || analyses.graph.window().end == Some(inner) {
            continue;
        }
        let levels = [inner, outer].map(|at| program.code[at].fc_inst().b_pop_cnt());
        if levels[0] != 1 || levels[1] == 0 || levels[1] >= MOST_LEVELS {
            continue;
        }
        if let Some(rewritten) = merged(program, analyses, code, inner, levels) {
            *code = rewritten;
            return true;
        }
    }
    false
}

fn merged(
    program: &Program,
    analyses: &Analyses,
    code: &Code,
    inner: usize,
    levels: [u8; 2],
) -> Option<Code> {
    let mut code = code.clone();
    let outer = inner + 1;
    for at in 0..inner {
        let inst = program.code[at];
        let fc = inst.fc_inst();
        let target = code.lines[at].target.map(|to| to as usize);
        match analyses.role(at) {
            Some(Role::Else { after }) if after == inner => {
                // Jump to the merged ENDIF with its level open, or past it with both levels closed.
                let past = target == Some(outer) && outer + 1 < program.code.len();
                if past && fc.b_op1() == BranchOp::DECR {
                    let levels = fc.b_pop_cnt() + levels[1];
                    code.lines[at].inst.0[2] = fc.with(FcInst::B_POP_CNT, levels).bits();
                    code.lines[at].target = Some(u32::try_from(outer + 1).ok()?);
                    continue;
                }
                let op = fc.with(FcInst::B_OP1, BranchOp::NONE).with(FcInst::B_POP_CNT, 0);
                code.lines[at].inst.0[2] = op.bits();
            }
            Some(Role::If { other }) if other == inner => {
                code.lines[at].inst.0[2] = fc.with(FcInst::B_OP1, BranchOp::INCR).bits();
            }
            // A jump to the second ENDIF has the levels of its own branch open, a jump to the first has both.
            _ if code.is_flow(at) && target == Some(outer) => return None,
            _ => continue,
        }
        code.lines[at].target = Some(u32::try_from(outer).ok()?);
    }
    let fc = program.code[outer].fc_inst();
    code.lines[outer].inst.0[2] = fc.with(FcInst::B_POP_CNT, fc.b_pop_cnt() + 1).bits();
    let origins = code.lines[inner].origins.clone();
    code.lines[outer].origins.splice(0..0, origins);
    code.retain(|at| at != inner);
    Some(code)
}
