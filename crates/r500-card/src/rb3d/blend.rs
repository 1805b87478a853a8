//! Blending: combines source and destination, multiplied by their factors.
//!
//! Fixed-point targets: exact products and sums, rounded once. A sum of two products of n-bit fractions is never
//! halfway between two codes, because 2^n - 1 is odd, so double precision with rounding to nearest gives the exact
//! result. Float targets: double precision, rounded once to the target's format (open).

use r500_chip::rb3d::{
    Rb3dAblendcntl, Rb3dBlendcntl, Rb3dConstantColorAr, Rb3dConstantColorGb,
    Rb3dDiscardSrcPixelGteThreshold, Rb3dDiscardSrcPixelLteThreshold,
};
use r500_chip::values::{BlendFunction, DiscardSrc, SrcBlend};
use r500_isa::state::UsOutFmt;
use r500_isa::values::OutFormat;
use r500_numerics::codec::half;
use r500_stream::State;

use super::format::PixelFormat;
use crate::batch::Lane;
use crate::reading::{BlendSource, IntensityAlpha, MissingComponent, Readings};

/// Blend factors and functions. Components are in the order C0 to C3: blue, green, red, alpha.
#[derive(Clone, Debug)]
pub(super) struct Blend {
    color: Equation,
    alpha: Equation,
    constant: [f64; 4],
    source: BlendSource,
    missing: MissingComponent,
    intensity_alpha: IntensityAlpha,
    discard: Option<Discard>,
}

/// The condition for source colours that do not change the pixel.
#[derive(Clone, Copy, Debug)]
struct Discard {
    /// The tested components.
    components: &'static [usize],
    /// Whether they must be at most, instead of at least, the threshold.
    at_most: bool,
    threshold: [f32; 4],
}

#[derive(Clone, Copy, Debug)]
struct Equation {
    function: BlendFunction,
    source: SrcBlend,
    destination: SrcBlend,
}

const GREEN: usize = 1;
/// The component that I8 stores.
const INTENSITY: usize = 2;
const ALPHA: usize = 3;

impl Blend {
    /// Reads the registers; `None` if blending is disabled.
    pub(super) fn new(state: &State, readings: &Readings) -> Option<Self> {
        let registers = &state.registers;
        let color: Rb3dBlendcntl = registers.get();
        let alpha: Rb3dAblendcntl = registers.get();
        if !color.alpha_blend_enable() {
            return None;
        }
        let of_color = Equation::new(color.comb_fcn(), color.srcblend(), color.destblend().into());
        let of_alpha = Equation::new(alpha.comb_fcn(), alpha.srcblend(), alpha.destblend().into());
        let ar: Rb3dConstantColorAr = registers.get();
        let gb: Rb3dConstantColorGb = registers.get();
        // The constant has the format of target A: 10 bits or float16.
        let float = matches!(
            registers.get::<UsOutFmt>().out_fmt(),
            OutFormat::C_16_FP
                | OutFormat::C2_16_FP
                | OutFormat::C4_16_FP
                | OutFormat::C_32_FP
                | OutFormat::C2_32_FP
                | OutFormat::C4_32_FP
        );
        let constant = [gb.blue(), gb.green(), ar.red(), ar.alpha()].map(|code| match float {
            true => f64::from(half::to_f32(code)),
            false => f64::from(code & 0x3ff) / 1023.0,
        });
        Some(Self {
            color: of_color,
            alpha: if color.separate_alpha_enable() { of_alpha } else { of_color },
            constant,
            source: readings.blend_source,
            missing: readings.missing_component,
            intensity_alpha: readings.intensity_alpha,
            discard: Discard::new(state, color),
        })
    }

    /// Returns whether the source does not change the pixel, whatever is stored.
    pub(super) fn discards(&self, format: &PixelFormat, components: [f32; 4]) -> bool {
        self.discards_source(self.source(format, components))
    }

    /// Returns the source colour as the render backend receives it.
    fn source(&self, format: &PixelFormat, components: [f32; 4]) -> [f32; 4] {
        match (self.source, format.is_fixed()) {
            (_, false) => components,
            (BlendSource::OutFormat, true) => format.sent(components),
            (BlendSource::Float, true) => {
                components.map(|x| r500_numerics::Arith::REFERENCE.clamp01(x))
            }
        }
    }

    /// Returns whether some sources do not change the pixel.
    pub(super) fn may_discard(&self) -> bool {
        self.discard.is_some()
    }

    /// Returns whether a source does not change the pixel, whatever is stored.
    #[inline(always)]
    pub(super) fn discards_source(&self, source: [f32; 4]) -> bool {
        self.discard.is_some_and(|discard| discard.applies(source))
    }

