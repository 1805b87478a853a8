//! Machine code for AArch64, with the vectors that every such processor has (NEON, "Advanced SIMD").
//!
//! ```text
//! CompileUnit ──lower, interleave, schedule──▶ LirFunction ──allocate, emit──▶ Assembly ──exec_memory──▶ CompiledKernel
//! ```
//!
//! A vector is one quad. Masks are vectors.
//!
//! | module | job |
//! | --- | --- |
//! | `kernel` | machine code as a step of the fast engine: speculation, and who pays for instructions |
//! | `exec_memory` | executable memory and the call: all that is `unsafe` |
//! | `compile` | machine code of a unit: |
//! | `inversion` | masks the other way round, where that saves an instruction |
//! | `emit` | instructions of operations |
//! | `assembler` | labels, constants |
//! | `encode` | words of instructions |
//! | `error` | why there is no code of a unit |
//!
//! Everything but `kernel` and `exec_memory` is tested on other processors too.

mod assembler;
mod assembly;
pub(crate) mod compile;
mod emit;
mod encode;
mod error;
#[cfg(aarch64_code)]
mod exec_memory;
mod inversion;
#[cfg(aarch64_code)]
mod kernel;

#[cfg(aarch64_code)]
pub(crate) use kernel::{Backend, CompiledKernel};
