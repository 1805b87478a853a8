//! The order of operations.
//!
//! A kernel of one number is a chain: each step waits some cycles for the one before. The processor
//! looks ahead for other work, but not far enough for several chains. So operations are put in an order
//! in which chains take turns, those first from which the longest way leads to the end, as long as
//! registers last; then those first that free some.

use std::collections::HashMap;

use crate::op::{Class, Given, Kind, Node, Op, Program, V};

/// How far an operation may come before its turn, in operations.
const WINDOW: usize = 160;
/// Operations that begin in a cycle.
const WIDTH: u32 = 3;

/// Puts the operations of a program in order, for so many registers.
pub(crate) fn schedule(program: &mut Program, registers: usize) {
    let mut uses = vec![0; program.classes.len()];
    count(&program.body, &mut uses);
    let mut body = std::mem::take(&mut program.body);
    let limit = registers - 3;
    each_block(&mut body, &mut |ops| {
        *ops = Block::new(ops, program, &uses).order(limit);
    });
    program.body = body;
}

fn each_block(nodes: &mut [Node], f: &mut impl FnMut(&mut Vec<Op>)) {
    for node in nodes {
        match node {
            Node::Ops(ops) => f(ops),
            Node::Branch(branch) => {
                for arm in &mut branch.arms {
                    each_block(&mut arm.body, f);
                }
            }
            Node::Repeat(repeat) => each_block(&mut repeat.body, f),
            Node::Spend(_) => {}
        }
    }
}

/// How often each value is looked at.
fn count(nodes: &[Node], uses: &mut [u32]) {
    let mut see = |v: V| uses[v.index()] += 1;
    for node in nodes {
        match node {
            Node::Ops(ops) => ops.iter().flat_map(Op::args).for_each(&mut see),
            Node::Branch(branch) => {
                branch.merges.iter().filter_map(|merge| merge.before).for_each(&mut see);
                for arm in &branch.arms {
                    see(arm.mask);
                    arm.assign.iter().for_each(|assign| see(assign.from));
                }
            }
            Node::Repeat(repeat) => {
                repeat.carried.iter().for_each(|carried| {
                    see(carried.init);
                    see(carried.next);
                });
                repeat.again.into_iter().for_each(&mut see);
            }
            Node::Spend(_) => {}
        }
    }
    for node in nodes {
        match node {
            Node::Branch(branch) => branch.arms.iter().for_each(|arm| count(&arm.body, uses)),
            Node::Repeat(repeat) => count(&repeat.body, uses),
            Node::Ops(_) | Node::Spend(_) => {}
        }
    }
}

/// Cycles until the result of an operation can be used.
fn latency(kind: Kind) -> u32 {
    match kind {
        Kind::Add | Kind::Sub | Kind::Mul | Kind::MulKeep | Kind::ToFloat | Kind::Cmp(_) => 4,
        Kind::Round(_) => 6,
        Kind::Div => 12,
        Kind::Sqrt => 15,
        Kind::ToMask | Kind::FromMask => 3,
        Kind::Truncate(_) | Kind::IntMul => 4,
        // The offset comes by way of memory.
        Kind::Texel(_) | Kind::Number(_) => 14,
        Kind::Covered(_) => 5,
        _ => 1,
    }
}

/// Operations without branches.
struct Block<'a> {
    ops: &'a [Op],
    /// The operations that look at the result of each.
    users: Vec<Vec<usize>>,
    /// How many results each operation waits for.
    waits: Vec<u32>,
    /// The way to the end.
    heights: Vec<u32>,
    /// Looks that are left at each value that needs a register here.
    left: HashMap<V, u32>,
    /// Values in registers from before.
    live: usize,
    /// Registers of results: those that nobody looks at need none.
    needs: Vec<bool>,
}

