//! `SU`: setup. Computes exact integer edge functions of shapes, culls faces, and interpolates depth.

mod depth;

use r500_chip::gb::GbSelect;
use r500_chip::su::{
    SuCullMode, SuDepthOffset, SuDepthScale, SuPolyOffsetBackOffset, SuPolyOffsetBackScale,
    SuPolyOffsetEnable, SuPolyOffsetFrontOffset, SuPolyOffsetFrontScale, SuTexWrap,
};
use r500_chip::values::DepthFormat;
use r500_chip::zb::ZbFormat;
use r500_stream::State;

use crate::ga::{Grid, GridPoint, Shape, ShapeKind, StippledLine};
use crate::reading::{PolygonOffsetUnit, Readings};
use crate::vap::OutputLayout;
use crate::varyings::{Varyings, VertexValue};

use depth::Depth;
pub(crate) use depth::round_ties_even_to_u32;

/// Greatest depth: 24 bits.
pub(crate) const DEPTH_MAX: f64 = 16_777_215.0;

/// An edge function a*x + b*y + c of grid coordinates: positive inside, 0 on the edge.
///
/// Coordinates have at most 27 bits and products 54: the arithmetic is exact, without overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) a: i64,
    pub(crate) b: i64,
    c: i64,
}

impl Edge {
    /// Returns the edge function from `p` to `q`; `sign` is 1 if the cross product is positive inside, else -1.
    fn new(p: GridPoint, q: GridPoint, sign: i64) -> Self {
        let [dx, dy] = [q[0] - p[0], q[1] - p[1]];
        let (a, b) = (-dy * sign, dx * sign);
        Self { a, b, c: -(a * p[0] + b * p[1]) }
    }

    pub(crate) fn at(&self, [x, y]: GridPoint) -> i64 {
        self.a * x + self.b * y + self.c
    }
}

/// The outline of a shape that has an area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outline {
    pub(crate) kind: ShapeKind,
    /// Edges of the shape: 3, or 4 of a parallelogram.
    pub(crate) edges: [Edge; 4],
    pub(crate) edge_count: usize,
    /// Bounding box of the shape.
    pub(crate) bounds: [GridPoint; 2],
    pub(crate) stipple: Option<StippledLine>,
    /// Twice the signed area of the three corners.
    double_area: i64,
}

impl Outline {
    /// Returns the outline; `None` if the area is 0.
    pub(crate) fn new(shape: &Shape<'_>) -> Option<Self> {
        let Shape { kind, parallelogram, stipple, .. } = *shape;
        let [p0, p1, p2] = shape.corners.each_ref().map(|corner| corner.at);
        let double_area = double_area([p0, p1, p2]);
        if double_area == 0 {
            return None;
        }
        let edge = |p, q| Edge::new(p, q, double_area.signum());
        let p3 = [p1[0] + p2[0] - p0[0], p1[1] + p2[1] - p0[1]];
        // Perimeter order: p0, p1, (p3,) p2.
        let (edges, edge_count) = match parallelogram {
            true => ([edge(p0, p1), edge(p1, p3), edge(p3, p2), edge(p2, p0)], 4),
            false => ([edge(p0, p1), edge(p1, p2), edge(p2, p0), edge(p0, p1)], 3),
        };
        let around = if parallelogram { p3 } else { p0 };
        let bounds = [
            [0, 1].map(|axis| p0[axis].min(p1[axis]).min(p2[axis]).min(around[axis])),
            [0, 1].map(|axis| p0[axis].max(p1[axis]).max(p2[axis]).max(around[axis])),
        ];
        Some(Self { kind, edges, edge_count, bounds, stipple, double_area })
    }
}

/// A primitive after setup: what its pixels are computed from, but for the values of its vertices.
#[derive(Clone, Debug)]
pub(crate) struct Primitive {
    /// Edge functions opposite to each corner: barycentric coordinates times twice the area.
    weights: Weights,
    /// z of the corners, and 1/w.
    pub(crate) z: [f64; 3],
    pub(crate) rhw: [f64; 3],
    pub(crate) back: bool,
    depth: Depth,
}

/// The edge functions of a primitive.
#[derive(Clone, Copy, Debug)]
enum Weights {
    /// Floating point computes them exactly.
    Lanes([LaneEdge; 3]),
    Integers([Edge; 3]),
}

