//! The jit engine: fragment programs as machine code, for x86-64 with AVX2 or AVX-512, for AArch64 with Linux or macOS, and in a browser.
//!
//! The [fast engine](mod@r500_fast) iterates over batches of pixels and keeps regions of bytecode, unusual fetches, counters and stores.
//! Operations, discards, fetches with a [layout for machine code](r500_fast::codegen::TextureDesc), and branches and loops of these form
//! [compile units](r500_fast::codegen::CompileUnit), which this crate compiles; the last unit stores the colours. A frame starts on the
//! fast engine and moves to machine code when that is ready (tier-up): both produce the same bits.
//!
//! ```text
//! Program ──r500-lift──▶ Function ──native──▶ Units ──cache, compile──▶ Assembly ──exec_memory──▶ Kernels
//! ```
//!
//! `r500-lir` selects and schedules instructions and allocates registers; the back ends are here, with the memory for code.
//!
//! | module | job |
//! | --- | --- |
//! | `engine` | the engine |
//! | `settings` | its settings |
//! | `registry` | all engines by name |
//! | `tiering` | tier-up of draws from bytecode to machine code |
//! | `vertices` | vertex functions |
//! | `progress` | execution counters for tier-up |
//! | `background` | compilation on a background thread |
//! | `bound_function` | a function with the bindings of a draw |
//! | `cache` | code cache |
//! | `cache_key` | cache keys of functions and compile units |
//! | `memory_bounds` | bounds check of the memory that code accesses |
//! | `fuel` | counting and limiting of executed instructions |
//! | `vm_context` | the context that native code receives: pointers, offsets, fuel |
//! | `x86` | the x86-64 back end: encoding, executable memory |
//! | `aarch64` | the AArch64 back end: encoding, executable memory |
//! | `wasm` | the WebAssembly back end, if the host helps (feature `wasm-host`) |
//!
//! All `unsafe` is in the `exec_memory` modules of `x86` and `aarch64`, in `aarch64::code_pages`, and in `wasm::host`. On other processors, and where the system or
//! the host forbids code generated at run time, the fast engine draws everything.

// Without a target, nothing uses the lowering.
#![cfg_attr(not(any(native_code, wasm_code)), allow(dead_code))]
#![allow(clippy::expect_used, reason = "broken invariants of the compiler stop loudly")]

mod background;
mod bound_function;
mod cache;
mod cache_key;
mod engine;
mod fuel;
mod memory_bounds;
mod progress;
mod registry;
mod settings;
mod tiering;
mod vertices;

#[cfg(test)]
#[path = "../testing/random_units/mod.rs"]
mod random_units;

#[cfg(any(native_code, test))]
mod vm_context;

#[cfg(any(aarch64_code, test))]
mod aarch64;
#[cfg(any(wasm_code, all(test, not(target_arch = "aarch64"))))]
mod wasm;
#[cfg(x86_code)]
mod x86;

#[cfg(aarch64_code)]
use aarch64 as target;
#[cfg(wasm_code)]
use wasm as target;
#[cfg(x86_code)]
use x86 as target;
#[cfg(not(any(native_code, wasm_code)))]
#[path = "unsupported.rs"]
mod target;

#[cfg(not(x86_code))]
mod no_disasm;
#[cfg(not(x86_code))]
#[doc(hidden)]
pub use no_disasm::listing;
#[cfg(x86_code)]
#[doc(hidden)]
pub use x86::{compile, listing};

pub use engine::Jit;
pub use registry::{engine, shared_engine, usual_engine, vertex_engine};
#[cfg(feature = "emulator")]
pub use settings::Execution;
pub use settings::{CacheUse, Constants, Effort, Groups, Settings, Unavailable, When};
