//! Fetches of many quads at once: what [`Sampler::fetch`] gives under the default readings, bit for
//! bit, at the speed of the processor's vectors.
//!
//! Coordinates come sixteen pixels at a time, a channel an array; loops over these are plain and
//! left to the compiler, for whatever vectors the caller was compiled for. Texels are decoded
//! beforehand if they are not too many ([`store`]), four floats each, so that a filter mixes all
//! channels at once; if they are few, the four that a linear filter mixes lie side by side
//! ([`footprints`]). What most fetches are has a short way of its own ([`simple`]).
//!
//! ```text
//! strq ──coords──▶ u, v, w, face ──detail──▶ levels ──axis──▶ columns, rows, layers, weights
//!                                                                         │
//!            channels ◀──────── colours ◀──────────filter──────── texels ◀┘
//! ```
//!
//! What stays with [`Sampler::fetch`]: quads with a coordinate that wraps and lies 2^21 or more texels
//! off, quotients of 2^-126, and textures too large for that ([`store`]).
//!
//! Where the law takes denormals for zero, this says so only where one can come about. The bounds
//! stand where they are used.

#![allow(clippy::needless_range_loop, reason = "a lane is the same in several arrays")]

mod address_mode;
mod batch_fetch;
mod channel_source;
mod compiled_sampler;
mod fast_path;
mod fetch;
mod filter;
mod footprints;
mod lod;
mod product;
mod texel_cache;
mod texel_coords;
mod texture_desc;

pub use batch_fetch::BatchFetch;
pub use channel_source::ChannelSource;
pub(crate) use compiled_sampler::CompiledSampler;
pub(crate) use fetch::fetch_batch;
pub use footprints::Footprint;
pub use texture_desc::{AxisDesc, LodDesc, TexelView, TextureDesc, WrapMode};
