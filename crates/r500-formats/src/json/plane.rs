//! The plane of a component, from its values at the vertices of a triangle.

use r500_program::Plane;

use crate::ReadError;

/// A triangle over the picture.
pub(super) struct Triangle {
    /// Position of the first vertex: u and v run from 0 to 1 over the picture.
    origin: [f64; 2],
    /// Edges to the second and third.
    edges: [[f64; 2]; 2],
    /// Their cross product.
    area: f64,
}

impl Triangle {
    /// Builds the triangle from the clip coordinates (x, y, z, w) of its vertices. The viewport is the picture.
    ///
    /// Values are linear over the picture only if all vertices have the same w.
    pub(super) fn from_clip(position: [[f64; 4]; 3]) -> Result<Self, ReadError> {
        let [[.., w], ..] = position;
        if position.iter().flatten().any(|x| !x.is_finite()) || w <= 0.0 {
            return Err(ReadError::value("vertices must have finite positions and a w above 0"));
        }
        if position.iter().any(|&[.., other]| other.to_bits() != w.to_bits()) {
            return Err(ReadError::value(
                "the vertices have different w, so values between them form no plane",
            )
            .with_help("give each component its `plane_uv`, or each input `values`"));
        }
        let [a, b, c] = position.map(|[x, y, ..]| [(x / w + 1.0) / 2.0, (y / w + 1.0) / 2.0]);
        let edges = [[b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]];
        let [[ux, uy], [vx, vy]] = edges;
        let area = ux * vy - uy * vx;
        if area == 0.0 || !area.is_finite() {
            return Err(ReadError::value("the vertices lie on a line, so they span no plane")
                .with_help("give each component its `plane_uv`"));
        }
        Ok(Self { origin: a, edges, area })
    }

    /// Returns the plane through the values at the three vertices.
    #[allow(clippy::cast_possible_truncation)] // rounding to float32 is meant
    pub(super) fn plane(&self, [a, b, c]: [f64; 3]) -> Plane {
        let [[ux, uy], [vx, vy]] = self.edges;
        let (p, q) = (b - a, c - a);
        let du = (p * vy - q * uy) / self.area;
        let dv = (q * ux - p * vx) / self.area;
        let [u, v] = self.origin;
        Plane { c: (a - du * u - dv * v) as f32, du: du as f32, dv: dv as f32 }
    }
}