impl Weights {
    fn new(edges: [Edge; 3]) -> Self {
        match edges.map(LaneEdge::new) {
            [Some(a), Some(b), Some(c)] => Self::Lanes([a, b, c]),
            _ => Self::Integers(edges),
        }
    }
}

/// A primitive with the values of its vertices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrimitiveValues<'a> {
    pub(crate) primitive: &'a Primitive,
    /// The values of the draw's [`Varyings`] at the corners.
    pub(crate) values: &'a [[f32; 3]],
}

impl PrimitiveValues<'_> {
    /// Returns the value at the corners in the place of a varying.
    #[inline(always)]
    pub(crate) fn corners(&self, place: usize) -> [f64; 3] {
        self.values[place].map(f64::from)
    }
}

/// Primitives after setup, with the values of their vertices.
#[derive(Debug, Default)]
pub(crate) struct Primitives {
    list: Vec<Primitive>,
    /// As many for each primitive as there are varyings.
    values: Vec<[f32; 3]>,
    varyings: usize,
}

impl Primitives {
    /// Adds a primitive, with the varyings of the draw.
    pub(crate) fn push(
        &mut self,
        su: &Su,
        shape: &Shape<'_>,
        outline: &Outline,
        varyings: &Varyings,
    ) {
        self.varyings = varyings.len();
        self.values.extend(varyings.iter().map(|value| su.values(shape, value)));
        self.list.push(su.setup(shape, outline));
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, n: usize) -> PrimitiveValues<'_> {
        let values = &self.values[n * self.varyings..][..self.varyings];
        PrimitiveValues { primitive: &self.list[n], values }
    }

    /// Returns the primitives without values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Primitive> {
        self.list.iter()
    }

    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.values.clear();
    }
}

/// An edge function in floating point.
#[derive(Clone, Copy, Debug)]
struct LaneEdge {
    a: f64,
    b: f64,
    c: f64,
}

impl LaneEdge {
    /// Returns the function; `None` if results may not be exact in double precision. Coordinates of pixels are below 2^23 on the finest grid, so
    /// that sums are below 2^53.
    fn new(Edge { a, b, c }: Edge) -> Option<Self> {
        let exact = a.abs().max(b.abs()) < 1 << 27 && c.abs() < 1 << 51;
        exact.then_some(Self { a: a as f64, b: b as f64, c: c as f64 })
    }

    #[inline(always)]
    fn at(&self, x: f64, y: f64) -> f64 {
        self.a * x + self.b * y + self.c
    }
}

impl Primitive {
    /// Calls `each` with the [`weights`](Self::weights) of points on the grid, x and y, in order.
    #[inline(always)]
    pub(crate) fn each_weights(&self, [x, y]: [&[f64]; 2], mut each: impl FnMut(usize, [f64; 3])) {
        let points = x.iter().zip(y).enumerate();
        match &self.weights {
            Weights::Lanes(edges) => points.for_each(|(n, (x, y))| {
                each(n, edges.each_ref().map(|edge| edge.at(*x, *y)));
            }),
            Weights::Integers(_) => {
                points.for_each(|(n, (x, y))| each(n, self.weights([*x as i64, *y as i64])));
            }
        }
    }

    /// Returns the barycentric coordinates of a point, times twice the area. They may be negative for pixels of a quad
    /// outside.
    pub(crate) fn weights(&self, at: GridPoint) -> [f64; 3] {
        match &self.weights {
            Weights::Lanes(edges) => {
                edges.each_ref().map(|edge| edge.at(at[0] as f64, at[1] as f64))
            }
            Weights::Integers(edges) => edges.each_ref().map(|edge| edge.at(at) as f64),
        }
    }

    /// Interpolates values of the corners linearly in window coordinates.
    pub(crate) fn linear(&self, at: GridPoint, values: [f64; 3]) -> f64 {
        let weights = self.weights(at);
        let sum: f64 = (0..3).map(|i| weights[i] * values[i]).sum();
        sum / weights.iter().sum::<f64>()
    }

