//! Straight-line segments: lowering to the machine-level IR, the passes over it, and encoding.

mod allocate;
mod coalesce;
mod compares;
mod copies;
mod dead;
mod demand;
mod encode;
mod gathers;
mod ir;
mod kills;
mod mads;
mod presubs;
mod schedule;
mod selects;
mod sets;

use r500_check::dataflow::ChannelSet;
use r500_isa::Instruction;
use r500_isa::values::{Channel, InstType, RgbMask};
use r500_isa::words::{CmnInst, TexAddr, TexAddrDxdy};
use r500_program::Program;

use crate::flow::Analyses;
use allocate::Registers;
use encode::{Dest, Register, RegisterAssignment, encode};
use ir::{Atom, Op, Read, SegmentIr};
use schedule::{Policy, Schedule};
use sets::Sets;

/// A straight-line segment between leaders: indices of its first and last instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The passes to run over a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Passes {
    pub(crate) kills: bool,
    pub(crate) copies: bool,
    pub(crate) compares: bool,
    pub(crate) selects: bool,
    pub(crate) mads: bool,
    pub(crate) coalesce: bool,
    pub(crate) gathers: bool,
    pub(crate) presubs: bool,
    pub(crate) dead: bool,
    pub(crate) schedule: bool,
}

impl Passes {
    /// Returns whether one of the rewriting passes runs.
    fn rewrites(self) -> bool {
        self.kills
            || self.copies
            || self.compares
            || self.selects
            || self.mads
            || self.coalesce
            || self.gathers
            || self.presubs
    }
}

/// Finds the segments of a program.
pub(crate) fn segments(program: &Program, analyses: &Analyses) -> Vec<Segment> {
    let graph = &analyses.graph;
    let count = program.code.len();
    let mut leader = vec![false; count + 1];
    leader[0] = true;
    for edge in graph.edges() {
        if let r500_check::graph::Node::Instruction(to) = edge.to
            && (to != edge.from + 1 || graph.flow(edge.from).is_some())
        {
            leader[to] = true;
        }
    }
    for at in 0..count {
        if let Some(flow) = graph.flow(at)
            && let Some(to) = graph.window().index(flow.target)
        {
            leader[to] = true;
        }
    }
    let fits = |at: usize| graph.reaches(at) && ir::expressible(program.code[at], graph.info(at));
    let mut found: Vec<Segment> = Vec::new();
    for at in (0..count).filter(|&at| fits(at)) {
        match found.last_mut() {
            Some(segment) if segment.last + 1 == at && !leader[at] => segment.last = at,
            _ => found.push(Segment { first: at, last: at }),
        }
    }
    found
}

/// The rewritten code of a segment.
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    /// Instructions, each with the indices of its origins.
    pub(crate) code: Vec<(Instruction, Vec<usize>)>,
    /// Number of instructions that need the NOP bit.
    nops: usize,
    /// Highest temporary that it writes, plus one.
    temporaries: usize,
}

/// Limits of a rewrite, besides the fuel of the search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Number of temporaries.
    pub(crate) temporaries: usize,
    /// Whether zeros in outputs may have either sign.
    pub(crate) ignore_zero_signs: bool,
}

/// All that the rewrite of a segment depends on but the limits, so that what did not help is not tried again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Task {
    code: Vec<[u32; 6]>,
    live_out: ChannelSet,
    divergent: bool,
    /// Whether the program ends after it, by an output instruction.
    ends_with_output: bool,
    passes: Passes,
}

impl Task {
    pub(crate) fn of(
        program: &Program,
        analyses: &Analyses,
        segment: Segment,
        passes: Passes,
    ) -> Self {
        let Segment { first, last } = segment;
        let divergent = |at: usize| analyses.graph.info(at).reads_quad && analyses.keeps_quads(at);
        Self {
            code: program.code[first..=last].iter().map(|inst| inst.0).collect(),
            live_out: *analyses.live.live_out(last),
            divergent: (first..=last).any(divergent),
            ends_with_output: analyses.graph.window().end == Some(last)
                && program.code[last].ty() == InstType::OUT,
            passes,
        }
    }
}

