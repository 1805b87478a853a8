//! The x86-64 back end, with AVX2 or AVX-512.
//!
//! ```text
//! CompileUnit ──lower, interleave, schedule──▶ LirFunction ──allocate, emit──▶ Assembly ──exec_memory──▶ CompiledKernel
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `kernel` | kernels of the fast engine: choice of forms, fuel |
//! | `contest` | online auto-tuning: measurement of two forms of code |
//! | `exec_memory` | executable memory and calls: all `unsafe` |
//! | `compile` | compilation of a unit: |
//! | `level` | instruction-set levels |
//! | `emit` | code emission |
//! | `assembler` | instruction encoding with labels |
//! | `emulated` | code in an emulator, for tests (feature `emulator`) |
//! | `disasm` | listings of machine code |
//! | `perf_map` | symbols for profilers |

#[cfg(test)]
mod allocations;
mod assembler;
mod assembly;
pub mod compile;
mod contest;
mod disasm;
mod emit;
#[cfg(feature = "emulator")]
mod emulated;
mod exec_memory;
mod kernel;
pub(crate) mod level;
mod perf_map;
#[cfg(test)]
mod spills;

pub use disasm::listing;
pub(crate) use kernel::{Backend, CompiledKernel};
