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
mod channel_source;
mod compiled_sampler;
mod fast_path;
mod filter;
mod footprints;
mod lod;
mod texel_cache;
mod texel_coords;
mod texture_desc;

use std::sync::{Arc, OnceLock};

use r500_isa::values::TexOp;
use r500_simd::{Chunk, LANES};

use super::readings::TexReadings;
use super::sampler::{Gradients, QuadFetch, Sampler};
use compiled_sampler::CompiledSampler;
use fast_path::ChunkGroup;
use filter::{Colors, Scratch};
use texel_coords::TexelCoords;

pub use channel_source::ChannelSource;
pub use footprints::Footprint;
pub use texture_desc::{AxisDesc, LodDesc, TexelView, TextureDesc, WrapMode};

/// A texture instruction as a batch of pixels brings it to its unit.
pub struct BatchFetch<'a> {
    /// As in [`QuadFetch`].
    pub op: TexOp,
    /// As in [`QuadFetch`].
    pub unscaled: bool,
    /// S, T, R, Q, swizzled, all of the same length.
    pub strq: [&'a [Chunk]; 4],
    /// How they change to the right. Only DXDY looks at it; else it may be empty.
    pub dx: [&'a [Chunk]; 4],
    /// How they change downward, likewise.
    pub dy: [&'a [Chunk]; 4],
    /// The lanes that anyone looks at, as masks: all bits or none. Quads without one are skipped.
    pub active: Option<&'a [Chunk]>,
    /// The channels that anyone looks at: red in bit 0.
    pub wanted: u8,
}

/// What a sampler keeps for batches: made when first asked for, shared by its clones; `None` if the
/// texture is too large.
#[derive(Clone, Debug, Default)]
pub(super) struct LazySampler(Arc<OnceLock<Option<CompiledSampler>>>);

impl Sampler {
    /// What is kept for batches.
    #[inline(always)]
    fn compiled(&self) -> Option<&CompiledSampler> {
        self.batch.0.get_or_init(|| CompiledSampler::new(self)).as_ref()
    }

    /// What a batch fetches: red, green, blue, alpha before the destination swizzle, into as many
    /// chunks. A channel that is not wanted may be empty.
    #[inline(always)]
    pub fn fetch_batch(&self, fetch: &BatchFetch<'_>, out: [&mut [Chunk]; 4]) {
        let mut out = out;
        let compiled = self.compiled();
        if let Some(compiled) = compiled.filter(|compiled| compiled.has_fast_path) {
            self.fetch_fast_path(compiled, fetch, &mut out);
            return;
        }
        let mut scratch = Scratch::NEW;
        let mut coords = TexelCoords::NEW;
        let mut unwanted: Colors = [[0.0; LANES]; 4];
        for k in 0..fetch.strq[0].len() {
            let live = live_quads(fetch, k);
            if live == 0 {
                continue;
            }
            let slow = match compiled {
                Some(compiled) => {
                    let slow = compiled.texel_coords(fetch, k, &mut coords);
                    let live = live & !slow;
                    if live != 0 {
                        let mut colors = unwanted.each_mut();
                        for (c, channel) in out.iter_mut().enumerate() {
                            if fetch.wanted >> c & 1 != 0 {
                                colors[c] = &mut channel[k];
                            }
                        }
                        compiled.fetch_chunk(fetch, k, &coords, live, &mut scratch, &mut colors);
                    }
                    slow
                }
                None => live,
            };
            if slow & live != 0 {
                self.fetch_slowly(fetch, k, slow & live, &mut out);
            }
        }
    }

    /// Fetches what is [simple].
    #[inline(always)]
    fn fetch_fast_path(
        &self,
        compiled: &CompiledSampler,
        fetch: &BatchFetch<'_>,
        out: &mut [&mut [Chunk]; 4],
    ) {
        let mut group = ChunkGroup::NEW;
        let (mut k, chunks) = (0, fetch.strq[0].len());
        while k < chunks {
            group.count = 0;
            while k < chunks && group.count < fast_path::GROUP_CHUNKS {
                let live = live_quads(fetch, k);
                if live != 0 {
                    group.chunks[group.count] = k;
                    group.live[group.count] = live;
                    group.count += 1;
                }
                k += 1;
            }
            compiled.fetch_group(fetch, &mut group, out);
            for j in 0..group.count {
                let slow = group.slow[j] & group.live[j];
                if slow != 0 {
                    self.fetch_slowly(fetch, group.chunks[j], slow, out);
                }
            }
        }
    }

    /// Fetches the quads of chunk `k` whose bits are set, by the law.
    #[inline(never)]
    fn fetch_slowly(
        &self,
        fetch: &BatchFetch<'_>,
        k: usize,
        quads: u8,
        out: &mut [&mut [Chunk]; 4],
    ) {
        for first in (0..4).filter(|quad| quads >> quad & 1 != 0).map(|quad| 4 * quad) {
            let lanes = [first, first + 1, first + 2, first + 3];
            let at = |from: [&[Chunk]; 4], lane: usize| from.map(|channel| channel[k][lane]);
            let gradients = match fetch.op {
                TexOp::DXDY => {
                    lanes.map(|i| Gradients { dx: at(fetch.dx, i), dy: at(fetch.dy, i) })
                }
                _ => [Gradients::default(); 4],
            };
            let quad = QuadFetch {
                op: fetch.op,
                unscaled: fetch.unscaled,
                strq: lanes.map(|lane| at(fetch.strq, lane)),
                gradients,
            };
            let colors = self.fetch(&quad, &TexReadings::LAW);
            for (lane, color) in lanes.into_iter().zip(colors) {
                for (c, channel) in out.iter_mut().enumerate() {
                    if fetch.wanted >> c & 1 != 0 {
                        channel[k][lane] = color[c];
                    }
                }
            }
        }
    }
}

impl CompiledSampler {
    /// Fetches the live quads of chunk `k`.
    #[inline(always)]
    fn fetch_chunk(
        &self,
        fetch: &BatchFetch<'_>,
        k: usize,
        coords: &TexelCoords,
        live: u8,
        scratch: &mut Scratch,
        colors: &mut [&mut Chunk; 4],
    ) {
        if self.single_level {
            let level = &self.levels[self.finest];
            self.level(level, self.mag, coords, live, fetch.wanted, scratch, colors);
        } else {
            self.filtered(fetch, k, coords, live, scratch, colors);
        }
    }
}

/// The quads of chunk `k` with an active lane: the first in bit 0.
#[inline(always)]
fn live_quads(fetch: &BatchFetch<'_>, k: usize) -> u8 {
    let Some(active) = fetch.active else {
        return 0b1111;
    };
    let mask = &active[k];
    let mut live = 0;
    for quad in 0..4 {
        let mut any = 0;
        for lane in 4 * quad..4 * quad + 4 {
            any |= mask[lane].to_bits();
        }
        live |= u8::from(any != 0) << quad;
    }
    live
}

/// a * b by the law, for numbers that are not denormal: zero of its sign if it is tiny.
///
/// Tiny is decided after rounding with an exponent of any size, so near the smallest normal number the
/// product is looked at 2^64 times as large. Where that overflows, or a does, the product is not tiny.
#[inline(always)]
fn product(a: f32, b: f32) -> f32 {
    /// 2^64.
    const LARGER: f32 = 18_446_744_073_709_551_616.0;
    let product = a * b;
    let tiny = (a * LARGER * b).abs() < f32::MIN_POSITIVE * LARGER;
    if tiny { 0.0_f32.copysign(product) } else { product }
}

#[cfg(test)]
mod tests {
    use super::product;
    use r500_numerics::Arith;

    /// Products near the smallest normal number, whose roundings differ with and without a lower end
    /// of the exponent.
    #[test]
    fn tiny_products_are_the_laws() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut flushed = 0;
        for n in 0..2_000_000_u32 {
            state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            let float = |mantissa: u64, exponent: u32| {
                f32::from_bits(exponent << 23 | mantissa as u32 & 0x7f_ffff)
            };
            // Exponents that add up to about that of the smallest one; mantissas of all sorts, some
            // all ones.
            let ones = if n % 3 == 0 { u64::MAX } else { 0 };
            let exponent = 1 + (state >> 50) as u32 % 126;
            let other = (127 + n % 4).saturating_sub(exponent).clamp(1, 254);
            let (a, b) = (float(state >> 20 | ones, exponent), float(state >> 3, other));
            let a = if n % 5 == 0 { -a } else { a };
            let want = Arith::LAW.mul(a, b);
            assert_eq!(product(a, b).to_bits(), want.to_bits(), "{a:e} * {b:e}");
            flushed += u32::from(want == 0.0);
        }
        assert!(flushed > 100_000, "{flushed}");
        for (a, b) in [(0.0, 1.0), (-0.0, 1.0), (f32::MAX, f32::MAX), (-1e30, 0.0), (1.0, 1.0)] {
            assert_eq!(product(a, b).to_bits(), Arith::LAW.mul(a, b).to_bits());
        }
        assert!(product(f32::INFINITY, 0.0).is_nan());
        // 2^-126 - 2^-150 rounds up to the smallest normal number if the exponent has a lower end.
        let below = f32::from_bits(0x3f7f_ffff);
        assert_eq!(product(f32::MIN_POSITIVE, below), 0.0);
    }
}
