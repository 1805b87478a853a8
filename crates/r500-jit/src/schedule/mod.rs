//! The order of operations.
//!
//! A kernel of one number is a chain: each step waits some cycles for the one before. The processor
//! looks ahead for other work, but not far enough for several chains. So operations are put in an order
//! in which chains take turns, as long as registers last. Where texels are fetched there is work enough, but
//! fewer registers than that takes: there, few values are to be alive.
//!
//! | module | job |
//! | --- | --- |
//! | `dag` | what waits for what |
//! | `list_scheduler` | the order in which chains take turns |
//! | `pressure_scheduler` | the order in which few values are alive, and texels are there when they are wanted |

mod dag;
mod list_scheduler;
mod pressure_scheduler;

use crate::op::{Class, Kind, Node, Op, Program, V};
use dag::Dag;

/// Puts the operations of a program in order, for so many registers; `by_memory` says whether offsets of
/// texels go by way of memory.
pub(crate) fn schedule(program: &mut Program, registers: usize, by_memory: bool) {
    let mut uses = vec![0; program.classes.len()];
    count(&program.body, &mut uses);
    let mut body = std::mem::take(&mut program.body);
    each_block(&mut body, &mut |ops| {
        let graph = Dag::new(ops, program);
        let fetches = by_memory
            .then(|| pressure_scheduler::order(&graph, program, &uses, registers))
            .flatten();
        *ops = fetches.unwrap_or_else(|| list_scheduler::order(graph, program, &uses, registers));
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

/// Whether a value takes a register: not one that lies in memory anyway.
fn takes_register(program: &Program, v: V) -> bool {
    program.given(v).is_none() && program.class(v) == Class::Vector
}

/// Cycles until the result of an operation can be used.
pub(crate) fn latency(kind: Kind) -> u32 {
    match kind {
        Kind::Add | Kind::Sub | Kind::Mul | Kind::MulKeep | Kind::ToFloat | Kind::Cmp(_) => 4,
        Kind::Round(_) => 6,
        Kind::Div => 12,
        Kind::Sqrt => 15,
        Kind::ToMask | Kind::FromMask => 3,
        Kind::BesideLow | Kind::BesideHigh | Kind::RowLow | Kind::RowHigh => 3,
        Kind::Truncate(_) | Kind::IntMul => 4,
        // The offset comes by way of memory.
        Kind::Texel(_) | Kind::Number(_) => 14,
        Kind::Covered(_) => 5,
        Kind::Ramp(_) => 9,
        _ => 1,
    }
}
