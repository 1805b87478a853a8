//! Filters within a level: from places to colours.

use r500_isa::values::CoordType;

use super::super::sampler::Filter;
use super::axis::{Sizes, Taps};
use super::places::Places;
use super::prepared::{Level, Prepared};
use super::{Chunk, LANES};
use crate::numerics::Arith;

/// The colours of a chunk: red, green, blue, alpha of each lane.
pub(super) type Colors = [[f32; 4]; LANES];

/// The texels of a chunk, by number.
type Indices = [u32; LANES];

/// The level of each lane.
pub(super) trait Levels {
    fn size(&self, axis: usize, lane: usize) -> f32;
    fn inverse(&self, axis: usize, lane: usize) -> f32;
    fn factor(&self, axis: usize, lane: usize) -> f32;
    fn base(&self, lane: usize) -> f32;
    /// Whether every factor is 1.
    fn whole(&self) -> bool;
}

impl Levels for Level {
    #[inline(always)]
    fn size(&self, axis: usize, _: usize) -> f32 {
        self.size[axis]
    }

    #[inline(always)]
    fn inverse(&self, axis: usize, _: usize) -> f32 {
        self.inverse[axis]
    }

    #[inline(always)]
    fn factor(&self, axis: usize, _: usize) -> f32 {
        self.factor[axis]
    }

    #[inline(always)]
    fn base(&self, _: usize) -> f32 {
        self.base
    }

    #[inline(always)]
    fn whole(&self) -> bool {
        self.factor == [1.0; 3]
    }
}

/// A level for every lane.
pub(super) struct PerLane {
    size: [Chunk; 3],
    inverse: [Chunk; 3],
    factor: [Chunk; 3],
    base: Chunk,
}

impl PerLane {
    #[inline(always)]
    pub(super) fn gather(levels: &[Level], ks: &[u8; LANES]) -> Self {
        let zero = [[0.0; LANES]; 3];
        let mut all = Self { size: zero, inverse: zero, factor: zero, base: [0.0; LANES] };
        for lane in 0..LANES {
            let level = &levels[usize::from(ks[lane])];
            for axis in 0..3 {
                all.size[axis][lane] = level.size[axis];
                all.inverse[axis][lane] = level.inverse[axis];
                all.factor[axis][lane] = level.factor[axis];
            }
            all.base[lane] = level.base;
        }
        all
    }
}

impl Levels for PerLane {
    #[inline(always)]
    fn size(&self, axis: usize, lane: usize) -> f32 {
        self.size[axis][lane]
    }

    #[inline(always)]
    fn inverse(&self, axis: usize, lane: usize) -> f32 {
        self.inverse[axis][lane]
    }

    #[inline(always)]
    fn factor(&self, axis: usize, lane: usize) -> f32 {
        self.factor[axis][lane]
    }

    #[inline(always)]
    fn base(&self, lane: usize) -> f32 {
        self.base[lane]
    }

    #[inline(always)]
    fn whole(&self) -> bool {
        false
    }
}

/// The sizes along one axis.
struct Along<'a, L>(&'a L, usize);

impl<L> Clone for Along<'_, L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Along<'_, L> {}

impl<L: Levels> Sizes for Along<'_, L> {
    #[inline(always)]
    fn size(self, lane: usize) -> f32 {
        self.0.size(self.1, lane)
    }

    #[inline(always)]
    fn inverse(self, lane: usize) -> f32 {
        self.0.inverse(self.1, lane)
    }
}

impl Prepared {
    /// The colours of the live quads at their places in a level.
    #[inline(always)]
    pub(super) fn level(
        &self,
        levels: &impl Levels,
        filter: Filter,
        places: &Places,
        live: u8,
        colors: &mut Colors,
    ) {
        let columns = self.along(0, levels, filter, places);
        let rows = self.along(1, levels, filter, places);
        if self.kind != CoordType::D3 {
            return self.layer(levels, &places.face, &columns, &rows, filter[0], live, colors);
        }
        let layers = self.along(2, levels, filter, places);
        self.layer(levels, &layers.first, &columns, &rows, filter[0], live, colors);
        if filter[2] {
            let mut others: Colors = [[0.0; 4]; LANES];
            self.layer(levels, &layers.second, &columns, &rows, filter[0], live, &mut others);
            for lane in 0..LANES {
                mix_by_law(&mut colors[lane], &others[lane], layers.share[lane]);
            }
        }
    }

