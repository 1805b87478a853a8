//! `RS`: the rasteriser. Routes the interpolants of a primitive to the temporaries of the fragment program.
//!
//! **Interpolation** is perspective-correct for all values, colours included (observed): with the edge functions E_i
//! opposite to the corners as barycentric coordinates, a value is (sum of E_i a_i / w_i) / (sum of E_i / w_i), computed
//! in double precision from exact integers and rounded once to float32. The precision of the card is open.

use r500_chip::gb::{GbEnable, GbSelect};
use r500_chip::values::TexSource;
use r500_isa::state::{RsCount, RsInst, RsInstCount, RsIp};
use r500_isa::values::{ColCn, ColFmt};
use r500_simd::{Simd, SimdLevel, SimdTask};
use r500_stream::State;

use crate::fog::FogValue;
use crate::ga::{self, GridPoint};
use crate::quad::{QuadList, by_primitive};
use crate::sc::Samples;
use crate::su::{Primitive, PrimitiveValues, Primitives};
use crate::vap::OutputLayout;
use crate::varyings::{Varyings, VertexValue};

/// The rasteriser's program.
#[derive(Clone, Debug)]
pub(crate) struct Rs {
    writes: Vec<Write>,
    /// Whether an instruction passes w on.
    w: bool,
    /// The fog value, if it is passed on.
    fog: Option<FogValue>,
}

