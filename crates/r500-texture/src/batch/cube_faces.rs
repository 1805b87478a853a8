//! Faces of a cube: the face of each pixel, positions on it, and steps to the neighbours on the pixel's own face.

use r500_isa::values::TexOp;

use super::batch_fetch::BatchFetch;
use super::compiled_sampler::CompiledSampler;
use super::texel_coords::{TexelCoords, flush_to_plus};
use r500_numerics::flush;
use r500_simd::{Chunk, LANES};

impl TexelCoords {
    /// Returns whether a live quad has pixels of different faces, or one without a position: the differences of its
    /// coordinates are then not those of any face.
    #[inline(always)]
    pub(super) fn crosses_edges(&self, live: u8) -> bool {
        let [u, v, _] = &self.uvw;
        let mut crosses = 0;
        for lane in 0..LANES {
            let other = self.face[lane] != self.face[lane & !3];
            let nowhere = u[lane].is_nan() | v[lane].is_nan();
            crosses |= u8::from(other | nowhere) << (lane / 4);
        }
        crosses & live != 0
    }
}

impl CompiledSampler {
    /// Computes cube faces and the coordinates on them.
    #[inline(always)]
    pub(super) fn faces(&self, coords: &mut TexelCoords) {
        let scale = &self.scale;
        let TexelCoords { uvw: [u, v, _], face, str: [s, t, r] } = coords;
        for lane in 0..LANES {
            let (s, t, r) = (s[lane], t[lane], r[lane]);
            let along_s = (s.abs() >= t.abs()) & (s.abs() >= r.abs());
            let along_t = !along_s & (t.abs() >= r.abs());
            let major = if along_s {
                s
            } else if along_t {
                t
            } else {
                r
            };
            let positive = major >= 0.0;
            // Columns run along -r, r on the faces of X, along -s on -Z, else along s.
            let first = if along_s {
                if positive { -r } else { r }
            } else if along_t | positive {
                s
            } else {
                -s
            };
            let second = match (along_t, positive) {
                (true, true) => r,
                (true, false) => -r,
                (false, _) => -t,
            };
            let axis = if along_s {
                0.0
            } else if along_t {
                2.0
            } else {
                4.0
            };
            face[lane] = axis + if positive { 0.0 } else { 1.0 };
            let size = major.abs();
            u[lane] = (first / size + 1.0) * 0.5 * scale[0];
            v[lane] = (second / size + 1.0) * 0.5 * scale[1];
        }
    }

    /// Computes the steps of each pixel to its neighbours, on the pixel's own face: to the right and down.
    ///
    /// The neighbours are those of the quad's left column and upper row, with DXDY the ends of the pixel's gradients.
    #[inline(never)]
    pub(super) fn face_steps(
        &self,
        fetch: &BatchFetch<'_>,
        k: usize,
        coords: &TexelCoords,
    ) -> [[Chunk; 3]; 2] {
        let mut steps = [[[0.0; LANES]; 3]; 2];
        for lane in 0..LANES {
            let pixel = |lane: usize| [0, 1, 2].map(|axis| coords.str[axis][lane]);
            let [from, right, below] = match fetch.op {
                TexOp::DXDY => {
                    let here = pixel(lane);
                    let plus = |gradient: &[&[Chunk]; 4]| {
                        [0, 1, 2]
                            .map(|axis| flush_to_plus(here[axis] + flush(gradient[axis][k][lane])))
                    };
                    [here, plus(&fetch.dx), plus(&fetch.dy)]
                }
                _ => [pixel(lane & !3), pixel(lane & !3 | 1), pixel(lane & !3 | 2)],
            }
            .map(|direction| self.on_face(coords.face[lane], direction));
            for (steps, to) in steps.iter_mut().zip([right, below]) {
                let hits = (from.major > 0.0) & (to.major > 0.0);
                for axis in 0..2 {
                    let missed = if axis == 0 { f32::INFINITY } else { 0.0 };
                    let step = flush(to.at[axis] - from.at[axis]);
                    steps[axis][lane] = if hits { step } else { missed };
                }
            }
        }
        steps
    }

    /// Returns the point of a face that a direction without denormals meets.
    #[inline(always)]
    fn on_face(&self, face: f32, [s, t, r]: [f32; 3]) -> FacePoint {
        let (major, along) = match face as u8 {
            0 => (s, [-r, -t]),
            1 => (-s, [r, -t]),
            2 => (t, [s, r]),
            3 => (-t, [s, -r]),
            4 => (r, [s, -t]),
            _ => (-r, [-s, -t]),
        };
        // No product is denormal: the quotient's sum with 1 is 0 or at least 2^-24 in magnitude.
        let onto = |axis: usize| (along[axis] / major + 1.0) * 0.5 * self.scale[axis];
        FacePoint { major, at: [onto(0), onto(1)] }
    }
}

/// A point in the plane of a face.
struct FacePoint {
    /// The component of the direction along the axis of the face; the point exists if it is positive.
    major: f32,
    /// Its coordinates in texels.
    at: [f32; 2],
}
