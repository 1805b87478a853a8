//! `GA`: geometry assembly. Rounds window vertices to the subpixel grid, expands points and lines to parallelograms,
//! and applies flat shading.

use r500_chip::ga::{
    GaColorControl, GaFillA, GaFillB, GaFillR, GaLineCntl, GaLineStippleConfig, GaLineStippleValue,
    GaOffset, GaPointMinmax, GaPointS0, GaPointS1, GaPointSize, GaPointT0, GaPointT1, GaPolyMode,
    GaRoundMode,
};
use r500_chip::gb::{GbEnable, GbSelect, GbTileConfig};
use r500_chip::values::{
    LineEnd, PolyMode, PolygonFill, ProvokingVertex, Rounding, Shading, StippleReset, TexSource,
};
use r500_stream::State;

use crate::clip::WindowVertex;
use crate::reading::{LineEnds, PositionTies, Readings, SubpixelGrid};
use crate::vap::{OutputLayout, Vertex};
use crate::varyings::VertexValue;

/// A position on the grid: multiples of [`Grid::unit`]`^-1` pixels.
pub(crate) type GridPoint = [i64; 2];

/// The grid that positions are rounded to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    /// Units in a pixel: a multiple of 12, because sample positions are multiples of 1/12 pixel.
    pub(crate) unit: i64,
    /// Units between neighbouring vertex positions, and their number in a pixel.
    step: i64,
    points: f64,
    round: Rounding,
    ties: PositionTies,
    /// Offset of rounded positions.
    offset: GridPoint,
}

impl Grid {
    pub(crate) fn new(state: &State, readings: &Readings) -> Self {
        let points = match readings.subpixel {
            SubpixelGrid::Fine => 256,
            SubpixelGrid::Register if state.registers.get::<GbTileConfig>().subpixel() => 16,
            SubpixelGrid::Register => 12,
        };
        // The least common multiple of the positions in a pixel and 12.
        let unit = match points {
            256 => 768,
            16 => 48,
            _ => 12,
        };
        let registers = &state.registers;
        let round = registers.get::<GaRoundMode>().geometry_round();
        // Two's complement, in steps of the selected grid (derived from the width of the fields).
        let offset: GaOffset = registers.get();
        let parts = if registers.get::<GbTileConfig>().subpixel() { 16 } else { 12 };
        let offset = [offset.x_offset(), offset.y_offset()]
            .map(|steps| i64::from(steps.cast_signed()) * (unit / parts));
        Self {
            unit,
            step: unit / points,
            points: points as f64,
            round,
            ties: readings.position_ties,
            offset,
        }
    }

    /// Window coordinates are clamped to this distance from the origin, in pixels.
    const FARTHEST: f64 = 65_536.0;

    fn coordinate(&self, x: f64) -> i64 {
        let x = x.clamp(-Self::FARTHEST, Self::FARTHEST) * self.points;
        let rounded = match (self.round, self.ties) {
            (Rounding::TRUNCATE, _) => x as i64,
            // The sum is exact: x has the digits of a float32 and 8 more at most.
            (_, PositionTies::Away) => {
                let away = (x.abs() + 0.5) as i64;
                if x < 0.0 { -away } else { away }
            }
            (_, PositionTies::Even) => x.round_ties_even() as i64,
        };
        rounded * self.step
    }

    pub(crate) fn point(&self, [x, y]: [f32; 2]) -> GridPoint {
        [self.coordinate(x.into()) + self.offset[0], self.coordinate(y.into()) + self.offset[1]]
    }
}

/// The kind of a shape, which determines the edge rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShapeKind {
    Triangle,
    Point,
    LineLeftToRight,
    LineRightToLeft,
    LineTopToBottom,
    LineBottomToTop,
}

