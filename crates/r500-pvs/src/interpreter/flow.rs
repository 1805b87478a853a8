//! Flow control of vertex programs: jumps, loops and calls that take effect between instructions.

use r500_chip::pvs::INSTRUCTIONS;
use r500_chip::values::FlowOp;

use super::fixed_point::Iteration;
use crate::{Controls, Flow};

/// The flow-control instructions of a program, and its first and last instruction.
#[derive(Clone, Debug)]
pub(super) struct FlowControl {
    first: usize,
    last: usize,
    /// In the order of their effect at one address.
    pub(super) ops: Vec<FlowInst>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FlowInst {
    pub(super) op: FlowOp,
    /// The instruction after which it takes effect.
    pub(super) act: u16,
    /// Trip count of a loop, target of a jump or call.
    pub(super) count_or_target: u16,
    last: u16,
    pub(super) target: u16,
    pub(super) init: i32,
    pub(super) step: i32,
    pub(super) keep_index: bool,
}

impl From<&Flow> for FlowInst {
    fn from(flow: &Flow) -> Self {
        Self {
            op: flow.op,
            act: flow.low.act_adrs(),
            count_or_target: flow.low.loop_cnt_jmp_inst(),
            last: flow.high.last_inst(),
            target: flow.high.rtn_inst(),
            init: flow.index.loop_init_val().into(),
            step: flow.index.loop_step_val().into(),
            keep_index: flow.index.loop_repeat_no_fli(),
        }
    }
}

impl FlowControl {
    pub(super) fn new(controls: &Controls) -> Self {
        let first = usize::from(controls.range.pvs_first_inst());
        let last = usize::from(controls.range.pvs_last_inst()).max(first);
        let mut ops: Vec<FlowInst> = controls.flow.iter().map(FlowInst::from).collect();
        // Loops with a common start are entered outermost first: the outermost ends last; compilers number inner loops
        // with a common end first.
        ops.reverse();
        ops.sort_by_key(|op| (op.act, u16::MAX - op.last));
        Self { first, last, ops }
    }

    pub(super) fn after(&self, instruction: u16) -> impl Iterator<Item = (usize, &FlowInst)> {
        self.ops.iter().enumerate().filter(move |(_, op)| op.act == instruction)
    }
}

/// A loop that begins or ends, by its place in [`FlowControl::ops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowEvent {
    Entered(usize),
    /// `completed`: at its last instruction, not by a jump.
    Ended {
        inst: usize,
        completed: bool,
    },
}

/// A loop or call that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Running {
    /// A loop.
    Loop {
        /// Remaining iterations, including the current one.
        left: u16,
        /// The loop index (aL).
        index: i32,
    },
    /// A call.
    Call {
        /// The instruction after the call.
        return_to: usize,
    },
}

/// The instruction sequencer. It belongs to the flow control that it was made for.
#[derive(Clone, Debug)]
pub(super) struct Sequencer {
    pc: Option<usize>,
    stack: Vec<Frame>,
    /// Loop index outside of all loops.
    outer_index: i32,
    /// Whether instructions use the loop index.
    indexed: bool,
    /// The current iteration of each flow-control instruction that is a loop.
    iterations: Vec<Iteration>,
    /// If each loop runs one iteration: the loops that were entered and left since they were taken.
    events: Option<Vec<FlowEvent>>,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Index of the flow-control instruction.
    inst: usize,
    /// Remaining iterations, including the current one; 1 for a call.
    left: u16,
    index: i32,
}

/// Limit of open loops and calls.
const DEPTH: usize = 64;

impl Sequencer {
    /// Returns a sequencer at the first instruction. `indexed` tells whether instructions use the loop index.
    pub(super) fn new(flow: &FlowControl, indexed: bool) -> Self {
        Self::start(flow, indexed, None)
    }

    /// Returns a sequencer that runs one iteration of each loop, and records [events](Self::take_events).
    pub(super) fn of_one_iteration(flow: &FlowControl) -> Self {
        Self::start(flow, true, Some(Vec::new()))
    }

    fn start(flow: &FlowControl, indexed: bool, events: Option<Vec<FlowEvent>>) -> Self {
        let mut sequencer = Self {
            pc: Some(flow.first),
            stack: Vec::new(),
            outer_index: 0,
            indexed,
            iterations: vec![Iteration::default(); flow.ops.len()],
            events,
        };
        // A loop at the start of the program would take effect after the instruction before it, which does not exist at
        // address 0.
        if flow.first == 0 {
            sequencer.enter(flow, u16::MAX, flow.first);
        }
        sequencer
    }

    /// Returns the next instruction; `None` at the end.
    #[inline]
    pub(super) fn pc(&self) -> Option<usize> {
        self.pc
    }

    /// Returns aL.
    #[inline]
    pub(super) fn loop_index(&self) -> i32 {
        self.stack.last().map_or(self.outer_index, |frame| frame.index)
    }

