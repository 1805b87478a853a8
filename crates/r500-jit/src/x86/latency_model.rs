//! Whether a program spends its time waiting for itself.
//!
//! An estimate, for a processor with AVX-512 that begins two operations of vectors in a cycle. Where groups
//! go through a short program one after the other, the processor works at several of them at once by itself,
//! as far as it looks ahead. In a long one, and in a loop, where each iteration waits for the previous one, it sees
//! but one group, which may be one chain.

use crate::lir::{LirFunction, Loop, LoopParam, Op, Opcode, Region, VReg};
use crate::schedule::latency;

/// Whether a second group of pixels interleaved the first one has time that the first leaves.
pub(super) fn is_latency_bound(function: &LirFunction) -> bool {
    let mut walk = Walk::new(function, Some(0));
    walk.nodes(&function.body);
    // What it looks ahead is other groups' where a group does not fill it.
    let seen = (walk.work as f32 / REORDER_WINDOW).min(1.0);
    let time = walk.time + walk.time_of(walk.end.unwrap_or(0) as f32 * seen);
    time.single > MIN_SPEEDUP * time.interleaved
}

/// Operations that the processor looks ahead.
const REORDER_WINDOW: f32 = 128.0;
/// Operations that begin in a cycle.
const ISSUE_WIDTH: f32 = 2.0;
/// How many times as fast two groups are to be by this estimate: it knows nothing of registers, nor of
/// pixels that go where only others want to.
const MIN_SPEEDUP: f32 = 1.3;
/// Passes of a loop that count: pixels leave most long before the last.
const MAX_ITERATIONS: u32 = 16;

/// Iterations after the first, from which it shows how long each waits for the previous one.
const WARM_UP: u32 = 2;

/// Cycles for a group.
#[derive(Clone, Copy, Default)]
struct Time {
    /// If it goes single.
    single: f32,
    /// If two go together.
    interleaved: f32,
}

impl Time {
    fn times(self, iterations: u32) -> Self {
        Self {
            single: self.single * iterations as f32,
            interleaved: self.interleaved * iterations as f32,
        }
    }
}

impl std::ops::Add for Time {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            single: self.single + other.single,
            interleaved: self.interleaved + other.interleaved,
        }
    }
}

/// A way through the program, or through a pass of a loop.
struct Walk<'a> {
    function: &'a LirFunction,
    /// When values are there that are not computed on the way; in a pass, those of a pass before wait for
    /// nothing.
    start: Option<u32>,
    /// When each is there; `None` if that does not depend on when the way began.
    ready: Vec<Option<u32>>,
    end: Option<u32>,
    /// Turns that operations take, and cycles of the unit that divider_cycles, loops left out.
    work: u32,
    divider_cycles: u32,
    /// What loops take.
    time: Time,
    /// Whether it is not the first time.
    is_warm: bool,
}

impl<'a> Walk<'a> {
    fn new(function: &'a LirFunction, start: Option<u32>) -> Self {
        let ready = vec![start; function.classes.len()];
        let (end, time) = (None, Time::default());
        Self { function, start, ready, end, work: 0, divider_cycles: 0, time, is_warm: false }
    }

    /// What all but loops takes, in a chain of so many cycles.
    fn time_of(&self, chain: f32) -> Time {
        let busy = (self.work as f32 / ISSUE_WIDTH).max(self.divider_cycles as f32);
        Time { single: busy.max(chain), interleaved: busy.max(chain / 2.0) }
    }

    fn ready(&self, v: VReg) -> Option<u32> {
        self.ready.get(v.index()).copied().flatten()
    }

    fn set(&mut self, v: VReg, at: Option<u32>) {
        if let Some(ready) = self.ready.get_mut(v.index()) {
            *ready = at;
        }
        self.end = self.end.max(at);
    }

    fn nodes(&mut self, nodes: &[Region]) {
        for node in nodes {
            match node {
                Region::Ops(ops) => ops.iter().for_each(|op| self.op(op)),
                Region::ConsumeFuel(_) => {}
                // Which way to go the processor guesses: nothing waits for masks.
                Region::Branch(branch) => {
                    for phi in &branch.phis {
                        let before = phi.incoming.and_then(|before| self.ready(before));
                        self.set(phi.var, before);
                    }
                    for arm in &branch.arms {
                        self.nodes(&arm.body);
                        for assign in &arm.assign {
                            let at = self.ready(assign.old).max(self.ready(assign.from));
                            self.set(assign.new, at);
                        }
                    }
                }
                Region::Loop(repeat) => {
                    if !self.is_warm {
                        let iterations = repeat.max_trips.min(MAX_ITERATIONS);
                        self.time = self.time + self.pass(repeat).times(iterations);
                    }
                    // What comes of it is there when everything before is: it hardly matters interleaved the loop.
                    let out = self.end.max(self.start);
                    repeat.params.iter().for_each(|param| self.set(param.out, out));
                }
            }
        }
    }

