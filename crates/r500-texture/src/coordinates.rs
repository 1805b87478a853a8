//! Texture coordinates: from S, T, R, Q to a position in the texture and a level of detail.
//!
//! Each operation is rounded, in the order written here: other engines must agree to the bit. Denormals count as
//! zeros throughout ([`Arith`]).

use r500_isa::values::{CoordType, TexOp};

use super::anisotropy::{Anisotropy, Probes};
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
    /// The anisotropic filter, if one is selected.
    pub(super) anisotropy: Option<Anisotropy>,
}

/// The position of a pixel's fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TexelPosition {
    /// u, v, w in texels of level 0; w comes from R.
    pub(super) uvw: [f32; 3],
    /// The face of a cube, else 0.
    pub(super) face: u32,
}

/// The steps in texels from a pixel to its neighbours: one pixel to the right, and one down.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Steps {
    dx: [f32; 3],
    dy: [f32; 3],
}

impl Steps {
    /// Returns the steps from one position to the positions at the right and below.
    fn between(from: [f32; 3], right: [f32; 3], below: [f32; 3], arith: Arith) -> Self {
        let step = |to: [f32; 3]| [0, 1, 2].map(|axis| arith.sub(to[axis], from[axis]));
        Self { dx: step(right), dy: step(below) }
    }
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
    /// The fetches whose mean is the colour.
    pub(super) probes: Probes,
}

impl CoordSpace {
    /// Returns the positions of the four pixels of a quad.
    pub(super) fn positions(&self, quad: &QuadFetch, readings: &TexReadings) -> [TexelPosition; 4] {
        quad.strq.map(|strq| self.position(strq, quad.op == TexOp::PROJ, quad.unscaled, readings))
    }

    /// Returns the levels of detail of the four pixels of a quad.
    ///
    /// Derived: all four pixels use the differences of the quad's left column and upper row, active or not. On a
    /// cube each pixel takes them on its own face.
    pub(super) fn lods(
        &self,
        quad: &QuadFetch,
        positions: &[TexelPosition; 4],
        readings: &TexReadings,
    ) -> [Lod; 4] {
        let arith = readings.arith;
        let pixels = [0, 1, 2, 3];
        let steps = match quad.op {
            TexOp::LOD => {
                let given = quad.strq.map(|strq| strq[3]);
                return given.map(|lod| self.bias_lod(lod, Probes::ONE, quad.op, readings));
            }
            TexOp::DXDY => pixels.map(|i| self.given_steps(quad, positions, i, arith)),
            _ if self.kind == CoordType::CUBE => {
                let pixel = |i: usize| self.direction(quad, i, arith);
                let corners = [pixel(0), pixel(1), pixel(2)];
                positions.map(|position| self.face_steps(position.face, corners, arith))
            }
            _ => {
                let [top_left, top_right, bottom_left, _] = positions.map(|position| position.uvw);
                [Steps::between(top_left, top_right, bottom_left, arith); 4]
            }
        };
        pixels.map(|i| {
            let (mut lod, probes) = self.lod_of(steps[i], readings);
            if quad.op == TexOp::LODBIAS {
                lod = arith.add(lod, quad.strq[i][3]);
            }
            self.bias_lod(lod, probes, quad.op, readings)
        })
    }

    /// Returns the steps that the gradients of pixel `i` give.
    fn given_steps(
        &self,
        quad: &QuadFetch,
        positions: &[TexelPosition; 4],
        i: usize,
        arith: Arith,
    ) -> Steps {
        let Gradients { dx, dy } = quad.gradients[i];
        let gradients = [dx, dy].map(|[s, t, r, _]| [s, t, r]);
        if self.kind != CoordType::CUBE {
            let [dx, dy] = gradients.map(|gradient| self.scaled(gradient, quad.unscaled, arith));
            return Steps { dx, dy };
        }
        // Derived: a gradient of a direction leads to a neighbour's direction.
        let here = self.direction(quad, i, arith);
        let [right, below] =
            gradients.map(|gradient| [0, 1, 2].map(|axis| arith.add(here[axis], gradient[axis])));
        self.face_steps(positions[i].face, [here, right, below], arith)
    }

    /// Returns the steps from the first to the second and to the third direction on a face.
    ///
    /// A direction at 90 degrees or more from the axis of the face meets no point of its plane: steps to it are
    /// infinite, which selects the coarsest level.
    fn face_steps(&self, face: u32, directions: [[f32; 3]; 3], arith: Arith) -> Steps {
        let on_face = |[s, t, r]: [f32; 3]| {
            let (major, along) = along_face(face, [s, t, r]);
            compare::gt(major, 0.0).then(|| self.on_face(along, major, arith))
        };
        let [from, right, below] = directions.map(on_face);
        let step = |to: Option<[f32; 2]>| match (from, to) {
            (Some(from), Some(to)) => [arith.sub(to[0], from[0]), arith.sub(to[1], from[1]), 0.0],
            _ => [f32::INFINITY, 0.0, 0.0],
        };
        Steps { dx: step(right), dy: step(below) }
    }

