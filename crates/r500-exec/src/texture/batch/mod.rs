//! Fetches of many quads at once: what [`Sampler::fetch`] gives under the default readings, bit for
//! bit, at the speed of the processor's vectors.
//!
//! Coordinates come sixteen pixels at a time, a channel an array; loops over these are plain and
//! left to the compiler, for whatever vectors the caller was compiled for. Texels are decoded
//! beforehand ([`Prepared`]), four floats each, so that a filter mixes all channels at once.
//!
//! ```text
//! strq ──places──▶ u, v, w, face ──detail──▶ levels ──axis──▶ columns, rows, layers, shares
//!                                                                         │
//!            channels ◀──────── colours ◀──────────filter──────── texels ◀┘
//! ```
//!
//! What stays with [`Sampler::fetch`]: quads with a coordinate that wraps and lies 2^21 or more texels
//! off, quotients of 2^-126, and textures too large to be decoded ([`Prepared::LARGEST`]).
//!
//! Where the law takes denormals for zero, this says so only where one can come about. The bounds
//! stand where they are used.

mod axis;
mod detail;
mod filter;
mod places;
mod prepared;

use std::sync::{Arc, OnceLock};

use r500_isa::values::TexOp;

use super::readings::TexReadings;
use super::sampler::{Gradients, QuadFetch, Sampler};
use filter::Colors;
use prepared::Prepared;

/// Pixels in a chunk.
const LANES: usize = 16;

/// Sixteen pixels: four quads of four neighbouring lanes (top left, top right, bottom left, bottom
/// right).
pub(crate) type Chunk = [f32; LANES];

/// A texture instruction as a batch of pixels brings it to its unit.
pub(crate) struct BatchFetch<'a> {
    /// As in [`QuadFetch`].
    pub(crate) op: TexOp,
    /// As in [`QuadFetch`].
    pub(crate) unscaled: bool,
    /// S, T, R, Q, swizzled, all of the same length.
    pub(crate) strq: [&'a [Chunk]; 4],
    /// How they change to the right. Only DXDY looks at it; else it may be empty.
    pub(crate) dx: [&'a [Chunk]; 4],
    /// How they change downward, likewise.
    pub(crate) dy: [&'a [Chunk]; 4],
    /// The lanes that anyone looks at, as masks: all bits or none. Quads without one are skipped.
    pub(crate) active: Option<&'a [Chunk]>,
    /// The channels that anyone looks at: red in bit 0.
    pub(crate) wanted: u8,
}

/// What a sampler keeps for batches: made when first asked for, shared by its clones; `None` if the
/// texture is too large.
#[derive(Clone, Debug, Default)]
pub(super) struct Lazy(Arc<OnceLock<Option<Prepared>>>);

impl Sampler {
    /// What a batch fetches: red, green, blue, alpha before the destination swizzle, into as many
    /// chunks. A channel that is not wanted may be empty.
    #[inline(always)]
    pub(crate) fn fetch_batch(&self, fetch: &BatchFetch<'_>, out: [&mut [Chunk]; 4]) {
        let mut out = out;
        let prepared = self.batch.0.get_or_init(|| Prepared::new(self));
        for k in 0..fetch.strq[0].len() {
            let live = live_quads(fetch, k);
            if live == 0 {
                continue;
            }
            let slow = match prepared {
                Some(prepared) => prepared.chunk(fetch, k, live, &mut out),
                None => live,
            };
            if slow != 0 {
                self.fetch_slowly(fetch, k, slow, &mut out);
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

impl Prepared {
    /// Fetches the live quads of chunk `k`, and says which are left to the law.
    #[inline(always)]
    fn chunk(&self, fetch: &BatchFetch<'_>, k: usize, live: u8, out: &mut [&mut [Chunk]; 4]) -> u8 {
        let (places, wild) = self.places(fetch, k);
        let slow = live & wild;
        let live = live & !wild;
        if live == 0 {
            return slow;
        }
        let mut colors: Colors = [[0.0; 4]; LANES];
        if self.single {
            self.level(&self.levels[self.finest], self.mag, &places, live, &mut colors);
        } else {
            let lods = self.lods(fetch, k, &places);
            self.detailed(&lods, &places, live, &mut colors);
        }
        for (c, channel) in out.iter_mut().enumerate() {
            if fetch.wanted >> c & 1 != 0 {
                let channel = &mut channel[k];
                for lane in 0..LANES {
                    channel[lane] = colors[lane][c];
                }
            }
        }
        slow
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
