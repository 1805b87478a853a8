//! Instructions that no input can make a pixel execute: control that depends on literals alone.
//!
//! A branch on a loop counter and a literal takes the same course in all runs. What one complete run does not execute, no
//! run does. A channel *varies* if its value may depend on inputs, texels or constants with any value; a branch varies if its
//! condition does. An instruction is *controlled* by inputs if a varying branch decides whether a pixel executes it in an
//! iteration: it is between the branch and its target, or in a loop with a CONTINUE that is controlled. What a controlled
//! instruction writes varies. A controlled BREAK only shortens a loop: what the loop writes varies after it, and a complete run is
//! one that reaches an exit of the loop that is not controlled.

use std::collections::BTreeSet;

use r500_check::dataflow::{ChannelId, ChannelSet, Dataflow};
use r500_check::graph::{Graph, Structure};
use r500_isa::values::{AddrOp, FcOp, InstType, RgbMask};
use r500_isa::words::{AluAlphaInst, AluRgbInst, CmnInst};
use r500_isa::{Access, InstInfo, Instruction};
use r500_program::Program;

/// What inputs control.
pub(super) struct InputControl {
    /// For each instruction, whether inputs control it.
    pub(super) controlled: Vec<bool>,
    /// Loops that inputs may shorten.
    pub(super) shortened: Vec<Shortened>,
}

/// A loop that inputs may shorten.
pub(super) struct Shortened {
    /// Its first and last instruction.
    pub(super) first: usize,
    pub(super) last: usize,
    /// Its BREAKs that inputs do not control.
    pub(super) exits: Vec<usize>,
}

/// Returns what inputs control. `open` lists the channels of constants that have any value. `None` if that is unknown: the program has
/// calls or is not structured.
pub(super) fn input_control(program: &Program, open: &BTreeSet<(u8, u8)>) -> Option<InputControl> {
    let graph = Graph::new(program).ok()?;
    if graph.gave_up() {
        return None;
    }
    let structure = Structure::recover(&graph).ok()?;
    let flow = Dataflow::new(&graph, Some(&structure));
    let reached = || (0..graph.len()).filter(|&at| graph.reaches(at));
    let is_plain = |at: usize| graph.flow(at).is_none_or(|branch| branch.a_op == AddrOp::NONE);
    if flow.writes_are_conditional() || !reached().all(is_plain) {
        return None;
    }
    let control = Control {
        parts: program.code.iter().map(|&inst| parts(inst)).collect(),
        graph: &graph,
        flow: &flow,
        loops: loops(&graph),
        open,
    };
    let mut marks =
        Marks { controlled: vec![false; graph.len()], shortened: vec![false; control.loops.len()] };
    loop {
        let varying = control.varying(&marks);
        let before = marks.clone();
        let varies = control.mark(&varying, &mut marks);
        if marks == before {
            let shortened = control.loops.iter().enumerate().filter(|(n, _)| marks.shortened[*n]);
            let shortened = shortened
                .map(|(n, &(first, last))| Shortened {
                    first,
                    last,
                    exits: (first..last)
                        .filter(|&at| {
                            graph.flow(at).is_some_and(|branch| branch.is_break())
                                && control.innermost(at) == Some(n)
                                && !marks.controlled[at]
                                && !varies[at]
                        })
                        .collect(),
                })
                .collect();
            return Some(InputControl { controlled: marks.controlled, shortened });
        }
    }
}

#[derive(Clone, PartialEq)]
struct Marks {
    controlled: Vec<bool>,
    /// For each loop, whether inputs may shorten it.
    shortened: Vec<bool>,
}

struct Control<'a> {
    /// For each instruction, what its written channels read and write.
    parts: Vec<Vec<InstInfo>>,
    graph: &'a Graph,
    flow: &'a Dataflow,
    /// First and last instruction of each loop.
    loops: Vec<(usize, usize)>,
    open: &'a BTreeSet<(u8, u8)>,
}

