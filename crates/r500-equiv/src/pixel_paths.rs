//! The instructions that some pixel can execute: the paths of a pixel, explored with values where these are known.
//!
//! A loop counter starts at a literal and changes by literals; what it guards may be out of reach for every input. The
//! exploration runs a quad in the reference engine. It begins with all temporaries unknown and with the constants that the
//! program carries. A channel becomes *unknown* that depends on something unknown: a texel, a derivative, a constant with any
//! value. Where a branch reads an unknown condition, both of its ways are followed. Two states at a flow-control instruction are
//! the same if the channels are on which later conditions depend ([`Relevance`]); the exploration gives up after [`MOST_STEPS`]. It is done twice: the second time, a CMP or CND
//! between known values with an unknown operand C is followed with each of its results, too.
//!
//! The paths are those of pixels that vote. One without a vote (`IGNORE_UNCOVERED`) is left out where its group does not go its
//! way, and may execute more: [`Executable::without_vote_matter`].

use std::collections::{BTreeSet, HashSet};

use r500_check::ExternalReads;
use r500_check::dataflow::{ChannelId, ChannelSet, Dataflow};
use r500_check::graph::{Graph, Structure};
use r500_exec::reference::{Group, GroupState, Lane};
use r500_exec::{Bindings, Draw, Options, PixelRect, Shader};
use r500_isa::values::{AddrOp, AlphaOp, InstType, Mod, PredSel, RgbMask, RgbOp, Swiz};
use r500_isa::words::{AluAlphaInst, AluRgbInst, AluRgbaInst, CmnInst};
use r500_isa::{Access, InstInfo, Instruction, TEMPORARIES};
use r500_program::Job;

use crate::interface_match::constant_channels;

/// Instructions after which an exploration gives up.
const MOST_STEPS: usize = 1 << 19;

/// What pixels can execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Executable {
    /// Addresses of the instructions that some pixel with a vote can execute.
    pub(crate) instructions: BTreeSet<u32>,
    /// Whether results depend on registers of pixels without a vote, which may execute others: there are such pixels, and
    /// derivatives or levels of detail.
    pub(crate) without_vote_matter: bool,
}

/// Returns which instructions some pixel can execute. `open` lists the channels of constants that have any
/// value; integer and boolean constants have those of the job. `None` if that is unknown: the program is not structured, has
/// calls, writes registers of inactive pixels, lacks integer or boolean constants, or has too many paths.
pub(crate) fn executable(
    job: &Job,
    open: &BTreeSet<(u8, u8)>,
    options: &Options<'_>,
) -> Option<Executable> {
    let missing = ExternalReads::of(&job.program).missing(job);
    if missing.int_constants != 0 || missing.bool_constants != 0 {
        return None;
    }
    let graph = Graph::new(&job.program).ok().filter(|graph| !graph.gave_up())?;
    let structure = Structure::recover(&graph).ok()?;
    let flow = Dataflow::new(&graph, Some(&structure));
    let reached = || (0..graph.len()).filter(|&at| graph.reaches(at));
    if flow.writes_are_conditional() || !reached().all(|at| is_followed(&graph, at)) {
        return None;
    }
    let shader = Shader::new(&job.program).ok()?;
    let bindings = Bindings::new(job, [2, 2]).ok()?;
    let mut options = options.clone();
    options.warnings = false;
    options.progress = None;
    options.limits.instructions = u64::MAX;
    let mut open = open.clone();
    open.extend(constant_channels(&missing));
    // By the colour channels and alpha in which a selection has its first result.
    let selecting: Option<Vec<Shader>> = (0..16u8)
        .map(|first| {
            let mut program = job.program.clone();
            program.code.iter_mut().for_each(|inst| *inst = with_selection(*inst, first));
            Shader::new(&program).ok()
        })
        .collect();
    let selecting = selecting?;
    let parts: Vec<Vec<Part>> = job.program.code.iter().map(|&inst| parts(inst)).collect();
    let exploration = Exploration {
        relevance: Relevance::of(&graph, &flow, &parts),
        parts,
        graph: &graph,
        draw: Draw::new(&shader, &bindings, &options).ok()?,
        selecting: selecting
            .iter()
            .map(|shader| Draw::new(shader, &bindings, &options).ok())
            .collect::<Option<_>>()?,
        open: &open,
    };
    // Each may have too many paths, and what one does not reach, no pixel does.
    let instructions = match [false, true].map(|selects| exploration.run(selects)) {
        [Some(a), Some(b)] => a.intersection(&b).copied().collect(),
        [a, b] => a.or(b)?,
    };
    let has_no_vote = |at| graph.flow(at).is_some_and(|flow| flow.ignore_uncovered);
    let is_read = reached().any(|at| graph.info(at).reads_quad);
    Some(Executable { instructions, without_vote_matter: is_read && reached().any(has_no_vote) })
}

