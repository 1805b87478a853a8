//! List scheduler: picks the ready operation with the shortest stall, of equal ones that with the longest path to the end (critical path).
//! When registers of a class run out, operations that free registers of it precede all others.

use std::collections::HashMap;

use super::dag::Dag;
use super::{Registers, latency};
use crate::{Class, LirFunction, Op, VReg};

/// The number of operations by which an operation may be moved ahead.
const WINDOW: usize = 160;
/// Issue width: operations per cycle.
const WIDTH: u32 = 3;
/// Registers reserved for the allocator.
const SPARE: usize = 3;

/// Returns the operations in order. `uses`: use counts in the whole function.
pub(super) fn order(
    graph: Dag<'_>,
    function: &LirFunction,
    uses: &[u32],
    registers: Registers,
) -> Vec<Op> {
    let limits = registers.map(|registers| match registers {
        // The function has no value of this class.
        0 => usize::MAX,
        _ => registers.saturating_sub(SPARE),
    });
    ListScheduler::new(graph, function, uses).order(limits)
}

struct ListScheduler<'a> {
    graph: Dag<'a>,
    /// For each operation, the length of the longest path to the end, in cycles.
    heights: Vec<u32>,
    /// Remaining uses of each value that occupies a register.
    remaining: HashMap<VReg, u32>,
    /// Live values, by class.
    live: [usize; 2],
    /// For each operation, whether its result is used and so needs a register.
    needs: Vec<bool>,
    classes: &'a [Class],
}

impl<'a> ListScheduler<'a> {
    fn new(graph: Dag<'a>, function: &'a LirFunction, uses: &[u32]) -> Self {
        let ops = graph.ops;
        let mut remaining: HashMap<VReg, u32> = HashMap::new();
        let mut live = [0; 2];
        for op in ops {
            for v in op.args().filter(|v| function.mem_operand(*v).is_none()) {
                remaining.entry(v).or_insert_with(|| {
                    live[function.class(v) as usize] += 1;
                    uses[v.index()]
                });
            }
            if let Some(dst) = op.dst {
                remaining.insert(dst, uses[dst.index()]);
            }
        }
        let mut heights = vec![0; ops.len()];
        for at in (0..ops.len()).rev() {
            let after = graph.users[at].iter().map(|&user| heights[user]).max().unwrap_or(0);
            heights[at] = after + latency(ops[at].opcode);
        }
        let needs =
            ops.iter().map(|op| op.dst.is_some_and(|dst| remaining.contains_key(&dst))).collect();
        Self { graph, heights, remaining, live, needs, classes: &function.classes }
    }

    fn order(mut self, limits: Registers) -> Vec<Op> {
        let count = self.graph.ops.len();
        let mut result = Vec::with_capacity(count);
        let mut done = vec![false; count];
        // The cycle in which the arguments of each operation are available.
        let mut times = vec![0_u32; count];
        let mut ready = self.graph.ready();
        let mut first = 0;
        let mut now = 0;
        while result.len() < count {
            let near = ready.iter().enumerate().filter(|(_, at)| **at < first + WINDOW);
            let full = [0, 1].map(|class| self.live[class] >= limits[class]);
            let best = near.min_by_key(|(_, at)| {
                let at = **at;
                let stall = times[at].saturating_sub(now / WIDTH);
                let more = match full {
                    [false, false] => 0,
                    _ => (full.into_iter().zip(self.grows(at)))
                        .map(|(full, more)| if full { more } else { 0 })
                        .sum(),
                };
                (more, stall, u32::MAX - self.heights[at], at)
            });
            // There is always one: the first remaining operation has no dependences left.
            let Some((place, &at)) = best else { break };
            ready.swap_remove(place);
            let grows = self.grows(at);
            for (live, more) in self.live.iter_mut().zip(grows) {
                *live = live.saturating_add_signed(more as isize);
            }
            for v in self.graph.ops[at].args() {
                if let Some(remaining) = self.remaining.get_mut(&v) {
                    *remaining = remaining.saturating_sub(1);
                }
            }
            now = (now + 1).max(times[at] * WIDTH);
            for user in std::mem::take(&mut self.graph.users[at]) {
                times[user] = times[user].max(now / WIDTH + latency(self.graph.ops[at].opcode));
                self.graph.waits[user] -= 1;
                if self.graph.waits[user] == 0 {
                    ready.push(user);
                }
            }
            result.push(self.graph.ops[at]);
            done[at] = true;
            while done.get(first) == Some(&true) {
                first += 1;
            }
        }
        result
    }

    /// Returns the change of register pressure by an operation, by class.
    fn grows(&self, at: usize) -> [i32; 2] {
        let op = &self.graph.ops[at];
        let class = |v: VReg| self.classes[v.index()] as usize;
        let mut more = [0; 2];
        for (i, v) in op.args.iter().enumerate() {
            let Some(v) = v else { continue };
            let uses = op.args.iter().flatten().filter(|other| *other == v).count();
            let first = !op.args[..i].contains(&Some(*v));
            if first && self.remaining.get(v).is_some_and(|remaining| *remaining as usize == uses) {
                more[class(*v)] -= 1;
            }
        }
        if let Some(dst) = op.dst.filter(|_| self.needs[at]) {
            more[class(dst)] += 1;
        }
        more
    }
}
