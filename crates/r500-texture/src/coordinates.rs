//! Texture coordinates: from S, T, R, Q to a position in the texture and a level of detail.
//!
//! Each operation is rounded, in the order written here: other engines must agree to the bit. Denormals count as
//! zeros throughout ([`Arith`]).

use r500_isa::values::{CoordType, TexOp};

use super::quad_fetch::{Gradients, QuadFetch};
use super::readings::{CubeTies, Magnification, TexReadings};
use r500_numerics::{Arith, compare, kernels};

/// The coordinate space of a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CoordSpace {
    /// `TEX_COORD_TYPE`.
    pub(super) kind: CoordType,
    /// Width, height and depth of level 0 that scale coordinates: those of `US_FORMAT` if it is given, else of
    /// the texture.
    pub(super) scale: [f32; 3],
    /// `LOD_BIAS`, in levels.
    pub(super) lod_bias: f32,
}

/// The position of a pixel's fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TexelPosition {
    /// u, v, w in texels of level 0; w comes from R.
    pub(super) uvw: [f32; 3],
    /// The face of a cube, else 0.
    pub(super) face: u32,
}

/// The level of detail of a pixel's fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lod {
    /// The level of detail, bias included; never NaN.
    pub(super) lod: f32,
    /// The same, truncated to the fraction that selects levels.
    pub(super) truncated: f32,
    /// Whether `MAG_FILTER` is used.
    pub(super) magnified: bool,
}

impl CoordSpace {
    /// Returns the positions of the four pixels of a quad.
    pub(super) fn positions(&self, quad: &QuadFetch, readings: &TexReadings) -> [TexelPosition; 4] {
        quad.strq.map(|strq| self.position(strq, quad.op == TexOp::PROJ, quad.unscaled, readings))
    }

    /// Returns the levels of detail of the four pixels of a quad.
    ///
    /// Derived: all four pixels use the differences of the quad's left column and upper row, active or not.
    pub(super) fn lods(
        &self,
        quad: &QuadFetch,
        positions: &[TexelPosition; 4],
        readings: &TexReadings,
    ) -> [Lod; 4] {
        let arith = readings.arith;
        let [top_left, top_right, bottom_left, _] = positions.map(|position| position.uvw);
        let minus = |a: [f32; 3], b: [f32; 3]| [0, 1, 2].map(|axis| arith.sub(a[axis], b[axis]));
        let implicit =
            || self.lod_of(minus(top_right, top_left), minus(bottom_left, top_left), arith);
        let lods = match quad.op {
            TexOp::LODBIAS => {
                let lod = implicit();
                quad.strq.map(|strq| arith.add(lod, strq[3]))
            }
            TexOp::LOD => quad.strq.map(|strq| strq[3]),
            TexOp::DXDY => quad.gradients.map(|Gradients { dx, dy }| {
                let scaled = |g: [f32; 4]| self.scaled([g[0], g[1], g[2]], quad.unscaled, arith);
                self.lod_of(scaled(dx), scaled(dy), arith)
            }),
            _ => [implicit(); 4],
        };
        lods.map(|lod| self.bias_lod(lod, quad.op, readings))
    }

    fn position(
        &self,
        strq: [f32; 4],
        proj: bool,
        unscaled: bool,
        readings: &TexReadings,
    ) -> TexelPosition {
        let arith = readings.arith;
        let [s, t, r, q] = strq;
        let str = if proj { [s, t, r].map(|c| arith.div(c, q)) } else { [s, t, r] };
        let uvw = self.scaled(str, unscaled, arith);
        if self.kind != CoordType::CUBE {
            return TexelPosition { uvw, face: 0 };
        }
        // A position on a face is a quotient of coordinates, so that UNSCALED has no effect.
        let (face, along) = face(str, readings);
        let onto = |c, size| arith.mul(arith.mul(arith.add(c, 1.0), 0.5), size);
        let uvw = [onto(along[0], self.scale[0]), onto(along[1], self.scale[1]), uvw[2]];
        TexelPosition { uvw, face }
    }

    fn scaled(&self, str: [f32; 3], unscaled: bool, arith: Arith) -> [f32; 3] {
        let scale = if unscaled { [1.0; 3] } else { self.scale };
        [0, 1, 2].map(|axis| arith.mul(str[axis], scale[axis]))
    }

    /// Returns the level of detail of two steps in texels, one pixel to the right and one down: the logarithm of
    /// the longer step.
    ///
    /// Observed: the longer of the two lengths; a sum of absolute values fails pictures. A 2D texture ignores R.
    fn lod_of(&self, dx: [f32; 3], dy: [f32; 3], arith: Arith) -> f32 {
        let squared = |step: [f32; 3]| {
            let square = |axis: usize| arith.mul(step[axis], step[axis]);
            let flat = arith.add(square(0), square(1));
            if self.kind == CoordType::D2 { flat } else { arith.add(flat, square(2)) }
        };
        arith.mul(kernels::ln2(compare::max(squared(dx), squared(dy))), 0.5)
    }

    fn bias_lod(&self, lod: f32, op: TexOp, readings: &TexReadings) -> Lod {
        let bias = if readings.lod_bias.applies_to(op) { self.lod_bias } else { 0.0 };
        let biased = nan_to_zero(readings.arith.add(lod, bias));
        let truncate = |lod: f32| readings.lod_fraction.truncate(lod, readings.arith);
        let magnified = match readings.magnification {
            Magnification::Zero => !compare::gt(truncate(biased), 0.0),
            Magnification::Half => !compare::gt(truncate(biased), 0.5),
            Magnification::Unbiased => !compare::gt(truncate(nan_to_zero(lod)), 0.0),
        };
        Lod { lod: biased, truncated: truncate(biased), magnified }
    }
}

/// Returns the face of a cube that a direction hits, and the point on it: two coordinates from -1 to 1.
///
/// Faces are +X, -X, +Y, -Y, +Z, -Z, seen from the centre as in the graphics APIs (derived). [`CubeTies`]
/// decides between equal components. Comparisons with NaN are false, so the last axis is the default.
fn face([s, t, r]: [f32; 3], readings: &TexReadings) -> (u32, [f32; 2]) {
    let largest =
        |a: f32, b: f32, c: f32| compare::ge(a.abs(), b.abs()) && compare::ge(a.abs(), c.abs());
    let axis = match readings.cube_ties {
        CubeTies::XThenY if largest(s, t, r) => 0,
        CubeTies::XThenY if compare::ge(t.abs(), r.abs()) => 1,
        CubeTies::XThenY => 2,
        CubeTies::ZThenY if largest(r, s, t) => 2,
        CubeTies::ZThenY if compare::ge(t.abs(), s.abs()) => 1,
        CubeTies::ZThenY => 0,
    };
    let major = [s, t, r][axis];
    let positive = compare::ge(major, 0.0);
    let along = match (axis, positive) {
        (0, true) => [-r, -t],
        (0, false) => [r, -t],
        (1, true) => [s, r],
        (1, false) => [s, -r],
        (_, true) => [s, -t],
        (_, false) => [-s, -t],
    };
    let face = 2 * axis as u32 + u32::from(!positive);
    (face, along.map(|c| readings.arith.div(c, major.abs())))
}

/// Returns x, or 0 for NaN.
pub(super) fn nan_to_zero(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x }
}