    /// An iteration of a loop between others: it waits for what it gets of the previous one.
    fn pass(&self, repeat: &Loop) -> Time {
        let mut pass = Walk::new(self.function, None);
        let mut times = vec![Some(0); repeat.params.len()];
        let mut ends = Vec::new();
        for number in 0..=WARM_UP {
            for (LoopParam { var, .. }, at) in repeat.params.iter().zip(&times) {
                pass.set(*var, *at);
            }
            pass.is_warm = number > 0;
            pass.nodes(&repeat.body);
            times = repeat.params.iter().map(|param| pass.ready(param.next)).collect();
            ends.push(times.iter().copied().max().flatten().unwrap_or(0));
        }
        let chain = match *ends {
            [first, .., last] => last.saturating_sub(first) as f32 / WARM_UP as f32,
            _ => 0.0,
        };
        pass.time_of(chain) + pass.time
    }

    fn op(&mut self, op: &Op) {
        if !self.is_warm {
            self.work += issue_slots(op.opcode);
            self.divider_cycles += divider_cycles(op.opcode);
        }
        let Some(dst) = op.dst else { return };
        let args = op.args().map(|v| self.ready(v)).max();
        let at = args.unwrap_or(self.start).map(|at| at.saturating_add(latency(op.opcode)));
        self.set(dst, at);
    }
}

/// Turns that an operation takes of those that begin in a cycle.
fn issue_slots(opcode: Opcode) -> u32 {
    match opcode {
        Opcode::Div | Opcode::Sqrt => 3,
        // Offsets one by one, and a part of the vector for each.
        Opcode::LoadTexel(_) => 8,
        Opcode::Round(_) | Opcode::IntMul | Opcode::StoreColor(_) | Opcode::Store(..) => 2,
        _ => 1,
    }
}

/// Cycles for which the unit that divider_cycles takes no other.
fn divider_cycles(opcode: Opcode) -> u32 {
    match opcode {
        Opcode::Div => 10,
        Opcode::Sqrt => 12,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::{Class, MemOperand};

    /// So many chains of sums interleaved each other, each so long.
    fn chains(count: usize, length: usize) -> (LirFunction, Vec<Region>) {
        let mut function = LirFunction::default();
        let first = function.fresh_in_memory(Class::Vector, Some(MemOperand::Slot(0, 0)));
        let mut ends = vec![first; count];
        let mut ops = Vec::new();
        for _ in 0..length {
            for end in &mut ends {
                let args = [Some(*end), Some(first), None];
                *end = function.fresh(Class::Vector);
                ops.push(Op { opcode: Opcode::Add, dst: Some(*end), args, origin: 0 });
            }
        }
        (function, vec![Region::Ops(ops)])
    }

    fn is_latency_bound_for(count: usize, length: usize) -> bool {
        let (mut function, body) = chains(count, length);
        function.body = body;
        is_latency_bound(&function)
    }

    /// A sum takes four cycles, in which eight could begin.
    #[test]
    fn chains_wait_where_they_are_long_and_few() {
        assert!(is_latency_bound_for(1, 200));
        assert!(is_latency_bound_for(3, 100));
        assert!(!is_latency_bound_for(8, 100));
        // Other groups are within sight.
        assert!(!is_latency_bound_for(1, 8));
        assert!(!is_latency_bound(&LirFunction::default()));
    }

    /// Passes wait for each other, where one hands a chain to the next; the same operations interleaved what is
    /// param do not.
    #[test]
    fn passes_wait_for_what_they_carry() {
        for (carries, wanted) in [(true, true), (false, false)] {
            let (mut function, body) = chains(1, 8);
            let [var, out] = [(); 2].map(|()| function.fresh(Class::Vector));
            let mut body = body;
            let Some(Region::Ops(ops)) = body.first_mut() else { continue };
            let last = ops.last().and_then(|op| op.dst).unwrap_or(var);
            if carries {
                ops[0].args[0] = Some(var);
            }
            let next = if carries { last } else { var };
            let params = vec![LoopParam { var, init: VReg(0), next, out }];
            let (iterations, continue_mask) = (100, None);
            function.body = vec![Region::Loop(Loop {
                max_trips: iterations,
                params,
                body,
                continue_mask,
                address: 0,
            })];
            assert_eq!(is_latency_bound(&function), wanted, "{carries}");
        }
    }
}
