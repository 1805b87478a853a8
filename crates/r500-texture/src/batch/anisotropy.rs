//! Anisotropic filters for a chunk: the probes of each pixel, as [`anisotropy`](crate::anisotropy), and their mean.

use r500_isa::values::{CoordType, TexOp};

use super::address_mode::TOO_FAR;
use super::batch_fetch::BatchFetch;
use super::compiled_sampler::CompiledSampler;
use super::filter::{Colors, Scratch, lerp_reference, reborrow};
use super::product::product;
use super::texel_coords::{TexelCoords, quads_with};
use super::texel_lane::TexelLane;
use super::texel_math;
use crate::anisotropy::Anisotropy;
use r500_numerics::{branchless, flush};
use r500_simd::level::lane_ops::LaneOps;
use r500_simd::{Chunk, LANES};

/// The probes of the pixels of a chunk.
struct LaneProbes {
    /// Their number, at least 1.
    count: Chunk,
    /// The longer step, along which they lie.
    step: [Chunk; 2],
}

impl CompiledSampler {
    /// Filters the live quads, except those it returns, which need the slow path: a probe is far from the origin.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a step of one function")]
    pub(super) fn filter_probes(
        &self,
        simd: impl LaneOps,
        anisotropy: Anisotropy,
        fetch: &BatchFetch<'_>,
        k: usize,
        coords: &TexelCoords,
        live: u8,
        scratch: &mut Scratch,
        colors: &mut [&mut Chunk; 4],
    ) -> u8 {
        let wanted = fetch.wanted;
        if fetch.op == TexOp::LOD {
            let selection = self.select_lods(self.lods(fetch, k, coords, live), live);
            self.filtered(simd, wanted, &selection, coords, live, scratch, colors);
            return 0;
        }
        let (mut probes, mut lods) = self.probes(anisotropy, fetch, k, coords);
        if fetch.op == TexOp::LODBIAS {
            let bias = &fetch.strq[3][k];
            for lane in 0..LANES {
                lods[lane] = flush(lods[lane] + flush(bias[lane]));
            }
        }
        self.bias_lods(fetch.op, &mut lods);
        let selection = self.select_lods(lods, live);
        if !anisotropy.magnified {
            for lane in 0..LANES {
                let one = selection.is_magnified(lane);
                probes.count[lane] = if one { 1.0 } else { probes.count[lane] };
            }
        }
        let slow = self.far_probes(&probes, coords);
        let live = live & !slow;
        if live == 0 {
            return slow;
        }
        let mut most = 1.0;
        for lane in 0..LANES {
            let count = if live >> (lane / 4) & 1 != 0 { probes.count[lane] } else { 1.0 };
            most = if count > most { count } else { most };
        }
        let mut at = *coords;
        let mut found: Colors = [[0.0; LANES]; 4];
        for i in 0..most as u32 {
            probes.positions(i as f32, coords, &mut at);
            if i == 0 {
                self.filtered(simd, wanted, &selection, &at, live, scratch, &mut reborrow(colors));
                continue;
            }
            self.filtered(simd, wanted, &selection, &at, live, scratch, &mut found.each_mut());
            let weight = [1.0 / (i + 1) as f32; LANES];
            for (mean, found) in colors.iter_mut().zip(&found) {
                let before = **mean;
                lerp_reference(mean, found, &weight);
                for lane in 0..LANES {
                    let further = (i as f32) < probes.count[lane];
                    mean[lane] = if further { mean[lane] } else { before[lane] };
                }
            }
        }
        slow
    }

