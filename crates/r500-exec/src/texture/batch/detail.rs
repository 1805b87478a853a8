//! Levels of detail of a chunk, and the levels that they ask for.

use r500_isa::values::{CoordType, LayerFilter, TexOp, TriPerf};

use super::axis::{floor, whole};
use super::filter::{Colors, Scratch, mix_by_law, reborrow};
use super::places::Places;
use super::prepared::{Level, Prepared};
use super::{BatchFetch, Chunk, LANES, flush, product};
use crate::numerics::{CANONICAL_NAN, kernels};

/// The levels that the pixels of a chunk ask for.
struct Detail {
    /// The lanes that are magnified, but none if that makes no difference.
    magnified: u32,
    /// Whether some are not.
    minified: bool,
    /// Whether a second level is mixed in.
    mixed: bool,
    first: [u32; LANES],
    second: [u32; LANES],
    share: Chunk,
    finest: [u32; LANES],
}

/// What is filtered, one after the other.
#[derive(Clone, Copy)]
enum Pass {
    First,
    Second,
    Magnified,
}

impl Detail {
    /// All lanes in the finest level.
    #[inline(always)]
    fn magnified(prepared: &Prepared) -> Self {
        let finest = [prepared.finest as u32; LANES];
        Self {
            magnified: u32::MAX,
            minified: false,
            mixed: false,
            first: finest,
            second: finest,
            share: [0.0; LANES],
            finest,
        }
    }
}

impl Prepared {
    /// The levels of detail, bias included; never NaN. None is denormal.
    #[inline(always)]
    fn lods(&self, fetch: &BatchFetch<'_>, k: usize, places: &Places) -> Chunk {
        let mut lods = [0.0; LANES];
        match fetch.op {
            TexOp::LOD => {
                let q = &fetch.strq[3][k];
                for lane in 0..LANES {
                    lods[lane] = flush(q[lane]);
                }
            }
            TexOp::DXDY => {
                let scale = if fetch.unscaled { [1.0; 3] } else { self.scale };
                let (mut dx, mut dy) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
                for axis in 0..self.detail_axes() {
                    let (right, down) = (&fetch.dx[axis][k], &fetch.dy[axis][k]);
                    for lane in 0..LANES {
                        dx[axis][lane] = flush(right[lane]) * scale[axis];
                        dy[axis][lane] = flush(down[lane]) * scale[axis];
                    }
                }
                self.lod_of(&dx, &dy, &mut lods);
            }
            op => {
                // One for each quad, of its left column and upper row.
                let (mut dx, mut dy) = ([[0.0; 4]; 3], [[0.0; 4]; 3]);
                for axis in 0..self.detail_axes() {
                    let x = &places.uvw[axis];
                    for quad in 0..4 {
                        dx[axis][quad] = flush(x[4 * quad + 1] - x[4 * quad]);
                        dy[axis][quad] = flush(x[4 * quad + 2] - x[4 * quad]);
                    }
                }
                let mut of_quads = [0.0; 4];
                self.lod_of(&dx, &dy, &mut of_quads);
                for lane in 0..LANES {
                    lods[lane] = of_quads[lane / 4];
                }
                if op == TexOp::LODBIAS {
                    let bias = &fetch.strq[3][k];
                    for lane in 0..LANES {
                        lods[lane] = flush(lods[lane] + flush(bias[lane]));
                    }
                }
            }
        }
        for lane in 0..LANES {
            let biased = flush(lods[lane] + self.lod_bias);
            lods[lane] = if biased.is_nan() { 0.0 } else { biased };
        }
        lods
    }

