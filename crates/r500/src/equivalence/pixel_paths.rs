//! The instructions that some pixel can execute: the paths of a pixel, explored with values where these are known.
//!
//! A loop counter starts at a literal and changes by literals; what it guards may be out of reach for every input. The
//! exploration runs a quad in the reference engine. It begins with all temporaries unknown and with the constants that the
//! program carries. A channel becomes *unknown* that depends on something unknown: a texel, a derivative, a constant with any
//! value. Where a branch reads an unknown condition, both of its ways are followed. Two states at a flow-control instruction are
//! the same if their live channels are; the exploration gives up after [`MOST_STEPS`].
//!
//! A pixel that votes follows its own conditions ([`Kind::Voter`]): all pixels of the quad have the same state. An uncovered pixel
//! without a vote (`IGNORE_UNCOVERED`) is left out where its group does not go its way. It matters only if others read its
//! registers, for derivatives and levels of detail. Then the same is explored for it ([`Kind::Uncovered`]): the last pixel of the
//! quad votes, one way and the other and not at all, and loops have any number of iterations.

use std::collections::{BTreeSet, HashSet};

use r500_check::ExternalReads;
use r500_check::dataflow::{ChannelId, ChannelSet, Dataflow, Liveness};
use r500_check::graph::{Graph, Structure};
use r500_exec::reference::{Group, GroupState, Lane, LaneState};
use r500_exec::{Bindings, Draw, Options, PixelRect, Shader};
use r500_isa::values::{AddrOp, InstType, PredSel, RgbMask};
use r500_isa::words::{AluAlphaInst, AluRgbInst, CmnInst};
use r500_isa::{Access, InstInfo, Instruction, TEMPORARIES};
use r500_program::Job;

use super::interface_match::constant_channels;

/// Instructions after which an exploration gives up.
const MOST_STEPS: u64 = 1 << 19;

/// Whose path is explored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A pixel that votes.
    Voter,
    /// A pixel without a vote: all but the last one of the quad, which votes.
    Uncovered,
}

/// Returns the addresses of the instructions that some pixel can execute. `open` lists the channels of constants that have any
/// value; integer and boolean constants have those of the job. `None` if that is unknown: the program is not structured, has
/// calls, writes registers of inactive pixels, addresses temporaries by aL, lacks integer or boolean constants, or has too many
/// paths.
pub(super) fn executable(
    job: &Job,
    open: &BTreeSet<(u8, u8)>,
    options: &Options<'_>,
) -> Option<BTreeSet<u32>> {
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
    let explore = |kind, live| {
        let exploration = Exploration {
            kind,
            parts: job.program.code.iter().map(|&inst| parts(inst)).collect(),
            live,
            graph: &graph,
            draw: Draw::new(&shader, &bindings, &options).ok()?,
            open: &open,
        };
        exploration.run()
    };
    let mut executed = explore(Kind::Voter, Liveness::of_covered(&flow))?;
    let is_read = reached().any(|at| graph.info(at).reads_quad);
    let has_no_vote = |at| graph.flow(at).is_some_and(|flow| flow.ignore_uncovered);
    if is_read && reached().any(has_no_vote) {
        executed.append(&mut explore(Kind::Uncovered, Liveness::of(&flow))?);
    }
    Some(executed)
}

/// Returns whether the exploration knows what an instruction writes, and where it goes.
fn is_followed(graph: &Graph, at: usize) -> bool {
    let info = graph.info(at);
    let mut temps = info.reads.iter().chain(info.writes.iter());
    !info.write_inactive
        && !temps.any(|access| access.relative)
        && graph.flow(at).is_none_or(|flow| flow.a_op == AddrOp::NONE)
}