    /// What the coordinates meet along an axis.
    #[inline(always)]
    fn along(&self, axis: usize, levels: &impl Levels, filter: Filter, places: &Places) -> Taps {
        let mut x = places.uvw[axis];
        if !levels.whole() {
            for lane in 0..LANES {
                // A product with a power of two is exact, but must not be denormal.
                let factor = levels.factor(axis, lane);
                let flushed =
                    if x[lane].abs() < f32::MIN_POSITIVE / factor { 0.0 } else { x[lane] };
                x[lane] = flushed * factor;
            }
        }
        self.wrapping[axis].taps(&mut x, Along(levels, axis), filter[axis])
    }

    /// The colours within a layer.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "one call for each kind of filter")]
    fn layer(
        &self,
        levels: &impl Levels,
        layer: &Chunk,
        columns: &Taps,
        rows: &Taps,
        linear: bool,
        live: u8,
        colors: &mut Colors,
    ) {
        let texels = &self.texels[..];
        if !linear {
            let indices = self.indices(levels, layer, &columns.first, &rows.first);
            for quad in 0..4 {
                if live >> quad & 1 == 0 {
                    continue;
                }
                for lane in 4 * quad..4 * quad + 4 {
                    colors[lane] = texels[indices[lane] as usize];
                }
            }
            return;
        }
        let top = [
            self.indices(levels, layer, &columns.first, &rows.first),
            self.indices(levels, layer, &columns.second, &rows.first),
        ];
        let bottom = [
            self.indices(levels, layer, &columns.first, &rows.second),
            self.indices(levels, layer, &columns.second, &rows.second),
        ];
        for quad in 0..4 {
            if live >> quad & 1 == 0 {
                continue;
            }
            for lane in 4 * quad..4 * quad + 4 {
                let (s, t) = (columns.share[lane], rows.share[lane]);
                let mut a = texels[top[0][lane] as usize];
                let b = &texels[top[1][lane] as usize];
                let mut c = texels[bottom[0][lane] as usize];
                let d = &texels[bottom[1][lane] as usize];
                if self.denormals {
                    mix_by_law(&mut a, b, s);
                    mix_by_law(&mut c, d, s);
                    mix_by_law(&mut a, &c, t);
                } else {
                    mix(&mut a, b, s);
                    mix(&mut c, d, s);
                    mix(&mut a, &c, t);
                }
                colors[lane] = a;
            }
        }
    }

    /// The numbers of texels.
    #[inline(always)]
    fn indices(&self, levels: &impl Levels, layer: &Chunk, x: &Chunk, y: &Chunk) -> Indices {
        /// Added to a whole number below it, this leaves it in the lowest bits.
        const MAGIC: f32 = (1 << 23) as f32;
        let mut indices = [0; LANES];
        for lane in 0..LANES {
            let row = layer[lane] * levels.size(1, lane) + y[lane];
            let index = row * levels.size(0, lane) + (x[lane] + (levels.base(lane) + MAGIC));
            indices[lane] = index.to_bits() & 0x7f_ffff;
        }
        if self.bordered {
            for lane in 0..LANES {
                let outside = (x[lane] < 0.0) | (y[lane] < 0.0) | (layer[lane] < 0.0);
                indices[lane] = if outside { self.border() } else { indices[lane] };
            }
        }
        indices
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

/// The same with the law's steps.
#[inline(always)]
fn mix_by_law(a: &mut [f32; 4], b: &[f32; 4], share: f32) {
    const LAW: Arith = Arith::LAW;
    for c in 0..4 {
        a[c] = LAW.add(a[c], LAW.mul(LAW.sub(b[c], a[c]), share));
    }
}