impl<'a> Block<'a> {
    fn new(ops: &'a [Op], program: &Program, uses: &[u32]) -> Self {
        let mut makers = HashMap::new();
        let mut readers: HashMap<(u32, u32), Vec<usize>> = HashMap::new();
        let mut users = vec![Vec::new(); ops.len()];
        let mut waits = vec![0; ops.len()];
        let mut left: HashMap<V, u32> = HashMap::new();
        let (mut live, mut coverage) = (0, None);
        for (at, op) in ops.iter().enumerate() {
            for v in op.args() {
                if program.given(v).is_some() || program.class(v) == Class::Mask {
                    continue;
                }
                left.entry(v).or_insert_with(|| {
                    live += 1;
                    uses[v.index()]
                });
            }
            // A slot is read before it changes.
            if let Kind::Store(slot, part) = op.kind {
                for &reader in readers.get(&(slot, part)).into_iter().flatten() {
                    let users: &mut Vec<usize> = &mut users[reader];
                    users.push(at);
                    waits[at] += 1;
                }
            }
            // What is covered changes in this order.
            if let Kind::Covered(_) | Kind::Uncover(_) = op.kind
                && let Some(before) = coverage.replace(at)
            {
                let users: &mut Vec<usize> = &mut users[before];
                users.push(at);
                waits[at] += 1;
            }
            for v in op.args() {
                if let Some(Given::Slot(slot, part)) = program.given(v) {
                    readers.entry((slot, part)).or_default().push(at);
                }
            }
            for v in op.args() {
                if let Some(&maker) = makers.get(&v) {
                    let users: &mut Vec<usize> = &mut users[maker];
                    if users.last() != Some(&at) {
                        users.push(at);
                        waits[at] += 1;
                    }
                }
            }
            if let Some(dst) = op.dst {
                makers.insert(dst, at);
                if program.class(dst) == Class::Vector {
                    left.insert(dst, uses[dst.index()]);
                }
            }
        }
        let mut heights = vec![0; ops.len()];
        for at in (0..ops.len()).rev() {
            let behind = users[at].iter().map(|&user| heights[user]).max().unwrap_or(0);
            heights[at] = behind + latency(ops[at].kind);
        }
        let needs =
            ops.iter().map(|op| op.dst.is_some_and(|dst| left.contains_key(&dst))).collect();
        Self { ops, users, waits, heights, left, live, needs }
    }

    fn order(mut self, limit: usize) -> Vec<Op> {
        let count = self.ops.len();
        let mut result = Vec::with_capacity(count);
        let mut done = vec![false; count];
        // When the arguments of each are there.
        let mut times = vec![0_u32; count];
        let mut ready: Vec<usize> = (0..count).filter(|at| self.waits[*at] == 0).collect();
        let mut first = 0;
        let mut now = 0;
        while result.len() < count {
            let near = ready.iter().enumerate().filter(|(_, at)| **at < first + WINDOW);
            let full = self.live >= limit;
            let best = near.min_by_key(|(_, at)| {
                let at = **at;
                let stall = times[at].saturating_sub(now / WIDTH);
                let more = if full { self.grows(at) } else { 0 };
                (more, stall, u32::MAX - self.heights[at], at)
            });
            // There always is one: the first that is left waits for nothing.
            let Some((place, &at)) = best else { break };
            ready.swap_remove(place);
            self.live = self.live.saturating_add_signed(self.grows(at) as isize);
            for v in self.ops[at].args() {
                if let Some(left) = self.left.get_mut(&v) {
                    *left = left.saturating_sub(1);
                }
            }
            now = (now + 1).max(times[at] * WIDTH);
            for user in std::mem::take(&mut self.users[at]) {
                times[user] = times[user].max(now / WIDTH + latency(self.ops[at].kind));
                self.waits[user] -= 1;
                if self.waits[user] == 0 {
                    ready.push(user);
                }
            }
            result.push(self.ops[at]);
            done[at] = true;
            while done.get(first) == Some(&true) {
                first += 1;
            }
        }
        result
    }

    /// How many more registers are in use behind an operation.
    fn grows(&self, at: usize) -> i32 {
        let op = &self.ops[at];
        let mut dying = 0;
        for (i, v) in op.args.iter().enumerate() {
            let Some(v) = v else { continue };
            let looks = op.args.iter().flatten().filter(|other| *other == v).count();
            let first = !op.args[..i].contains(&Some(*v));
            if first && self.left.get(v).is_some_and(|left| *left as usize == looks) {
                dying += 1;
            }
        }
        i32::from(self.needs[at]) - dying
    }
}
