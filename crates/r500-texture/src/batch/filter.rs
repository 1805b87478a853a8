//! Filters within a level: from texel coordinates to colours.

use r500_isa::values::CoordType;

use super::address_mode::Taps;
use super::compiled_sampler::{CompiledSampler, LaneMipLevel};
use super::footprints::{BilinearFootprints, bilerp};
use super::product::product;
use super::texel_cache::{Texel, TexelCache};
use super::texel_coords::TexelCoords;
use super::texel_lane::{INTEGER_BIAS, TexelLane};
use super::texel_math;
use crate::scalar_sampler::Filter;
use r500_numerics::flush;
use r500_simd::level::lane_ops::LaneOps;
use r500_simd::{Chunk, LANES};

/// The colours of a chunk: red, green, blue, alpha.
pub(super) type Colors = [Chunk; 4];

/// Intermediate results, reused from chunk to chunk without clearing.
pub(super) struct Scratch {
    pub(super) x: Chunk,
    pub(super) taps: [Taps; 3],
    rows: [Chunk; 2],
    /// Texel numbers: first column and row, second column, second row, both second.
    pub(super) indices: [[u32; LANES]; 4],
    layer: Colors,
    /// The colours of the pixels.
    pub(super) pixels: [[f32; 4]; LANES],
}

impl Scratch {
    pub(super) const NEW: Self = Self {
        x: [0.0; LANES],
        taps: [Taps::ZERO; 3],
        rows: [[0.0; LANES]; 2],
        indices: [[0; LANES]; 4],
        layer: [[0.0; LANES]; 4],
        pixels: [[0.0; 4]; LANES],
    };
}

impl CompiledSampler {
    /// Filters the live quads at their coordinates in a level.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a step of one function")]
    pub(super) fn level(
        &self,
        simd: impl LaneOps,
        level: &LaneMipLevel,
        filter: Filter,
        coords: &TexelCoords,
        live: u8,
        wanted: u8,
        scratch: &mut Scratch,
        colors: &mut [&mut Chunk; 4],
    ) {
        let linear = filter[0];
        if let Some(footprints) = self.footprints.as_ref().filter(|_| linear) {
            self.filter_footprints(footprints, level, coords, live, scratch);
            channels(simd, &scratch.pixels, wanted, colors);
            return;
        }
        let Scratch { x, taps, rows, indices, layer: further, pixels } = scratch;
        let volume = self.kind == CoordType::D3;
        for axis in 0..if volume { 3 } else { 2 } {
            level.coordinates(axis, &coords.uvw[axis], x);
            let (size, inverse) = (&level.size[axis], &level.inverse[axis]);
            self.address_modes[axis].taps(x, size, inverse, filter[axis], &mut taps[axis]);
        }
        let second_layer = volume && filter[2];
        for second in 0..if second_layer { 2 } else { 1 } {
            let layer = if volume { &taps[2].texel[second] } else { &coords.face };
            self.indices(level, layer, &taps[0], &taps[1], linear, rows, indices);
            let (s, t) = (&taps[0].weight, &taps[1].weight);
            match &self.store {
                TexelCache::Decoded(texels) => {
                    self.filter_texels(&texels[..], indices, s, t, linear, live, pixels);
                }
                TexelCache::Unorm(texels) => {
                    self.filter_texels(texels, indices, s, t, linear, live, pixels)
                }
                TexelCache::Bytes(texels) => {
                    self.filter_texels(texels, indices, s, t, linear, live, pixels)
                }
            }
            if second == 0 {
                channels(simd, pixels, wanted, colors);
            } else {
                channels(simd, pixels, wanted, &mut further.each_mut());
            }
        }
        if second_layer {
            let weight = &taps[2].weight;
            for (color, further) in colors.iter_mut().zip(further) {
                lerp_reference(color, further, weight);
            }
        }
    }

    /// Computes the texel numbers in a layer.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a step of one function")]
    fn indices(
        &self,
        level: &LaneMipLevel,
        layer: &Chunk,
        columns: &Taps,
        rows: &Taps,
        linear: bool,
        starts: &mut [Chunk; 2],
        indices: &mut [[u32; LANES]; 4],
    ) {
        let [width, height, _] = &level.size;
        for row in 0..if linear { 2 } else { 1 } {
            let (y, start) = (&rows.texel[row], &mut starts[row]);
            for lane in 0..LANES {
                let row = layer[lane] * height[lane] + y[lane];
                start[lane] = row * width[lane] + (level.base[lane] + INTEGER_BIAS);
            }
        }
        for corner in 0..if linear { 4 } else { 1 } {
            let (x, y) = (&columns.texel[corner & 1], &rows.texel[corner >> 1]);
            let (start, index) = (&starts[corner >> 1], &mut indices[corner]);
            for lane in 0..LANES {
                index[lane] = (start[lane] + x[lane]).to_bits() & 0x7f_ffff;
            }
            if self.may_use_border {
                let border = self.store.border();
                for lane in 0..LANES {
                    let outside = (x[lane] < 0.0) | (y[lane] < 0.0) | (layer[lane] < 0.0);
                    index[lane] = if outside { border } else { index[lane] };
                }
            }
        }
    }

