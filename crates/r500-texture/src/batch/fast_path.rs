//! The fast path: two-dimensional textures with one level, clamped, repeated or mirrored.
//!
//! Each step processes a group of chunks, so that its branches are taken once a group.

use r500_isa::values::{CoordType, TexOp};

use super::address_mode::{TOO_FAR, address};
use super::batch_fetch::BatchFetch;
use super::compiled_sampler::{CompiledSampler, LaneMipLevel};
use super::footprints::{BilinearFootprints, bilerp};
use super::texel_cache::TexelCache;
use super::texel_coords::{flush_to_plus, quads_with, quotient};
use super::texel_lane::{INTEGER_BIAS, LaneAxis};
use super::texel_math::WrapMode;
use r500_simd::inhibit_outer_vectorization;
use r500_simd::level::lane_ops::LaneOps;
use r500_simd::{Chunk, LANES};

/// Chunks in a group.
pub(super) const GROUP_CHUNKS: usize = 4;

/// A group of chunks and their intermediate results.
pub(super) struct ChunkGroup {
    /// The number of chunks, their indices in the batch, and their live quads.
    pub(super) count: usize,
    pub(super) chunks: [usize; GROUP_CHUNKS],
    pub(super) live: [u8; GROUP_CHUNKS],
    /// Quads that need the slow path.
    pub(super) slow: [u8; GROUP_CHUNKS],
    /// The texels along each axis, and the weight of the second one.
    texel: [[Chunk; GROUP_CHUNKS]; 2],
    weight: [[Chunk; GROUP_CHUNKS]; 2],
    /// Numbers of texels or footprints, as floats.
    number: [Chunk; GROUP_CHUNKS],
    pixels: [[f32; 4]; LANES],
}

impl ChunkGroup {
    pub(super) const NEW: Self = Self {
        count: 0,
        chunks: [0; GROUP_CHUNKS],
        live: [0; GROUP_CHUNKS],
        slow: [0; GROUP_CHUNKS],
        texel: [[[0.0; LANES]; GROUP_CHUNKS]; 2],
        weight: [[[0.0; LANES]; GROUP_CHUNKS]; 2],
        number: [[0.0; LANES]; GROUP_CHUNKS],
        pixels: [[0.0; 4]; LANES],
    };
}

impl CompiledSampler {
    /// Returns whether its fetches can take the fast path.
    pub(super) fn supports_fast_path(&self) -> bool {
        let is_cached = match self.mag[0] {
            true => self.footprints.is_some(),
            false => matches!(self.store, TexelCache::Decoded(_)),
        };
        self.kind == CoordType::D2
            && self.single_level
            && is_cached
            && self.levels[self.finest].full_size
            && self.address_modes[..2].iter().all(|axis| axis.wrap().is_some())
    }

    /// Fetches the live quads of a group, except those marked slow.
    #[inline(always)]
    pub(super) fn fetch_group(
        &self,
        simd: impl LaneOps,
        fetch: &BatchFetch<'_>,
        group: &mut ChunkGroup,
        out: &mut [&mut [Chunk]; 4],
    ) {
        let level = &self.levels[self.finest];
        let count = group.count.min(GROUP_CHUNKS);
        group.slow = [0; GROUP_CHUNKS];
        for axis in 0..2 {
            self.scaled(fetch, group, axis, count);
            let ChunkGroup { texel, weight, .. } = group;
            self.texels(level, axis, &mut texel[axis][..count], &mut weight[axis][..count]);
        }
        match (&self.footprints, &self.store) {
            (Some(footprints), _) if self.mag[0] => {
                number(group, count, level.row[0], level.origin[0]);
                self.filter_group(simd, footprints, fetch.wanted, group, count, out);
            }
            (_, TexelCache::Decoded(texels)) => {
                number(group, count, level.size[0][0], level.base[0]);
                pick(simd, texels, fetch.wanted, group, count, out);
            }
            _ => {}
        }
    }

    /// Computes coordinates in texels.
    #[inline(always)]
    fn scaled(&self, fetch: &BatchFetch<'_>, group: &mut ChunkGroup, axis: usize, count: usize) {
        let ChunkGroup { chunks, texel, slow, .. } = group;
        let scale = if fetch.unscaled { 1.0 } else { self.scale[axis] };
        let repeats = self.address_modes[axis].repeats();
        let project = fetch.op == TexOp::PROJ;
        for j in 0..count {
            inhibit_outer_vectorization();
            let (k, to) = (chunks[j], &mut texel[axis][j]);
            let given = &fetch.strq[axis][k];
            let mut x: Chunk = std::array::from_fn(|lane| flush_to_plus(given[lane]));
            if project {
                let (q, mut underflows) = (&fetch.strq[3][k], [0_u32; LANES]);
                for lane in 0..LANES {
                    x[lane] = quotient(x[lane], q[lane], &mut underflows[lane]);
                }
                slow[j] |= quads_with(&underflows);
            }
            let x: Chunk = std::array::from_fn(|lane| x[lane] * scale);
            *to = x;
            if repeats {
                // True for NaN, too.
                let far = |lane: usize| if x[lane].abs() < TOO_FAR { 0 } else { !0 };
                slow[j] |= quads_with(&std::array::from_fn(far));
            }
        }
    }