/// A convex shape: three corners with values, and a fourth one if it is a parallelogram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'v> {
    pub(crate) kind: ShapeKind,
    pub(crate) corners: [Corner<'v>; 3],
    pub(crate) parallelogram: bool,
    /// Whether it is a back face, if the shape comes from a polygon.
    pub(crate) back: Option<bool>,
    /// The stipple pattern of a line: start, and direction to its end on the grid.
    pub(crate) stipple: Option<StippledLine>,
    /// The texture coordinates of a point that are made up.
    pub(crate) made_up: Option<MadeUp>,
}

impl Shape<'_> {
    /// Returns whether it is of a back face.
    pub(crate) fn is_back(&self) -> bool {
        self.back.unwrap_or(false)
    }

    /// Returns a value of the vertex at each corner.
    #[inline(always)]
    pub(crate) fn values(&self, value: VertexValue) -> [f32; 3] {
        match (&self.made_up, value) {
            (Some(made_up), VertexValue::Tex { n, component: component @ 0..2 })
                if made_up.stuffed[n] =>
            {
                made_up.st.map(|st| st[component])
            }
            _ => self.corners.each_ref().map(|corner| value.of(corner.vertex)),
        }
    }
}

/// A corner of a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner<'v> {
    pub(crate) at: GridPoint,
    pub(crate) z: f64,
    pub(crate) rhw: f64,
    /// Colours and texture coordinates.
    pub(crate) vertex: &'v Vertex,
}

/// The made-up S and T of a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadeUp {
    /// Which texture coordinates have them.
    stuffed: [bool; 8],
    st: [[f32; 2]; 3],
}

/// The position of a stippled line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StippledLine {
    from: GridPoint,
    along: GridPoint,
    /// Length of the strip before this line in pixels.
    before: f64,
    pattern: u16,
    scale: f32,
    unit: i64,
}

impl StippledLine {
    /// Returns whether the pattern draws the pixel with this centre.
    pub(crate) fn draws(&self, [x, y]: GridPoint) -> bool {
        // Steps are pixels along the major axis, as in OpenGL (open for the chip).
        let [dx, dy] = self.along;
        let steps = if dx.abs() >= dy.abs() {
            (x - self.from[0]) * dx.signum()
        } else {
            (y - self.from[1]) * dy.signum()
        };
        let steps = (steps as f64 / self.unit as f64).floor() + self.before;
        let scale = if self.scale >= 1.0 { f64::from(self.scale) } else { 1.0 };
        let bit = (steps / scale).floor().rem_euclid(16.0) as u32;
        self.pattern >> bit & 1 != 0
    }
}

/// State of the geometry assembly.
#[derive(Clone, Debug)]
pub(crate) struct Ga {
    pub(crate) grid: Grid,
    pub(crate) provoking: ProvokingVertex,
    /// Point size in sixths of a pixel.
    point_size: [f32; 2],
    point_limits: [f32; 2],
    vertices_have_sizes: bool,
    /// S, T of points at the left and bottom edge, and at the right and top edge.
    point_st: [[f32; 2]; 2],
    stuffed: [bool; 8],
    line_width: f32,
    right_angled: bool,
    stipple: Option<(u16, f32, StippleReset)>,
    /// Fill modes of front and back faces, in dual mode.
    pub(crate) polygon_fill: Option<[PolygonFill; 2]>,
    shading: [[Shading; 2]; 4],
    keeps_colors: bool,
    /// Whether 1/w is 1, so that values are linear in window coordinates.
    flat_w: bool,
    fill: [f32; 4],
    clamp_rgb: bool,
    clamp_alpha: bool,
}

