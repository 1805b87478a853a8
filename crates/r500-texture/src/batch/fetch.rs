//! Batch fetches: chunks by the compiled sampler, the quads it cannot compute by the scalar one.

use r500_isa::values::TexOp;
use r500_simd::{Chunk, LANES};

use super::batch_fetch::BatchFetch;
use super::compiled_sampler::CompiledSampler;
use super::fast_path::{self, ChunkGroup};
use super::filter::{Colors, Scratch};
use super::texel_coords::TexelCoords;
use crate::quad_fetch::{Gradients, QuadFetch};
use crate::readings::TexReadings;
use crate::scalar_sampler::ScalarSampler;

/// Fetches a batch: see [`Sampler::fetch_batch`](crate::Sampler::fetch_batch).
#[inline(always)]
pub(crate) fn fetch_batch(
    scalar: &ScalarSampler,
    compiled: Option<&CompiledSampler>,
    fetch: &BatchFetch<'_>,
    out: [&mut [Chunk]; 4],
) {
    let mut out = out;
    if let Some(compiled) = compiled.filter(|compiled| compiled.has_fast_path) {
        fetch_fast_path(scalar, compiled, fetch, &mut out);
        return;
    }
    let mut scratch = Scratch::NEW;
    let mut coords = TexelCoords::NEW;
    let mut unwanted: Colors = [[0.0; LANES]; 4];
    for k in 0..fetch.strq[0].len() {
        let live = fetch.live_quads(k);
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
            fetch_scalar(scalar, fetch, k, slow & live, &mut out);
        }
    }
}

/// Fetches in groups of chunks: see [`fast_path`].
#[inline(always)]
fn fetch_fast_path(
    scalar: &ScalarSampler,
    compiled: &CompiledSampler,
    fetch: &BatchFetch<'_>,
    out: &mut [&mut [Chunk]; 4],
) {
    let mut group = ChunkGroup::NEW;
    let (mut k, chunks) = (0, fetch.strq[0].len());
    while k < chunks {
        group.count = 0;
        while k < chunks && group.count < fast_path::GROUP_CHUNKS {
            let live = fetch.live_quads(k);
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
                fetch_scalar(scalar, fetch, group.chunks[j], slow, out);
            }
        }
    }
}

/// Fetches the quads of chunk `k` whose bits are set with the scalar sampler.
#[inline(never)]
fn fetch_scalar(
    scalar: &ScalarSampler,
    fetch: &BatchFetch<'_>,
    k: usize,
    quads: u8,
    out: &mut [&mut [Chunk]; 4],
) {
    for first in (0..4).filter(|quad| quads >> quad & 1 != 0).map(|quad| 4 * quad) {
        let lanes = [first, first + 1, first + 2, first + 3];
        let at = |from: [&[Chunk]; 4], lane: usize| from.map(|channel| channel[k][lane]);
        let gradients = match fetch.op {
            TexOp::DXDY => lanes.map(|i| Gradients { dx: at(fetch.dx, i), dy: at(fetch.dy, i) }),
            _ => [Gradients::default(); 4],
        };
        let quad = QuadFetch {
            op: fetch.op,
            unscaled: fetch.unscaled,
            strq: lanes.map(|lane| at(fetch.strq, lane)),
            gradients,
        };
        let colors = scalar.fetch(&quad, &TexReadings::REFERENCE);
        for (lane, color) in lanes.into_iter().zip(colors) {
            for (c, channel) in out.iter_mut().enumerate() {
                if fetch.wanted >> c & 1 != 0 {
                    channel[k][lane] = color[c];
                }
            }
        }
    }
}

impl CompiledSampler {
    /// Fetches the live quads of chunk `k`, which lie at `coords`.
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
