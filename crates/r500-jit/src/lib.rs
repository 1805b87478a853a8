//! The jit engine: fragment programs as machine code, for x86-64 with AVX2 or AVX-512, and in a browser.
//!
//! The [fast engine](mod@r500_fast) stays the frame: batches of pixels, regions, fetches of
//! unusual kinds, what is counted and stored. Operations, kills, fetches that have a
//! [table](r500_fast::codegen::TextureDesc), and branches and loops of these are
//! [units](r500_fast::codegen::CompileUnit) that become machine code here, the last of which puts colours into
//! the picture. Frames begin on the fast
//! engine at once and move over when the code is ready: both draw the same, bit for bit.
//!
//! ```text
//! Program ──specialization, lift──▶ Function ──native──▶ Units ──cache, compile──▶ Assembly ──exec_memory──▶ Kernels
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `engine` | the engine |
//! | `settings` | its settings |
//! | `tiering` | drawings on their way from batches to machine code |
//! | `progress` | how much all drawings of a function have done |
//! | `background` | compiles on a thread of its own |
//! | `specialization` | which program constants are folded into code |
//! | `bound_function` | a function with what a draw binds to it |
//! | `cache` | compiled units by content |
//! | `cache_key` | cache keys of programs, functions and compile units |
//! | `lower`, `lir` | from the intermediate form to operations of a processor |
//! | `unroll_and_jam` | two groups of pixels at once |
//! | `live_ranges` | where each value is live |
//! | `schedule` | their order |
//! | `memory_bounds` | the memory that code may touch |
//! | `fuel` | who pays for instructions |
//! | `x86` | what becomes of them on x86-64 |
//! | `wasm` | what becomes of them in WebAssembly, if the host helps (feature `wasm-host`) |
//!
//! All `unsafe` is in `x86::exec_memory` and `wasm::host`. On other processors, and where the system or the host
//! forbids code made at run time, the fast engine draws all.

// Without a target, nothing uses the lowering.
#![cfg_attr(
    not(any(
        all(target_arch = "x86_64", any(unix, windows)),
        all(target_arch = "wasm32", feature = "wasm-host")
    )),
    allow(dead_code)
)]
#![allow(clippy::expect_used, reason = "broken invariants of the compiler stop loudly")]

mod background;
mod bound_function;
mod cache;
mod cache_key;
mod engine;
mod fuel;
mod memory_bounds;
mod progress;
mod settings;
mod specialization;
mod tiering;

mod lir;
mod live_ranges;
mod lower;
#[cfg(test)]
#[path = "../testing/random_units/mod.rs"]
mod random_units;
mod schedule;
mod unroll_and_jam;

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod x86;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
use x86 as target;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
pub use x86::{compile, listing};

#[cfg(any(all(target_arch = "wasm32", feature = "wasm-host"), test))]
mod wasm;
#[cfg(all(target_arch = "wasm32", feature = "wasm-host"))]
use wasm as target;

#[cfg(not(any(
    all(target_arch = "x86_64", any(unix, windows)),
    all(target_arch = "wasm32", feature = "wasm-host")
)))]
#[path = "unsupported.rs"]
mod target;

#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
mod no_disasm;
#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
pub use no_disasm::listing;

pub use engine::Jit;
#[cfg(feature = "emulator")]
pub use settings::Execution;
pub use settings::{CacheUse, Constants, Effort, Settings, Unavailable, When};
