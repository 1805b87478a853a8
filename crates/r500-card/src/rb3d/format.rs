//! Pixel formats of render targets: positions and number formats of the components C0 to C3.
//!
//! `US_OUT_FMT` selects the components of the program's colour and converts them; `COLORFORMAT` gives their positions
//! in memory. The render backend's blue, green, red and alpha are C0, C1, C2 and C3 (observed).

use r500_chip::values::ColorFormat;
use r500_isa::state::UsOutFmt;
use r500_isa::values::{OutFormat, OutSel};
use r500_numerics::canonical_nan;
use r500_numerics::codec::{fixed, half};

/// The format of a target's pixels.
#[derive(Clone, Debug)]
pub(crate) struct PixelFormat {
    /// The channels of C0 to C3: red 0 to alpha 3.
    selects: [usize; 4],
    /// Positions of the components.
    parts: Vec<Part>,
    log2_bytes: u8,
    /// Whether components with fewer bits than sent are rounded to nearest instead of truncated.
    nearest: bool,
    /// Bits of C0 to C3 as the fragment processor sends them; 0 for floats.
    sent_bits: u32,
    /// Whether the format is I8, which is blended in a way of its own.
    intensity: bool,
}

/// A component in memory.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// C0 to C3.
    component: usize,
    /// Bit of the target's channel mask.
    mask: u8,
    lo: u32,
    bits: u32,
    number: Number,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Unorm,
    Snorm,
    Half,
    Float,
}

/// A format of unsigned fractions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fractions {
    /// C0 to C3; `None` if it is not stored.
    pub(super) parts: [Option<Fraction>; 4],
    /// Bits of C0 to C3 as the fragment processor sends them; 0 for floats.
    pub(super) sent_bits: u32,
}

/// A component in memory: an unsigned fraction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fraction {
    pub(super) lo: u32,
    pub(super) bits: u32,
    /// How many more bits it is rounded to, which are then truncated.
    pub(super) cut: u32,
}

impl PixelFormat {
    /// Returns the format; `None` if it is not modelled.
    pub(crate) fn new(format: ColorFormat, out_fmt: UsOutFmt, nearest: bool) -> Option<Self> {
        use OutFormat as F;
        let out = out_fmt.out_fmt();
        // Components in memory from the lowest bit: component, bits, bit of the mask.
        let own = |parts: &[(usize, u32)]| -> Vec<(usize, u32, usize)> {
            parts.iter().map(|&(component, bits)| (component, bits, component)).collect()
        };
        let parts = match (format, out) {
            (ColorFormat::ARGB1555, _) => own(&[(0, 5), (1, 5), (2, 5), (3, 1)]),
            (ColorFormat::RGB565, _) => own(&[(0, 5), (1, 6), (2, 5)]),
            (ColorFormat::ARGB2101010, _) => own(&[(0, 10), (1, 10), (2, 10), (3, 2)]),
            (ColorFormat::ARGB4444, _) => own(&[(0, 4), (1, 4), (2, 4), (3, 4)]),
            // Observed: of two components of 16 bits the first is masked by bit 2, the second by bit 0.
            (ColorFormat::ARGB8888, F::C2_16 | F::C2_16_MPEG | F::C2_16_FP) => {
                vec![(0, 16, 2), (1, 16, 0)]
            }
            (ColorFormat::ARGB8888, F::C_32_FP) => own(&[(0, 32)]),
            (ColorFormat::ARGB8888, _) => own(&[(0, 8), (1, 8), (2, 8), (3, 8)]),
            // Observed: masked as two components of 16 bits; Mesa writes one mask for both, and the RV530 passes piglit's
            // fbo-colormask-formats for both.
            (ColorFormat::ARGB16161616, F::C2_32_FP) => vec![(0, 32, 2), (2, 32, 0)],
            (ColorFormat::ARGB16161616, _) => own(&[(0, 16), (1, 16), (2, 16), (3, 16)]),
            (ColorFormat::ARGB32323232, _) => own(&[(0, 32), (1, 32), (2, 32), (3, 32)]),
            (ColorFormat::I8 | ColorFormat::CI8, _) => own(&[(2, 8)]),
            (ColorFormat::UV88, F::C_16 | F::C_16_MPEG | F::C_16_FP) => own(&[(0, 16)]),
            (ColorFormat::UV88, _) => own(&[(2, 8), (0, 8)]),
            _ => return None,
        };
        let float = matches!(
            out,
            F::C_16_FP | F::C2_16_FP | F::C4_16_FP | F::C_32_FP | F::C2_32_FP | F::C4_32_FP
        );
        let sent_bits = match out {
            F::C4_8 => 8,
            F::C4_10 | F::C4_10_GAMMA | F::C_2_10_10_10 => 10,
            _ if float => 0,
            _ => 16,
        };
        let signs = out_fmt.out_sign();
        let mut lo = 0;
        let mut placed = Vec::new();
        for (component, bits, mask) in parts {
            let number = match (float, bits) {
                (true, 16) => Number::Half,
                (_, 32) => Number::Float,
                _ if signs >> component & 1 != 0 => Number::Snorm,
                _ => Number::Unorm,
            };
            placed.push(Part { component, mask: 1 << mask, lo, bits, number });
            lo += bits;
        }
        let select = |select| match select {
            OutSel::R => 0,
            OutSel::G => 1,
            OutSel::B => 2,
            _ => 3,
        };
        Some(Self {
            selects: [out_fmt.c0_sel(), out_fmt.c1_sel(), out_fmt.c2_sel(), out_fmt.c3_sel()]
                .map(select),
            parts: placed,
            log2_bytes: (lo / 8).ilog2() as u8,
            nearest,
            sent_bits,
            intensity: format == ColorFormat::I8,
        })
    }