/// Returns whether the exploration knows what an instruction writes, and where it goes.
fn is_followed(graph: &Graph, at: usize) -> bool {
    !graph.info(at).write_inactive && graph.flow(at).is_none_or(|flow| flow.a_op == AddrOp::NONE)
}

struct Exploration<'a> {
    /// For each instruction, what its written channels read and write.
    parts: Vec<Vec<Part>>,
    relevance: Relevance,
    graph: &'a Graph,
    draw: Draw<'a>,
    /// Draws of the program [`with_selection`], by the channels of the first result.
    selecting: Vec<Draw<'a>>,
    /// The channels of constants with any value.
    open: &'a BTreeSet<(u8, u8)>,
}

/// A path of a pixel up to an instruction. The values of unknown channels in `state` mean nothing.
#[derive(Clone)]
struct Path {
    state: GroupState,
    unknown: ChannelSet,
}

impl Exploration<'_> {
    /// Returns the addresses that paths reach. `selects` says whether each result of a selection is followed.
    fn run(&self, selects: bool) -> Option<BTreeSet<u32>> {
        let rect = PixelRect { x: 0, y: 0, width: 2, height: 2 };
        let mut unknown = ChannelSet::EMPTY;
        (0..TEMPORARIES as u8).for_each(|temp| unknown.insert_temp(temp, 0b1111));
        (0..4).for_each(|bit| unknown.insert(ChannelId::Predicate(bit)));
        unknown.insert(ChannelId::AluResult);
        let start = Path { state: Group::new(&self.draw, rect).into_state(), unknown };
        let (mut work, mut seen) = (vec![start], HashSet::new());
        let (mut executed, mut steps) = (BTreeSet::new(), 0);
        while let Some(mut path) = work.pop() {
            while !path.state.ended() {
                let address = path.state.address();
                let at = address.checked_sub(self.graph.window().offset)? as usize;
                let executes = path.pixel()?.executes(&self.draw.options.readings);
                if at >= self.graph.len() || !self.graph.reaches(at) || !executes {
                    return None;
                }
                executed.insert(address);
                if self.graph.flow(at).is_some() && !seen.insert(self.key(at, &path)?) {
                    break;
                }
                let mut ways = if self.graph.flow(at).is_some() {
                    self.branches(at, path)?
                } else if selects {
                    self.selections(at, path)?
                } else {
                    vec![self.step(at, path, 0)?]
                };
                steps += ways.len();
                path = ways.pop()?;
                work.append(&mut ways);
                if steps > MOST_STEPS {
                    return None;
                }
            }
        }
        Some(executed)
    }

    /// Returns what decides the further course of a path at a flow-control instruction.
    fn key(&self, at: usize, path: &Path) -> Option<Box<[u32]>> {
        let Path { state, unknown } = path;
        let mut key = vec![state.address()];
        key.push(state.al(&self.draw.options.readings) as u32);
        key.extend(state.loops().iter().map(|frame| frame.count));
        let lane = path.pixel()?;
        for channel in self.relevance.before[at].iter() {
            let value = match channel {
                ChannelId::Temp(temp, channel) => {
                    lane.temps[usize::from(temp)][usize::from(channel)].to_bits()
                }
                ChannelId::Predicate(bit) => u32::from(lane.predicate >> bit & 1),
                ChannelId::AluResult => u32::from(lane.alu_result),
                ChannelId::Output(..) | ChannelId::Depth => continue,
            };
            let is_known = !unknown.contains(channel);
            key.extend([u32::from(is_known), if is_known { value } else { 0 }]);
        }
        Some(key.into())
    }

    /// Executes an instruction; `selected` has the channels whose selections have a known result.
    fn step(&self, at: usize, mut path: Path, selected: u8) -> Option<Path> {
        self.propagate(at, &mut path.unknown, selected);
        path.state = execute(&self.draw, path.state)?;
        Some(path)
    }

    /// Returns the paths after an instruction, one for each result of its selections between known values.
    fn selections(&self, at: usize, path: Path) -> Option<Vec<Path>> {
        let unknown = |info: &InstInfo| self.is_unknown(info, &path.unknown);
        let is_open = |part: &Part| {
            part.may_write().intersects(&self.relevance.after[at])
                && !part.info.writes.iter().any(|access| access.relative)
                && unknown(&part.info)
                && part.selected.as_ref().is_some_and(|selected| !unknown(selected))
        };
        let open = (0..4u8).filter(|&n| self.parts[at].get(usize::from(n)).is_some_and(is_open));
        let open = open.fold(0, |channels, n| channels | 1 << n);
        if open == 0 {
            return Some(vec![self.step(at, path, 0)?]);
        }
        let before = path.state.clone();
        let path = self.step(at, path, open)?;
        let (mut ways, mut results) = (Vec::new(), HashSet::new());
        for first in (0..16u8).filter(|first| first & !open == 0) {
            let other = execute(&self.selecting[usize::from(first)], before.clone())?;
            let mut way = path.clone();
            let mut values = Vec::new();
            for (lane, from) in way.state.lanes_mut().iter_mut().zip(other.lanes()) {
                for n in (0..4).filter(|n| open >> n & 1 != 0) {
                    let info = &self.parts[at][n].info;
                    for access in info.writes.iter() {
                        let temp = usize::from(access.addr);
                        for c in (0..4).filter(|c| access.may >> c & 1 != 0) {
                            lane.temps[temp][c] = from.temps[temp][c];
                            values.push(lane.temps[temp][c].to_bits());
                        }
                    }
                    let bits = info.predicate_writes;
                    lane.predicate = lane.predicate & !bits | from.predicate & bits;
                    values.push(u32::from(lane.predicate & bits));
                }
            }
            if results.insert(values) {
                ways.push(way);
            }
        }
        Some(ways)
    }

    /// Returns the paths after a flow-control instruction, for all values of the unknown conditions that it reads.
    fn branches(&self, at: usize, mut path: Path) -> Option<Vec<Path>> {
        let info = self.graph.info(at);
        let mut read = ChannelSet::EMPTY;
        for bit in (0..4).filter(|bit| info.predicate_reads >> bit & 1 != 0) {
            read.insert(ChannelId::Predicate(bit));
        }
        if info.alu_result_read {
            read.insert(ChannelId::AluResult);
        }
        let unknown: Vec<ChannelId> =
            read.iter().filter(|&channel| path.unknown.contains(channel)).collect();
        path.unknown.subtract(&read);
        let mut ways = vec![path];
        for channel in unknown {
            let count = ways.len();
            ways.extend_from_within(..);
            for (n, way) in ways.iter_mut().enumerate() {
                let lanes = way.state.lanes_mut().iter_mut();
                lanes.for_each(|lane| set_condition(lane, channel, n >= count));
            }
        }
        ways.into_iter().map(|way| self.step(at, way, 0)).collect()
    }

    /// Returns whether an instruction reads something unknown.
    fn is_unknown(&self, info: &InstInfo, unknown: &ChannelSet) -> bool {
        let is_open = |access: &Access| {
            let mut channels = (0..4u8).filter(|c| access.may >> c & 1 != 0);
            access.relative || channels.any(|c| self.open.contains(&(access.addr, c)))
        };
        info.fetch
            || info.reads_quad
            || info.constants.iter().any(is_open)
            || info
                .reads
                .iter()
                .any(|access| temps(access).any(|t| unknown.temp(t) & access.may != 0))
            || info.predicate_reads & unknown.predicates() != 0
    }

    /// Applies an instruction to the set of unknown channels.
    fn propagate(&self, at: usize, unknown: &mut ChannelSet, selected: u8) {
        let before = *unknown;
        for (n, part) in self.parts[at].iter().enumerate() {
            let selected = part.selected.as_ref().filter(|_| selected >> n & 1 != 0);
            let read = selected.unwrap_or(&part.info);
            // Predicates may gate the ALU result (a reading).
            let is_gated = part.info.alu_result_write && part.is_predicated;
            let becomes_unknown =
                self.is_unknown(read, &before) || is_gated && before.predicates() != 0;
            if becomes_unknown {
                unknown.union(&part.may_write());
            } else {
                unknown.subtract(&part.must_write());
            }
        }
    }
}

