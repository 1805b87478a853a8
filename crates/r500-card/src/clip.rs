//! Clipping and the viewport transform: from clip space to the window.

use r500_chip::values::PointClip;
use r500_chip::vap::{
    VapClipCntl, VapCntl, VapGbHorzClipAdj, VapGbVertClipAdj, VapVportXoffset, VapVportXscale,
    VapVportYoffset, VapVportYscale, VapVportZoffset, VapVportZscale, VapVteCntl,
};
use r500_pvs::PLANES;
use r500_stream::State;

use crate::reading::{GuardBand, Readings};
use crate::vap::Vertex;

/// The clip planes and their options.
#[derive(Clone, Debug)]
pub(crate) struct Clip {
    /// A position is inside if its product with the plane is at least 0.
    planes: Vec<Plane>,
    /// Whether primitives outside a user plane are dropped, and none is clipped.
    cull_only: bool,
    /// Whether edges made by clipping are edges in polygon mode.
    boundary_edges: bool,
    /// Whether user planes drop points by their centre.
    points_by_center: bool,
}

#[derive(Clone, Copy, Debug)]
struct Plane {
    normal: [f64; 4],
    kind: PlaneKind,
    /// The component that it takes next to w, if it takes one and w: all but user planes, unless a register is 0.
    axis: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaneKind {
    User,
    /// Near and far.
    Depth,
    /// A side of the guard band.
    Side,
}

impl Plane {
    fn new(normal: [f64; 4], kind: PlaneKind) -> Self {
        let mut axes = (0..3).filter(|axis| normal[*axis] != 0.0);
        let axis = axes.next().filter(|_| axes.next().is_none() && normal[3] != 0.0);
        Self { normal, kind, axis }
    }

    /// Returns whether a position is inside.
    #[inline(always)]
    fn holds(&self, position: [f32; 4]) -> bool {
        let distance = match self.axis {
            Some(axis) => {
                let [along, w] = [axis, 3].map(|n| self.normal[n] * f64::from(position[n]));
                along + w
            }
            None => dot(self.normal, position),
        };
        distance >= 0.0
    }
}

/// A convex polygon after clipping.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polygon {
    pub(crate) vertices: Vec<Vertex>,
    /// Whether the edge from each vertex to the next is an edge of the primitive.
    pub(crate) edges: Vec<bool>,
}

impl Clip {
    pub(crate) fn new(state: &State, readings: &Readings) -> Self {
        let registers = &state.registers;
        let cntl: VapClipCntl = registers.get();
        let vte: VapVteCntl = registers.get();
        let mut planes = Vec::new();
        // Positions that are divided by w are no longer in clip space.
        if !cntl.clip_disable() && !vte.vtx_xy_fmt() {
            let user = [
                cntl.ucp_ena_0(),
                cntl.ucp_ena_1(),
                cntl.ucp_ena_2(),
                cntl.ucp_ena_3(),
                cntl.ucp_ena_4(),
                cntl.ucp_ena_5(),
            ];
            let bits = state.pvs.planes();
            for n in (0..PLANES).filter(|n| user[*n]) {
                let normal = bits[n].map(|x| f64::from(f32::from_bits(x)));
                planes.push(Plane::new(normal, PlaneKind::User));
            }
            let near = if registers.get::<VapCntl>().dx_clip_space_def() { 0.0 } else { 1.0 };
            let depth = |normal| Plane::new(normal, PlaneKind::Depth);
            planes.push(depth([0.0, 0.0, 1.0, near]));
            planes.push(depth([0.0, 0.0, -1.0, 1.0]));
            let registers = [
                registers.get::<VapGbHorzClipAdj>().data_register(),
                registers.get::<VapGbVertClipAdj>().data_register(),
            ];
            for (axis, adjust) in registers.into_iter().enumerate() {
                let adjust = match readings.guard_band {
                    GuardBand::Wide => f64::from(adjust).max(16.0),
                    GuardBand::Registers => adjust.into(),
                };
                for sign in [1.0, -1.0] {
                    let mut normal = [0.0, 0.0, 0.0, adjust];
                    normal[axis] = sign;
                    planes.push(Plane::new(normal, PlaneKind::Side));
                }
            }
        }
        Self {
            planes,
            cull_only: cntl.ucp_cull_only_ena(),
            boundary_edges: cntl.boundary_edge_flag_ena(),
            points_by_center: matches!(cntl.ps_ucp_mode(), PointClip::CENTER_CULL),
        }
    }