/// Rewrites a segment into the cheapest code that the search finds; `None` if that is not cheaper. `fuel` bounds the
/// steps.
pub(crate) fn rewrite(
    program: &Program,
    analyses: &Analyses,
    segment: Segment,
    task: &Task,
    limits: Limits,
    fuel: &mut u64,
) -> Option<Rewritten> {
    let Segment { first, last } = segment;
    let passes = task.passes;
    let mut removed = ir::build(&program.code, first, last, task.live_out);
    removed.divergent = task.divergent;
    removed.ignore_zero_signs = limits.ignore_zero_signs;
    removed.ends_with_output = task.ends_with_output;
    let mut changed = passes.dead && dead::eliminate(&mut removed);
    let mut forms = Vec::new();
    // Presubtract operands may cost a NOP or prevent co-issue, and gathered copies need all source addresses: try without, too.
    let without = |gathers, presubs| Passes { gathers, presubs, ..passes };
    let sets = [
        without(false, false),
        without(passes.gathers, false),
        without(false, passes.presubs),
        passes,
    ];
    for passes in sets.into_iter().filter(|passes| passes.rewrites()) {
        let mut ir = removed.clone();
        let rewritten = simplify(&mut ir, passes);
        if rewritten && !forms.contains(&ir) {
            forms.push(ir);
            changed = true;
        }
    }
    if !changed && !passes.schedule {
        return None;
    }
    if forms.is_empty() || passes.schedule {
        forms.push(removed);
    }
    let nops = count_nops(&program.code[first..=last]);
    let before = Measure {
        cycles: last - first + 1 + nops,
        rows: last - first + 1,
        temporaries: highest_written(analyses, segment),
    };
    let mut best: Option<(Measure, Rewritten)> = None;
    for ir in &forms {
        for &policy in policies(passes.schedule) {
            // What takes longer than the best so far, or than the segment as it is, is not worth its end.
            let most =
                best.as_ref().map_or(before.cycles, |(best, _)| best.cycles.min(before.cycles));
            let attempt = attempt(ir, policy, limits.temporaries, most, fuel);
            let Some(rewritten) = attempt else { continue };
            let measure = Measure {
                cycles: rewritten.code.len() + rewritten.nops,
                rows: rewritten.code.len(),
                temporaries: rewritten.temporaries,
            };
            if best.as_ref().is_none_or(|(known, _)| measure < *known) {
                best = Some((measure, rewritten));
            }
        }
    }
    let (measure, rewritten) = best?;
    if task.ends_with_output
        && rewritten.code.last().is_none_or(|(inst, _)| inst.ty() != InstType::OUT)
    {
        return None;
    }
    let shorter = (measure.cycles, measure.rows) < (before.cycles, before.rows);
    // Only register assignment may accept code that just needs fewer temporaries.
    (shorter || passes.schedule && measure < before).then_some(rewritten)
}

/// The cost of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Measure {
    cycles: usize,
    rows: usize,
    temporaries: usize,
}

/// Returns the highest temporary that a segment writes, plus one.
fn highest_written(analyses: &Analyses, segment: Segment) -> usize {
    let writes =
        (segment.first..=segment.last).flat_map(|at| analyses.graph.info(at).writes.iter());
    writes.map(|access| usize::from(access.addr) + 1).max().unwrap_or(0)
}

fn count_nops(code: &[Instruction]) -> usize {
    code.iter().filter(|inst| inst.cmn().nop()).count()
}

/// Runs the rewriting passes to a fixed point. Returns whether anything changed.
fn simplify(ir: &mut SegmentIr, passes: Passes) -> bool {
    for round in 0..8 {
        let mut changed = passes.kills && kills::merge(ir);
        changed |= passes.copies && copies::propagate(ir);
        changed |= passes.compares && compares::fold(ir);
        changed |= passes.selects && selects::fold(ir);
        changed |= passes.mads && mads::fuse(ir);
        changed |= passes.coalesce && coalesce::coalesce(ir);
        changed |= passes.gathers && gathers::gather(ir);
        changed |= passes.presubs && presubs::select(ir);
        changed |= passes.dead && dead::eliminate(ir);
        if !changed {
            return round > 0;
        }
    }
    true
}

fn policies(schedule: bool) -> &'static [Policy] {
    const fn policy(critical: bool, pairs_first: bool, merge: bool, migrate: bool) -> Policy {
        Policy { critical, pairs_first, merge, migrate, window: usize::MAX }
    }
    const fn near(window: usize) -> Policy {
        Policy { window, ..policy(false, false, true, true) }
    }
    const KEEP: &[Policy] = &[policy(false, false, false, false)];
    const ALL: &[Policy] = &[
        policy(true, false, true, true),
        policy(true, true, true, true),
        policy(false, false, true, true),
        policy(false, true, true, true),
        policy(true, false, false, true),
        policy(true, true, false, true),
        policy(false, false, false, true),
        policy(false, true, false, true),
        policy(true, true, true, false),
        policy(false, false, true, false),
        policy(false, false, false, false),
        near(4),
        near(8),
        near(16),
    ];
    if schedule { ALL } else { KEEP }
}