    pub(crate) fn log2_bytes(&self) -> u8 {
        self.log2_bytes
    }

    /// Returns C0 to C3 of the program's colour.
    pub(crate) fn components(&self, rgba: [f32; 4]) -> [f32; 4] {
        self.selects.map(|channel| rgba[channel])
    }

    /// Returns the colour of components C0 to C3: channels without a component are 0, alpha 1.
    pub(crate) fn rgba(&self, components: [f32; 4]) -> [f32; 4] {
        let mut rgba = [0.0, 0.0, 0.0, 1.0];
        // If several components have the same channel, the first wins.
        for part in self.parts.iter().rev() {
            rgba[self.selects[part.component]] = components[part.component];
        }
        rgba
    }

    /// Returns components in the precision of `US_OUT_FMT`, as the fragment processor sends them.
    pub(crate) fn sent(&self, components: [f32; 4]) -> [f32; 4] {
        std::array::from_fn(|c| {
            let x = components[c];
            match (self.sent_bits, self.number_of(c)) {
                (0, _) | (_, Number::Half | Number::Float) => x,
                (bits, Number::Unorm) => fixed::unorm_to_f32(fixed::f32_to_unorm(x, bits), bits),
                (bits, Number::Snorm) => fixed::snorm_to_f32(fixed::f32_to_snorm(x, bits), bits),
            }
        })
    }

    /// Returns whether components are fixed-point numbers of 0..1 (-1..1), so that blending clamps its source.
    pub(crate) fn is_fixed(&self) -> bool {
        self.sent_bits != 0
    }

    fn number_of(&self, component: usize) -> Number {
        let part = self.parts.iter().find(|part| part.component == component);
        part.map_or(Number::Unorm, |part| part.number)
    }

    /// Returns the channel, red 0 to alpha 3, of the only component of I8; `None` for other formats.
    pub(crate) fn intensity(&self) -> Option<usize> {
        self.intensity.then(|| self.selects[2])
    }

    /// Returns whether the target stores a component.
    pub(crate) fn stores(&self, component: usize) -> bool {
        self.parts.iter().any(|part| part.component == component)
    }

    /// Returns the channels of C0 to C3, red 0 to alpha 3.
    pub(super) fn selects(&self) -> [usize; 4] {
        self.selects
    }

    /// Returns the format if it has at most 32 bits, all of them unsigned fractions.
    pub(super) fn fractions(&self) -> Option<Fractions> {
        let mut parts = [None; 4];
        for part in &self.parts {
            if part.number != Number::Unorm || part.lo + part.bits > 32 {
                return None;
            }
            let cut = self.cut(part);
            let Part { component, lo, bits, .. } = *part;
            parts[component] = Some(Fraction { lo, bits, cut });
        }
        Some(Fractions { parts, sent_bits: self.sent_bits })
    }

    /// Returns the pixel bits that a channel mask enables.
    pub(crate) fn write_mask(&self, mask: u8) -> u128 {
        let parts = self.parts.iter().filter(|part| part.mask & mask != 0);
        parts.fold(0, |bits, part| bits | part.all() << part.lo)
    }

    /// Returns all bits of a pixel.
    pub(crate) fn all_bits(&self) -> u128 {
        u128::MAX >> (128 - (8 << self.log2_bytes))
    }

    /// Encodes components C0 to C3 as a pixel.
    pub(crate) fn encode(&self, components: [f32; 4]) -> u128 {
        self.encode_exact(components.map(f64::from))
    }

    /// Encodes components C0 to C3 as a pixel, rounded once.
    pub(crate) fn encode_exact(&self, components: [f64; 4]) -> u128 {
        let parts = self.parts.iter();
        parts.fold(0, |pixel, part| {
            pixel | u128::from(part.encode(components[part.component], self.cut(part))) << part.lo
        })
    }

    /// Returns how many bits of a component are truncated: those that are sent beyond the target's precision.
    fn cut(&self, part: &Part) -> u32 {
        if self.nearest { 0 } else { self.sent_bits.saturating_sub(part.bits) }
    }

    /// Decodes C0 to C3 of a pixel; missing components are 0.
    pub(crate) fn decode(&self, pixel: u128) -> [f32; 4] {
        let mut components = [0.0; 4];
        for part in &self.parts {
            components[part.component] = part.decode((pixel >> part.lo & part.all()) as u32);
        }
        components
    }
}

impl Part {
    fn all(&self) -> u128 {
        (1 << self.bits) - 1
    }

    /// Encodes a number, rounded to nearest with `cut` more bits, which are then truncated.
    fn encode(&self, x: f64, cut: u32) -> u32 {
        let bits = self.bits + cut;
        match self.number {
            Number::Unorm => {
                let x = if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) };
                (x * f64::from(u32::MAX >> (32 - bits))).round_ties_even() as u32 >> cut
            }
            Number::Snorm => {
                let x = if x.is_nan() { 0.0 } else { x.clamp(-1.0, 1.0) };
                let code = (x * f64::from((1_u32 << (bits - 1)) - 1)).round_ties_even() as i32;
                (code >> cut) as u32 & (u32::MAX >> (32 - self.bits))
            }
            Number::Half => half::from_f32(x as f32).into(),
            Number::Float => canonical_nan(x as f32).to_bits(),
        }
    }

    fn decode(&self, code: u32) -> f32 {
        match self.number {
            Number::Unorm => fixed::unorm_to_f32(code, self.bits),
            Number::Snorm => fixed::snorm_to_f32(code, self.bits),
            Number::Half => half::to_f32(code as u16),
            Number::Float => f32::from_bits(code),
        }
    }
}
