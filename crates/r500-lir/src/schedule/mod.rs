//! Instruction scheduling.
//!
//! Transcendental functions are dependence chains: each operation waits some cycles for the previous one. The out-of-order window of the
//! processor is too short to overlap several chains. So list scheduling interleaves chains, as long as registers suffice. A block with
//! texture fetches has enough parallelism, but more live values than registers: there the schedule minimises register pressure.
//!
//! | module | job |
//! | --- | --- |
//! | `dag` | dependence DAG |
//! | `list_scheduler` | critical-path list scheduling, which interleaves chains |
//! | `pressure_scheduler` | register-pressure scheduling around texture fetches |

mod dag;
mod list_scheduler;
mod pressure_scheduler;

use crate::{Class, LirFunction, Op, Opcode, Region, VReg};
use dag::Dag;

/// Register counts by class.
pub type Registers = [usize; 2];

/// Schedules the operations of a function for these register counts. `by_memory`: whether texel offsets are read from memory.
pub fn schedule(function: &mut LirFunction, registers: Registers, by_memory: bool) {
    let mut uses = vec![0; function.classes.len()];
    count(&function.body, &mut uses);
    let [vectors, _] = registers;
    let mut body = std::mem::take(&mut function.body);
    each_block(&mut body, &mut |ops| {
        let graph = Dag::new(ops, function);
        let fetches = by_memory
            .then(|| pressure_scheduler::order(&graph, function, &uses, vectors))
            .flatten();
        *ops = fetches.unwrap_or_else(|| list_scheduler::order(graph, function, &uses, registers));
    });
    function.body = body;
}

fn each_block(nodes: &mut [Region], f: &mut impl FnMut(&mut Vec<Op>)) {
    for node in nodes {
        match node {
            Region::Ops(ops) => f(ops),
            Region::Branch(branch) => {
                for arm in &mut branch.arms {
                    each_block(&mut arm.body, f);
                }
            }
            Region::Loop(repeat) => each_block(&mut repeat.body, f),
            Region::ConsumeFuel(_) => {}
        }
    }
}

/// Counts the uses of each value.
fn count(nodes: &[Region], uses: &mut [u32]) {
    let mut see = |v: VReg| uses[v.index()] += 1;
    for node in nodes {
        match node {
            Region::Ops(ops) => ops.iter().flat_map(Op::args).for_each(&mut see),
            Region::Branch(branch) => {
                branch.phis.iter().filter_map(|phi| phi.incoming).for_each(&mut see);
                for arm in &branch.arms {
                    see(arm.mask);
                    arm.assign.iter().for_each(|assign| see(assign.from));
                }
            }
            Region::Loop(repeat) => {
                repeat.params.iter().for_each(|param| {
                    see(param.init);
                    see(param.next);
                });
                repeat.continue_mask.into_iter().for_each(&mut see);
            }
            Region::ConsumeFuel(_) => {}
        }
    }
    for node in nodes {
        match node {
            Region::Branch(branch) => branch.arms.iter().for_each(|arm| count(&arm.body, uses)),
            Region::Loop(repeat) => count(&repeat.body, uses),
            Region::Ops(_) | Region::ConsumeFuel(_) => {}
        }
    }
}

/// Returns whether a value occupies a register: a vector that is not given in memory.
fn takes_register(function: &LirFunction, v: VReg) -> bool {
    function.mem_operand(v).is_none() && function.class(v) == Class::Vector
}

/// Returns the latency of an operation, in cycles.
fn latency(opcode: Opcode) -> u32 {
    match opcode {
        Opcode::Add
        | Opcode::Sub
        | Opcode::Mul
        | Opcode::MaskedMul
        | Opcode::MulAdd
        | Opcode::NegMulAdd
        | Opcode::ToFloat
        | Opcode::FixUp
        | Opcode::Remainder
        | Opcode::Cmp(_) => 4,
        Opcode::Round(_) | Opcode::Scale => 6,
        Opcode::Div => 12,
        Opcode::Sqrt => 15,
        Opcode::ToMask | Opcode::FromMask => 3,
        Opcode::Permute128Lo | Opcode::Permute128Hi | Opcode::Permute2Lo | Opcode::Permute2Hi => 3,
        Opcode::Lookup(_) | Opcode::PermuteQuads | Opcode::Narrow(_) => 3,
        Opcode::ToHalf => 8,
        Opcode::Truncate(_) | Opcode::FloorToInt | Opcode::IntMul => 4,
        // The offset comes by way of memory.
        Opcode::LoadTexel(_) | Opcode::GatherChannel(_) => 14,
        Opcode::LoadCoverage(_) | Opcode::LoadPixels(_) => 5,
        Opcode::Interpolant(_) => 9,
        _ => 1,
    }
}