    fn position(
        &self,
        strq: [f32; 4],
        proj: bool,
        unscaled: bool,
        readings: &TexReadings,
    ) -> TexelPosition {
        let arith = readings.arith;
        let str = projected(strq, proj, arith);
        let uvw = self.scaled(str, unscaled, arith);
        if self.kind != CoordType::CUBE {
            return TexelPosition { uvw, face: 0 };
        }
        // A position on a face is a quotient of coordinates, so that UNSCALED has no effect.
        let face = face(str, readings);
        let (major, along) = along_face(face, str);
        let [u, v] = self.on_face(along, major.abs(), arith);
        TexelPosition { uvw: [u, v, uvw[2]], face }
    }

    /// Returns the direction in which pixel `i` of a quad fetches from a cube.
    fn direction(&self, quad: &QuadFetch, i: usize, arith: Arith) -> [f32; 3] {
        projected(quad.strq[i], quad.op == TexOp::PROJ, arith)
    }

    /// Returns a point on a face, in texels: the components of a direction along the face, divided by that along
    /// its axis.
    fn on_face(&self, along: [f32; 2], major: f32, arith: Arith) -> [f32; 2] {
        let onto = |axis: usize| {
            let quotient = arith.div(along[axis], major);
            arith.mul(arith.mul(arith.add(quotient, 1.0), 0.5), self.scale[axis])
        };
        [onto(0), onto(1)]
    }

    fn scaled(&self, str: [f32; 3], unscaled: bool, arith: Arith) -> [f32; 3] {
        let scale = if unscaled { [1.0; 3] } else { self.scale };
        [0, 1, 2].map(|axis| arith.mul(str[axis], scale[axis]))
    }

    /// Returns the level of detail of two steps: the logarithm of the longer one, unless the anisotropic filter has
    /// several probes; and the probes.
    ///
    /// Observed: the longer of the two lengths; a sum of absolute values fails pictures. Only a volume has a third
    /// axis: a 2D texture ignores R, and a face is flat.
    fn lod_of(&self, Steps { dx, dy }: Steps, readings: &TexReadings) -> (f32, Probes) {
        let arith = readings.arith;
        let squared = |step: [f32; 3]| {
            let square = |axis: usize| arith.mul(step[axis], step[axis]);
            let flat = arith.add(square(0), square(1));
            if self.kind == CoordType::D3 { arith.add(flat, square(2)) } else { flat }
        };
        let squares = [squared(dx), squared(dy)];
        let lod = arith.mul(kernels::ln2(compare::max(squares[0], squares[1])), 0.5);
        let Some(anisotropy) = self.anisotropy else { return (lod, Probes::ONE) };
        let steps = [dx, dy].map(|[u, v, _]| [u, v]);
        anisotropy.probes(steps, squares, lod, readings)
    }

    fn bias_lod(&self, lod: f32, probes: Probes, op: TexOp, readings: &TexReadings) -> Lod {
        let bias = if readings.lod_bias.applies_to(op) { self.lod_bias } else { 0.0 };
        let biased = nan_to_zero(readings.arith.add(lod, bias));
        let truncate = |lod: f32| readings.lod_fraction.truncate(lod, readings.arith);
        let magnified = match readings.magnification {
            Magnification::Zero => !compare::gt(truncate(biased), 0.0),
            Magnification::Half => !compare::gt(truncate(biased), 0.5),
            Magnification::Unbiased => !compare::gt(truncate(nan_to_zero(lod)), 0.0),
        };
        let isotropic = magnified && self.anisotropy.is_some_and(|filter| !filter.magnified);
        let probes = if isotropic { Probes::ONE } else { probes };
        Lod { lod: biased, truncated: truncate(biased), magnified, probes }
    }
}

/// Returns S, T, R, divided by Q if the instruction projects.
fn projected([s, t, r, q]: [f32; 4], proj: bool, arith: Arith) -> [f32; 3] {
    if proj { [s, t, r].map(|c| arith.div(c, q)) } else { [s, t, r] }
}

/// Returns the face of a cube that a direction hits: +X, -X, +Y, -Y, +Z, -Z.
///
/// [`CubeTies`] decides between equal components. Comparisons with NaN are false, so the last axis is the default.
fn face([s, t, r]: [f32; 3], readings: &TexReadings) -> u32 {
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
    2 * axis as u32 + u32::from(!compare::ge([s, t, r][axis], 0.0))
}

/// Returns the components of a direction on a face: along its axis, positive toward the face, and along its columns
/// and rows.
///
/// Derived: faces are seen from the centre, as in the graphics APIs.
fn along_face(face: u32, [s, t, r]: [f32; 3]) -> (f32, [f32; 2]) {
    match face {
        0 => (s, [-r, -t]),
        1 => (-s, [r, -t]),
        2 => (t, [s, r]),
        3 => (-t, [s, -r]),
        4 => (r, [s, -t]),
        _ => (-r, [-s, -t]),
    }
}

/// Returns x, or 0 for NaN.
pub(super) fn nan_to_zero(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x }
}