    /// Reads and filters the texels of the live quads.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a step of one function")]
    fn filter_texels(
        &self,
        texels: &(impl Texel + ?Sized),
        indices: &[[u32; LANES]; 4],
        along_s: &Chunk,
        along_t: &Chunk,
        linear: bool,
        live: u8,
        pixels: &mut [[f32; 4]; LANES],
    ) {
        for quad in 0..4 {
            if live >> quad & 1 == 0 {
                continue;
            }
            for lane in 4 * quad..4 * quad + 4 {
                let mut a = texels.texel(indices[0][lane]);
                if linear {
                    let (s, t) = (along_s[lane], along_t[lane]);
                    let b = &texels.texel(indices[1][lane]);
                    let mut c = texels.texel(indices[2][lane]);
                    let d = &texels.texel(indices[3][lane]);
                    if self.may_underflow {
                        lerp_reference(&mut a, b, &[s; 4]);
                        lerp_reference(&mut c, d, &[s; 4]);
                        lerp_reference(&mut a, &c, &[t; 4]);
                    } else {
                        lerp(&mut a, b, s);
                        lerp(&mut c, d, s);
                        lerp(&mut a, &c, t);
                    }
                }
                pixels[lane] = a;
            }
        }
    }
}

impl CompiledSampler {
    /// Filters the live quads at their coordinates in a level with the footprints of the bilinear filter.
    #[inline(always)]
    pub(super) fn filter_footprints(
        &self,
        footprints: &BilinearFootprints,
        level: &LaneMipLevel,
        coords: &TexelCoords,
        live: u8,
        scratch: &mut Scratch,
    ) {
        let Scratch { x, taps, indices: [index, ..], pixels, .. } = scratch;
        let [columns, rows, _] = taps;
        for (axis, taps) in [&mut *columns, &mut *rows].into_iter().enumerate() {
            level.coordinates(axis, &coords.uvw[axis], x);
            let (size, inverse) = (&level.size[axis], &level.inverse[axis]);
            self.address_modes[axis].first(x, size, inverse, &mut taps.texel[0], &mut taps.weight);
        }
        let (x, y) = (&columns.texel[0], &rows.texel[0]);
        if self.kind == CoordType::CUBE {
            for lane in 0..LANES {
                let row = y[lane] * level.row[lane] + coords.face[lane] * level.layer[lane];
                let number = row + x[lane];
                index[lane] = (number + (level.origin[lane] + INTEGER_BIAS)).to_bits() & 0x7f_ffff;
            }
        } else {
            for lane in 0..LANES {
                let number = y[lane] * level.row[lane] + x[lane];
                index[lane] = (number + (level.origin[lane] + INTEGER_BIAS)).to_bits() & 0x7f_ffff;
            }
        }
        let footprints = footprints.all();
        for quad in 0..4 {
            if live >> quad & 1 == 0 {
                continue;
            }
            for lane in 4 * quad..4 * quad + 4 {
                // Only inactive lanes can have a number out of range.
                let Some(four) = footprints.get(index[lane] as usize) else { continue };
                bilerp(four, columns.weight[lane], rows.weight[lane], &mut pixels[lane]);
            }
        }
    }
}

/// Transposes pixels to the wanted channels.
#[inline(always)]
fn channels(
    simd: impl LaneOps,
    pixels: &[[f32; 4]; LANES],
    wanted: u8,
    colors: &mut [&mut Chunk; 4],
) {
    for (half, pixels) in pixels.as_chunks::<8>().0.iter().enumerate() {
        let channels = simd.pixel_channels(pixels.each_ref());
        for (c, color) in colors.iter_mut().enumerate() {
            if wanted >> c & 1 != 0 {
                color.as_chunks_mut::<8>().0[half] = channels[c];
            }
        }
    }
}

/// Reborrows the channels.
#[inline(always)]
pub(super) fn reborrow<'a>([r, g, b, a]: &'a mut [&mut Chunk; 4]) -> [&'a mut Chunk; 4] {
    [r, g, b, a]
}

/// Interpolates linearly: a + (b - a) * weight, into a.
///
/// No step underflows if texels are multiples of 2^-47 (all but some float32 are) and the weight is a
/// multiple of 2^-25: a product is zero or at least 2^-72 in a first interpolation, and at least 2^-121 in a
/// second one, of multiples of 2^-96; a sum that cancels is a multiple of its terms' last place, which is
/// larger.
#[inline(always)]
fn lerp(a: &mut [f32; 4], b: &[f32; 4], weight: f32) {
    for c in 0..4 {
        let (x, y) = (a[c].to_bits(), b[c].to_bits());
        a[c] = f32::from_bits(texel_math::lerp(&mut TexelLane::new(), x, y, weight.to_bits()));
    }
}

/// Interpolates linearly with the steps of the reference arithmetic; the weight is not denormal.
#[inline(always)]
pub(super) fn lerp_reference<const N: usize>(a: &mut [f32; N], b: &[f32; N], weight: &[f32; N]) {
    for i in 0..N {
        let first = flush(a[i]);
        let difference = flush(flush(b[i]) - first);
        a[i] = flush(first + product(difference, weight[i]));
    }
}