    /// Filters by level of detail: magnified or not, within a level or between two.
    #[inline(always)]
    pub(super) fn filtered(
        &self,
        fetch: &BatchFetch<'_>,
        k: usize,
        places: &Places,
        live: u8,
        scratch: &mut Scratch,
        colors: &mut [&mut Chunk; 4],
    ) {
        let mut detail = Detail::magnified(self);
        self.detail(fetch, k, places, live, &mut detail);
        let mut found: Colors = [[0.0; LANES]; 4];
        for pass in [Pass::First, Pass::Second, Pass::Magnified] {
            let (wanted, ks, filter) = match pass {
                Pass::First => (detail.minified, &detail.first, self.min),
                Pass::Second => (detail.mixed, &detail.second, self.min),
                Pass::Magnified => (detail.magnified != 0, &detail.finest, self.mag),
            };
            if !wanted {
                continue;
            }
            // Of the first live quad.
            let k = ks[(live.trailing_zeros() as usize * 4) & 15];
            let mut others = 0;
            for lane in 0..LANES {
                others |= u32::from(ks[lane] != k) << lane;
            }
            let gathered;
            let level = if others & lanes_of(live) == 0 {
                &self.levels[k as usize]
            } else {
                gathered = Level::gather(&self.levels, ks);
                &gathered
            };
            // The first pass that there is goes where the others are mixed in.
            let further = match pass {
                Pass::First => false,
                Pass::Second => true,
                Pass::Magnified => detail.minified,
            };
            let mut into = if further { found.each_mut() } else { reborrow(colors) };
            self.level(level, filter, places, live, scratch, &mut into);
            match pass {
                Pass::Second => {
                    for (color, found) in colors.iter_mut().zip(&found) {
                        mix_by_law(color, found, &detail.share);
                    }
                }
                Pass::Magnified if further => {
                    for (color, found) in colors.iter_mut().zip(&found) {
                        for lane in 0..LANES {
                            let larger = detail.magnified >> lane & 1 != 0;
                            color[lane] = if larger { found[lane] } else { color[lane] };
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Which levels the pixels of a chunk ask for.
    #[inline(always)]
    fn detail(
        &self,
        fetch: &BatchFetch<'_>,
        k: usize,
        places: &Places,
        live: u8,
        detail: &mut Detail,
    ) {
        let lods = self.lods(fetch, k, places);
        let (finest, coarsest) = (self.finest as f32, self.coarsest as f32);
        let mut magnified = 0;
        let mut mixed = 0;
        for lane in 0..LANES {
            let lod = lods[lane];
            magnified |= u32::from(lod <= 0.0) << lane;
            let above = if lod < finest { finest } else { lod };
            let limited = if above > coarsest { coarsest } else { above };
            match self.mip {
                LayerFilter::LINEAR => {
                    let floor = floor(limited);
                    let share = self.tri_perf_line(limited - floor);
                    let next = if floor + 1.0 < coarsest { floor + 1.0 } else { coarsest };
                    detail.first[lane] = whole(floor);
                    detail.second[lane] = whole(next);
                    detail.share[lane] = share;
                    mixed |= u32::from(share > 0.0) << lane;
                }
                LayerFilter::POINT => detail.first[lane] = whole(floor(limited + 0.5)),
                _ => {}
            }
        }
        let looked_at = lanes_of(live);
        detail.minified = !magnified & looked_at != 0;
        detail.mixed = detail.minified
            && self.mip == LayerFilter::LINEAR
            && (mixed & looked_at != 0 || !self.plain);
        detail.magnified = magnified & looked_at;
        if detail.minified && self.mag == self.min && self.plain {
            // The finest level is taken anyway, and mixed with share 0.
            detail.magnified = 0;
        }
    }

    /// As the sampler has it. No step is tiny: slopes are above 1, and a difference is a multiple of
    /// the bias's last place.
    #[inline(always)]
    fn tri_perf_line(&self, share: f32) -> f32 {
        let (slope, bias) = match self.tri_perf {
            TriPerf::ONE_EIGHTH => (4.0 / 3.0, 1.0 / 6.0),
            TriPerf::ONE_QUARTER => (2.0, 0.5),
            TriPerf::THREE_8THS => (4.0, 1.5),
            _ => return share,
        };
        let line = slope * share - bias;
        let above = if line > 0.0 { line } else { 0.0 };
        if above < 1.0 { above } else { 1.0 }
    }

    /// The level of detail of two steps, in each lane.
    #[inline(always)]
    fn lod_of<const N: usize>(&self, dx: &[[f32; N]; 3], dy: &[[f32; N]; 3], lods: &mut [f32; N]) {
        let depth = self.kind != CoordType::D2;
        for lane in 0..N {
            let mut right = square(dx[0][lane]) + square(dx[1][lane]);
            let mut down = square(dy[0][lane]) + square(dy[1][lane]);
            if depth {
                right += square(dx[2][lane]);
                down += square(dy[2][lane]);
            }
            // NaN gives the second, as MAX does.
            lods[lane] = if right >= down { right } else { down };
        }
        for lane in 0..N {
            // No logarithm but 0 is smaller than 2^-25.
            lods[lane] = ln2(lods[lane]) * 0.5;
        }
    }

    /// How many of u, v, w count in the level of detail.
    #[inline(always)]
    fn detail_axes(&self) -> usize {
        if self.kind == CoordType::D2 { 2 } else { 3 }
    }
}

/// A step along one axis, squared.
#[inline(always)]
fn square(step: f32) -> f32 {
    product(step, step)
}

/// The lanes of these quads.
#[inline(always)]
fn lanes_of(quads: u8) -> u32 {
    // A nibble of ones for each bit.
    let spread = u32::from(quads & 1)
        | u32::from(quads & 2) << 3
        | u32::from(quads & 4) << 6
        | u32::from(quads & 8) << 9;
    spread * 0xf
}

/// [`kernels::ln2`](crate::numerics::kernels::ln2) of a number that is not negative (or NaN), without
/// a branch.
#[inline(always)]
fn ln2(x: f32) -> f32 {
    /// The root of one half.
    const SPLIT: u32 = 0x3f35_04f3;
    const COEFFICIENTS: [f32; 9] = kernels::LN2;
    let bits = x.to_bits();
    let i = bits.wrapping_sub(SPLIT) as i32;
    let e = (i >> 23) as f32;
    let f = f32::from_bits(bits.wrapping_sub(i as u32 & 0xff80_0000)) - 1.0;
    let mut sum = COEFFICIENTS[8];
    for n in 0..8 {
        sum = sum * f + COEFFICIENTS[7 - n];
    }
    let log = e + (f + f * sum);
    let log = if x < f32::INFINITY { log } else { x };
    let log = if x < f32::MIN_POSITIVE { f32::NEG_INFINITY } else { log };
    if x.is_nan() { CANONICAL_NAN } else { log }
}

#[cfg(test)]
mod tests {
    use super::{kernels, ln2};

    #[test]
    fn the_logarithm_is_the_kernels() {
        let odd = [0.0, f32::MIN_POSITIVE, f32::INFINITY, f32::MAX, 1.0, f32::from_bits(1)];
        let many = (0..0x7f80_0000).step_by(997).map(f32::from_bits);
        for x in odd.into_iter().chain(many) {
            assert_eq!(ln2(x).to_bits(), kernels::ln2(x).to_bits(), "{x:e}");
        }
        assert!(ln2(f32::NAN).is_nan());
    }
}