    /// Computes the probes of each pixel, and their levels of detail without bias.
    #[inline(always)]
    fn probes(
        &self,
        anisotropy: Anisotropy,
        fetch: &BatchFetch<'_>,
        k: usize,
        coords: &TexelCoords,
    ) -> (LaneProbes, Chunk) {
        let [dx, dy] = self.steps(fetch, k, coords);
        let mut probes = LaneProbes { count: [1.0; LANES], step: [[0.0; LANES]; 2] };
        let mut lods = [0.0; LANES];
        for lane in 0..LANES {
            let squared = |step: &[Chunk; 3]| {
                let (u, v) = (step[0][lane], step[1][lane]);
                flush(product(u, u) + product(v, v))
            };
            let (right, down) = (squared(&dx), squared(&dy));
            let along_x = right >= down;
            let longer = if along_x { right } else { down };
            for axis in 0..2 {
                let (dx, dy) = (dx[axis][lane], dy[axis][lane]);
                probes.step[axis][lane] = if along_x { dx } else { dy };
            }
            let first = product(dx[0][lane], dy[1][lane]);
            let area = flush(first - product(dx[1][lane], dy[0][lane])).abs();
            let mut count = 1.0;
            for n in 1..anisotropy.most {
                let ratio = n as f32 + if self.rounds_up { 0.0 } else { 0.5 };
                let least = product(ratio, if area >= ratio { area } else { ratio });
                let further = (longer > least) | (longer == least) & !self.rounds_up;
                count += if further { 1.0 } else { 0.0 };
            }
            let isotropic = TexelLane::apply(longer, texel_math::lod_of_square);
            let shorter = flush(TexelLane::apply(area, branchless::ln2) - isotropic);
            let limited = flush(isotropic - anisotropy.log2_most);
            let several = if shorter >= limited { shorter } else { limited };
            probes.count[lane] = count;
            lods[lane] = if count > 1.0 { several } else { isotropic };
        }
        (probes, lods)
    }

    /// Computes the steps of each pixel in texels: to the right and down.
    #[inline(always)]
    fn steps(&self, fetch: &BatchFetch<'_>, k: usize, coords: &TexelCoords) -> [[Chunk; 3]; 2] {
        if self.kind == CoordType::CUBE {
            return self.face_steps(fetch, k, coords);
        }
        let scale = if fetch.unscaled { [1.0; 3] } else { self.scale };
        let mut steps = [[[0.0; LANES]; 3]; 2];
        for axis in 0..2 {
            for lane in 0..LANES {
                let (right, down) = match fetch.op {
                    TexOp::DXDY => {
                        let step = |to: &[Chunk]| flush(to[k][lane]) * scale[axis];
                        (step(fetch.dx[axis]), step(fetch.dy[axis]))
                    }
                    _ => {
                        let (u, first) = (&coords.uvw[axis], lane & !3);
                        (flush(u[first | 1] - u[first]), flush(u[first | 2] - u[first]))
                    }
                };
                steps[0][axis][lane] = right;
                steps[1][axis][lane] = down;
            }
        }
        steps
    }

    /// Returns the quads with a probe for which a repeating axis needs the slow path.
    #[inline(always)]
    fn far_probes(&self, probes: &LaneProbes, coords: &TexelCoords) -> u8 {
        let mut far = [0_u32; LANES];
        for axis in 0..2 {
            if self.address_modes[axis].repeats() {
                for lane in 0..LANES {
                    // More than the farthest probe; false for NaN.
                    let end = coords.uvw[axis][lane].abs() + probes.step[axis][lane].abs();
                    let is_near = (end < TOO_FAR) | (probes.count[lane] == 1.0);
                    far[lane] |= u32::from(!is_near);
                }
            }
        }
        quads_with(&far)
    }
}

impl LaneProbes {
    /// Computes the positions of probe `i`, from 0, of each pixel; any position for pixels with fewer probes.
    #[inline(always)]
    fn positions(&self, i: f32, coords: &TexelCoords, at: &mut TexelCoords) {
        for axis in 0..2 {
            for lane in 0..LANES {
                let (n, u) = (self.count[lane], coords.uvw[axis][lane]);
                let part = (2.0 * i + 1.0 - n) / (2.0 * n);
                let along = flush(u + product(self.step[axis][lane], part));
                at.uvw[axis][lane] = if (n > 1.0) & (i < n) { along } else { u };
            }
        }
    }
}