    /// Returns the sources of a component of a fixed-point target, as [`source`](Self::source) does. `sent` gives them the precision of
    /// `US_OUT_FMT`.
    #[inline(always)]
    pub(super) fn source_lanes(
        &self,
        component: &Lane<f32>,
        sent: impl Fn(&Lane<f32>) -> Lane<f32>,
    ) -> Lane<f32> {
        match self.source {
            BlendSource::OutFormat => sent(component),
            BlendSource::Float => component.map(|x| r500_numerics::Arith::REFERENCE.clamp01(x)),
        }
    }

    /// Returns what is read of a component that the target does not store.
    pub(super) fn missing(&self, c: usize) -> f32 {
        if c == ALPHA && self.missing == MissingComponent::One { 1.0 } else { 0.0 }
    }

    /// Returns the function and the factors of source and destination of a component.
    pub(super) fn equation(&self, c: usize) -> (BlendFunction, SrcBlend, SrcBlend) {
        let Equation { function, source, destination } =
            if c == ALPHA { self.alpha } else { self.color };
        (function, source, destination)
    }

    /// Returns a factor of a component, as [`factor_of`] does.
    #[inline(always)]
    pub(super) fn factors(
        &self,
        factor: SrcBlend,
        c: usize,
        s: &[Lane<f64>; 4],
        d: &[Lane<f64>; 4],
    ) -> Lane<f64> {
        let inverse = |x: &Lane<f64>| x.map(|x| 1.0 - x);
        match factor {
            SrcBlend::D3D_SRCCOLOR | SrcBlend::GL_SRC_COLOR => s[c],
            SrcBlend::D3D_INVSRCCOLOR | SrcBlend::GL_ONE_MINUS_SRC_COLOR => inverse(&s[c]),
            SrcBlend::D3D_SRCALPHA | SrcBlend::GL_SRC_ALPHA => s[ALPHA],
            SrcBlend::D3D_INVSRCALPHA | SrcBlend::GL_ONE_MINUS_SRC_ALPHA => inverse(&s[ALPHA]),
            SrcBlend::D3D_DESTALPHA | SrcBlend::GL_DST_ALPHA => d[ALPHA],
            SrcBlend::D3D_INVDESTALPHA | SrcBlend::GL_ONE_MINUS_DST_ALPHA => inverse(&d[ALPHA]),
            SrcBlend::D3D_DESTCOLOR | SrcBlend::GL_DST_COLOR => d[c],
            SrcBlend::D3D_INVDESTCOLOR | SrcBlend::GL_ONE_MINUS_DST_COLOR => inverse(&d[c]),
            // Constants, and the minimum, which few draws use.
            _ => std::array::from_fn(|lane| {
                let at = |x: &[Lane<f64>; 4]| x.each_ref().map(|c| c[lane]);
                factor_of(factor, c, at(s), at(d), self.constant)
            }),
        }
    }

    /// Blends components with a stored pixel.
    pub(super) fn apply(
        &self,
        format: &PixelFormat,
        components: [f32; 4],
        stored: u128,
    ) -> [f32; 4] {
        let source = self.source(format, components);
        let mut destination = format.decode(stored);
        let mut constant = self.constant;
        for (c, x) in destination.iter_mut().enumerate() {
            if !format.stores(c) {
                *x = self.missing(c);
            }
        }
        if let Some(channel) = format.intensity() {
            // Observed: the RV530 passes piglit's fbo-blending-formats with a constant colour where Mesa copies the channel's constant to
            // green (R8, L8, A8), and fails where it does not (the same with signs).
            constant[INTENSITY] = constant[GREEN];
            if channel == ALPHA || self.intensity_alpha == IntensityAlpha::Stored {
                destination[ALPHA] = destination[INTENSITY];
            }
        }
        self.exact(source.map(f64::from), destination.map(f64::from), constant).map(|x| x as f32)
    }

    fn exact(&self, source: [f64; 4], destination: [f64; 4], constant: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|c| {
            let equation = if c == ALPHA { &self.alpha } else { &self.color };
            equation.apply(c, source, destination, constant)
        })
    }
}

impl Discard {
    /// Reads the registers; `None` if there is no such condition.
    fn new(state: &State, cntl: Rb3dBlendcntl) -> Option<Self> {
        let registers = &state.registers;
        let (components, at_most): (&[usize], _) = match cntl.discard_src_pixels() {
            DiscardSrc::LTE_ALPHA => (&[ALPHA], true),
            DiscardSrc::LTE_COLOR => (&[0, 1, 2], true),
            DiscardSrc::LTE_ARGB => (&[0, 1, 2, ALPHA], true),
            DiscardSrc::GTE_ALPHA => (&[ALPHA], false),
            DiscardSrc::GTE_COLOR => (&[0, 1, 2], false),
            DiscardSrc::GTE_ARGB => (&[0, 1, 2, ALPHA], false),
            _ => return None,
        };
        let lte: Rb3dDiscardSrcPixelLteThreshold = registers.get();
        let gte: Rb3dDiscardSrcPixelGteThreshold = registers.get();
        let threshold = match at_most {
            true => [lte.blue(), lte.green(), lte.red(), lte.alpha()],
            false => [gte.blue(), gte.green(), gte.red(), gte.alpha()],
        };
        Some(Self { components, at_most, threshold: threshold.map(|code| f32::from(code) / 255.0) })
    }