impl Path {
    /// Returns the pixel whose path this is.
    fn pixel(&self) -> Option<&Lane> {
        self.state.lanes().first()
    }
}

/// Returns the temporaries that an operand may name: any, if aL is added.
fn temps(access: &Access) -> impl Iterator<Item = u8> {
    let all = if access.relative { 0..TEMPORARIES as u8 } else { access.addr..access.addr + 1 };
    all.into_iter()
}

/// Executes an instruction. Pixels that it kills stay: whether they are killed may be unknown.
fn execute(draw: &Draw<'_>, state: GroupState) -> Option<GroupState> {
    let mut group = Group::resume(draw, state);
    group.step().ok()?;
    let mut state = group.into_state();
    for lane in state.lanes_mut() {
        (lane.killed, lane.covered) = (false, true);
    }
    Some(state)
}

/// Replaces the operands C of CMP and CND such that the result is operand A in the channels `first`, red in bit 0, and operand B
/// in the others.
fn with_selection(mut inst: Instruction, first: u8) -> Instruction {
    if !matches!(inst.ty(), InstType::ALU | InstType::OUT) {
        return inst;
    }
    let mut rgba = inst.rgba_inst();
    // CMP: -0 >= 0, not -1 >= 0; CND: 1 > 1/2, not 0 > 1/2.
    let swizzle = |is_cmp: bool, n: u8| {
        if (first >> n & 1 != 0) == is_cmp { Swiz::ZERO } else { Swiz::ONE }
    };
    let modifier = |is_cmp: bool| if is_cmp { Mod::NEG } else { Mod::NOP };
    if let op @ (RgbOp::CMP | RgbOp::CND) = rgba.rgb_op() {
        let is_cmp = op == RgbOp::CMP;
        rgba = rgba
            .with(AluRgbaInst::RED_SWIZ_C, swizzle(is_cmp, 0))
            .with(AluRgbaInst::GREEN_SWIZ_C, swizzle(is_cmp, 1))
            .with(AluRgbaInst::BLUE_SWIZ_C, swizzle(is_cmp, 2))
            .with(AluRgbaInst::RGB_MOD_C, modifier(is_cmp));
    }
    if let op @ (AlphaOp::CMP | AlphaOp::CND) = inst.alpha_inst().alpha_op() {
        let is_cmp = op == AlphaOp::CMP;
        rgba = rgba
            .with(AluRgbaInst::ALPHA_SWIZ_C, swizzle(is_cmp, 3))
            .with(AluRgbaInst::ALPHA_MOD_C, modifier(is_cmp));
    }
    inst.0[5] = rgba.bits();
    inst
}

