//! Abstract interpretation of flow control: all reachable states of a group of pixels (program
//! counter, loop stack, address stack, number of open branch levels).
//!
//! The stacks are tracked exactly, because a return continues after its own call and a BREAK leaves
//! the innermost running loop. Branch levels are a range, because only their limit affects control
//! flow. The result over-approximates every run: a data-dependent jump takes both edges.

use r500_isa::limits::{BRANCH_LEVELS, CALL_LEVELS, LOOP_LEVELS, PARTIAL_BRANCH_LEVELS};
use r500_isa::state::UsFcIntConst;
use r500_isa::values::{AddrOp, BranchOp, FcOp};
use r500_program::{CodeWindow, Executable};

use super::stack_interner::{StackId, StackInterner};
use super::{AlRange, DepthRange, Edge, EdgeKind, Node, Trap, Traps};
use crate::limits::STATES;
use r500_isa::BranchInfo;

/// The result of the exploration.
#[derive(Debug)]
pub(super) struct Explored {
    /// The joined abstract state of each instruction; `None` if unreachable.
    pub(super) visits: Vec<Option<AbstractState>>,
    /// All edges in ascending order of their source.
    pub(super) edges: Vec<Edge>,
    /// The number of states.
    pub(super) states: usize,
    /// Whether there were too many states, so that the result is incomplete.
    pub(super) gave_up: bool,
}

/// The abstract state of an instruction, joined over all states that reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbstractState {
    /// Branch levels open before the instruction: at least the counter of an inactive pixel, plus
    /// one.
    pub levels: DepthRange,
    /// Loops running before the instruction.
    pub loops: DepthRange,
    /// Addresses on the address stack before the instruction.
    pub calls: DepthRange,
    /// aL.
    pub al: AlRange,
    /// An example of two paths that reach the instruction with different numbers of open branch
    /// levels.
    pub unbalanced: Option<(u8, u8)>,
    /// The errors that the instruction causes in some state.
    pub traps: Traps,
    /// BREAK and CONTINUE: the levels that `B_OP1` should close, if known and different from those
    /// it closes.
    pub should_close: Option<u8>,
}

/// The abstract state of a running loop.
#[derive(Clone, Debug, Default)]
struct LoopFrame {
    /// `KR`, if given.
    trip_count: Option<u8>,
    /// aL in the first iteration; `None` if it is the aL of the enclosing loop.
    start: Option<AlRange>,
    /// Least and greatest step.
    step: (i8, i8),
    /// Whether the step is unknown.
    unknown_step: bool,
    /// Branch levels open at the start of the loop.
    levels: Option<DepthRange>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    pc: u32,
    calls: StackId,
    loops: StackId,
    levels: DepthRange,
    queued: bool,
}

const NONE: u32 = u32::MAX;

struct Explorer<'a> {
    program: &'a Executable<'a>,
    window: CodeWindow,
    flows: &'a [Option<BranchInfo>],
    levels: u8,
    calls: StackInterner<()>,
    loops: StackInterner<LoopFrame>,
    states: Vec<State>,
    known: StateTable,
    queue: Vec<u32>,
    traps: Vec<Traps>,
    unbalanced: Vec<Option<(u8, u8)>>,
    should_close: Vec<Option<u8>>,
    edges: Vec<Vec<(EdgeKind, Node)>>,
    gave_up: bool,
    /// Whether a BREAK or CONTINUE outside every loop may have deactivated pixels permanently.
    lanes_may_be_inactive: bool,
}

/// Explores a program. `flows` holds its decoded flow-control instructions by index.
pub(super) fn explore(program: &Executable<'_>, flows: &[Option<BranchInfo>]) -> Explored {
    let count = program.code.len();
    let window = program.window;
    let mut explorer = Explorer {
        program,
        window,
        flows,
        levels: if program.full_fc { BRANCH_LEVELS } else { PARTIAL_BRANCH_LEVELS },
        calls: StackInterner::new(),
        loops: StackInterner::new(),
        states: Vec::with_capacity(count + count / 2),
        known: StateTable::with_room_for(count),
        queue: Vec::new(),
        traps: vec![Traps::default(); count],
        unbalanced: vec![None; count],
        should_close: vec![None; count],
        edges: vec![Vec::new(); count],
        gave_up: false,
        lanes_may_be_inactive: false,
    };
    explorer.reach(window.start, 0, 0, DepthRange::exactly(0));
    while let Some(index) = explorer.queue.pop() {
        explorer.states[index as usize].queued = false;
        explorer.transfer(explorer.states[index as usize]);
        if explorer.states.len() > STATES + count {
            explorer.gave_up = true;
            break;
        }
    }
    explorer.into_explored()
}

