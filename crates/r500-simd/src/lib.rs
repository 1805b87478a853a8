//! Multiversioning and the floating-point environment: one source, compiled for each vector
//! instruction set, selected at run time.
//!
//! | module | concept |
//! | --- | --- |
//! | [`level`] | instruction-set levels ([`Simd`]), function multiversioning ([`SimdTask`], [`SimdFn`]) |
//! | [`fp_env`] | flush-to-zero and denormals-are-zero regions (MXCSR) |
//! | [`flush`] | denormals in hardware or in software |
//! | [`rounding`] | round to integer, with and without an instruction for it |
//! | [`level::lane_ops`] | permutations and mask tests of chunks |
//! | [`level::shared_memory`] | several dwords of shared memory at a time |
//! | [`chunk`] | chunks: sixteen pixels, quad by quad |
//! | [`prefetch`] | prefetches |
//!
//! This crate knows only one fact about the R500: pixels come in quads. It uses no other crate of the workspace. Its `unsafe` is the call
//! of a function compiled for an instruction set, after detection, intrinsics and loads and stores in such functions, prefetches, and the access to MXCSR.

pub mod chunk;
pub mod flush;
pub mod fp_env;
pub mod level;
mod prefetch;
mod roofline;
pub mod rounding;

pub use chunk::{Chunk, LANES};
pub use flush::{Flush, HwFlush, SoftFlush};
pub use level::{Dispatched, Simd, SimdFn, SimdLevel, SimdTask, inhibit_outer_vectorization};
pub use prefetch::prefetch;
pub use rounding::{MagicRound, NativeRound, Rint};