/// Schedules in at most so many instructions, assigns registers and encodes; `None` if one of these fails.
fn attempt(
    ir: &SegmentIr,
    policy: Policy,
    limit: usize,
    most: usize,
    fuel: &mut u64,
) -> Option<Rewritten> {
    let mut ir = ir.clone();
    let mut sets = Sets::of(&ir)?;
    let rows = schedule::schedule(&mut ir, &mut sets, policy, most, fuel)?;
    let registers = allocate::allocate(&mut ir, &sets, &rows, limit)?;
    let nops = early_reads(&ir, &rows);
    let mut code = Vec::with_capacity(rows.len());
    for row in &rows {
        let ops: Vec<&Op> = row.iter().map(|&at| &ir.ops[at]).collect();
        let inst = match ops[..] {
            [op] if op.is_texture() => texture(&ir, &registers, op)?,
            _ => arithmetic(&ir, &sets, &registers, &ops)?,
        };
        let mut origins: Vec<usize> = ops.iter().map(|op| op.origin).collect();
        origins.sort_unstable();
        origins.dedup();
        code.push((inst, origins));
    }
    let highest = ir.values.iter().enumerate().filter_map(|(value, _)| registers.temp(value)).max();
    let temporaries = highest.map_or(0, |temp| usize::from(temp) + 1);
    Some(Rewritten { code, nops, temporaries })
}

/// Counts the instructions that need the NOP bit because the next instruction reads their result through the
/// presubtract unit.
fn early_reads(ir: &SegmentIr, rows: &Schedule) -> usize {
    let early = |pair: &&[Vec<ir::OpId>]| {
        let made = |atom: Atom| {
            matches!(atom, Atom::Value(value) if pair[0].contains(&ir.values[value].op)
                && !ir.ops[ir.values[value].op].is_texture())
        };
        let reads = |read: &Read| matches!(*read, Read::Presub(_, a, b) if made(a) || made(b));
        pair[1]
            .iter()
            .flat_map(|&at| &ir.ops[at].args)
            .any(|arg| arg.lanes.iter().flatten().any(reads))
    };
    rows.windows(2).filter(early).count()
}

fn arithmetic(
    ir: &SegmentIr,
    sets: &Sets,
    registers: &Registers,
    ops: &[&Op],
) -> Option<Instruction> {
    let mut dest = Dest::default();
    for op in ops {
        for (lane, value) in op.results.iter().enumerate() {
            let Some(value) = *value else { continue };
            if sets.stored(ir, value) {
                let temp = registers.temp(value)?;
                dest.mask |= 1 << lane;
                if lane == 3 { dest.alpha = temp } else { dest.rgb = temp }
            }
        }
    }
    encode(ir, registers, ops, dest)
}

/// Encodes a texture instruction with the assigned registers of its operands.
fn texture(ir: &SegmentIr, registers: &Registers, op: &Op) -> Option<Instruction> {
    let mut inst = op.inst;
    let place = |read: Read| match read {
        Read::Atom(Atom::Entry(temp, channel)) => Some((temp, channel)),
        Read::Atom(Atom::Value(value)) => match registers.place(ir, value) {
            (Register::Temp(temp), channel) => Some((temp, channel)),
            _ => None,
        },
        _ => None,
    };
    let mut addr = inst.tex_addr();
    let mut grad = inst.tex_addr_dxdy();
    let source =
        [TexAddr::SRC_S_SWIZ, TexAddr::SRC_T_SWIZ, TexAddr::SRC_R_SWIZ, TexAddr::SRC_Q_SWIZ];
    let dx = [
        TexAddrDxdy::DX_S_SWIZ,
        TexAddrDxdy::DX_T_SWIZ,
        TexAddrDxdy::DX_R_SWIZ,
        TexAddrDxdy::DX_Q_SWIZ,
    ];
    let dy = [
        TexAddrDxdy::DY_S_SWIZ,
        TexAddrDxdy::DY_T_SWIZ,
        TexAddrDxdy::DY_R_SWIZ,
        TexAddrDxdy::DY_Q_SWIZ,
    ];
    for (index, arg) in op.args.iter().enumerate() {
        for (lane, read) in arg.lanes.iter().enumerate() {
            let Some(read) = *read else { continue };
            let (temp, channel) = place(read)?;
            let channel = Channel::new(channel);
            match index {
                0 => addr = addr.with(source[lane], channel).with(TexAddr::SRC_ADDR, temp),
                1 => grad = grad.with(dx[lane], channel).with(TexAddrDxdy::DX_ADDR, temp),
                _ => grad = grad.with(dy[lane], channel).with(TexAddrDxdy::DY_ADDR, temp),
            }
        }
    }
    if let Some(value) = op.results.iter().flatten().copied().next() {
        addr = addr.with(TexAddr::DST_ADDR, registers.temp(value)?);
    }
    if !op.is_kill() {
        let mask = op.mask();
        let cmn = inst.cmn().with(CmnInst::RGB_WMASK, RgbMask::new(mask & 7));
        inst.0[0] = cmn.with(CmnInst::ALPHA_WMASK, mask & 8 != 0).bits();
    }
    debug_assert_eq!(inst.ty(), InstType::TEX);
    inst.0[2] = addr.bits();
    inst.0[3] = grad.bits();
    Some(inst)
}