/// A temporary and its initial value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Write {
    pub(crate) temp: u8,
    source: Interpolant,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Interpolant {
    /// Components of texture coordinates, or a colour.
    Values([Component; 4]),
    /// The pixel's position: x, y, 0, 0.
    Position,
    /// 1 in red for back faces.
    BackFace,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Component {
    Constant(f32),
    /// A value of the vertices, by its place among the varyings.
    Of(usize),
    /// The fog value.
    Fog,
}

/// What a pointer of the rasteriser selects.
#[derive(Clone, Copy)]
enum Pointed {
    Constant(f32),
    Vertex(VertexValue),
    Fog,
}

impl Rs {
    /// Reads the registers. `points`: the draw's primitives are points, which may have generated texture coordinates.
    pub(crate) fn new(
        state: &State,
        layout: &OutputLayout,
        points: bool,
        varyings: &mut Varyings,
    ) -> Self {
        let registers = &state.registers;
        let count: RsInstCount = registers.get();
        let packet = packet(state, layout, points);
        let select: GbSelect = registers.get();
        let fogged = select
            .fog_stuff_enable()
            .then(|| (usize::from(select.fog_stuff_tex()), usize::from(select.fog_stuff_comp())));
        let pointed = |pointer: u8| match pointer {
            62 => Pointed::Constant(0.0),
            63 => Pointed::Constant(1.0),
            // Out of range: 0 (open).
            n => packet.get(usize::from(n)).map_or(Pointed::Constant(0.0), |&(n, component)| {
                match fogged {
                    Some(place) if place == (n, component) => Pointed::Fog,
                    _ => Pointed::Vertex(VertexValue::Tex { n, component }),
                }
            }),
        };
        // The counts may specify no interpolants; some programs leave a stale instruction 0.
        let counts: RsCount = registers.get();
        let interpolates = counts.it_count() != 0 || counts.ic_count() != 0;
        let mut place = |pointed| match pointed {
            Pointed::Constant(value) => Component::Constant(value),
            Pointed::Vertex(value) => Component::Of(varyings.place(value)),
            Pointed::Fog => Component::Fog,
        };
        let mut writes = Vec::new();
        let mut w = false;
        for n in 0..=u32::from(count.inst_count()) {
            let inst: RsInst = registers.member(n);
            w |= inst.w_cn();
            if inst.tex_cn() {
                let ip: RsIp = registers.member(inst.tex_id().into());
                let pointers = [ip.tex_ptr_s(), ip.tex_ptr_t(), ip.tex_ptr_r(), ip.tex_ptr_q()];
                let pointed = pointers.map(pointed);
                if interpolates || pointed.iter().all(|it| matches!(it, Pointed::Constant(_))) {
                    let source = Interpolant::Values(pointed.map(&mut place));
                    writes.push(Write { temp: inst.tex_addr(), source });
                }
            }
            let source = match inst.col_cn() {
                ColCn::NONE => continue,
                ColCn::FBUFFER => Interpolant::Position,
                ColCn::BACKFACE => Interpolant::BackFace,
                _ if !interpolates => continue,
                _ => {
                    let ip: RsIp = registers.member(inst.col_id().into());
                    let (n, format) = (usize::from(ip.col_ptr() & 3), ip.col_fmt());
                    Interpolant::Values([0, 1, 2, 3].map(|channel| {
                        place(match constant(format, channel) {
                            Some(value) => Pointed::Constant(value),
                            None => Pointed::Vertex(VertexValue::Color { n, channel }),
                        })
                    }))
                }
            };
            writes.push(Write { temp: inst.col_addr(), source });
        }
        let is_fogged = |write: &Write| match write.source {
            Interpolant::Values(components) => components.contains(&Component::Fog),
            _ => false,
        };
        let fog = writes.iter().any(is_fogged).then(|| FogValue::new(state, varyings));
        Self { writes, w, fog }
    }

    /// Returns w at a point, for the depth block if `US_W_FMT` selects it from the rasteriser; 0 if no instruction
    /// passes it on (open).
    pub(crate) fn w(&self, primitive: &Primitive, center: GridPoint) -> f32 {
        if self.w { primitive.w(center) as f32 } else { 0.0 }
    }

    /// Returns the written temporaries, in order; a later write wins.
    pub(crate) fn writes(&self) -> &[Write] {
        &self.writes
    }

    /// Returns the initial values of the temporaries at a pixel: one vector for each of [`writes`](Self::writes).
    pub(crate) fn inputs<'a>(
        &'a self,
        of: PrimitiveValues<'a>,
        pixel: [u32; 2],
        center: GridPoint,
    ) -> impl Iterator<Item = [f32; 4]> + 'a {
        let primitive = of.primitive;
        let weights = primitive.weights(center);
        let scaled: [f64; 3] = std::array::from_fn(|i| weights[i] * primitive.rhw[i]);
        let total: f64 = scaled.iter().sum();
        let interpolate = move |[a, b, c]: [f64; 3]| {
            ((scaled[0] * a + scaled[1] * b + scaled[2] * c) / total) as f32
        };
        self.writes.iter().map(move |write| match write.source {
            Interpolant::Values(components) => components.map(|component| match component {
                Component::Constant(value) => value,
                Component::Fog => self.fog_at(of, center),
                Component::Of(place) => interpolate(of.corners(place)),
            }),
            Interpolant::Position => [pixel[0] as f32, pixel[1] as f32, 0.0, 0.0],
            Interpolant::BackFace => [if primitive.back { 1.0 } else { 0.0 }, 0.0, 0.0, 0.0],
        })
    }

    #[expect(clippy::expect_used, reason = "a component that is the fog value comes with it")]
    fn fog_at(&self, of: PrimitiveValues<'_>, center: GridPoint) -> f32 {
        self.fog.expect("an input is the fog value").at(of, center)
    }
}

/// What quads are interpolated from.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    pub(crate) rs: &'a Rs,
    pub(crate) samples: &'a Samples,
    pub(crate) primitives: &'a Primitives,
}

/// Interpolates inputs of quads, as [`Rs::inputs`] does for a pixel.
pub(crate) struct Interpolator<'a> {
    work: Work<'a>,
    quads: &'a QuadList,
    weights: Weights,
}

impl<'a> Interpolator<'a> {
    pub(crate) fn new(work: Work<'a>) -> Self {
        Self { work, quads: &[], weights: Weights::default() }
    }

    /// Begins with quads. Stores which pixels have a covered sample: all bits of the lane, or none.
    pub(crate) fn begin(&mut self, quads: &'a QuadList, covered: &mut [f32]) {
        self.quads = quads;
        Simd::detect().run_plain(Begin { interpolator: self, covered });
    }

    /// Stores a channel of a temporary for the pixels of the quads.
    pub(crate) fn load(&self, temp: u8, channel: u8, lanes: &mut [f32]) {
        // A later write wins.
        let mut writes = self.work.rs.writes.iter().rev();
        let Some(write) = writes.find(|write| write.temp == temp) else { return lanes.fill(0.0) };
        let source = write.source;
        Simd::detect().run_plain(Load { interpolator: self, source, channel, lanes });
    }
}