impl Control<'_> {
    /// Returns the innermost loop around an instruction, by index.
    fn innermost(&self, at: usize) -> Option<usize> {
        let around = self.loops.iter().enumerate();
        let around = around.filter(|(_, (first, last))| (first..=last).contains(&&at));
        around.min_by_key(|(_, (first, last))| last - first).map(|(n, _)| n)
    }

    /// Returns the varying channels before each instruction: a forward dataflow analysis.
    fn varying(&self, marks: &Marks) -> Vec<ChannelSet> {
        let mut varying = vec![ChannelSet::EMPTY; self.graph.len()];
        let start = self.graph.window().start;
        for temp in 0..128u8 {
            varying[start].insert_temp(temp, 0b1111);
        }
        let mut work = vec![start];
        let mut seen = vec![false; self.graph.len()];
        while let Some(at) = work.pop() {
            seen[at] = true;
            let effects = self.flow.effects(at);
            let info = self.graph.info(at);
            let mut after = varying[at].without(&effects.must_write);
            if marks.controlled[at] || info.fetch || has_relative(info) {
                // Texels are inputs. What a relative address reads is not followed.
                let varies = marks.controlled[at]
                    || info.fetch
                    || info.constants.iter().any(|access| access.relative)
                    || effects.may_read.intersects(&varying[at]);
                if varies {
                    after.union(&effects.may_write);
                }
            } else {
                for part in &self.parts[at] {
                    self.add_part(part, &varying[at], &mut after);
                }
            }
            for next in self.flow.successors(at) {
                let mut after = after;
                for (_, &(first, last)) in
                    self.loops.iter().enumerate().filter(|(n, _)| marks.shortened[*n])
                {
                    let is_inside = |at: usize| (first..=last).contains(&at);
                    if is_inside(at) && !is_inside(next) {
                        for inside in first..=last {
                            after.union(&self.flow.effects(inside).may_write);
                        }
                    }
                }
                if varying[next].union(&after) || !seen[next] {
                    work.push(next);
                }
            }
        }
        varying
    }

    /// Adds what a part of an instruction writes, if it reads something that varies.
    fn add_part(&self, part: &InstInfo, varying: &ChannelSet, after: &mut ChannelSet) {
        let is_open = |access: &Access| {
            (0..4u8).any(|c| access.may >> c & 1 != 0 && self.open.contains(&(access.addr, c)))
        };
        let varies = part.constants.iter().any(is_open)
            || part.reads.iter().any(|access| varying.temp(access.addr) & access.may != 0)
            || varying.predicates() & part.predicate_reads != 0
            || part.alu_result_read && varying.contains(ChannelId::AluResult);
        if !varies {
            return;
        }
        part.writes.iter().for_each(|access| after.insert_temp(access.addr, access.may));
        for bit in (0..4u8).filter(|bit| part.predicate_writes >> bit & 1 != 0) {
            after.insert(ChannelId::Predicate(bit));
        }
        if part.alu_result_write {
            after.insert(ChannelId::AluResult);
        }
    }

    /// Marks what varying branches control. Returns which instructions are varying branches.
    fn mark(&self, varying: &[ChannelSet], marks: &mut Marks) -> Vec<bool> {
        let mut branches = vec![false; self.graph.len()];
        for at in (0..self.graph.len()).filter(|&at| self.graph.reaches(at)) {
            let Some(branch) = self.graph.flow(at) else { continue };
            let info = self.graph.info(at);
            let alu = info.alu_result_read && varying[at].contains(ChannelId::AluResult);
            let predicate = (0..4u8).any(|bit| {
                info.predicate_reads >> bit & 1 != 0
                    && varying[at].contains(ChannelId::Predicate(bit))
            });
            let varies = alu || predicate;
            branches[at] = varies;
            if varies && !branch.is_break() {
                let index = |target: u32| {
                    let offset = self.graph.window().offset;
                    let target = target.saturating_sub(offset) as usize;
                    target.min(self.graph.len())
                };
                let target = index(branch.target);
                let mut last = target;
                // An IF with an ELSE jumps to the instruction after it.
                let other = target.checked_sub(1).and_then(|at| self.graph.flow(at));
                if let Some(other) = other.filter(|other| other.b_else) {
                    last = last.max(index(other.target));
                }
                let (from, to) = (at.min(target), at.max(last));
                marks.controlled[from..to].fill(true);
            }
            if (varies || marks.controlled[at])
                && let Some(n) = self.innermost(at)
            {
                let (first, last) = self.loops[n];
                if branch.is_break() {
                    marks.shortened[n] = true;
                } else if branch.op == FcOp::CONTINUE {
                    marks.controlled[first..=last].fill(true);
                }
            }
        }
        branches
    }
}

fn has_relative(info: &InstInfo) -> bool {
    info.reads
        .iter()
        .chain(info.constants.iter())
        .chain(info.writes.iter())
        .any(|access| access.relative)
}