    /// Interpolates values of the corners in perspective: linearly over the primitive in space.
    pub(crate) fn perspective(&self, at: GridPoint, values: [f64; 3]) -> f64 {
        let weights = self.weights(at);
        let scaled: [f64; 3] = std::array::from_fn(|i| weights[i] * self.rhw[i]);
        let sum: f64 = (0..3).map(|i| scaled[i] * values[i]).sum();
        sum / scaled.iter().sum::<f64>()
    }

    /// Returns w at a point.
    pub(crate) fn w(&self, at: GridPoint) -> f64 {
        let weights = self.weights(at);
        let scaled: f64 = (0..3).map(|i| weights[i] * self.rhw[i]).sum();
        weights.iter().sum::<f64>() / scaled
    }
}

/// State of the setup unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Su {
    cull_front: bool,
    cull_back: bool,
    /// Whether a positive cross product in memory, y downward, is a back face.
    positive_is_back: bool,
    /// Whether depth is w.
    depth_is_w: bool,
    depth_scale: f64,
    depth_offset: f64,
    /// Slope factor and constant of the polygon offset, for front and back faces.
    offsets: [Option<[f64; 2]>; 2],
    parallelograms: Option<[f64; 2]>,
    /// Components of texture coordinates with cylindrical wrapping, four bits a coordinate.
    cylinders: u32,
    two_sided: [bool; 2],
    /// Grid units in a pixel.
    unit: i64,
}

impl Su {
    pub(crate) fn new(
        state: &State,
        layout: &OutputLayout,
        grid: Grid,
        readings: &Readings,
    ) -> Self {
        let registers = &state.registers;
        let cull: SuCullMode = registers.get();
        let enable: SuPolyOffsetEnable = registers.get();
        let sixteen = registers.get::<ZbFormat>().depthformat() != DepthFormat::Z24S8;
        let unit = match readings.polygon_offset_unit {
            PolygonOffsetUnit::PartOfStep if sixteen => 256.0 / 4.0,
            _ => 0.5,
        };
        // The register factor is for a slope over a twelfth of a pixel.
        let offset = |scale: f32, offset: f32| [f64::from(scale) / 12.0, f64::from(offset) * unit];
        let front = offset(
            registers.get::<SuPolyOffsetFrontScale>().scale(),
            registers.get::<SuPolyOffsetFrontOffset>().offset(),
        );
        let back = offset(
            registers.get::<SuPolyOffsetBackScale>().scale(),
            registers.get::<SuPolyOffsetBackOffset>().offset(),
        );
        Self {
            cull_front: cull.cull_front(),
            cull_back: cull.cull_back(),
            positive_is_back: !cull.face(),
            depth_is_w: registers.get::<GbSelect>().depth_select(),
            depth_scale: registers.get::<SuDepthScale>().scale().into(),
            depth_offset: registers.get::<SuDepthOffset>().offset().into(),
            offsets: [enable.front_enable().then_some(front), enable.back_enable().then_some(back)],
            parallelograms: enable.para_enable().then_some(front),
            cylinders: registers.get::<SuTexWrap>().bits(),
            two_sided: [layout.has_color(2), layout.has_color(3)],
            unit: grid.unit,
        }
    }

    /// Returns whether a triangle is a back face and whether it is drawn; `None` if its area is 0.
    ///
    /// Observed: with FACE clear, counter-clockwise in a picture with y upward is front, which is a negative cross
    /// product in memory.
    pub(crate) fn face(&self, corners: [GridPoint; 3]) -> Option<(bool, bool)> {
        let area = double_area(corners);
        if area == 0 {
            return None;
        }
        let back = (area > 0) == self.positive_is_back;
        Some((back, !(if back { self.cull_back } else { self.cull_front })))
    }