impl Explorer<'_> {
    /// Joins a state into the known states, and queues it if they change.
    fn reach(&mut self, pc: usize, calls: StackId, loops: StackId, levels: DepthRange) {
        let pc32 = u32::try_from(pc).unwrap_or(NONE);
        let states = &self.states;
        let found = self.known.find(key(pc32, calls, loops), |index| {
            let state = &states[index as usize];
            (state.pc, state.calls, state.loops) == (pc32, calls, loops)
        });
        let Some(index) = found else {
            let new = u32::try_from(self.states.len()).unwrap_or(NONE);
            self.states.push(State { pc: pc32, calls, loops, levels, queued: true });
            let states = &self.states;
            self.known.insert(new, states.len(), |index| {
                let state = &states[index as usize];
                key(state.pc, state.calls, state.loops)
            });
            self.queue.push(new);
            return;
        };
        let state = &mut self.states[index as usize];
        let joined = state.levels.hull(levels);
        if joined != state.levels {
            if let (Some(a), Some(b)) = (state.levels.exact(), levels.exact()) {
                self.unbalanced[pc].get_or_insert((a, b));
            }
            state.levels = joined;
            if !std::mem::replace(&mut state.queued, true) {
                self.queue.push(index);
            }
        }
    }

    fn transfer(&mut self, state: State) {
        let pc = state.pc as usize;
        let Some(flow) = self.flows.get(pc).copied().flatten() else {
            self.fall_through(pc, EdgeKind::Next, pc + 1, state.calls, state.loops, state.levels);
            return;
        };
        let State { calls, loops, mut levels, .. } = state;
        if flow.b_else {
            if levels.min == 0 {
                self.traps[pc].set(Trap::ElseWithoutLevel);
            }
            levels.max = levels.max.max(1);
        }
        let decision = self.decide(pc, &flow, levels, loops);
        if let Some(loops) = decision.fall_through {
            let kind = if flow.is_loop_begin() {
                EdgeKind::Enter
            } else if flow.is_loop_end() {
                EdgeKind::LeaveLoop
            } else {
                EdgeKind::NotTaken
            };
            if flow.b_op0.code() == 3 {
                self.traps[pc].set(Trap::ReservedBranchOp0);
            }
            let levels = self.apply_branch_op(pc, flow.b_op0, flow.pop, levels);
            self.fall_through(pc, kind, pc + 1, calls, loops, levels);
        }
        if let Some(after) = decision.taken {
            if flow.b_op1.code() == 3 {
                self.traps[pc].set(Trap::ReservedBranchOp1);
            }
            self.check_close(pc, &flow, loops, levels);
            let levels = self.apply_branch_op(pc, flow.b_op1, flow.pop, levels);
            self.jump(pc, &flow, calls, after, levels);
        }
    }

    /// Returns whether the group may jump and may fall through, with the loop stack after each.
    fn decide(
        &mut self,
        pc: usize,
        flow: &BranchInfo,
        levels: DepthRange,
        loops: StackId,
    ) -> Decision {
        // With all pixels inactive there is no vote. Outside branches and loops all pixels are
        // active.
        let empty =
            levels.max > 0 || loops != 0 || flow.ignore_uncovered || self.lanes_may_be_inactive;
        let wants = flow.outcome;
        let (mut jumps, stays) = if flow.any {
            (wants.may_jump, wants.may_fall_through || empty)
        } else {
            (wants.may_jump || empty, wants.may_fall_through)
        };
        if flow.is_loop_begin() {
            return self.begin_loop(pc, flow, levels, loops);
        }
        if flow.is_loop_end() {
            if loops == 0 {
                self.traps[pc].set(Trap::LoopUnderflow);
                return Decision { taken: jumps.then_some(0), fall_through: stays.then_some(0) };
            }
            if self.loops.top(loops).trip_count == Some(1) {
                jumps = false;
            }
            if jumps {
                self.advance(flow, loops);
            }
            let below = self.loops.pop(loops).map_or(0, |(_, below)| below);
            return Decision { taken: jumps.then_some(loops), fall_through: Some(below) };
        }
        if flow.is_break() || flow.op == FcOp::CONTINUE {
            if loops == 0 {
                self.traps[pc].set(Trap::LoopUnderflow);
                self.assume_inactive_lanes();
                return Decision { taken: jumps.then_some(0), fall_through: stays.then_some(0) };
            }
            let below = self.loops.pop(loops).map_or(0, |(_, below)| below);
            let after = if flow.is_break() { below } else { loops };
            // Pixels that remain in the loop keep the group in the loop.
            return Decision { taken: jumps.then_some(after), fall_through: Some(loops) };
        }
        Decision { taken: jumps.then_some(loops), fall_through: stays.then_some(loops) }
    }

    /// From now on any lane may be inactive anywhere; requeue all states.
    fn assume_inactive_lanes(&mut self) {
        if std::mem::replace(&mut self.lanes_may_be_inactive, true) {
            return;
        }
        for (index, state) in (0u32..).zip(&mut self.states) {
            if !std::mem::replace(&mut state.queued, true) {
                self.queue.push(index);
            }
        }
    }

    /// Computes the effect of LOOP and REP: KR = 0 always jumps. A group without active pixels
    /// enters the loop anyway (unless `JUMP_ANY`, which then never jumps).
    fn begin_loop(
        &mut self,
        pc: usize,
        flow: &BranchInfo,
        levels: DepthRange,
        loops: StackId,
    ) -> Decision {
        let constant = self.int_constant(flow);
        let trip_count = constant.map(|c| c.kr());
        // A loop of zero iterations that jumps to its own end would end the enclosing loop. If KR
        // is unknown, such a loop is assumed to have iterations.
        let onto_end = || {
            let target = self.window.index(flow.target);
            target.and_then(|target| self.flows[target]).is_some_and(|word| word.is_loop_end())
        };
        let jumps = flow.outcome.may_jump
            || match trip_count {
                Some(passes) => passes == 0,
                None => !onto_end(),
            };
        let empty =
            levels.max > 0 || loops != 0 || flow.ignore_uncovered || self.lanes_may_be_inactive;
        let stays = (flow.outcome.may_fall_through || empty) && trip_count != Some(0);
        let jumps = jumps.then_some(loops);
        if !stays {
            return Decision { taken: jumps, fall_through: None };
        }
        if self.loops.depth(loops) >= LOOP_LEVELS {
            self.traps[pc].set(Trap::LoopOverflow);
            return Decision { taken: jumps, fall_through: Some(loops) };
        }
        let inner = self.loops.push(loops, u32::try_from(pc).unwrap_or(NONE));
        let frame = self.loops.top_mut(inner);
        frame.trip_count = trip_count;
        let is_loop = flow.op == FcOp::LOOP;
        frame.start = is_loop.then(|| match constant {
            Some(constant) => AlRange::exactly(i32::from(constant.kg())),
            None => AlRange::unknown(),
        });
        frame.levels = Some(frame.levels.map_or(levels, |known| known.hull(levels)));
        Decision { taken: jumps, fall_through: Some(inner) }
    }

    fn int_constant(&self, flow: &BranchInfo) -> Option<UsFcIntConst> {
        self.program.int_constants.get(usize::from(flow.int)).copied().flatten()
    }

    /// Applies ENDLOOP, which adds KB to aL.
    fn advance(&mut self, flow: &BranchInfo, loops: StackId) {
        if flow.op != FcOp::ENDLOOP {
            return;
        }
        let constant = self.int_constant(flow);
        let frame = self.loops.top_mut(loops);
        match constant {
            Some(constant) => {
                frame.step.0 = frame.step.0.min(constant.kb());
                frame.step.1 = frame.step.1.max(constant.kb());
            }
            None => frame.unknown_step = true,
        }
    }

    /// Returns the open levels after a branch operation, clamped to the limit.
    fn apply_branch_op(
        &mut self,
        pc: usize,
        op: BranchOp,
        pop: u8,
        levels: DepthRange,
    ) -> DepthRange {
        match op {
            BranchOp::DECR => DepthRange {
                min: levels.min.saturating_sub(pop),
                max: levels.max.saturating_sub(pop),
            },
            BranchOp::INCR => {
                if levels.max >= self.levels {
                    self.traps[pc].set(Trap::BranchOverflow);
                }
                let up = |level: u8| (level + 1).min(self.levels);
                DepthRange { min: up(levels.min), max: up(levels.max) }
            }
            _ => levels,
        }
    }

    /// Checks that a BREAK or CONTINUE that jumps leaves as many branch levels open as its loop
    /// began with.
    fn check_close(&mut self, pc: usize, flow: &BranchInfo, loops: StackId, levels: DepthRange) {
        let leaves = flow.is_break() || flow.op == FcOp::CONTINUE;
        if !leaves || loops == 0 {
            return;
        }
        let begin = self.loops.top(loops).levels.and_then(DepthRange::exact);
        if let (Some(begin), Some(now)) = (begin, levels.exact()) {
            let wanted = now.saturating_sub(begin);
            if flow.levels_closed_by_jump() != Some(wanted) {
                self.should_close[pc] = Some(wanted);
            }
        }
    }

    fn jump(
        &mut self,
        pc: usize,
        flow: &BranchInfo,
        calls: StackId,
        loops: StackId,
        levels: DepthRange,
    ) {
        let (kind, calls) = match flow.a_op {
            AddrOp::POP => {
                let Some((back, below)) = self.calls.pop(calls) else {
                    self.traps[pc].set(Trap::CallUnderflow);
                    self.fall_through(pc, EdgeKind::Jump, pc + 1, calls, loops, levels);
                    return;
                };
                self.fall_through(pc, EdgeKind::Return, back as usize, below, loops, levels);
                return;
            }
            AddrOp::PUSH => {
                let next = u32::try_from(pc + 1).unwrap_or(NONE);
                if self.calls.depth(calls) >= CALL_LEVELS {
                    self.traps[pc].set(Trap::CallOverflow);
                    (EdgeKind::Call, calls)
                } else {
                    (EdgeKind::Call, self.calls.push(calls, next))
                }
            }
            op => {
                if op != AddrOp::NONE {
                    self.traps[pc].set(Trap::ReservedAddrOp);
                }
                let kind = if flow.is_loop_begin() {
                    EdgeKind::Skip
                } else if flow.is_loop_end() {
                    EdgeKind::Back
                } else if flow.is_break() {
                    EdgeKind::Break
                } else if flow.op == FcOp::CONTINUE {
                    EdgeKind::Continue
                } else {
                    EdgeKind::Jump
                };
                (kind, calls)
            }
        };
        if pc == self.window.end.unwrap_or(usize::MAX) {
            self.edge(pc, EdgeKind::End, Node::End);
            return;
        }
        match self.window.index(flow.target) {
            Some(target) => {
                self.edge(pc, kind, Node::Instruction(target));
                self.reach(target, calls, loops, levels);
            }
            None => {
                self.traps[pc].set(Trap::JumpsOut);
                self.edge(pc, kind, Node::Outside(flow.target));
            }
        }
    }

    /// Continues at an instruction, unless the program ends here.
    fn fall_through(
        &mut self,
        pc: usize,
        kind: EdgeKind,
        to: usize,
        calls: StackId,
        loops: StackId,
        levels: DepthRange,
    ) {
        if self.window.end == Some(pc) {
            if levels.min > 0 {
                self.traps[pc].set(Trap::EndsInBranch);
            }
            if loops != 0 {
                self.traps[pc].set(Trap::EndsInLoop);
            }
            self.edge(pc, EdgeKind::End, Node::End);
        } else if to > self.window.last {
            self.traps[pc].set(Trap::RunsOut);
            self.edge(pc, kind, Node::Outside(self.window.address(to)));
        } else {
            self.edge(pc, kind, Node::Instruction(to));
            self.reach(to, calls, loops, levels);
        }
    }

    fn edge(&mut self, pc: usize, kind: EdgeKind, to: Node) {
        let edges = &mut self.edges[pc];
        if !edges.contains(&(kind, to)) {
            edges.push((kind, to));
        }
    }

    fn into_explored(mut self) -> Explored {
        let al = self.al_ranges();
        let mut visits: Vec<Option<AbstractState>> = vec![None; self.traps.len()];
        for state in &self.states {
            let pc = state.pc as usize;
            let loops = DepthRange::of(self.loops.depth(state.loops));
            let calls = DepthRange::of(self.calls.depth(state.calls));
            let here = al[(state.loops as usize).min(al.len() - 1)];
            match &mut visits[pc] {
                Some(visit) => {
                    visit.levels = visit.levels.hull(state.levels);
                    visit.loops = visit.loops.hull(loops);
                    visit.calls = visit.calls.hull(calls);
                    visit.al = visit.al.hull(here);
                }
                empty => {
                    *empty = Some(AbstractState {
                        levels: state.levels,
                        loops,
                        calls,
                        al: here,
                        unbalanced: self.unbalanced[pc],
                        traps: self.traps[pc],
                        should_close: self.should_close[pc],
                    });
                }
            }
        }
        let mut edges = Vec::with_capacity(self.edges.len() + 8);
        for (from, list) in self.edges.iter_mut().enumerate() {
            list.sort_unstable();
            edges.extend(list.iter().map(|&(kind, to)| Edge { from, kind, to }));
        }
        Explored { visits, edges, states: self.states.len(), gave_up: self.gave_up }
    }

    /// Returns the range of aL for every loop stack. A frame with trip count KR steps at most KR -
    /// 1 times.
    fn al_ranges(&self) -> Vec<AlRange> {
        let mut al = vec![AlRange::exactly(0); self.loops.len()];
        // A stack has a greater number than the stack below it.
        for stack in 1..self.loops.len() {
            let number = u32::try_from(stack).unwrap_or(0);
            let below = self.loops.pop(number).map_or(0, |(_, below)| below as usize);
            let frame = self.loops.top(number);
            let start = frame.start.unwrap_or(al[below]);
            let steps = frame.trip_count.map_or(0, |kr| i32::from(kr) - 1).max(0);
            al[stack] = AlRange {
                min: start.min + steps * i32::from(frame.step.0),
                max: start.max + steps * i32::from(frame.step.1),
                unknown: start.unknown || frame.unknown_step || frame.trip_count.is_none(),
            };
        }
        al
    }
}

