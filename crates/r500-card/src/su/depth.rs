//! Depths of the points of a primitive: by the rule, and the same for many points at a time.

use super::{DEPTH_MAX, Primitive, Weights};
use crate::ga::GridPoint;

/// Depth of a primitive: values at the corners after scaling, not clamped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth {
    pub(super) corners: [f64; 3],
    /// Polygon offset.
    pub(super) offset: f64,
    pub(super) double_area: f64,
    /// Whether depth is w, which is linear over the primitive in space.
    pub(super) is_w: bool,
}

/// 2^52: adding it rounds to nearest even, and leaves the integer in the lowest bits.
const ROUNDS: f64 = 4_503_599_627_370_496.0;

/// Number of points from which on the plane of the depth is worth its setup.
const PLANE_POINTS: usize = 32;

impl Primitive {
    /// Returns the [`depth`](Self::depth) of all points that the primitive covers, if it is one.
    pub(crate) fn uniform_depth(&self) -> Option<u32> {
        let Depth { corners: [z, others @ ..], offset, double_area, is_w } = self.depth;
        if is_w || others != [z; 2] {
            return None;
        }
        let rounded = (z + offset).clamp(0.0, DEPTH_MAX);
        // Weights of covered points are at most the area: products with halves, and their sums, are exact.
        let halves = (2.0 * z).fract() == 0.0 && (2.0 * offset).fract() == 0.0;
        let exact = halves && (2.0 * z * double_area).abs() <= 2.0_f64.powi(53);
        // Otherwise interpolation of three equal numbers is off by a few roundings, far less than this.
        let clear = exact || (rounded.fract() - 0.5).abs() > 1e-3;
        let clear = clear && z.abs() < 1e9 && offset.abs() < 1e9;
        clear.then(|| rounded.round() as u32)
    }

    /// Stores the [`depth`](Self::depth) of points on the grid, x and y; those that the primitive does not cover may get another one.
    #[inline(always)]
    pub(crate) fn depths(&self, points: [&[f64]; 2], depths: &mut [u32]) {
        if depths.len() >= PLANE_POINTS && self.depths_by_plane(points, depths) {
            return;
        }
        if self.depth.is_w {
            let [x, y] = points;
            for (depth, (x, y)) in depths.iter_mut().zip(x.iter().zip(y)) {
                *depth = self.depth([*x as i64, *y as i64]);
            }
            return;
        }
        let Depth { corners: [z0, z1, z2], double_area, offset, .. } = self.depth;
        let depths = &mut depths[..points[0].len()];
        self.each_weights(points, |n, [a, b, c]| {
            let z = (a * z0 + b * z1 + c * z2) / double_area + offset;
            // NaN becomes 0.
            depths[n] = round_to_u32(if z > 0.0 { z.min(DEPTH_MAX) } else { 0.0 });
        });
    }

    /// Stores the depths of points by their plane. Returns whether these are the depths: its errors are far smaller than the distance of each
    /// depth from the middle of two codes, and so are those of the rule.
    #[inline(always)]
    pub(super) fn depths_by_plane(&self, [x, y]: [&[f64]; 2], depths: &mut [u32]) -> bool {
        let Depth { corners, double_area, offset, is_w } = self.depth;
        let (false, Weights::Lanes(edges)) = (is_w, &self.weights) else { return false };
        // From the first point on, so that all numbers are small.
        let [x0, y0] = [x[0], y[0]];
        let [mut dz_dx, mut dz_dy, mut z0] = [0.0; 3];
        let [mut size_x, mut size_y, mut size] = [0.0; 3];
        for (edge, z) in edges.iter().zip(corners) {
            let terms = [edge.a * z, edge.b * z, edge.at(x0, y0) * z];
            dz_dx += terms[0];
            dz_dy += terms[1];
            z0 += terms[2];
            let [a, b, c] = terms.map(f64::abs);
            size_x += a;
            size_y += b;
            size += c;
        }
        [dz_dx, dz_dy, z0] = [dz_dx, dz_dy, z0].map(|sum| sum / double_area);
        z0 += offset;
        let [mut far_x, mut far_y, mut off] = [[0.0; 4]; 3];
        let max = |most: &mut f64, x: f64| *most = if x.abs() > *most { x.abs() } else { *most };
        // Quad by quad.
        let points = x.as_chunks::<4>().0.iter().zip(y.as_chunks::<4>().0);
        for (depths, (x, y)) in depths.as_chunks_mut::<4>().0.iter_mut().zip(points) {
            for lane in 0..4 {
                let (dx, dy) = (x[lane] - x0, y[lane] - y0);
                let z = dz_dx * dx + dz_dy * dy + z0;
                let z = if z > 0.0 { z } else { 0.0 };
                let z = if z < DEPTH_MAX { z } else { DEPTH_MAX };
                let rounded = z + ROUNDS;
                depths[lane] = rounded.to_bits() as u32;
                max(&mut off[lane], z - (rounded - ROUNDS));
                max(&mut far_x[lane], dx);
                max(&mut far_y[lane], dy);
            }
        }
        let [far_x, far_y, off] = [far_x, far_y, off].map(|of| of.into_iter().fold(0.0, f64::max));
        // Each result is a sum of a dozen products, each rounded by 2^-53 of it at most; 2^-45 is a bound with room to spare.
        let error = ((size_x * far_x + size_y * far_y + size) / double_area.abs() + offset.abs())
            * 2.0_f64.powi(-45);
        // NaN is false.
        error < 1e-3 && off < 0.5 - 2e-3
    }

    /// Returns the depth of a point as 24 bits, rounded to nearest. z is linear in window coordinates.
    pub(crate) fn depth(&self, at: GridPoint) -> u32 {
        let depth = match self.depth.is_w {
            true => self.perspective(at, self.depth.corners),
            false => {
                let [a, b, c] = self.weights(at);
                let [z0, z1, z2] = self.depth.corners;
                (a * z0 + b * z1 + c * z2) / self.depth.double_area
            }
        };
        let z = depth + self.depth.offset;
        // NaN becomes 0.
        z.clamp(0.0, DEPTH_MAX).round() as u32
    }
}

/// Returns a number of 0 to 2^32 - 1 rounded to nearest, ties up, as [`f64::round`] does, without a call.
#[inline(always)]
fn round_to_u32(x: f64) -> u32 {
    let nearest = round_ties_even_to_u32(x);
    nearest + u32::from(x - f64::from(nearest) == 0.5)
}

/// Returns a number of 0 to 2^32 - 1 rounded to nearest even, without a call.
#[inline(always)]
pub(crate) fn round_ties_even_to_u32(x: f64) -> u32 {
    (x + ROUNDS).to_bits() as u32
}
