//! Levels of detail of a chunk, and the levels that they ask for.

use r500_isa::values::{CoordType, LayerFilter, TexOp, TriPerf};

use super::filter::{Colors, PerLane};
use super::places::Places;
use super::prepared::Prepared;
use super::{BatchFetch, Chunk, LANES};
use crate::numerics::{Arith, CANONICAL_NAN};

/// As in every default reading.
const LAW: Arith = Arith::LAW;

impl Prepared {
    /// The levels of detail, bias included; never NaN.
    #[inline(always)]
    pub(super) fn lods(&self, fetch: &BatchFetch<'_>, k: usize, places: &Places) -> Chunk {
        let mut lods = [0.0; LANES];
        match fetch.op {
            TexOp::LOD => lods = fetch.strq[3][k],
            TexOp::DXDY => {
                let scale = if fetch.unscaled { [1.0; 3] } else { self.scale };
                let (mut dx, mut dy) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
                for axis in 0..self.detail_axes() {
                    let (right, down) = (&fetch.dx[axis][k], &fetch.dy[axis][k]);
                    for lane in 0..LANES {
                        dx[axis][lane] = LAW.mul(right[lane], scale[axis]);
                        dy[axis][lane] = LAW.mul(down[lane], scale[axis]);
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
                        dx[axis][quad] = LAW.sub(x[4 * quad + 1], x[4 * quad]);
                        dy[axis][quad] = LAW.sub(x[4 * quad + 2], x[4 * quad]);
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
                        lods[lane] = LAW.add(lods[lane], bias[lane]);
                    }
                }
            }
        }
        for lane in 0..LANES {
            let biased = LAW.add(lods[lane], self.lod_bias);
            lods[lane] = if biased.is_nan() { 0.0 } else { biased };
        }
        lods
    }

    /// Filters by level of detail: magnified or not, within a level or between two.
    #[inline(always)]
    pub(super) fn detailed(&self, lods: &Chunk, places: &Places, live: u8, colors: &mut Colors) {
        let (mut magnified, mut others) = (0, 0);
        for lane in 0..LANES {
            let is = lods[lane] <= 0.0;
            magnified |= u32::from(is) << lane;
            others |= u32::from(!is) << lane;
        }
        let looked_at = lanes_of(live);
        let (magnified, others) = (magnified & looked_at, others & looked_at);
        if others == 0 {
            return self.level(&self.levels[self.finest], self.mag, places, live, colors);
        }
        self.minified(lods, places, live, colors);
        // Else the finest level was taken anyway, and mixed with share 0.
        if magnified != 0 && (self.mag != self.min || !self.plain) {
            let mut larger: Colors = [[0.0; 4]; LANES];
            self.level(&self.levels[self.finest], self.mag, places, live, &mut larger);
            for lane in 0..LANES {
                if magnified >> lane & 1 != 0 {
                    colors[lane] = larger[lane];
                }
            }
        }
    }

    /// Filters by `MIN_FILTER` and `MIP_FILTER`.
    #[inline(always)]
    fn minified(&self, lods: &Chunk, places: &Places, live: u8, colors: &mut Colors) {
        let (finest, coarsest) = (self.finest as f32, self.coarsest as f32);
        let mut limited = [0.0; LANES];
        for lane in 0..LANES {
            let above = if lods[lane] < finest { finest } else { lods[lane] };
            limited[lane] = if above > coarsest { coarsest } else { above };
        }
        match self.mip {
            LayerFilter::LINEAR => {
                let (mut first, mut second, mut share) = ([0; LANES], [0; LANES], [0.0; LANES]);
                let mut mixed = 0;
                for lane in 0..LANES {
                    let floor = limited[lane] as u8;
                    first[lane] = floor;
                    second[lane] = (floor + 1).min(self.coarsest as u8);
                    share[lane] = self.tri_perf_line(limited[lane] - f32::from(floor));
                    mixed |= u32::from(share[lane] > 0.0) << lane;
                }
                self.levels_of(&first, places, live, colors);
                if mixed & lanes_of(live) == 0 && self.plain {
                    return;
                }
                let mut coarser: Colors = [[0.0; 4]; LANES];
                self.levels_of(&second, places, live, &mut coarser);
                for lane in 0..LANES {
                    for c in 0..4 {
                        let (a, b) = (colors[lane][c], coarser[lane][c]);
                        colors[lane][c] = LAW.add(a, LAW.mul(LAW.sub(b, a), share[lane]));
                    }
                }
            }
            LayerFilter::POINT => {
                let mut nearest = [0; LANES];
                for lane in 0..LANES {
                    nearest[lane] = (limited[lane] + 0.5) as u8;
                }
                self.levels_of(&nearest, places, live, colors);
            }
            _ => self.level(&self.levels[self.finest], self.min, places, live, colors),
        }
    }

    /// Filters within a level, a lane its own.
    #[inline(always)]
    fn levels_of(&self, ks: &[u8; LANES], places: &Places, live: u8, colors: &mut Colors) {
        let first = ks[live.trailing_zeros() as usize * 4 & 15];
        let mut others = 0;
        for lane in 0..LANES {
            others |= u32::from(ks[lane] != first) << lane;
        }
        if others & lanes_of(live) == 0 {
            self.level(&self.levels[usize::from(first)], self.min, places, live, colors);
        } else {
            let levels = PerLane::gather(&self.levels, ks);
            self.level(&levels, self.min, places, live, colors);
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
            let mut right = LAW.add(square(dx[0][lane]), square(dx[1][lane]));
            let mut down = LAW.add(square(dy[0][lane]), square(dy[1][lane]));
            if depth {
                right = LAW.add(right, square(dx[2][lane]));
                down = LAW.add(down, square(dy[2][lane]));
            }
            // NaN gives the second, as MAX does.
            lods[lane] = if right >= down { right } else { down };
        }
        for lane in 0..N {
            lods[lane] = LAW.mul(ln2(lods[lane]), 0.5);
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
    LAW.mul(step, step)
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
    const COEFFICIENTS: [f32; 9] = crate::numerics::kernels::LN2;
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
