//! The jit engine: fragment programs as machine code, for x86-64 with AVX2 or AVX-512.
//!
//! The [fast engine](mod@r500_exec::fast) stays the frame: batches of pixels, regions, texture reads,
//! what is counted and stored. Operations, and branches and loops of nothing else, are
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
//! | `kernel` | machine code as a step of the fast engine: who pays for instructions |
//! | `pages` | executable memory and the call: all that is `unsafe` |
//! | `compile` | machine code of a segment: |
//! | `lower`, `op` | from the intermediate form to operations of the processor |
//! | `interleave` | two groups of pixels at once |
//! | `schedule` | their order |
//! | `allocate`, `inst` | registers for values |
//! | `emit` | bytes |
//! | `listing` | machine code as text |
//! | `perf_map` | what profilers are told |
//!
//! On other processors, and where the system forbids executable memory, the fast engine draws all.

mod engine;

#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
#[path = "absent.rs"]
mod drawing;

#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod allocate;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod cache;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
pub mod compile;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod content;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod drawing;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod emit;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod inst;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod interleave;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod kernel;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod listing;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod lower;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod op;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod pages;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod parameters;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod perf_map;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod schedule;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
mod worker;

pub use engine::{CacheUse, Effort, Jit, Settings, Unavailable, When};

#[cfg(not(all(target_arch = "x86_64", any(unix, windows))))]
pub use drawing::listing;
#[cfg(all(target_arch = "x86_64", any(unix, windows)))]
pub use listing::listing;