    fn applies(self, source: [f32; 4]) -> bool {
        self.components.iter().all(|&c| match self.at_most {
            true => source[c] <= self.threshold[c],
            false => source[c] >= self.threshold[c],
        })
    }
}

impl Equation {
    fn new(function: BlendFunction, source: SrcBlend, destination: SrcBlend) -> Self {
        let (source, destination) = match source {
            SrcBlend::D3D_BOTHSRCALPHA => (SrcBlend::D3D_SRCALPHA, SrcBlend::D3D_INVSRCALPHA),
            SrcBlend::D3D_BOTHINVSRCALPHA => (SrcBlend::D3D_INVSRCALPHA, SrcBlend::D3D_SRCALPHA),
            source => (source, destination),
        };
        Self { function, source, destination }
    }

    fn apply(&self, c: usize, s: [f64; 4], d: [f64; 4], constant: [f64; 4]) -> f64 {
        let factor = |factor| factor_of(factor, c, s, d, constant);
        let (a, b) = (product(s[c], factor(self.source)), product(d[c], factor(self.destination)));
        let result = match self.function {
            // Minimum and maximum ignore the factors, as in OpenGL (observed).
            BlendFunction::MIN => return s[c].min(d[c]),
            BlendFunction::MAX => return s[c].max(d[c]),
            BlendFunction::SUB | BlendFunction::SUB_NO_CLAMP => a - b,
            BlendFunction::REVERSE_SUB | BlendFunction::REVERSE_SUB_NO_CLAMP => b - a,
            _ => a + b,
        };
        match self.function {
            BlendFunction::ADD | BlendFunction::SUB | BlendFunction::REVERSE_SUB => {
                result.clamp(0.0, 1.0)
            }
            _ => result,
        }
    }
}

/// Returns a product that is zero if the factor is zero (open; for infinite colours of float targets).
fn product(x: f64, factor: f64) -> f64 {
    if factor == 0.0 { 0.0 } else { x * factor }
}

fn factor_of(factor: SrcBlend, c: usize, s: [f64; 4], d: [f64; 4], constant: [f64; 4]) -> f64 {
    match factor {
        SrcBlend::D3D_ONE | SrcBlend::GL_ONE => 1.0,
        SrcBlend::D3D_SRCCOLOR | SrcBlend::GL_SRC_COLOR => s[c],
        SrcBlend::D3D_INVSRCCOLOR | SrcBlend::GL_ONE_MINUS_SRC_COLOR => 1.0 - s[c],
        SrcBlend::D3D_SRCALPHA | SrcBlend::GL_SRC_ALPHA => s[ALPHA],
        SrcBlend::D3D_INVSRCALPHA | SrcBlend::GL_ONE_MINUS_SRC_ALPHA => 1.0 - s[ALPHA],
        SrcBlend::D3D_DESTALPHA | SrcBlend::GL_DST_ALPHA => d[ALPHA],
        SrcBlend::D3D_INVDESTALPHA | SrcBlend::GL_ONE_MINUS_DST_ALPHA => 1.0 - d[ALPHA],
        SrcBlend::D3D_DESTCOLOR | SrcBlend::GL_DST_COLOR => d[c],
        SrcBlend::D3D_INVDESTCOLOR | SrcBlend::GL_ONE_MINUS_DST_COLOR => 1.0 - d[c],
        SrcBlend::D3D_SRCALPHASAT | SrcBlend::GL_SRC_ALPHA_SATURATE if c == ALPHA => 1.0,
        SrcBlend::D3D_SRCALPHASAT | SrcBlend::GL_SRC_ALPHA_SATURATE => s[ALPHA].min(1.0 - d[ALPHA]),
        SrcBlend::GL_CONSTANT_COLOR => constant[c],
        SrcBlend::GL_ONE_MINUS_CONSTANT_COLOR => 1.0 - constant[c],
        SrcBlend::GL_CONSTANT_ALPHA => constant[ALPHA],
        SrcBlend::GL_ONE_MINUS_CONSTANT_ALPHA => 1.0 - constant[ALPHA],
        // Zero, and for reserved codes (open).
        _ => 0.0,
    }
}