    /// Returns whether a point is drawn; it is never clipped (observed). In x and y the view volume applies, not the
    /// guard band: a point with its centre outside is dropped.
    pub(crate) fn keeps_point(&self, position: [f32; 4]) -> bool {
        self.planes.iter().all(|plane| match plane.kind {
            PlaneKind::User if !self.points_by_center => true,
            PlaneKind::Side => {
                let normal = [plane.normal[0], plane.normal[1], 0.0, 1.0];
                dot(normal, position) >= 0.0
            }
            _ => plane.holds(position),
        })
    }

    /// Clips a line; `None` if nothing remains.
    pub(crate) fn line(&self, mut ends: [Vertex; 2]) -> Option<[Vertex; 2]> {
        for plane in &self.planes {
            let [a, b] = [0, 1].map(|n| dot(plane.normal, ends[n].position));
            match (a >= 0.0, b >= 0.0) {
                (true, true) => {}
                _ if self.cull_only && plane.kind == PlaneKind::User => {
                    if a.max(b) < 0.0 {
                        return None;
                    }
                }
                (true, false) => ends[1] = between(&ends[0], a, &ends[1], b),
                (false, true) => ends[0] = between(&ends[1], b, &ends[0], a),
                // Outside, or NaN.
                (false, false) => return None,
            }
        }
        Some(ends)
    }

    /// Returns what remains of a triangle without clipping it: `Some(true)` if it is inside of all planes, `Some(false)` if outside of one;
    /// `None` if it must be clipped.
    pub(crate) fn whole_triangle(&self, vertices: [&Vertex; 3]) -> Option<bool> {
        let mut inside = true;
        for plane in &self.planes {
            let [a, b, c] = vertices.map(|vertex| plane.holds(vertex.position));
            if !(a | b | c) {
                return Some(false);
            }
            inside &= a & b & c;
        }
        inside.then_some(true)
    }

    /// Clips a triangle; `None` if nothing remains. `edges` tells which of the edges from vertex 0, 1 and 2 are edges
    /// of the primitive.
    ///
    /// An intersection is computed from its inside vertex, so that triangles with a common edge have the same
    /// intersection.
    pub(crate) fn triangle(&self, vertices: [Vertex; 3], edges: [bool; 3]) -> Option<Polygon> {
        let mut polygon = Polygon { vertices: vertices.to_vec(), edges: edges.to_vec() };
        for plane in &self.planes {
            let distances: Vec<f64> =
                polygon.vertices.iter().map(|v| dot(plane.normal, v.position)).collect();
            if distances.iter().all(|d| *d >= 0.0) {
                continue;
            }
            if !distances.iter().any(|d| *d >= 0.0) {
                return None;
            }
            if self.cull_only && plane.kind == PlaneKind::User {
                continue;
            }
            let mut cut = Polygon::default();
            for (n, (vertex, &here)) in polygon.vertices.iter().zip(&distances).enumerate() {
                let next = (n + 1) % distances.len();
                let there = distances[next];
                let next_is_inside = there >= 0.0;
                let edge = polygon.edges[n];
                if here >= 0.0 {
                    cut.vertices.push(*vertex);
                    cut.edges.push(edge);
                    if !next_is_inside {
                        // From here the boundary follows the plane.
                        cut.vertices.push(between(vertex, here, &polygon.vertices[next], there));
                        cut.edges.push(self.boundary_edges);
                    }
                } else if next_is_inside {
                    cut.vertices.push(between(&polygon.vertices[next], there, vertex, here));
                    cut.edges.push(edge);
                }
            }
            polygon = cut;
        }
        (polygon.vertices.len() >= 3).then_some(polygon)
    }
}

fn dot(plane: [f64; 4], position: [f32; 4]) -> f64 {
    plane
        .into_iter()
        .zip(position)
        .map(|(a, b)| if a == 0.0 { 0.0 } else { a * f64::from(b) })
        .sum()
}