/// Sets a predicate bit or the ALU result.
fn set_condition(lane: &mut Lane, condition: ChannelId, value: bool) {
    match condition {
        ChannelId::Predicate(bit) => {
            lane.predicate = lane.predicate & !(1 << bit) | u8::from(value) << bit;
        }
        _ => lane.alu_result = value,
    }
}

/// What a written channel of an instruction reads and writes.
struct Part {
    info: InstInfo,
    /// The same without operand C, for CMP and CND.
    selected: Option<InstInfo>,
    /// Whether a half of the instruction is predicated.
    is_predicated: bool,
}

impl Part {
    /// Returns the channels that it may write.
    fn may_write(&self) -> ChannelSet {
        let mut set = ChannelSet::EMPTY;
        for access in self.info.writes.iter() {
            temps(access).for_each(|temp| set.insert_temp(temp, access.may));
        }
        insert_predicates(&mut set, self.info.predicate_writes);
        if self.info.alu_result_write {
            set.insert(ChannelId::AluResult);
        }
        set
    }

    /// Returns the channels that it always writes.
    fn must_write(&self) -> ChannelSet {
        let mut set = ChannelSet::EMPTY;
        for access in self.info.writes.iter().filter(|access| !access.relative) {
            set.insert_temp(access.addr, access.must);
        }
        insert_predicates(&mut set, self.info.predicate_must_write);
        if self.info.alu_result_write && !self.is_predicated {
            set.insert(ChannelId::AluResult);
        }
        set
    }