struct Begin<'a, 'i> {
    interpolator: &'i mut Interpolator<'a>,
    covered: &'i mut [f32],
}

impl SimdTask for Begin<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) {
        let Interpolator { work: Work { samples, primitives, .. }, quads, weights } =
            self.interpolator;
        weights.resize(4 * quads.len());
        let Weights { x, y, scaled: [a, b, c], total } = weights;
        let covered = self.covered.as_chunks_mut::<4>().0;
        let lanes = x.as_chunks_mut::<4>().0.iter_mut().zip(y.as_chunks_mut::<4>().0).zip(covered);
        for (((x, y), covered), (_, quad)) in lanes.zip(*quads) {
            [*x, *y] = samples.quad_centers(quad.pixel(0));
            *covered = quad.masks.map(|mask| f32::from_bits(if mask != 0 { !0 } else { 0 }));
        }
        for (primitive, _, run) in by_primitive(quads) {
            let primitive = primitives.get(primitive).primitive;
            let points = [&x[run.clone()], &y[run.clone()]];
            let [a, b, c, total] =
                [&mut *a, &mut *b, &mut *c, &mut *total].map(|lanes| &mut lanes[run.clone()]);
            let rhw = primitive.rhw;
            primitive.each_weights(points, |n, weights| {
                (a[n], b[n], c[n]) =
                    (weights[0] * rhw[0], weights[1] * rhw[1], weights[2] * rhw[2]);
                total[n] = a[n] + b[n] + c[n];
            });
        }
    }
}

struct Load<'a, 'i> {
    interpolator: &'i Interpolator<'a>,
    source: Interpolant,
    channel: u8,
    lanes: &'i mut [f32],
}

impl SimdTask for Load<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) {
        let Interpolator { work: Work { rs, samples, primitives }, quads, weights } =
            self.interpolator;
        for (primitive, quads, lanes) in by_primitive(quads) {
            let primitive = primitives.get(primitive);
            let run = Run { rs, samples, primitive, quads, weights, first: lanes.start };
            run.channel(self.source, usize::from(self.channel), &mut self.lanes[lanes]);
        }
    }
}

/// Quads of a primitive.
struct Run<'a> {
    rs: &'a Rs,
    samples: &'a Samples,
    primitive: PrimitiveValues<'a>,
    quads: &'a QuadList,
    weights: &'a Weights,
    /// The lane of the first pixel.
    first: usize,
}

impl Run<'_> {
    /// Writes a channel of an interpolant for the pixels of the quads.
    #[inline(always)]
    fn channel(&self, source: Interpolant, channel: usize, out: &mut [f32]) {
        let each = |out: &mut [f32], value: &dyn Fn([u32; 2]) -> f32| {
            for (out, (_, quad)) in out.as_chunks_mut::<4>().0.iter_mut().zip(self.quads) {
                *out = [0, 1, 2, 3].map(|corner| value(quad.pixel(corner)));
            }
        };
        match source {
            Interpolant::Values(components) => match components[channel] {
                Component::Constant(value) => out.fill(value),
                Component::Fog => {
                    each(out, &|pixel| self.rs.fog_at(self.primitive, self.samples.center(pixel)))
                }
                Component::Of(place) => {
                    self.weights.interpolate(self.first, self.primitive.corners(place), out);
                }
            },
            Interpolant::Position => match channel {
                0 | 1 => each(out, &|pixel| pixel[channel] as f32),
                _ => out.fill(0.0),
            },
            Interpolant::BackFace => {
                let back = self.primitive.primitive.back;
                out.fill(if channel == 0 && back { 1.0 } else { 0.0 });
            }
        }
    }
}