/// Returns the intersection of the line from an inside to an outside vertex with a plane, given their distances from
/// it.
fn between(inside: &Vertex, a: f64, outside: &Vertex, b: f64) -> Vertex {
    let share = a / (a - b);
    let mix = |a: f32, b: f32| (f64::from(a) + (f64::from(b) - f64::from(a)) * share) as f32;
    let mix4 = |a: [f32; 4], b: [f32; 4]| std::array::from_fn(|i| mix(a[i], b[i]));
    Vertex {
        position: mix4(inside.position, outside.position),
        point_size: mix(inside.point_size, outside.point_size),
        colors: std::array::from_fn(|i| mix4(inside.colors[i], outside.colors[i])),
        tex: std::array::from_fn(|i| mix4(inside.tex[i], outside.tex[i])),
    }
}

/// The viewport transform (`VTE`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Viewport {
    scale: [f32; 3],
    offset: [f32; 3],
    xy_divided: bool,
    z_divided: bool,
    w_is_w: bool,
}

/// A vertex in window coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WindowVertex<'v> {
    /// Pixels from the left and from the first row in memory.
    pub(crate) xy: [f32; 2],
    pub(crate) z: f32,
    /// 1/w.
    pub(crate) rhw: f32,
    /// Colours, texture coordinates, point size.
    pub(crate) vertex: &'v Vertex,
}

impl Viewport {
    pub(crate) fn new(state: &State) -> Self {
        let registers = &state.registers;
        let cntl: VapVteCntl = registers.get();
        let enabled = |on: bool, value: f32, otherwise: f32| if on { value } else { otherwise };
        let scale = [
            (cntl.vport_x_scale_ena(), registers.get::<VapVportXscale>().vport_xscale()),
            (cntl.vport_y_scale_ena(), registers.get::<VapVportYscale>().vport_yscale()),
            (cntl.vport_z_scale_ena(), registers.get::<VapVportZscale>().vport_zscale()),
        ];
        let offset = [
            (cntl.vport_x_offset_ena(), registers.get::<VapVportXoffset>().vport_xoffset()),
            (cntl.vport_y_offset_ena(), registers.get::<VapVportYoffset>().vport_yoffset()),
            (cntl.vport_z_offset_ena(), registers.get::<VapVportZoffset>().vport_zoffset()),
        ];
        Self {
            scale: scale.map(|(on, value)| enabled(on, value, 1.0)),
            offset: offset.map(|(on, value)| enabled(on, value, 0.0)),
            xy_divided: cntl.vtx_xy_fmt(),
            z_divided: cntl.vtx_z_fmt(),
            w_is_w: cntl.vtx_w0_fmt(),
        }
    }