    /// Advances to the instruction after the current one. `snapshot` stores all that instructions can change.
    pub(super) fn step(&mut self, flow: &FlowControl, snapshot: impl Fn(&mut Vec<u32>)) {
        let Some(pc) = self.pc else { return };
        // Loops and subroutines that end here, innermost first.
        while let Some(frame) = self.stack.last_mut() {
            let inst = &flow.ops[frame.inst];
            if usize::from(inst.last) != pc {
                break;
            }
            frame.left = frame.left.saturating_sub(1);
            if inst.op == FlowOp::CALL {
                let target = usize::from(inst.target);
                self.stack.pop();
                self.go(target);
                return;
            }
            let steady = inst.step == 0 || !self.indexed;
            let (frame_inst, once) = (frame.inst, self.events.is_some());
            let finished =
                once || frame.left == 0 || steady && self.iterations[frame_inst].end(&snapshot);
            if !finished {
                frame.index = frame.index.saturating_add(inst.step);
                let target = usize::from(inst.target);
                self.pc = Some(target);
                // Inner loops with the same start are entered again.
                self.enter(flow, inst.target.wrapping_sub(1), target);
                return;
            }
            self.stack.pop();
            self.record(FlowEvent::Ended { inst: frame_inst, completed: true });
        }
        if pc >= flow.last && !self.in_call(flow) {
            self.pc = None;
            return;
        }
        self.go(pc + 1);
        self.enter(flow, pc as u16, pc + 1);
    }

    fn in_call(&self, flow: &FlowControl) -> bool {
        self.stack.iter().any(|frame| flow.ops[frame.inst].op == FlowOp::CALL)
    }

    /// Returns the loops and calls that run, the outermost first.
    pub(super) fn running(&self, flow: &FlowControl) -> impl Iterator<Item = Running> {
        self.stack.iter().map(|frame| {
            let inst = &flow.ops[frame.inst];
            match inst.op {
                FlowOp::CALL => Running::Call { return_to: inst.target.into() },
                _ => Running::Loop { left: frame.left, index: frame.index },
            }
        })
    }

    /// Returns the loops and calls that run, by their place in [`FlowControl::ops`], with the remaining passes; the outermost first.
    pub(super) fn frames(&self) -> impl Iterator<Item = (usize, u16)> {
        self.stack.iter().map(|frame| (frame.inst, frame.left))
    }

    /// Returns the number of loops and calls that run.
    pub(super) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Returns the approximate size in bytes of what it holds in vectors.
    pub(super) fn heap_bytes(&self) -> usize {
        let iterations: usize = self.iterations.iter().map(Iteration::bytes).sum();
        iterations + size_of_val(self.stack.as_slice())
    }

    /// Takes the loops that were entered and left since the last call, of a sequencer [of one iteration](Self::of_one_iteration).
    pub(super) fn take_events(&mut self) -> Vec<FlowEvent> {
        #[expect(clippy::expect_used, reason = "loops that are not recorded would be lost")]
        let events = self.events.as_mut().expect("the sequencer records");
        std::mem::take(events)
    }

    fn record(&mut self, event: FlowEvent) {
        if let Some(events) = &mut self.events {
            events.push(event);
        }
    }

    fn go(&mut self, pc: usize) {
        self.pc = (pc < INSTRUCTIONS).then_some(pc);
    }

    /// Executes the flow control after an instruction, before `next`.
    fn enter(&mut self, flow: &FlowControl, after: u16, next: usize) {
        for (n, inst) in flow.after(after) {
            if self.stack.iter().any(|frame| frame.inst == n) {
                continue;
            }
            match inst.op {
                FlowOp::LOOP if inst.count_or_target == 0 => {
                    self.go(usize::from(inst.last) + 1);
                    return;
                }
                FlowOp::LOOP if self.stack.len() < DEPTH => {
                    let index = if inst.keep_index { self.loop_index() } else { inst.init };
                    self.iterations[n].enter();
                    self.record(FlowEvent::Entered(n));
                    self.stack.push(Frame { inst: n, left: inst.count_or_target, index });
                }
                FlowOp::CALL if self.stack.len() < DEPTH => {
                    self.stack.push(Frame { inst: n, left: 1, index: self.loop_index() });
                    self.go(usize::from(inst.count_or_target));
                    return;
                }
                FlowOp::JUMP => {
                    let target = usize::from(inst.count_or_target);
                    // A jump exits the loops that do not contain its target.
                    while let Some(frame) = self.stack.last() {
                        let around = &flow.ops[frame.inst];
                        let inside = around.op == FlowOp::CALL
                            || (usize::from(around.target)..=usize::from(around.last))
                                .contains(&target);
                        if inside {
                            break;
                        }
                        let inst = frame.inst;
                        self.stack.pop();
                        self.record(FlowEvent::Ended { inst, completed: false });
                    }
                    self.go(target);
                    return;
                }
                _ => {}
            }
        }
        self.go(next);
    }
}