    /// Sets up a shape.
    pub(crate) fn setup(&self, shape: &Shape<'_>, outline: &Outline) -> Primitive {
        let corners = shape.corners.each_ref();
        let [e0, e1, e2, _] = outline.edges;
        let weights = match shape.parallelogram {
            true => {
                let [p0, p1, p2] = corners.map(|corner| corner.at);
                let edge = |p, q| Edge::new(p, q, outline.double_area.signum());
                [edge(p1, p2), edge(p2, p0), edge(p0, p1)]
            }
            false => [e1, e2, e0],
        };
        let back = shape.is_back();
        let depth = corners.map(|corner| {
            let depth = if self.depth_is_w { 1.0 / corner.rhw } else { corner.z };
            depth * self.depth_scale + self.depth_offset
        });
        let double_area = outline.double_area.abs() as f64;
        let offset = match shape.kind {
            ShapeKind::Triangle => self.offsets[usize::from(back)],
            // Points and lines of polygon mode use the offset of their face (derived from OpenGL's rules).
            _ if shape.back.is_some() => self.offsets[usize::from(back)],
            _ => self.parallelograms,
        };
        let slope = |f: fn(&Edge) -> i64| -> f64 {
            let change: f64 = weights.iter().zip(depth).map(|(e, z)| f(e) as f64 * z).sum();
            (change / double_area).abs()
        };
        Primitive {
            weights: Weights::new(weights),
            z: corners.map(|corner| corner.z),
            rhw: corners.map(|corner| corner.rhw),
            back,
            depth: Depth {
                corners: depth,
                double_area,
                is_w: self.depth_is_w,
                offset: offset.map_or(0.0, |[factor, constant]| {
                    let slope = slope(|e| e.a).max(slope(|e| e.b));
                    slope * self.unit as f64 * factor + constant
                }),
            },
        }
    }

    /// Returns a value at the corners of a shape.
    #[inline(always)]
    fn values(&self, shape: &Shape<'_>, value: VertexValue) -> [f32; 3] {
        match value {
            // Two-sided colours: 2 and 3 are those of back faces (observed).
            VertexValue::Color { n: n @ 0..2, channel } if self.two_sided[n] && shape.is_back() => {
                shape.values(VertexValue::Color { n: n + 2, channel })
            }
            VertexValue::Tex { n, component } if self.cylinders >> (4 * n + component) & 1 != 0 => {
                around_cylinder(shape.values(value))
            }
            _ => shape.values(value),
        }
    }
}

/// Applies cylindrical wrapping: between two corners a component takes the shorter way around a cylinder of
/// circumference 1 (documented by name; it is open which corner stays, here the first).
fn around_cylinder([from, others @ ..]: [f32; 3]) -> [f32; 3] {
    let [a, b] = others.map(|to| match to - from {
        way if way > 0.5 => to - 1.0,
        way if way < -0.5 => to + 1.0,
        _ => to,
    });
    [from, a, b]
}