    /// Returns the channels that decide what it writes; none if that is unknown in any case.
    fn reads(&self) -> ChannelSet {
        let mut set = ChannelSet::EMPTY;
        if !self.info.fetch && !self.info.reads_quad {
            for access in self.info.reads.iter() {
                temps(access).for_each(|temp| set.insert_temp(temp, access.may));
            }
        }
        // Predicates may gate the ALU result (a reading).
        let is_gated = self.info.alu_result_write && self.is_predicated;
        insert_predicates(&mut set, if is_gated { 0b1111 } else { self.info.predicate_reads });
        set
    }
}

fn insert_predicates(set: &mut ChannelSet, bits: u8) {
    (0..4).filter(|bit| bits >> bit & 1 != 0).for_each(|bit| set.insert(ChannelId::Predicate(bit)));
}

/// The channels on which conditions of later flow-control instructions depend: their strong liveness.
struct Relevance {
    before: Vec<ChannelSet>,
    after: Vec<ChannelSet>,
}

impl Relevance {
    /// Solves the backward dataflow equations: what a part of an instruction reads is relevant if what it writes is.
    fn of(graph: &Graph, flow: &Dataflow, parts: &[Vec<Part>]) -> Self {
        let none = || vec![ChannelSet::EMPTY; graph.len()];
        let mut relevance = Self { before: none(), after: none() };
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..graph.len()).rev().filter(|&at| graph.reaches(at)) {
                let mut after = ChannelSet::EMPTY;
                for next in flow.successors(at) {
                    after.union(&relevance.before[next]);
                }
                let mut before = after;
                if graph.flow(at).is_some() {
                    before.union(&flow.effects(at).may_read);
                } else {
                    parts[at].iter().for_each(|part| before.subtract(&part.must_write()));
                    for part in parts[at].iter().filter(|p| p.may_write().intersects(&after)) {
                        before.union(&part.reads());
                    }
                }
                relevance.after[at] = after;
                changed |= relevance.before[at].union(&before);
            }
        }
        relevance
    }
}