impl Ga {
    pub(crate) fn new(state: &State, layout: &OutputLayout, readings: &Readings) -> Self {
        let registers = &state.registers;
        let size: GaPointSize = registers.get();
        let limits: GaPointMinmax = registers.get();
        let line: GaLineCntl = registers.get();
        let mode: GaPolyMode = registers.get();
        let round: GaRoundMode = registers.get();
        let color: GaColorControl = registers.get();
        let stipple: GaLineStippleConfig = registers.get();
        let enable: GbEnable = registers.get();
        let dual = mode.poly_mode() == PolyMode::DUAL;
        let shading = [
            [color.rgb0_shading(), color.alpha0_shading()],
            [color.rgb1_shading(), color.alpha1_shading()],
            [color.rgb2_shading(), color.alpha2_shading()],
            [color.rgb3_shading(), color.alpha3_shading()],
        ];
        let kinds = || shading.iter().flatten().copied();
        let (clamp_rgb, clamp_alpha) = (!round.rgb_clamp(), !round.alpha_clamp());
        let pattern = registers.get::<GaLineStippleValue>();
        let [bits, scale] = [r500_isa::Word::bits(pattern), r500_isa::Word::bits(stipple) & !3];
        Self {
            grid: Grid::new(state, readings),
            provoking: color.provoking_vertex(),
            point_size: [size.width().into(), size.height().into()],
            point_limits: [limits.min_size().into(), limits.max_size().into()],
            vertices_have_sizes: layout.has_point_size(),
            point_st: [
                [registers.get::<GaPointS0>().s0(), registers.get::<GaPointT0>().t0()],
                [registers.get::<GaPointS1>().s1(), registers.get::<GaPointT1>().t1()],
            ],
            stuffed: match enable.point_stuff_enable() {
                true => tex_sources(enable).map(|source| source != TexSource::VERTEX),
                false => [false; 8],
            },
            line_width: line.width().into(),
            right_angled: readings.line_ends == LineEnds::RightAngle
                && line.end_type() == LineEnd::COMPUTED,
            // Mesa writes the 16-bit pattern into GA_LINE_STIPPLE_VALUE and the factor as the scale.
            stipple: (stipple.line_reset() != StippleReset::NEVER)
                .then(|| (bits as u16, f32::from_bits(scale), stipple.line_reset())),
            polygon_fill: dual.then(|| [mode.front_ptype(), mode.back_ptype()]),
            shading,
            // Vertices without colours have zeros.
            keeps_colors: !kinds().any(|kind| kind == Shading::SOLID)
                && (!(0..4).any(|n| layout.has_color(n))
                    || !(clamp_rgb || clamp_alpha || kinds().any(|kind| kind == Shading::FLAT))),
            flat_w: registers.get::<GbSelect>().w_select(),
            fill: [
                registers.get::<GaFillR>().color_red(),
                0.0,
                registers.get::<GaFillB>().color_blue(),
                registers.get::<GaFillA>().color_alpha(),
            ],
            clamp_rgb,
            clamp_alpha,
        }
    }

    /// Returns whether [`shade`](Self::shade) changes nothing.
    pub(crate) fn keeps_colors(&self) -> bool {
        self.keeps_colors
    }

    /// Clamps the colours of a primitive's vertices and applies flat shading, with the colours of the provoking vertex.
    /// Texture coordinates are never flat (observed). This precedes clipping, so that flat colours survive it.
    pub(crate) fn shade<const N: usize>(&self, vertices: &mut [Vertex; N], provoking: &Vertex) {
        for vertex in vertices {
            for (n, color) in vertex.colors.iter_mut().enumerate() {
                for (channel, value) in color.iter_mut().enumerate() {
                    let alpha = channel == 3;
                    *value = match self.shading[n][usize::from(alpha)] {
                        Shading::FLAT => provoking.colors[n][channel],
                        Shading::SOLID => self.fill[channel],
                        _ => *value,
                    };
                    if if alpha { self.clamp_alpha } else { self.clamp_rgb } {
                        *value = r500_numerics::Arith::REFERENCE.clamp01(*value);
                    }
                }
            }
        }
    }

