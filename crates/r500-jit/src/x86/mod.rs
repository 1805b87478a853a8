//! CompiledKernel code for x86-64 with AVX2 or AVX-512.
//!
//! ```text
//! CompileUnit ──lower, interleave, schedule──▶ Program ──allocate, emit──▶ Assembly ──pages──▶ CompiledKernel
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `kernel` | machine code as a step of the fast engine: who pays for instructions |
//! | `pages` | executable memory and the call: all that is `unsafe` |
//! | `compile` | machine code of a segment: |
//! | `level` | which instructions it is made of |
//! | `waits` | whether one group of pixels leaves the processor idle |
//! | `regalloc`, `inst` | registers for values |
//! | `emit` | bytes |
//! | `known_bugs` | bugs put back, for tests |
//! | `emulated` | code in an emulator instead, for tests (feature `emulator`) |
//! | `disasm` | machine code as text |
//! | `perf_map` | what profilers are told |

pub mod compile;
mod disasm;
mod emit;
#[cfg(feature = "emulator")]
mod emulated;
mod inst;
mod kernel;
mod known_bugs;
mod level;
mod pages;
mod perf_map;
mod regalloc;
mod waits;

pub use disasm::listing;
pub(crate) use kernel::{Backend, CompiledKernel};