/// Returns the parts of an instruction: red, green, blue, alpha, and the ALU result.
fn parts(inst: Instruction) -> Vec<Part> {
    let cmn = inst.cmn();
    let is_predicated =
        [cmn.rgb_pred_sel(), cmn.alpha_pred_sel()].iter().any(|&sel| sel != PredSel::NONE);
    if !matches!(inst.ty(), InstType::ALU | InstType::OUT) {
        return vec![Part { info: InstInfo::new(inst), selected: None, is_predicated }];
    }
    let (rgb, alpha) = (inst.rgb_inst(), inst.alpha_inst());
    let selects = [
        matches!(inst.rgba_inst().rgb_op(), RgbOp::CMP | RgbOp::CND),
        matches!(alpha.alpha_op(), AlphaOp::CMP | AlphaOp::CND),
    ];
    let only = |colours: u8, is_alpha: bool, is_result: bool| {
        let keep = |mask: RgbMask| RgbMask::new(mask.code() & colours);
        let mut only = inst;
        only.0[0] = cmn
            .with(CmnInst::RGB_WMASK, keep(cmn.rgb_wmask()))
            .with(CmnInst::RGB_OMASK, keep(cmn.rgb_omask()))
            .with(CmnInst::ALPHA_WMASK, cmn.alpha_wmask() && is_alpha)
            .with(CmnInst::ALPHA_OMASK, cmn.alpha_omask() && is_alpha)
            .bits();
        only.0[3] = rgb.with(AluRgbInst::ALU_WMASK, rgb.alu_wmask() && is_result).bits();
        only.0[4] = alpha.with(AluAlphaInst::W_OMASK, alpha.w_omask() && is_alpha).bits();
        let info = InstInfo::new(only);
        let selected = (!is_result && selects[usize::from(is_alpha)])
            .then(|| InstInfo::new(with_selection(only, 0)));
        Part { info, selected, is_predicated }
    };
    vec![
        only(1, false, false),
        only(2, false, false),
        only(4, false, false),
        only(0, true, false),
        only(0, false, true),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods)]

    use super::*;
    use crate::Exercise;

    fn job(source: &[u8]) -> Job {
        let limits = r500_formats::Limits::default();
        r500::reader::read(source, None, None, &limits).unwrap().remove(0)
    }

    fn capture(name: &str) -> Job {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa");
        job(&std::fs::read(format!("{folder}/{name}.json")).unwrap())
    }

    /// Returns the reachable instructions, without ENDIFs, that no pixel with a vote can execute.
    fn never(job: &Job) -> Vec<u32> {
        let executable = executable(job, &BTreeSet::new(), &Options::default()).unwrap();
        let reachable = Exercise::default().unexercised(&job.program).instructions;
        reachable.into_iter().filter(|at| !executable.instructions.contains(at)).collect()
    }

    /// The sources of these effects have loops of at most 100 or 40 iterations, each with a second bound below that: the guard
    /// of the first never ends one. Their counters change in several branches on texels, by 1 each; the inner loop of the last one ends
    /// by an input.
    #[test]
    fn guards_of_loops_are_out_of_reach() {
        for (name, breaks) in [
            ("discard_branch", &[19][..]),
            ("loop_continue", &[8]),
            ("loop_idle_cont", &[9, 33]),
            ("loop_idle_inner", &[9, 31]),
            ("loop_nested_inner", &[8]),
        ] {
            assert_eq!(never(&capture(name)), breaks, "{name}");
        }
    }

    /// A counter from 0 in an endless loop that ends at 3, after a guard that waits for 5: `condition` is compared with 0 in each
    /// iteration, and where it is not less, the counter is incremented once more.
    fn counting(condition: &str) -> Job {
        job(format!(
            "FULL_FC_EN ;\nint[0] = (255, 0, 0) ;\nconst[0] = (3, 5, 0, 0) ;\n\
             : temp[1].r = MAX src0.000 src0.000 ;\n\
             REP int[0] ;\n\
             src0.rgb = temp[1], src1.rgb = const[0] : alu[ge].r = MAD src0.r00 src0.100 -src1.g00 ;\n\
             IF alu ALU_WAIT ;\nBREAK ;\nENDIF ;\n\
             src0.rgb = temp[1], src1.rgb = const[0] : alu[ge].r = MAD src0.r00 src0.100 -src1.r00 ;\n\
             IF alu ALU_WAIT ;\nBREAK ;\nENDIF ;\n\
             src0.rgb = temp[1] : temp[1].r = MAD src0.r00 src0.100 src0.100 ;\n\
             {condition}\n\
             ENDREP ;\n\
             OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rrr src0.rrr ;"
        ).as_bytes())
    }

    /// Hand-derived: the counter is 0 to 4 at the first guard; with a step by 2 at most, 2 + 2 = 4 is still below 5.
    #[test]
    fn both_ways_of_an_unknown_condition_are_followed() {
        assert_eq!(never(&counting("")), [4]);
        let step = |value: &str, literal: &str| {
            format!(
                "src0.rgb = temp[0] : alu[ge].r = MAD src0.r00 src0.100 src0.000 ;\n\
                 IF alu ALU_WAIT ;\n\
                 src0.rgb = {value} : temp[1].r = MAD src0.{literal}00 src0.100 src0.100 ;\nENDIF ;"
            )
        };
        assert_eq!(never(&counting(&step("temp[1]", "r"))), [4]);
        // Where it is set to an input plus 1, the guard is in reach.
        assert_eq!(never(&counting(&step("temp[0]", "g"))), [0; 0]);
    }

    /// The same by a CMP between the counter and the counter plus 1.
    #[test]
    fn results_of_selections_are_followed() {
        let select = |operand: &str| {
            format!(
                "src0.rgb = temp[1] : temp[2].r = MAD src0.r00 src0.100 src0.{operand}00 ;\n\
                 src0.rgb = temp[1], src1.rgb = temp[2], src2.rgb = temp[0] : \
                 temp[1].r = CMP src0.r00 src1.r00 src2.r00 ;"
            )
        };
        assert_eq!(never(&counting(&select("1"))), [4]);
        // Doubled where it is 3, it reaches the guard.
        assert_eq!(never(&counting(&select("r"))), [0; 0]);
    }
}
