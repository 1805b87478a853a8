//! Level-of-detail selection for a chunk, and filtering between levels.

use r500_isa::values::{CoordType, LayerFilter, TexOp, TriPerf};

use super::batch_fetch::BatchFetch;
use super::compiled_sampler::{CompiledSampler, LaneMipLevel};
use super::filter::{Colors, Scratch, lerp_reference, reborrow};
use super::texel_coords::TexelCoords;
use super::texel_lane::{TexelLane, truncate_to_int};
use super::texel_math;
use r500_numerics::flush;
use r500_simd::level::lane_ops::LaneOps;
use r500_simd::{Chunk, LANES, inhibit_outer_vectorization};

/// The selected levels of the pixels of a chunk.
pub(super) struct LodSelection {
    /// Whether any pixel is magnified, unless that makes no difference.
    magnified: bool,
    /// Whether any pixel is minified.
    minified: bool,
    /// Whether a second level is blended in.
    trilinear: bool,
    /// Masks of the magnified and of the live lanes.
    larger: Mask,
    live: Mask,
    first: [u32; LANES],
    second: [u32; LANES],
    weight: Chunk,
}

/// A lane mask: all bits or none.
type Mask = [u32; LANES];

/// The steps of filtering, in order.
#[derive(Clone, Copy)]
enum FilterStep {
    First,
    Second,
    Magnified,
}

impl LodSelection {
    /// Returns whether a lane is magnified.
    pub(super) fn is_magnified(&self, lane: usize) -> bool {
        self.larger[lane] != 0
    }
}

impl CompiledSampler {
    /// Computes the levels of detail, bias included; never NaN or denormal.
    #[inline(always)]
    pub(super) fn lods(
        &self,
        fetch: &BatchFetch<'_>,
        k: usize,
        coords: &TexelCoords,
        live: u8,
    ) -> Chunk {
        let mut lods = [0.0; LANES];
        match fetch.op {
            TexOp::LOD => {
                let q = &fetch.strq[3][k];
                for lane in 0..LANES {
                    lods[lane] = flush(q[lane]);
                }
            }
            TexOp::DXDY if self.kind == CoordType::CUBE => {
                self.lods_on_faces(fetch, k, coords, &mut lods);
            }
            TexOp::DXDY => {
                let scale = if fetch.unscaled { [1.0; 3] } else { self.scale };
                let (mut dx, mut dy) = ([[0.0; LANES]; 3], [[0.0; LANES]; 3]);
                for axis in 0..self.lod_axes() {
                    let (right, down) = (&fetch.dx[axis][k], &fetch.dy[axis][k]);
                    for lane in 0..LANES {
                        dx[axis][lane] = flush(right[lane]) * scale[axis];
                        dy[axis][lane] = flush(down[lane]) * scale[axis];
                    }
                }
                self.lod_of(&dx, &dy, &mut lods);
            }
            op => {
                self.lods_of_quads(fetch, k, coords, live, &mut lods);
                if op == TexOp::LODBIAS {
                    let bias = &fetch.strq[3][k];
                    for lane in 0..LANES {
                        lods[lane] = flush(lods[lane] + flush(bias[lane]));
                    }
                }
            }
        }
        self.bias_lods(fetch.op, &mut lods);
        lods
    }

    /// Adds `LOD_BIAS`.
    #[inline(always)]
    pub(super) fn bias_lods(&self, op: TexOp, lods: &mut Chunk) {
        let bias = if self.biased.applies_to(op) { self.lod_bias } else { 0.0 }.to_bits();
        for lane in 0..LANES {
            lods[lane] = TexelLane::apply(lods[lane], |b, lod| texel_math::bias_lod(b, lod, bias));
        }
    }