    /// Transforms a vertex to window coordinates; `None` if they are not finite (w is 0, or a NaN). Each step rounds to
    /// float32 (open).
    pub(crate) fn window<'v>(&self, vertex: &'v Vertex) -> Option<WindowVertex<'v>> {
        let [x, y, z, w] = vertex.position;
        let rhw = if self.w_is_w { 1.0 / w } else { w };
        let divided = [self.xy_divided, self.xy_divided, self.z_divided];
        let mut window = [x, y, z];
        for (axis, value) in window.iter_mut().enumerate() {
            if !divided[axis] {
                *value *= rhw;
            }
            *value = *value * self.scale[axis] + self.offset[axis];
        }
        let [x, y, z] = window;
        // A w of 0 is harmless without the division.
        let rhw = if rhw.is_finite() { rhw } else { 1.0 };
        let finite = x.is_finite() && y.is_finite() && !z.is_nan();
        finite.then_some(WindowVertex { xy: [x, y], z, rhw, vertex })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn vertex(position: [f32; 4]) -> Vertex {
        Vertex { position, ..Vertex::default() }
    }

    /// Returns clipping with a guard band of 16 times the view volume, after register writes.
    fn clip(setup: &[(u32, u32)]) -> Clip {
        let mut state = State::default();
        state.registers.write(0x20b0, 0x400);
        for address in [0x2220, 0x2228] {
            state.registers.write(address, 16_f32.to_bits());
        }
        for (address, value) in setup {
            state.registers.write(*address, *value);
        }
        Clip::new(&state, &Readings::REFERENCE)
    }

    #[test]
    fn a_triangle_inside_is_left_alone() {
        let [a, b, c] = [[-0.5, -0.5, 0.0, 1.0], [15.0, 0.0, 0.9, 1.0], [0.0, 0.5, -1.0, 1.0]];
        let polygon = clip(&[]).triangle([a, b, c].map(vertex), [true, false, true]).unwrap();
        assert_eq!(polygon.vertices, [a, b, c].map(vertex));
        assert_eq!(polygon.edges, [true, false, true]);
    }

    #[test]
    fn the_adjust_registers_are_the_guard_band() {
        let line = [vertex([0.0, 0.0, 0.0, 1.0]), vertex([64.0, -64.0, 0.0, 1.0])];
        let end = |clip: &Clip| clip.line(line).unwrap()[1].position[0];
        assert_eq!(end(&clip(&[])), 16.0);
        let one = 1_f32.to_bits();
        assert_eq!(end(&clip(&[(0x2220, one), (0x2228, one)])), 1.0);
        // Vertically only.
        assert_eq!(end(&clip(&[(0x2220, 4_f32.to_bits())])), 4.0);
        let mut state = State::default();
        for (address, value) in [(0x20b0, 0x400), (0x2220, one), (0x2228, one)] {
            state.registers.write(address, value);
        }
        let wide = Readings { guard_band: GuardBand::Wide, ..Readings::REFERENCE };
        assert_eq!(end(&Clip::new(&state, &wide)), 16.0);
    }

    #[test]
    fn the_near_plane_depends_on_the_clip_space() {
        // From z = -1 (OpenGL) or z = 0 (Direct3D) on.
        let line = [vertex([0.0, 0.0, -3.0, 1.0]), vertex([0.0, 0.0, 1.0, 1.0])];
        let from = |clip: &Clip| clip.line(line).unwrap()[0].position[2];
        assert_eq!(from(&clip(&[])), -1.0);
        assert_eq!(from(&clip(&[(0x2080, 1 << 22)])), 0.0);
        assert_eq!(from(&clip(&[(0x221c, 1 << 16)])), -3.0);
    }

    #[test]
    fn a_cut_corner_makes_a_quadrilateral_with_an_inner_edge() {
        let triangle =
            [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 2.0, 1.0], [1.0, 0.0, 0.0, 1.0]].map(vertex);
        let polygon = clip(&[]).triangle(triangle, [true; 3]).unwrap();
        let positions: Vec<_> = polygon.vertices.iter().map(|v| v.position).collect();
        let expected = [
            [0.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, 1.0, 1.0],
            [0.5, 0.0, 1.0, 1.0],
            [1.0, 0.0, 0.0, 1.0],
        ];
        assert_eq!(positions, expected);
        assert_eq!(polygon.edges, [true, false, true, true]);
    }

    #[test]
    fn shared_edges_are_cut_at_the_same_point() {
        arbtest::arbtest(|u| {
            let mut any = || -> arbtest::arbitrary::Result<Vertex> {
                let mut position = [0.0; 4];
                for x in &mut position {
                    *x = f32::from(u.arbitrary::<i16>()?) / 4096.0;
                }
                Ok(vertex(position))
            };
            let [a, b] = [any()?, any()?];
            let clip = clip(&[]);
            let (forth, back) = (clip.line([a, b]), clip.line([b, a]));
            assert_eq!(forth.map(|[a, b]| (a, b)), back.map(|[b, a]| (a, b)));
            Ok(())
        });
    }

    #[test]
    fn points_go_by_their_centre_and_the_view_volume() {
        let clip = clip(&[]);
        assert!(clip.keeps_point([1.0, -1.0, 0.0, 1.0]));
        assert!(!clip.keeps_point([1.01, 0.0, 0.0, 1.0]));
        assert!(!clip.keeps_point([f32::NAN, 0.0, 0.0, 1.0]));
    }

    #[test]
    fn the_viewport_divides_and_scales() {
        let mut state = State::default();
        state.registers.write(0x20b0, 0x43f);
        for (address, value) in [
            (0x1d98, 50.0_f32),
            (0x1d9c, 50.0),
            (0x1da0, -20.0),
            (0x1da4, 20.0),
            (0x1da8, 0.5),
            (0x1dac, 0.5),
        ] {
            state.registers.write(address, value.to_bits());
        }
        let corner = vertex([1.0, 1.0, -2.0, 2.0]);
        let window = Viewport::new(&state).window(&corner).unwrap();
        assert_eq!((window.xy, window.z, window.rhw), ([75.0, 10.0], 0.0, 0.5));
        state.registers.write(0x20b0, 0x300);
        let corner = vertex([7.5, 3.0, 0.25, 1.0]);
        let window = Viewport::new(&state).window(&corner).unwrap();
        assert_eq!((window.xy, window.z, window.rhw), ([7.5, 3.0], 0.25, 1.0));
    }
}
