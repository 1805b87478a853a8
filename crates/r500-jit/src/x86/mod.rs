//! Machine code for x86-64 with AVX2 or AVX-512.
//!
//! ```text
//! CompileUnit ──lower, interleave, schedule──▶ LirFunction ──allocate, emit──▶ Assembly ──exec_memory──▶ CompiledKernel
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `kernel` | machine code as a step of the fast engine: who pays for instructions |
//! | `contest` | which of two forms of code is faster, measured |
//! | `exec_memory` | executable memory and the call: all that is `unsafe` |
//! | `compile` | machine code of a unit: |
//! | `level` | which instructions it is made of |
//! | `emit` | instructions |
//! | `assembler` | bytes, with labels |
//! | `emulated` | code in an emulator instead, for tests (feature `emulator`) |
//! | `disasm` | machine code as text |
//! | `perf_map` | symbols for profilers |

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

pub use disasm::listing;
pub(crate) use kernel::{Backend, CompiledKernel};