/// Returns twice the signed area: positive if the corners turn from x to y, which is downward in memory.
pub(crate) fn double_area([p, q, r]: [GridPoint; 3]) -> i64 {
    (q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::ga::Corner;
    use crate::vap::Vertex;

    fn su(setup: &[(u32, u32)]) -> Su {
        let mut state = State::default();
        state.registers.write(0x42c0, (DEPTH_MAX as f32).to_bits());
        state.registers.write(0x4f10, 2);
        for (address, value) in setup {
            state.registers.write(*address, *value);
        }
        let layout = OutputLayout::new(&state);
        Su::new(&state, &layout, Grid::new(&state, &Readings::REFERENCE), &Readings::REFERENCE)
    }

    fn triangle(points: [GridPoint; 3], z: [f64; 3], vertices: &[Vertex; 3]) -> Shape<'_> {
        let corner = |n: usize| Corner { at: points[n], z: z[n], rhw: 1.0, vertex: &vertices[n] };
        Shape {
            kind: ShapeKind::Triangle,
            corners: [corner(0), corner(1), corner(2)],
            parallelogram: false,
            back: Some(false),
            stipple: None,
            made_up: None,
        }
    }

    /// Sets up a triangle with some depth.
    fn set_up(su: &Su, points: [GridPoint; 3], z: [f64; 3]) -> Primitive {
        let vertices = [Vertex::default(); 3];
        let shape = triangle(points, z, &vertices);
        su.setup(&shape, &Outline::new(&shape).unwrap())
    }

    const RIGHT: [GridPoint; 3] = [[0, 0], [120, 0], [0, 120]];

    #[test]
    fn counter_clockwise_on_the_upright_picture_is_front() {
        // In memory y is downward: from the origin right, then down is clockwise in a picture with row 0 at the top.
        assert_eq!(su(&[]).face(RIGHT), Some((true, true)));
        assert_eq!(su(&[(0x42b8, 4)]).face(RIGHT), Some((false, true)));
        assert_eq!(su(&[(0x42b8, 2)]).face(RIGHT), Some((true, false)));
        assert_eq!(su(&[(0x42b8, 1)]).face(RIGHT), Some((true, true)));
        assert_eq!(su(&[]).face([[0, 0], [5, 5], [10, 10]]), None);
    }

    #[test]
    fn depth_is_linear_and_rounded_to_24_bits() {
        let primitive = set_up(&su(&[]), RIGHT, [0.0, 1.0, 0.5]);
        assert_eq!(primitive.depth([0, 0]), 0);
        assert_eq!(primitive.depth([120, 0]), 0xff_ffff);
        // 16777215 / 2 = 8388607.5 rounds up; a quarter of the way is 4194303.75.
        assert_eq!(primitive.depth([60, 0]), 0x80_0000);
        assert_eq!(primitive.depth([30, 0]), 0x40_0000);
        assert_eq!(primitive.depth([240, 0]), 0xff_ffff);
        assert_eq!(primitive.depth([-12, 0]), 0);
    }

    /// Triangles of all sizes with depths of all kinds: covered points have the depth of the rule, whichever way it is computed.
    #[test]
    fn depths_of_many_points_are_those_of_each() {
        let [mut by_plane, mut by_rule, mut uniforms] = [0; 3];
        arbtest::arbtest(|u| {
            let size = *u.choose(&[24_i64, 400, 6000, 60_000])?;
            let mut corners = [[0; 2]; 3];
            for corner in corners.as_flattened_mut() {
                *corner = u.int_in_range(0..=size)?;
            }
            let mut z = [0.0; 3];
            let kind = u.int_in_range(0..=4)?;
            let base = f64::from(u.arbitrary::<u32>()?) / f64::from(u32::MAX);
            for z in &mut z {
                let part = f64::from(u.arbitrary::<u32>()?) / f64::from(u32::MAX);
                let half = f64::from(u.int_in_range(-1..=3)?) / 2.0;
                *z = match kind {
                    0 => part,
                    1 => (base + part / 1e6).min(1.0),
                    2 => half,
                    // The same everywhere: in the middle of two codes, or next to it.
                    3 if base < 0.5 => 0.5,
                    3 => ((base * DEPTH_MAX).floor() + 0.5) / DEPTH_MAX,
                    // Next to the middle of two codes.
                    _ => ((base * DEPTH_MAX).floor() + 0.5 + (part - 0.5) / 500.0) / DEPTH_MAX,
                };
            }
            let vertices = [Vertex::default(); 3];
            let shape = triangle(corners, z, &vertices);
            let Some(outline) = Outline::new(&shape) else { return Ok(()) };
            let primitive = su(&[]).setup(&shape, &outline);
            let mut points = [[0.0; 64]; 2];
            let mut at = [[0; 2]; 64];
            for (n, at) in at.iter_mut().enumerate() {
                // On a line between two points of the triangle, so that most are inside.
                let t = f64::from(u.arbitrary::<u16>()?) / 65_535.0;
                let s = f64::from(u.arbitrary::<u16>()?) / 65_535.0 * (1.0 - t);
                for axis in 0..2 {
                    let [p, q, r] = corners.map(|corner| corner[axis] as f64);
                    at[axis] = (p + (q - p) * t + (r - p) * s).round() as i64;
                    points[axis][n] = at[axis] as f64;
                }
            }
            let mut depths = [0; 64];
            let points = points.each_ref().map(|axis| &axis[..]);
            match primitive.depths_by_plane(points, &mut depths) {
                true => by_plane += 1,
                false => by_rule += 1,
            }
            primitive.depths(points, &mut depths);
            for (depth, at) in depths.iter().zip(at) {
                let sign = outline.double_area.signum() as f64;
                if primitive.weights(at).iter().all(|weight| weight * sign >= 0.0) {
                    if let Some(uniform) = primitive.uniform_depth() {
                        assert_eq!(uniform, primitive.depth(at), "{corners:?} {z:?} {at:?}");
                        uniforms += 1;
                    }
                    assert_eq!(*depth, primitive.depth(at), "{corners:?} {z:?} {at:?}");
                }
            }
            Ok(())
        })
        .budget_ms(2000);
        assert!(by_plane > 100 && by_rule > 100, "{by_plane} by planes, {by_rule} by the rule");
        assert!(uniforms > 0, "no depth was the same everywhere");
    }

    #[test]
    fn polygon_offset_is_slope_times_factor_plus_units() {
        // Mesa writes 12 times the factor and twice the units. Factor 2, 3 units.
        let enable = [(0x42b4, 1), (0x42a4, 24_f32.to_bits()), (0x42a8, 6_f32.to_bits())];
        let flat = set_up(&su(&enable), RIGHT, [0.5; 3]);
        assert_eq!(flat.depth([12, 12]), 8_388_611);
        // 10 pixels to 1: a slope of a tenth a pixel, at the pixel 0 a fifth and three steps.
        let steep = set_up(&su(&enable), RIGHT, [0.0, 1.0, 0.0]);
        assert_eq!(steep.depth([0, 0]), (DEPTH_MAX / 5.0 + 3.0).round() as u32);
    }

    #[test]
    fn units_of_16_bits_are_two_steps_of_24_bits() {
        // 3 units: Mesa writes 12 for a buffer of 16 bits, whose step is 256 of 24 bits.
        let depth = |reading| {
            let mut state = State::default();
            for (address, value) in [
                (0x42c0, (DEPTH_MAX as f32).to_bits()),
                (0x4f10, 0),
                (0x42b4, 1),
                (0x42a8, 12_f32.to_bits()),
            ] {
                state.registers.write(address, value);
            }
            let readings = Readings { polygon_offset_unit: reading, ..Readings::REFERENCE };
            let layout = OutputLayout::new(&state);
            let su = Su::new(&state, &layout, Grid::new(&state, &readings), &readings);
            set_up(&su, RIGHT, [0.5; 3]).depth([12, 12])
        };
        assert_eq!(depth(PolygonOffsetUnit::Step24), 8_388_608 + 6);
        assert_eq!(depth(PolygonOffsetUnit::PartOfStep), 8_388_608 + 3 * 256);
        assert_eq!(Readings::REFERENCE.polygon_offset_unit, PolygonOffsetUnit::Step24);
    }

    #[test]
    fn wrapped_components_take_the_shorter_way() {
        let mut vertices = [Vertex::default(); 3];
        for (vertex, s) in vertices.iter_mut().zip([0.9, 0.1, 0.3]) {
            vertex.tex[1] = [s, s, 0.0, 0.0];
        }
        let shape = triangle(RIGHT, [0.0; 3], &vertices);
        let values = |su: &Su| {
            [0, 1].map(|component| su.values(&shape, VertexValue::Tex { n: 1, component }))
        };
        assert_eq!(values(&su(&[])), [[0.9, 0.1, 0.3]; 2]);
        // T1C1.
        assert_eq!(values(&su(&[(0x42a0, 1 << 5)])), [[0.9, 0.1, 0.3], [0.9, 1.1, 1.3]]);
    }

    #[test]
    fn back_faces_have_the_colors_of_the_other_side() {
        // Position and colours 0 to 3.
        let mut state = State::default();
        state.registers.write(0x2090, 0x1f);
        let layout = OutputLayout::new(&state);
        let grid = Grid::new(&state, &Readings::REFERENCE);
        let su = Su::new(&state, &layout, grid, &Readings::REFERENCE);
        let mut vertices = [Vertex::default(); 3];
        for vertex in &mut vertices {
            vertex.colors = [0.0, 1.0, 2.0, 3.0].map(|color| [color; 4]);
        }
        let shape = triangle(RIGHT, [0.0; 3], &vertices);
        let colors = |back| {
            let shape = Shape { back: Some(back), ..shape };
            [0, 1, 2, 3].map(|n| su.values(&shape, VertexValue::Color { n, channel: 1 })[2])
        };
        assert_eq!(colors(false), [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(colors(true), [2.0, 3.0, 2.0, 3.0]);
    }

    #[test]
    fn edges_are_positive_inside_whatever_the_order() {
        for points in [RIGHT, [RIGHT[1], RIGHT[0], RIGHT[2]]] {
            let vertices = [Vertex::default(); 3];
            let outline = Outline::new(&triangle(points, [0.0; 3], &vertices)).unwrap();
            assert!(outline.edges[..3].iter().all(|edge| edge.at([30, 30]) > 0));
            assert!(outline.edges[..3].iter().any(|edge| edge.at([70, 70]) < 0));
        }
    }
}
