//! Filters within a level: from places to colours.

use r500_isa::values::CoordType;

use super::super::sampler::Filter;
use super::axis::Taps;
use super::places::Places;
use super::prepared::{Level, Prepared};
use super::{Chunk, LANES, flush, product};

/// The colours of a chunk: red, green, blue, alpha of each lane.
pub(super) type Colors = [[f32; 4]; LANES];

/// What is worked out on the way, kept from chunk to chunk so that nothing is cleared or copied.
pub(super) struct Scratch {
    x: Chunk,
    taps: [Taps; 3],
    rows: [Chunk; 2],
    /// The numbers of texels: first column and row, second column, second row, both second.
    indices: [[u32; LANES]; 4],
    layer: Colors,
}

impl Scratch {
    pub(super) const NEW: Self = Self {
        x: [0.0; LANES],
        taps: [Taps::ZERO; 3],
        rows: [[0.0; LANES]; 2],
        indices: [[0; LANES]; 4],
        layer: [[0.0; 4]; LANES],
    };
}

impl Prepared {
    /// The colours of the live quads at their places in a level.
    #[inline(always)]
    pub(super) fn level(
        &self,
        level: &Level,
        filter: Filter,
        places: &Places,
        live: u8,
        scratch: &mut Scratch,
        colors: &mut Colors,
    ) {
        let Scratch { x, taps, rows, indices, layer: further } = scratch;
        let volume = self.kind == CoordType::D3;
        for axis in 0..if volume { 3 } else { 2 } {
            let u = &places.uvw[axis];
            if level.whole {
                for lane in 0..LANES {
                    x[lane] = u[lane];
                }
            } else {
                let (least, factor) = (&level.least[axis], &level.factor[axis]);
                for lane in 0..LANES {
                    // A product with a power of two is exact, but must not be denormal.
                    let flushed = if u[lane].abs() < least[lane] { 0.0 } else { u[lane] };
                    x[lane] = flushed * factor[lane];
                }
            }
            let (size, inverse) = (&level.size[axis], &level.inverse[axis]);
            self.wrapping[axis].taps(x, size, inverse, filter[axis], &mut taps[axis]);
        }
        let linear = filter[0];
        let second_layer = volume && filter[2];
        for second in 0..if second_layer { 2 } else { 1 } {
            let layer = if volume { &taps[2].texel[second] } else { &places.face };
            self.indices(level, layer, &taps[0], &taps[1], linear, rows, indices);
            let into = if second == 0 { &mut *colors } else { &mut *further };
            self.mixtures(indices, &taps[0].share, &taps[1].share, linear, live, into);
        }
        if second_layer {
            let share = &taps[2].share;
            for lane in 0..LANES {
                mix_by_law(&mut colors[lane], &further[lane], share[lane]);
            }
        }
    }

    /// The numbers of the texels of a layer.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a step of one function")]
    fn indices(
        &self,
        level: &Level,
        layer: &Chunk,
        columns: &Taps,
        rows: &Taps,
        linear: bool,
        starts: &mut [Chunk; 2],
        indices: &mut [[u32; LANES]; 4],
    ) {
        /// Added to a whole number below it, this leaves it in the lowest bits.
        const MAGIC: f32 = (1 << 23) as f32;
        let [width, height, _] = &level.size;
        for row in 0..if linear { 2 } else { 1 } {
            let (y, start) = (&rows.texel[row], &mut starts[row]);
            for lane in 0..LANES {
                let row = layer[lane] * height[lane] + y[lane];
                start[lane] = row * width[lane] + (level.base[lane] + MAGIC);
            }
        }
        for corner in 0..if linear { 4 } else { 1 } {
            let (x, y) = (&columns.texel[corner & 1], &rows.texel[corner >> 1]);
            let (start, index) = (&starts[corner >> 1], &mut indices[corner]);
            for lane in 0..LANES {
                index[lane] = (start[lane] + x[lane]).to_bits() & 0x7f_ffff;
            }
            if self.bordered {
                let border = self.border();
                for lane in 0..LANES {
                    let outside = (x[lane] < 0.0) | (y[lane] < 0.0) | (layer[lane] < 0.0);
                    index[lane] = if outside { border } else { index[lane] };
                }
            }
        }
    }

    /// The texels of the live quads, mixed.
    #[inline(always)]
    fn mixtures(
        &self,
        indices: &[[u32; LANES]; 4],
        along_s: &Chunk,
        along_t: &Chunk,
        linear: bool,
        live: u8,
        colors: &mut Colors,
    ) {
        let texels = &self.texels[..];
        for quad in 0..4 {
            if live >> quad & 1 == 0 {
                continue;
            }
            for lane in 4 * quad..4 * quad + 4 {
                let mut a = texels[indices[0][lane] as usize];
                if linear {
                    let (s, t) = (along_s[lane], along_t[lane]);
                    let b = &texels[indices[1][lane] as usize];
                    let mut c = texels[indices[2][lane] as usize];
                    let d = &texels[indices[3][lane] as usize];
                    if self.denormals {
                        mix_by_law(&mut a, b, s);
                        mix_by_law(&mut c, d, s);
                        mix_by_law(&mut a, &c, t);
                    } else {
                        mix(&mut a, b, s);
                        mix(&mut c, d, s);
                        mix(&mut a, &c, t);
                    }
                }
                colors[lane] = a;
            }
        }
    }
}

/// a + (b - a) * share, into a.
///
/// No step is tiny for texels that are multiples of 2^-47, as all but float32 are, and a share that is
/// one of 2^-25: in a first mixture products are 2^-72 or more, so in a second one, of multiples of
/// 2^-96, they are 2^-121 or more; and a sum that cancels is a multiple of a last place that is larger.
#[inline(always)]
fn mix(a: &mut [f32; 4], b: &[f32; 4], share: f32) {
    for c in 0..4 {
        a[c] += (b[c] - a[c]) * share;
    }
}

/// The same with the law's steps; `share` is no denormal.
#[inline(always)]
pub(super) fn mix_by_law(a: &mut [f32; 4], b: &[f32; 4], share: f32) {
    for c in 0..4 {
        let first = flush(a[c]);
        let difference = flush(flush(b[c]) - first);
        a[c] = flush(first + product(difference, share));
    }
}
