//! The AArch64 back end, with NEON (Advanced SIMD), which every such processor has.
//!
//! ```text
//! CompileUnit ──lower, interleave, schedule──▶ LirFunction ──allocate, emit──▶ Assembly ──exec_memory──▶ CompiledKernel
//! ```
//!
//! A vector is one quad. Masks are vectors.
//!
//! | module | job |
//! | --- | --- |
//! | `kernel` | kernels of the fast engine: speculation, fuel |
//! | `exec_memory` | calls of code |
//! | `code_pages` | executable memory, for Linux and macOS |
//! | `compile` | compilation of a unit: |
//! | `inversion` | mask inversion, where it saves an instruction |
//! | `emit` | code emission |
//! | `assembler` | labels, constant pool |
//! | `encode` | instruction encoding |
//! | `error` | why a unit has no code |
//!
//! All `unsafe` is in `exec_memory` and `code_pages`. Everything except these and `kernel` is tested on other processors, too.

mod assembler;
mod assembly;
#[cfg(aarch64_code)]
mod code_pages;
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
