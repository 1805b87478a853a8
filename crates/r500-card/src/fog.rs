//! Fog, the second part of `FG`: blends the colour of a fragment with the fog colour.
//!
//! Documented: the sources of the fog value (`GB_SELECT`), its scale and offset (`GA_FOG_SCALE`, `GA_FOG_OFFSET`), the
//! names of the functions, and that colour and constant factor are fixed-point numbers of ten bits. Derived: alpha is
//! unchanged, because the fog colour has none; render target A only, as Direct3D 9 defines it; ten set bits are 1,
//! because fog may be white. Open: the direction of the factor and the base of the exponential functions, which are
//! readings.

use r500_chip::ga::{GaFogOffset, GaFogScale};
use r500_chip::gb::GbSelect;
use r500_chip::values::FogSelect;
use r500_isa::state::{FgFogBlend, FgFogColorB, FgFogColorG, FgFogColorR, FgFogFactor};
use r500_isa::values::FogFn;
use r500_numerics::{Arith, kernels};
use r500_stream::State;

use crate::ga::GridPoint;
use crate::reading::{FogExponential, FogFactor, Readings};
use crate::su::PrimitiveValues;
use crate::varyings::{Varyings, VertexValue};

/// The source of the fog value of a pixel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FogValue {
    source: Source,
    scale: f32,
    offset: f32,
}

/// What the fog value is before scale and offset.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// Alpha of a colour, by its place among the varyings.
    Alpha(usize),
    W,
    Z,
    /// 0.
    Reserved,
}

impl FogValue {
    pub(crate) fn new(state: &State, varyings: &mut Varyings) -> Self {
        let registers = &state.registers;
        let mut alpha = |n| Source::Alpha(varyings.place(VertexValue::Color { n, channel: 3 }));
        Self {
            source: match registers.get::<GbSelect>().fog_select() {
                FogSelect::C0A => alpha(0),
                FogSelect::C1A => alpha(1),
                FogSelect::C2A => alpha(2),
                FogSelect::C3A => alpha(3),
                FogSelect::W => Source::W,
                FogSelect::Z => Source::Z,
                _ => Source::Reserved,
            },
            scale: registers.get::<GaFogScale>().value(),
            offset: registers.get::<GaFogOffset>().value(),
        }
    }

    /// Returns the fog value at a point of a primitive, after scale and offset. Reserved sources are 0 before these.
    pub(crate) fn at(&self, of: PrimitiveValues<'_>, at: GridPoint) -> f32 {
        let primitive = of.primitive;
        let value = match self.source {
            Source::Alpha(place) => primitive.perspective(at, of.corners(place)),
            Source::W => primitive.w(at),
            Source::Z => primitive.linear(at, primitive.z),
            Source::Reserved => 0.0,
        };
        value as f32 * self.scale + self.offset
    }
}

/// State of enabled fog.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fog {
    function: FogFn,
    value: FogValue,
    /// Factor of the constant function.
    constant: f32,
    /// Red, green, blue.
    color: [f32; 3],
    weighs: FogFactor,
    /// The logarithm to base 2 of the base of the exponential functions.
    log2_base: f32,
}

impl Fog {
    /// Returns the state; `None` if fog is disabled.
    pub(crate) fn new(state: &State, varyings: &mut Varyings, readings: &Readings) -> Option<Self> {
        let registers = &state.registers;
        let blend: FgFogBlend = registers.get();
        let fixed = |code: u16| f32::from(code) / 1023.0;
        blend.enable().then(|| Self {
            function: blend.fog_fn(),
            value: FogValue::new(state, varyings),
            constant: fixed(registers.get::<FgFogFactor>().factor()),
            color: [
                fixed(registers.get::<FgFogColorR>().red()),
                fixed(registers.get::<FgFogColorG>().green()),
                fixed(registers.get::<FgFogColorB>().blue()),
            ],
            weighs: readings.fog_factor,
            log2_base: match readings.fog_exponential {
                FogExponential::E => std::f32::consts::LOG2_E,
                FogExponential::Two => 1.0,
            },
        })
    }

    /// Returns a colour of render target A blended with fog, at a point of a primitive.
    pub(crate) fn blend(
        &self,
        color: [f32; 4],
        of: PrimitiveValues<'_>,
        at: GridPoint,
    ) -> [f32; 4] {
        let factor = self.factor(of, at);
        let factor = match self.weighs {
            FogFactor::Color => factor,
            FogFactor::Fog => 1.0 - factor,
        };
        let [r, g, b, a] = color;
        let mix = |color: f32, fog: f32| color * factor + fog * (1.0 - factor);
        [mix(r, self.color[0]), mix(g, self.color[1]), mix(b, self.color[2]), a]
    }

    /// Returns the fog factor, 0 to 1; 0 for NaN.
    fn factor(&self, of: PrimitiveValues<'_>, at: GridPoint) -> f32 {
        let value = || self.value.at(of, at);
        let factor = match self.function {
            FogFn::LINEAR => value(),
            FogFn::EXP => kernels::ex2(-value() * self.log2_base),
            FogFn::EXP2 => {
                let value = value();
                kernels::ex2(-(value * value) * self.log2_base)
            }
            _ => self.constant,
        };
        Arith::REFERENCE.clamp01(factor)
    }
}