    /// Computes the levels of detail of the differences within quads, without bias.
    #[inline(always)]
    fn lods_of_quads(
        &self,
        fetch: &BatchFetch<'_>,
        k: usize,
        coords: &TexelCoords,
        live: u8,
        lods: &mut Chunk,
    ) {
        if self.kind == CoordType::CUBE && coords.crosses_edges(live) {
            self.lods_on_faces(fetch, k, coords, lods);
            return;
        }
        // One level of detail for each quad, from its left column and upper row.
        let (mut dx, mut dy) = ([[0.0; 4]; 3], [[0.0; 4]; 3]);
        for axis in 0..self.lod_axes() {
            let x = &coords.uvw[axis];
            for quad in 0..4 {
                // Otherwise the compiler, with AVX-512, gathers and scatters the lanes of four quads.
                inhibit_outer_vectorization();
                dx[axis][quad] = flush(x[4 * quad + 1] - x[4 * quad]);
                dy[axis][quad] = flush(x[4 * quad + 2] - x[4 * quad]);
            }
        }
        let mut of_quads = [0.0; 4];
        self.lod_of(&dx, &dy, &mut of_quads);
        for lane in 0..LANES {
            lods[lane] = of_quads[lane / 4];
        }
    }

    /// Computes the levels of detail of a cube's pixels, each on its own face, without bias.
    #[inline(always)]
    fn lods_on_faces(
        &self,
        fetch: &BatchFetch<'_>,
        k: usize,
        coords: &TexelCoords,
        lods: &mut Chunk,
    ) {
        let [dx, dy] = self.face_steps(fetch, k, coords);
        self.lod_of(&dx, &dy, lods);
    }

