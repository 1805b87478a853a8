//! Batch fetches: vectorised sampling of whole chunks, bit for bit as
//! [`Sampler::fetch`](crate::Sampler::fetch) under any readings.
//!
//! Coordinates are chunks of sixteen pixels, one array a channel. The loops over them are plain Rust, which the
//! compiler vectorises for the instruction set of the caller. Texels are decoded in advance unless there are
//! too many (`texel_cache`), four floats each, so that a filter works on all channels together; for small
//! textures the four texels of a bilinear footprint are stored side by side (`footprints`). The most frequent
//! kind of fetch has a fast path (`fast_path`). Arithmetic that machine code shares is written once, generic
//! over a builder (`texel_math`).
//!
//! ```text
//! strq ──texel_coords──▶ u, v, w, face ──lod──▶ levels ──address_mode──▶ columns, rows, layers, weights
//!                                                                              │
//!                channels ◀──────── colours ◀──────────filter───────── texels ◀┘
//! ```
//!
//! The slow path, [`Sampler::fetch`](crate::Sampler::fetch), takes quads with a repeating coordinate 2^21 or
//! more texels from the origin, quotients of 2^-126, textures too large for the cache, and readings that lanes do not
//! implement (`CompiledSampler::implements`).
//!
//! The reference arithmetic flushes denormals in every step. These modules flush only where a denormal is
//! possible; comments there give the bounds.

#![allow(clippy::needless_range_loop, reason = "a lane is the same in several arrays")]

mod address_mode;
mod anisotropy;
mod batch_fetch;
mod channel_source;
mod compiled_sampler;
mod cube_faces;
mod fast_path;
mod fetch;
mod filter;
mod footprints;
mod lod;
mod product;
mod texel_cache;
mod texel_coords;
mod texel_lane;
pub mod texel_math;
mod texture_desc;

pub use batch_fetch::BatchFetch;
pub use channel_source::ChannelSource;
pub(crate) use compiled_sampler::CompiledSampler;
pub(crate) use fetch::fetch_batch;
pub use footprints::Footprint;
pub use texel_math::WrapMode;
pub use texture_desc::{AxisDesc, LodDesc, TexelView, TextureDesc};