    /// Computes the texels along an axis (the first of two with the linear filter) and the weight of the second.
    #[inline(always)]
    fn texels(
        &self,
        level: &LaneMipLevel,
        axis: usize,
        texels: &mut [Chunk],
        weights: &mut [Chunk],
    ) {
        let mode = self.address_modes[axis];
        let (size, inverse) = (level.size[axis][0], level.inverse[axis][0]);
        // Constant arguments, so that each case has a loop of its own.
        let mut each = |wrap, linear, power_of_two| {
            let axis = LaneAxis { size, inverse, power_of_two };
            each(texels, weights, |x| address(axis, wrap, linear, x));
        };
        match (mode.wrap(), self.mag[0], mode.power_of_two) {
            (Some(WrapMode::Clamp), true, _) => each(WrapMode::Clamp, true, false),
            (Some(WrapMode::Clamp), false, _) => each(WrapMode::Clamp, false, false),
            (Some(WrapMode::Repeat), true, true) => each(WrapMode::Repeat, true, true),
            (Some(WrapMode::Repeat), true, false) => each(WrapMode::Repeat, true, false),
            (Some(WrapMode::Repeat), false, powers) => each(WrapMode::Repeat, false, powers),
            (Some(WrapMode::Mirror), true, powers) => each(WrapMode::Mirror, true, powers),
            (Some(WrapMode::Mirror), false, powers) => each(WrapMode::Mirror, false, powers),
            (None, ..) => unreachable!("the fast path has no other modes"),
        }
    }

    /// Filters the colours of a group bilinearly.
    #[inline(always)]
    fn filter_group(
        &self,
        simd: impl LaneOps,
        footprints: &BilinearFootprints,
        wanted: u8,
        group: &mut ChunkGroup,
        count: usize,
        out: &mut [&mut [Chunk]; 4],
    ) {
        let ChunkGroup { chunks, live, weight, number, pixels, .. } = group;
        let [along_s, along_t] = weight;
        let footprints = footprints.all();
        for j in 0..count {
            for quad in 0..4 {
                if live[j] >> quad & 1 == 0 {
                    continue;
                }
                for lane in 4 * quad..4 * quad + 4 {
                    // Only inactive lanes can have a number out of range.
                    let Some(four) = footprints.get(biased_to_int(number[j][lane])) else {
                        continue;
                    };
                    bilerp(four, along_s[j][lane], along_t[j][lane], &mut pixels[lane]);
                }
            }
            store_channels(simd, |lane| &pixels[lane], wanted, chunks[j], out);
        }
    }
}

/// Applies a step to each lane.
#[inline(always)]
fn each(texels: &mut [Chunk], weights: &mut [Chunk], step: impl Fn(f32) -> (f32, f32)) {
    for (texel, weight) in texels.iter_mut().zip(weights) {
        inhibit_outer_vectorization();
        // The compiler vectorises the loop over local arrays in every mode; in place, with AVX, not for clamped
        // coordinates.
        let (x, mut numbers, mut fractions) = (*texel, [0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            (numbers[lane], fractions[lane]) = step(x[lane]);
        }
        (*texel, *weight) = (numbers, fractions);
    }
}

/// Computes the numbers of texels in rows of `row` texels that start at `origin`.
#[inline(always)]
fn number(group: &mut ChunkGroup, count: usize, row: f32, origin: f32) {
    let ChunkGroup { texel: [columns, rows], number, .. } = group;
    for j in 0..count {
        inhibit_outer_vectorization();
        for lane in 0..LANES {
            number[j][lane] = rows[j][lane] * row + columns[j][lane] + (origin + INTEGER_BIAS);
        }
    }
}

/// Converts back an integer that [`INTEGER_BIAS`] was added to.
#[inline(always)]
fn biased_to_int(number: f32) -> usize {
    (number.to_bits() & 0x7f_ffff) as usize
}

/// Reads the colours of a group with the point filter.
#[inline(always)]
fn pick(
    simd: impl LaneOps,
    texels: &[[f32; 4]],
    wanted: u8,
    group: &ChunkGroup,
    count: usize,
    out: &mut [&mut [Chunk]; 4],
) {
    let ChunkGroup { chunks, number, .. } = group;
    for j in 0..count {
        let texel = |lane: usize| texels.get(biased_to_int(number[j][lane])).unwrap_or(&[0.0; 4]);
        if wanted.is_power_of_two() {
            let c = (wanted.trailing_zeros() & 3) as usize;
            if let Some(to) = out[c].get_mut(chunks[j]) {
                for lane in 0..LANES {
                    to[lane] = texel(lane)[c];
                }
            }
            continue;
        }
        store_channels(simd, texel, wanted, chunks[j], out);
    }
}

/// Stores the wanted channels of chunk `k`, given its pixels.
#[inline(always)]
fn store_channels<'p>(
    simd: impl LaneOps,
    pixel: impl Fn(usize) -> &'p [f32; 4],
    wanted: u8,
    k: usize,
    out: &mut [&mut [Chunk]; 4],
) {
    for half in 0..2 {
        let channels = simd.pixel_channels([
            pixel(8 * half),
            pixel(8 * half + 1),
            pixel(8 * half + 2),
            pixel(8 * half + 3),
            pixel(8 * half + 4),
            pixel(8 * half + 5),
            pixel(8 * half + 6),
            pixel(8 * half + 7),
        ]);
        for c in 0..4 {
            if wanted >> c & 1 != 0
                && let Some(to) = out[c].get_mut(k)
            {
                to.as_chunks_mut::<8>().0[half] = channels[c];
            }
        }
    }
}