fn key(pc: u32, calls: StackId, loops: StackId) -> u32 {
    // Odd multipliers spread small numbers.
    let mixed = pc.wrapping_mul(0x9e37_79b1) ^ calls.wrapping_mul(0x85eb_ca77);
    let mixed = mixed ^ loops.wrapping_mul(0xc2b2_ae3d);
    mixed ^ mixed >> 15
}

/// A hash table of state numbers; the caller supplies keys and equality.
struct StateTable {
    slots: Vec<u32>,
}

impl StateTable {
    fn with_room_for(count: usize) -> Self {
        Self { slots: vec![NONE; (count * 2).next_power_of_two().max(16)] }
    }

    fn find(&self, key: u32, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = key as usize & mask;
        while self.slots[at] != NONE {
            if is(self.slots[at]) {
                return Some(self.slots[at]);
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Adds the last of `count` states.
    fn insert(&mut self, new: u32, count: usize, key_of: impl Fn(u32) -> u32) {
        if count * 2 > self.slots.len() {
            self.slots = vec![NONE; self.slots.len() * 2];
            (0..new).for_each(|old| self.insert_slot(old, key_of(old)));
        }
        self.insert_slot(new, key_of(new));
    }

    fn insert_slot(&mut self, index: u32, key: u32) {
        let mask = self.slots.len() - 1;
        let mut at = key as usize & mask;
        while self.slots[at] != NONE {
            at = (at + 1) & mask;
        }
        self.slots[at] = index;
    }
}

struct Decision {
    /// The loop stack after a taken jump; `None` if it is never taken.
    taken: Option<StackId>,
    /// The loop stack at the next instruction; `None` if the jump is always taken.
    fall_through: Option<StackId>,
}