/// Returns what each written channel of an instruction alone reads and writes: red, green, blue, alpha, and the ALU result.
fn parts(inst: Instruction) -> Vec<InstInfo> {
    if !matches!(inst.ty(), InstType::ALU | InstType::OUT) {
        return vec![InstInfo::new(inst)];
    }
    let (cmn, rgb, alpha) = (inst.cmn(), inst.rgb_inst(), inst.alpha_inst());
    let only = |colours: u8, is_alpha: bool, is_result: bool| {
        let keep = |mask: RgbMask| RgbMask::new(mask.code() & colours);
        let mut part = inst;
        part.0[0] = cmn
            .with(CmnInst::RGB_WMASK, keep(cmn.rgb_wmask()))
            .with(CmnInst::RGB_OMASK, keep(cmn.rgb_omask()))
            .with(CmnInst::ALPHA_WMASK, cmn.alpha_wmask() && is_alpha)
            .with(CmnInst::ALPHA_OMASK, cmn.alpha_omask() && is_alpha)
            .bits();
        part.0[3] = rgb.with(AluRgbInst::ALU_WMASK, rgb.alu_wmask() && is_result).bits();
        part.0[4] = alpha.with(AluAlphaInst::W_OMASK, alpha.w_omask() && is_alpha).bits();
        InstInfo::new(part)
    };
    vec![
        only(1, false, false),
        only(2, false, false),
        only(4, false, false),
        only(0, true, false),
        only(0, false, true),
    ]
}

/// Returns the first and last instruction of each loop.
fn loops(graph: &Graph) -> Vec<(usize, usize)> {
    let (mut open, mut loops) = (Vec::new(), Vec::new());
    for at in 0..graph.len() {
        let Some(branch) = graph.flow(at) else { continue };
        if branch.is_loop_begin() {
            open.push(at);
        } else if branch.is_loop_end()
            && let Some(first) = open.pop()
        {
            loops.push((first, at));
        }
    }
    loops
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods)]

    use super::*;

    fn control(source: &[u8]) -> InputControl {
        let limits = r500_formats::Limits::default();
        let job = crate::reader::read(source, None, None, &limits).unwrap().remove(0);
        input_control(&job.program, &BTreeSet::new()).unwrap()
    }

    fn control_of_capture(name: &str) -> InputControl {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa");
        control(&std::fs::read(format!("{folder}/{name}.json")).unwrap())
    }

    fn controlled(source: &str) -> (Vec<bool>, usize) {
        let control = control(source.as_bytes());
        (control.controlled, control.shortened.len())
    }

    #[test]
    fn counters_and_literals_do_not_vary() {
        let source = |operand: &str| {
            format!(
                "FULL_FC_EN ;\nint[0] = (8, 0, 0) ;\nconst[0] = (3, 0, 0, 0) ;\n\
                 : temp[1].r = MAX src0.000 src0.000 ;\n\
                 REP int[0] ;\n\
                 src0.rgb = {operand}, src1.rgb = const[0] : alu[ge].r = MAD src0.r00 src0.100 -src1.r00 ;\n\
                 IF alu ALU_WAIT ;\nBREAK ;\nENDIF ;\n\
                 src0.rgb = temp[1] : temp[1].r = MAD src0.r00 src0.100 src0.100 ;\n\
                 ENDREP ;\n\
                 OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rrr src0.rrr ;"
            )
        };
        let (by_counter, shortened) = controlled(&source("temp[1]"));
        assert!(!by_counter.contains(&true));
        assert_eq!(shortened, 0);
        // With a condition on an input, the branch with BREAK is controlled: the loop may be shorter.
        let (by_input, shortened) = controlled(&source("temp[0]"));
        assert_eq!(by_input.iter().filter(|&&controlled| controlled).count(), 3, "{by_input:?}");
        assert!(by_input[4] && !by_input[6]);
        assert_eq!(shortened, 1);
    }

    /// The counters of this loop end it after 250 iterations, and its first BREAK waits for 1000; a third one depends on the
    /// input.
    #[test]
    fn a_break_on_an_input_only_shortens_the_loop() {
        let control = control_of_capture("loop_250");
        let controlled: Vec<usize> =
            (0..control.controlled.len()).filter(|&at| control.controlled[at]).collect();
        assert_eq!(controlled, [15, 16, 17]);
        assert_eq!(control.shortened.len(), 1);
        assert_eq!(control.shortened[0].exits, [6, 10]);
    }

    /// The other half of the instruction that counts works with the input; the loop ends by the counter alone.
    #[test]
    fn halves_of_an_instruction_vary_apart() {
        let control = control_of_capture("scene_fbm");
        assert!(!control.controlled.contains(&true));
        assert_eq!(control.shortened.len(), 0);
    }
}
