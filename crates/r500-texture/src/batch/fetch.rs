//! Batch fetches: chunks by the compiled sampler, the quads it cannot compute by the scalar one.

use r500_isa::values::TexOp;
use r500_simd::level::lane_ops::LaneOps;
use r500_simd::{Chunk, LANES};

use super::batch_fetch::BatchFetch;
use super::compiled_sampler::CompiledSampler;
use super::fast_path::{self, ChunkGroup};
use super::filter::{Colors, Scratch};
use super::texel_coords::TexelCoords;
use crate::quad_fetch::{Gradients, QuadFetch};
use crate::scalar_sampler::ScalarSampler;

/// Fetches a batch: see [`Sampler::fetch_batch`](crate::Sampler::fetch_batch).
#[inline(always)]
pub(crate) fn fetch_batch(
    simd: impl LaneOps,
    scalar: &ScalarSampler,
    compiled: Option<&CompiledSampler>,
    fetch: &BatchFetch<'_>,
    out: [&mut [Chunk]; 4],
) {
    let mut out = out;
    if let Some(compiled) = compiled.filter(|compiled| compiled.has_fast_path) {
        fetch_fast_path(simd, scalar, compiled, fetch, &mut out);
        return;
    }
    let mut scratch = Scratch::NEW;
    let mut coords = TexelCoords::NEW;
    let mut unwanted: Colors = [[0.0; LANES]; 4];
    for &(first, end) in fetch.ranges {
        for k in first..end {
            let live = fetch.live_quads(k);
            if live == 0 {
                continue;
            }
            let slow = match compiled {
                Some(compiled) => {
                    let slow = compiled.texel_coords(fetch, k, &mut coords);
                    let (mut slow, live) = (slow, live & !slow);
                    if live != 0 {
                        let mut colors = unwanted.each_mut();
                        for (c, channel) in out.iter_mut().enumerate() {
                            if fetch.wanted >> c & 1 != 0 {
                                colors[c] = &mut channel[k];
                            }
                        }
                        let scratch = &mut scratch;
                        slow |= compiled.fetch_chunk(
                            simd,
                            fetch,
                            k,
                            &coords,
                            live,
                            scratch,
                            &mut colors,
                        );
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
}

/// Fetches in groups of chunks: see [`fast_path`].
#[inline(always)]
fn fetch_fast_path(
    simd: impl LaneOps,
    scalar: &ScalarSampler,
    compiled: &CompiledSampler,
    fetch: &BatchFetch<'_>,
    out: &mut [&mut [Chunk]; 4],
) {
    let mut group = ChunkGroup::NEW;
    // Groups take the live chunks of all ranges, so that they are full also where ranges are short.
    let mut ranges = fetch.ranges.iter();
    let (mut k, mut end) = (0, 0);
    loop {
        group.count = 0;
        while group.count < fast_path::GROUP_CHUNKS {
            if k == end {
                let Some(&range) = ranges.next() else { break };
                (k, end) = range;
                continue;
            }
            let live = fetch.live_quads(k);
            if live != 0 {
                group.chunks[group.count] = k;
                group.live[group.count] = live;
                group.count += 1;
            }
            k += 1;
        }
        if group.count == 0 {
            return;
        }
        compiled.fetch_group(simd, fetch, &mut group, out);
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
        let colors = scalar.fetch(&quad, fetch.readings);
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
    /// Fetches the live quads of chunk `k`, at the coordinates `coords`, except those it returns, which need the
    /// slow path.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a step of one function")]
    fn fetch_chunk(
        &self,
        simd: impl LaneOps,
        fetch: &BatchFetch<'_>,
        k: usize,
        coords: &TexelCoords,
        live: u8,
        scratch: &mut Scratch,
        colors: &mut [&mut Chunk; 4],
    ) -> u8 {
        if self.single_level {
            let level = &self.levels[self.finest];
            self.level(simd, level, self.mag, coords, live, fetch.wanted, scratch, colors);
            return 0;
        }
        match self.anisotropy {
            None => {
                let selection = self.select_lods(self.lods(fetch, k, coords, live), live);
                let wanted = fetch.wanted;
                self.filtered(simd, wanted, &selection, coords, live, scratch, colors);
                0
            }
            Some(anisotropy) => {
                self.filter_probes(simd, anisotropy, fetch, k, coords, live, scratch, colors)
            }
        }
    }
}
