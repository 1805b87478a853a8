//! The jit engine: fragment programs as machine code, for x86-64 with AVX2 or AVX-512.
//!
//! The [fast engine](mod@r500_exec::fast) stays the frame: batches of pixels, regions, fetches with
//! levels of detail, what is counted and stored. Operations, kills, fetches that are simple (two
//! dimensions, one level, clamped or repeated), and branches and loops of these are
//! [segments](r500_exec::native::Segment) that become machine code here. Frames begin on the fast
//! engine at once and move over when the code is ready: both draw the same, bit for bit.
//!
//! ```text
//! Function ──parameters──▶ Function' ──native──▶ Segments ──cache, compile──▶ Assembly ──pages──▶ Kernels
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `engine` | the engine |
//! | `drawing` | drawings on their way from batches to machine code |
//! | `worker` | compiles on a thread of its own |
//! | `parameters` | constants that change from drawing to drawing become values |
//! | `cache` | compiled segments by content |
//! | `content` | what makes two functions or segments the same |
//! | `lower`, `op` | from the intermediate form to operations of a processor |
//! | `interleave` | two groups of pixels at once |
//! | `schedule` | their order |
//! | `x86` | what becomes of them on x86-64; there, and nowhere else, is the crate's `unsafe` |
//!
//! On other processors, and where the system forbids executable memory, the fast engine draws all.

#![cfg_attr(
    not(all(target_arch = "x86_64", any(unix, windows))),
    allow(dead_code, reason = "where there is no machine code, nobody asks for operations")
)]

mod cache;
mod content;
mod drawing;
mod engine;
mod parameters;
mod worker;

mod interleave;
mod lower;
mod op;
mod schedule;

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod x86;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
use x86 as target;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
pub use x86::compile;

#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
#[path = "absent.rs"]
mod target;

pub use engine::{CacheUse, Effort, Jit, Settings, Unavailable, When};
pub use target::listing;
