//! The texture unit: from the coordinates of a quad to four colours.
//!
//! [`Sampler::bind`] creates a sampler from a [`Texture`](r500_program::Texture) (registers and bytes), or returns a [`BindError`]
//! with the offending field. [`Sampler::fetch`] takes a [`QuadFetch`] and returns colours; [`Sampler::look_up`] also returns every
//! step ([`Lookup`]).
//!
//! ```text
//! S T R Q ──coordinates──▶ position, level of detail ──sampler──▶ levels, filters
//!                                                                  │
//!            colour ◀──lerp── colours ◀──format, blocks── texels ◀──address
//! ```
//!
//! | rule | where | evidence |
//! | --- | --- | --- |
//! | coordinates are scaled by width, height, depth of level 0, or not (`UNSCALED`) | `coordinates` | documented |
//! | PROJ divides by Q; LODBIAS adds Q to the level of detail, LOD uses Q as the level of detail | `coordinates` | documented; observed |
//! | level of detail: log2 of the longer step to the right or down | `coordinates` | observed |
//! | all pixels of a quad share those steps, inactive pixels included | `coordinates` | derived |
//! | pixels of a cube take them on their own face | `coordinates` | observed |
//! | `LOD_BIAS` is added before the limits | `coordinates` | documented; with LOD and DXDY open: [`LodBias`] |
//! | `MAG_FILTER` is used up to level of detail 0 | `coordinates` | open: [`Magnification`] |
//! | faces of a cube | `coordinates` | between faces open: [`CubeTies`] |
//! | `MAX_MIP_LEVEL` and `NUM_LEVELS` limit levels; `MIP_FILTER` selects or blends | `scalar_sampler` | documented; MIP_FILTER none: the finest, open |
//! | `TRI_PERF`, `BORDER_FIX` | `scalar_sampler` | documented |
//! | anisotropic filters: several fetches along the longer step | `anisotropy` | derived, the number open: [`AnisotropicFilter`] |
//! | linear filters interpolate along S, T, R, each step rounded | `sampler` | open: order, and [`Weights`] |
//! | `VOL_FILTER` selects the filter along R of a volume | `sampler` | documented |
//! | clamp modes | `address` | documented names and ranges, derived arithmetic |
//! | bits of components, `SIGNED_COMP`, `SEL`, `GAMMA`, `POW2FIX2FLT` | `format`, `texels` | documented; sRGB's curve observed |
//! | DXT and ATI blocks | `blocks` | derived |
//! | border colour | `texels` | documented; of wide formats open: [`WideBorder`]; with gamma observed: [`GammaBorder`] |
//! | each level has half the size of the previous one, rows are `TXPITCH` apart | `texels` | documented; pitch of further levels derived |
//! | tiles, padding of rows and levels in memory | `memory_layout` | observed |
//!
//! The [`batch`] module fetches whole chunks of pixels with the same bits, for fast engines and code generators. It is their
//! interface, not one for embedders.
//!
//! NaN coordinates count as 0, others are limited to 2^30 texels; no coordinate, register or byte makes a
//! fetch fail.
//!
//! This crate uses the number formats and arithmetic of `r500-numerics` and the chunks of `r500-simd`; it knows
//! no programs, engines or files.

mod address;
mod affecting;
mod anisotropy;
#[doc(hidden)]
pub mod batch;
mod blocks;
mod compiled_forms;
mod component;
mod coordinates;
mod error;
mod format;
mod lookup;
mod memory_layout;
mod quad_fetch;
mod readings;
mod sampler;
mod scalar_sampler;
mod settings;
mod texels;

pub use error::{BindError, Setting};
pub use format::storage;
pub use lookup::{LevelLookup, Lookup, TexelLookup};
pub use memory_layout::{LevelLayout, MemoryLayout, base_size};
pub use quad_fetch::{DISABLED_UNIT, Gradients, QuadFetch};
pub use readings::{
    AnisotropicFilter, CubeTies, DepthStencil, GammaBorder, LodBias, LodFraction, Magnification,
    TexReadings, Weights, WideBorder,
};
pub use sampler::{Sampler, SamplerKind};
pub use settings::{AnisotropySettings, SamplerSettings};

#[cfg(test)]
mod tests;