struct Exploration<'a> {
    kind: Kind,
    /// For each instruction, what its written channels read and write.
    parts: Vec<Vec<Part>>,
    live: Liveness,
    graph: &'a Graph,
    draw: Draw<'a>,
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
    fn run(&self) -> Option<BTreeSet<u32>> {
        let rect = PixelRect { x: 0, y: 0, width: 2, height: 2 };
        let mut unknown = ChannelSet::EMPTY;
        (0..TEMPORARIES as u8).for_each(|temp| unknown.insert_temp(temp, 0b1111));
        (0..4).for_each(|bit| unknown.insert(ChannelId::Predicate(bit)));
        unknown.insert(ChannelId::AluResult);
        let start = Path { state: Group::new(&self.draw, rect).into_state(), unknown };
        let (mut work, mut seen) = (vec![start], HashSet::new());
        let (mut executed, mut steps) = (BTreeSet::new(), 0);
        while let Some(mut path) = work.pop() {
            self.set_coverage(&mut path.state);
            while !path.state.ended() {
                let address = path.state.address();
                let at = address.checked_sub(self.graph.window().offset)? as usize;
                if at >= self.graph.len() || !self.graph.reaches(at) {
                    return None;
                }
                let executes = path.pixel()?.executes(&self.draw.options.readings);
                if executes {
                    executed.insert(address);
                } else if self.kind == Kind::Voter {
                    return None;
                }
                if self.graph.flow(at).is_some() {
                    if !seen.insert(self.key(at, &path)?) {
                        break;
                    }
                    for way in self.ways(at, path) {
                        work.push(self.step(way)?);
                        steps += 1;
                    }
                    break;
                }
                if executes {
                    self.propagate(at, &mut path.unknown);
                }
                path = self.step(path)?;
                self.set_coverage(&mut path.state);
                steps += 1;
            }
            if steps > MOST_STEPS {
                return None;
            }
        }
        Some(executed)
    }

    /// Executes an instruction.
    fn step(&self, path: Path) -> Option<Path> {
        let mut group = Group::resume(&self.draw, path.state);
        group.step().ok()?;
        Some(Path { state: group.into_state(), unknown: path.unknown })
    }

    /// Lets pixels go on that may be killed: where they are not, they execute more.
    fn set_coverage(&self, state: &mut GroupState) {
        let last = state.lanes().len() - 1;
        for (n, lane) in state.lanes_mut().iter_mut().enumerate() {
            lane.killed = false;
            lane.covered = self.kind == Kind::Voter || n == last;
        }
    }

    /// Returns what decides the further course of a path at a flow-control instruction.
    fn key(&self, at: usize, path: &Path) -> Option<Box<[u32]>> {
        let Path { state, unknown } = path;
        let mut key = vec![state.address()];
        if self.kind == Kind::Voter {
            key.extend(state.loops().iter().map(|frame| frame.count));
        }
        for lane in [state.lanes().first()?, state.lanes().last()?] {
            key.extend(match lane.state {
                LaneState::Active => [0, 0],
                LaneState::Branch(n) => [1, n],
                LaneState::Break(n) => [2, n],
                LaneState::Continue(n) => [3, n],
            });
        }
        let lane = path.pixel()?;
        for channel in self.live.live_in(at).iter() {
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

    /// Returns the ways on which a path goes on at a flow-control instruction.
    fn ways(&self, at: usize, mut path: Path) -> Vec<Path> {
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
        let last = path.state.lanes().len() - 1;
        let pixels = if self.kind == Kind::Voter { 0..last + 1 } else { 0..last };
        let mut ways = vec![path];
        for channel in unknown {
            fork(&mut ways, |state, value| {
                let lanes = &mut state.lanes_mut()[pixels.clone()];
                lanes.iter_mut().for_each(|lane| set_condition(lane, channel, value));
            });
        }
        if self.kind == Kind::Uncovered {
            for channel in read.iter() {
                fork(&mut ways, |state, value| {
                    set_condition(&mut state.lanes_mut()[last], channel, value);
                });
            }
            fork(&mut ways, |state, votes| state.lanes_mut()[last].covered = votes);
            if self.graph.flow(at).is_some_and(|flow| flow.is_loop_end()) {
                fork(&mut ways, |state, leaves| {
                    if let Some(frame) = state.loops_mut().last_mut() {
                        frame.count = if leaves { 1 } else { 2 };
                    }
                });
            }
        }
        ways
    }

    /// Applies an instruction to the set of unknown channels.
    fn propagate(&self, at: usize, unknown: &mut ChannelSet) {
        let before = *unknown;
        for part in &self.parts[at] {
            let is_open = |access: &Access| {
                let channels = (0..4u8).filter(|c| access.may >> c & 1 != 0);
                access.relative || channels.into_iter().any(|c| self.open.contains(&(access.addr, c)))
            };
            let Part { info: part, is_predicated } = part;
            let mut predicates = part.predicate_reads;
            if part.alu_result_write && *is_predicated {
                // They may gate the ALU result (a reading).
                predicates = 0b1111;
            }
            let becomes_unknown = part.fetch
                || part.reads_quad
                || part.constants.iter().any(is_open)
                || part.reads.iter().any(|access| before.temp(access.addr) & access.may != 0)
                || predicates & before.predicates() != 0;
            let (mut may, mut must) = (ChannelSet::EMPTY, ChannelSet::EMPTY);
            for access in part.writes.iter() {
                may.insert_temp(access.addr, access.may);
                must.insert_temp(access.addr, access.must);
            }
            for bit in 0..4 {
                if part.predicate_writes >> bit & 1 != 0 {
                    may.insert(ChannelId::Predicate(bit));
                }
                if part.predicate_must_write >> bit & 1 != 0 {
                    must.insert(ChannelId::Predicate(bit));
                }
            }
            if part.alu_result_write {
                may.insert(ChannelId::AluResult);
                if !is_predicated {
                    must.insert(ChannelId::AluResult);
                }
            }
            if becomes_unknown {
                unknown.union(&may);
            } else {
                unknown.subtract(&must);
            }
        }
    }
}

/// Doubles the number of paths: sets something to one value in the first half, and to the other in the second.
fn fork(ways: &mut Vec<Path>, set: impl Fn(&mut GroupState, bool)) {
    let count = ways.len();
    ways.extend_from_within(..);
    for (n, way) in ways.iter_mut().enumerate() {
        set(&mut way.state, n >= count);
    }
}

impl Path {
    /// Returns the pixel whose path this is.
    fn pixel(&self) -> Option<&Lane> {
        self.state.lanes().first()
    }
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
    /// Whether a half of the instruction is predicated.
    is_predicated: bool,
}

/// Returns the parts of an instruction: red, green, blue, alpha, and the ALU result.
fn parts(inst: Instruction) -> Vec<Part> {
    let cmn = inst.cmn();
    let is_predicated = [cmn.rgb_pred_sel(), cmn.alpha_pred_sel()].iter().any(|&sel| sel != PredSel::NONE);
    let part = |inst| Part { info: InstInfo::new(inst), is_predicated };
    if !matches!(inst.ty(), InstType::ALU | InstType::OUT) {
        return vec![part(inst)];
    }
    let (rgb, alpha) = (inst.rgb_inst(), inst.alpha_inst());
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
        part(only)
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

    fn job(source: &[u8]) -> Job {
        let limits = r500_formats::Limits::default();
        crate::reader::read(source, None, None, &limits).unwrap().remove(0)
    }

    fn capture(name: &str) -> Job {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa");
        job(&std::fs::read(format!("{folder}/{name}.json")).unwrap())
    }

    #[test]
    fn probe() {
        for name in ["discard_branch", "loop_continue", "loop_idle_cont", "loop_idle_inner"] {
            let job = capture(name);
            let executed = executable(&job, &BTreeSet::new(), &Options::default());
            eprintln!("{name} {executed:?}");
        }
    }
}
