//! The low-level IR of R500 programs, between the IR and the machine code of `r500-jit`.
//!
//! ```text
//! CompileUnit ──lower──▶ LirFunction ──interleave, schedule──▶ LirFunction ──regalloc──▶ MachCode
//! ```
//!
//! A [compile unit](r500_fast::codegen::CompileUnit) is IR of `r500-ir` with what is around it: slots of the batch, texels, colour planes. Nothing
//! here knows how a processor encodes an instruction; what it can do is data: [`TargetCaps`] for instruction selection, [`Machine`] for
//! registers.
//!
//! | module | job |
//! | --- | --- |
//! | `lir` | the IR: operations on virtual registers in a tree of regions |
//! | `lower` | instruction selection: from the IR of a unit |
//! | `fuel` | whether interleaved groups count the same instructions |
//! | `interleave` | interleaving of two groups of pixels (unroll and jam) |
//! | `live_ranges` | live ranges |
//! | `schedule` | instruction scheduling |
//! | `machine` | registers and memory operands of a processor |
//! | `regalloc` | register allocation, with its checker |
//! | `mach_inst` | its result, machine IR |
//! | `print` | text of the IR |
//! | `known_bugs` | fault injection for tests |

#![allow(clippy::expect_used, reason = "broken invariants of the compiler stop loudly")]

mod fuel;
mod interleave;
mod lir;
mod live_ranges;
mod lower;
mod mach_inst;
mod machine;
mod print;
mod schedule;

#[doc(hidden)]
pub mod known_bugs;
pub mod regalloc;

pub use fuel::fuel_is_uniform;
pub use interleave::interleave;
pub use lir::{
    Access, Arm, Branch, Class, GatherChannel, IntRange, Interpolant, LirFunction, LoadTexel,
    Lookup, Loop, LoopParam, MemOperand, Op, Opcode, Phi, PhiMove, PixelRows, Region, Relation,
    Rounding, StoreColor, TableEntry, VReg,
};
pub use live_ranges::LiveRanges;
pub use lower::{TargetCaps, is_speculative, lower, supports_encoding};
pub use mach_inst::{Label, MachCode, MachInst, Mem, RegMem, UnitLayout};
pub use machine::{Machine, MemoryOperands};
pub use schedule::{Registers, schedule};