    pub(crate) fn triangle<'v>(
        &self,
        vertices: [&WindowVertex<'v>; 3],
        back: Option<bool>,
    ) -> Shape<'v> {
        Shape {
            kind: ShapeKind::Triangle,
            corners: vertices.map(|vertex| self.corner(vertex, self.grid.point(vertex.xy))),
            parallelogram: false,
            back,
            stipple: None,
            made_up: None,
        }
    }

    /// Returns the rectangle of a point.
    pub(crate) fn point<'v>(&self, vertex: &WindowVertex<'v>, back: Option<bool>) -> Shape<'v> {
        let size = match self.vertices_have_sizes {
            true => {
                let [least, greatest] = self.point_limits;
                let size = vertex.vertex.point_size * 6.0;
                let size = if size.is_nan() { least } else { size };
                [size.min(greatest).max(least); 2]
            }
            false => self.point_size,
        };
        let [x, y] = self.grid.point(vertex.xy);
        // Half of a size in sixths is a size in twelfths.
        let [w, h] =
            size.map(|size| (f64::from(size) * self.grid.unit as f64 / 12.0).round() as i64);
        let [[s0, t0], [s1, t1]] = self.point_st;
        // Row 0 of memory is the top edge (observed: T1 there).
        let st = [[s0, t1], [s1, t1], [s0, t0]];
        let corners = [[x - w, y - h], [x + w, y - h], [x - w, y + h]];
        Shape {
            kind: ShapeKind::Point,
            corners: corners.map(|at| self.corner(vertex, at)),
            parallelogram: true,
            back,
            stipple: None,
            made_up: (self.stuffed != [false; 8]).then_some(MadeUp { stuffed: self.stuffed, st }),
        }
    }

    /// Returns the parallelogram of a line, `None` if its length is 0. `before` is the length of the strip so far in
    /// pixels, which is increased.
    pub(crate) fn line<'v>(
        &self,
        [from, to]: [&WindowVertex<'v>; 2],
        first: bool,
        before: &mut f64,
        back: Option<bool>,
    ) -> Option<Shape<'v>> {
        let (a, b) = (self.grid.point(from.xy), self.grid.point(to.xy));
        let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
        if dx == 0 && dy == 0 {
            return None;
        }
        let half = f64::from(self.line_width) * self.grid.unit as f64 / 12.0;
        let flat = dx.abs() >= dy.abs();
        let kind = match (flat, dx >= 0, dy >= 0) {
            (true, true, _) => ShapeKind::LineLeftToRight,
            (true, false, _) => ShapeKind::LineRightToLeft,
            (false, _, true) => ShapeKind::LineTopToBottom,
            (false, _, false) => ShapeKind::LineBottomToTop,
        };
        let [wx, wy] = match (self.right_angled, flat) {
            (true, _) => {
                let length = (dx as f64).hypot(dy as f64);
                [-dy as f64 / length * half, dx as f64 / length * half]
            }
            (false, true) => [0.0, half],
            (false, false) => [half, 0.0],
        }
        .map(|w| w.round() as i64);
        let corners = [
            self.corner(from, [a[0] - wx, a[1] - wy]),
            self.corner(to, [b[0] - wx, b[1] - wy]),
            self.corner(from, [a[0] + wx, a[1] + wy]),
        ];
        let stipple = self.stipple.map(|(pattern, scale, reset)| {
            if first && reset != StippleReset::NEVER {
                *before = 0.0;
            }
            let line = StippledLine {
                from: a,
                along: [dx, dy],
                before: *before,
                pattern,
                scale,
                unit: self.grid.unit,
            };
            *before += (dx.abs().max(dy.abs()) as f64 / self.grid.unit as f64).round();
            line
        });
        Some(Shape { kind, corners, parallelogram: true, back, stipple, made_up: None })
    }
}

impl Ga {
    fn corner<'v>(&self, vertex: &WindowVertex<'v>, at: GridPoint) -> Corner<'v> {
        Corner {
            at,
            z: vertex.z.into(),
            rhw: if self.flat_w { 1.0 } else { vertex.rhw.into() },
            vertex: vertex.vertex,
        }
    }
}

/// Returns the source of each texture coordinate.
pub(crate) fn tex_sources(enable: GbEnable) -> [TexSource; 8] {
    [
        enable.tex0_source(),
        enable.tex1_source(),
        enable.tex2_source(),
        enable.tex3_source(),
        enable.tex4_source(),
        enable.tex5_source(),
        enable.tex6_source(),
        enable.tex7_source(),
    ]
}