    /// Filters by level of detail: magnified or minified, within a level or between two.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a step of one function")]
    pub(super) fn filtered(
        &self,
        simd: impl LaneOps,
        channels: u8,
        selection: &LodSelection,
        coords: &TexelCoords,
        live: u8,
        scratch: &mut Scratch,
        colors: &mut [&mut Chunk; 4],
    ) {
        let mut found: Colors = [[0.0; LANES]; 4];
        for step in [FilterStep::First, FilterStep::Second, FilterStep::Magnified] {
            let (wanted, filter) = match step {
                FilterStep::First => (selection.minified, self.min),
                FilterStep::Second => (selection.trilinear, self.min),
                FilterStep::Magnified => (selection.magnified, self.mag),
            };
            if !wanted {
                continue;
            }
            let ks = match step {
                FilterStep::First => Some(&selection.first),
                FilterStep::Second => Some(&selection.second),
                FilterStep::Magnified => None,
            };
            let mut gathered = None;
            let level = match ks {
                Some(ks) => {
                    // The level of the first live quad if all live lanes agree, else one for each lane.
                    let k = ks[(live.trailing_zeros() as usize * 4) & 15];
                    let mut others = 0;
                    for lane in 0..LANES {
                        others |= (ks[lane] ^ k) & selection.live[lane];
                    }
                    if others == 0 {
                        &self.levels[k as usize]
                    } else {
                        gathered.insert(LaneMipLevel::gather(&self.levels, ks))
                    }
                }
                None => &self.levels[self.finest],
            };
            // The first step writes the result, later ones are blended into it.
            let further = match step {
                FilterStep::First => false,
                FilterStep::Second => true,
                FilterStep::Magnified => selection.minified,
            };
            let mut into = if further { found.each_mut() } else { reborrow(colors) };
            self.level(simd, level, filter, coords, live, channels, scratch, &mut into);
            match step {
                FilterStep::Second => {
                    for (color, found) in colors.iter_mut().zip(&found) {
                        lerp_reference(color, found, &selection.weight);
                    }
                }
                FilterStep::Magnified if further => {
                    for (color, found) in colors.iter_mut().zip(&found) {
                        for lane in 0..LANES {
                            let larger = selection.larger[lane] != 0;
                            color[lane] = if larger { found[lane] } else { color[lane] };
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Selects the levels of the pixels of a chunk by their levels of detail.
    #[inline(always)]
    pub(super) fn select_lods(&self, lods: Chunk, live: u8) -> LodSelection {
        let mut selection = LodSelection {
            magnified: false,
            minified: false,
            trilinear: false,
            larger: [0; LANES],
            live: [0; LANES],
            first: [self.finest as u32; LANES],
            second: [self.finest as u32; LANES],
            weight: [0.0; LANES],
        };
        let (mut magnified, mut minified) = (0, 0);
        for lane in 0..LANES {
            let live = 0_u32.wrapping_sub(u32::from(live) >> (lane / 4) & 1);
            let larger = if lods[lane] < self.magnified_below { u32::MAX } else { 0 };
            selection.live[lane] = live;
            selection.larger[lane] = larger;
            magnified |= larger & live;
            minified |= !larger & live;
        }
        selection.minified = minified != 0;
        // With equal filters the minified path reads the finest level for magnified lanes, with weight 0, if levels of detail
        // above 0 are minified.
        let usual = self.magnified_below < 0.5;
        let same = selection.minified && self.mag == self.min && self.plain && usual;
        selection.magnified = magnified != 0 && !same;
        if !selection.minified || self.mip == LayerFilter::NONE {
            return selection;
        }
        let (finest, coarsest) = (self.finest as f32, self.coarsest as f32);
        let fraction = self.lod_fraction;
        let mut limited = lods;
        for lane in 0..LANES {
            limited[lane] = TexelLane::apply(lods[lane], |b, lod| {
                texel_math::cut_lod(b, lod, fraction, finest, coarsest)
            });
        }
        if self.mip == LayerFilter::LINEAR {
            let mut trilinear = 0;
            for lane in 0..LANES {
                let lod = limited[lane].to_bits();
                let (levels, weight) = texel_math::two_levels(&mut TexelLane::new(), lod, coarsest);
                let weight = self.tri_perf_line(f32::from_bits(weight));
                let [first, second] = levels.map(|level| truncate_to_int(f32::from_bits(level)));
                selection.first[lane] = first;
                selection.second[lane] = second;
                selection.weight[lane] = weight;
                // Weights are not negative, so that the bits of all of them are 0 only if all are 0.
                trilinear |= weight.to_bits() & selection.live[lane];
            }
            selection.trilinear = trilinear != 0 || !self.plain;
        } else {
            for lane in 0..LANES {
                let nearest = TexelLane::apply(limited[lane], texel_math::nearest_level);
                selection.first[lane] = truncate_to_int(nearest);
            }
        }
        selection
    }

    /// Applies `TRI_PERF`, as the scalar sampler does. No step underflows: slopes are above 1, and a difference
    /// is a multiple of the last place of the bias.
    #[inline(always)]
    fn tri_perf_line(&self, weight: f32) -> f32 {
        let (slope, bias) = match self.tri_perf {
            TriPerf::ONE_EIGHTH => (4.0 / 3.0, 1.0 / 6.0),
            TriPerf::ONE_QUARTER => (2.0, 0.5),
            TriPerf::THREE_8THS => (4.0, 1.5),
            _ => return weight,
        };
        let line = slope * weight - bias;
        let above = if line > 0.0 { line } else { 0.0 };
        if above < 1.0 { above } else { 1.0 }
    }

    /// Computes the level of detail of two steps, in each lane.
    #[inline(always)]
    fn lod_of<const N: usize>(&self, dx: &[[f32; N]; 3], dy: &[[f32; N]; 3], lods: &mut [f32; N]) {
        match self.kind {
            CoordType::D3 => longer_squares(dx.each_ref(), dy.each_ref(), lods),
            _ => longer_squares([&dx[0], &dx[1]], [&dy[0], &dy[1]], lods),
        }
        for lane in 0..N {
            lods[lane] = TexelLane::apply(lods[lane], texel_math::lod_of_square);
        }
    }

    /// Returns the number of axes that the level of detail depends on.
    #[inline(always)]
    fn lod_axes(&self) -> usize {
        if self.kind == CoordType::D3 { 3 } else { 2 }
    }
}

/// Computes the square of the longer of two steps, in each lane.
#[inline(always)]
fn longer_squares<const N: usize, const AXES: usize>(
    dx: [&[f32; N]; AXES],
    dy: [&[f32; N]; AXES],
    squares: &mut [f32; N],
) {
    for lane in 0..N {
        let (mut right, mut down) = ([0; AXES], [0; AXES]);
        for axis in 0..AXES {
            right[axis] = dx[axis][lane].to_bits();
            down[axis] = dy[axis][lane].to_bits();
        }
        let square = texel_math::longer_square(&mut TexelLane::new(), right, down);
        squares[lane] = f32::from_bits(square);
    }
}

#[cfg(test)]
mod tests {
    use super::TexelLane;
    use r500_numerics::{branchless, kernels};

    fn ln2(x: f32) -> f32 {
        TexelLane::apply(x, branchless::ln2)
    }

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