impl Rs {
    /// Returns whether every input has the same bits for all pixels that each of some primitives covers, and for all primitives.
    ///
    /// Interpolation of three equal numbers is off by a few roundings of double precision at most, which the one to float32 takes back,
    /// unless the number is a denormal, a zero with a sign, or not finite.
    pub(crate) fn is_uniform(&self, primitives: &Primitives) -> bool {
        if primitives.len() == 0 {
            return false;
        }
        let first = primitives.get(0);
        (0..primitives.len()).map(|n| primitives.get(n)).all(|of| {
            let [a, b, c] = of.primitive.rhw;
            (1e-30..=1e30).contains(&a)
                && [b.to_bits(), c.to_bits()] == [a.to_bits(); 2]
                && self.writes.iter().all(|write| match write.source {
                    Interpolant::Values(components) => {
                        components.into_iter().all(|component| match component {
                            Component::Constant(_) => true,
                            Component::Of(place) => {
                                let value = first.values[place][0];
                                let plain = value.is_normal() || value.to_bits() == 0;
                                plain && of.values[place].map(f32::to_bits) == [value.to_bits(); 3]
                            }
                            Component::Fog => false,
                        })
                    }
                    Interpolant::Position => false,
                    Interpolant::BackFace => of.primitive.back == first.primitive.back,
                })
        })
    }
}

/// Barycentric coordinates of the pixels of quads, each divided by w, and their sums.
#[derive(Default)]
struct Weights {
    /// The centres of the pixels.
    x: Vec<f64>,
    y: Vec<f64>,
    scaled: [Vec<f64>; 3],
    total: Vec<f64>,
}

impl Weights {
    fn resize(&mut self, lanes: usize) {
        let Self { x, y, scaled: [a, b, c], total } = self;
        [x, y, a, b, c, total].into_iter().for_each(|values| values.resize(lanes, 0.0));
    }

    /// Interpolates a value of the corners for lanes from `first` on.
    #[inline(always)]
    fn interpolate(&self, first: usize, [a, b, c]: [f64; 3], out: &mut [f32]) {
        let lanes = first..first + out.len();
        let [x, y, z] = self.scaled.each_ref().map(|weights| &weights[lanes.clone()]);
        let total = &self.total[lanes];
        // Quads of small primitives have no room for wider vectors, and their beginnings and ends cost.
        let quads = [x, y, z, total].map(|weights| weights.as_chunks::<4>().0);
        if let ([[x], [y], [z], [total]], [out]) = (quads, out.as_chunks_mut::<4>().0) {
            *out = std::array::from_fn(|n| ((x[n] * a + y[n] * b + z[n] * c) / total[n]) as f32);
            return;
        }
        let weights = x.iter().zip(y).zip(z).zip(total);
        for (out, (((x, y), z), total)) in out.iter_mut().zip(weights) {
            *out = ((x * a + y * b + z * c) / total) as f32;
        }
    }
}

/// Returns the packed components of all texture coordinates, which pointers index. A generated coordinate takes two
/// components (three with R), or as many as the vertices have if those are more (observed).
fn packet(state: &State, layout: &OutputLayout, points: bool) -> Vec<(usize, usize)> {
    let enable: GbEnable = state.registers.get();
    let sources = match points && enable.point_stuff_enable() {
        true => ga::tex_sources(enable),
        false => [TexSource::VERTEX; 8],
    };
    let mut packet = Vec::new();
    for (tex, source) in sources.into_iter().enumerate() {
        let made_up = match source {
            TexSource::STUFF_ST => 2,
            TexSource::STUFF_STR => 3,
            _ => 0,
        };
        let count = usize::from(layout.tex_components[tex]).max(made_up);
        packet.extend((0..count).map(|c| (tex, c)));
    }
    packet
}

/// Returns a channel of a colour that its format does not take from the colour.
#[inline(always)]
fn constant(format: ColFmt, channel: usize) -> Option<f32> {
    let [rgb, alpha] = match format {
        ColFmt::RGB0 => [None, Some(0.0)],
        ColFmt::RGB1 => [None, Some(1.0)],
        ColFmt::Z00A => [Some(0.0), None],
        ColFmt::Z000 => [Some(0.0); 2],
        ColFmt::Z001 => [Some(0.0), Some(1.0)],
        ColFmt::O11A => [Some(1.0), None],
        ColFmt::O110 => [Some(1.0), Some(0.0)],
        ColFmt::O111 => [Some(1.0); 2],
        _ => [None; 2],
    };
    if channel == 3 { alpha } else { rgb }
}
