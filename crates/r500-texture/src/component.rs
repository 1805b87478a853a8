//! Components of a texel in their stored form.
//!
//! Removing gamma starts from the exact stored fraction, so that decoding keeps it until the last step.

use r500_numerics::codec::{fixed, srgb};

/// The bits of a component: lowest bit and width.
pub(super) type Bits = (u32, u32);

/// The settings of a texture that affect the interpretation of its components.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interpret {
    /// `SIGNED_COMP0` to `SIGNED_COMP3`. No effect on floats and DXT blocks.
    pub(super) signed: [bool; 4],
    /// `POW2FIX2FLT`.
    pub(super) pow2: bool,
    /// `DXTC_SWIZZLE_ENABLE`.
    pub(super) blue_first: bool,
}

impl Interpret {
    /// Returns component `i`, whose bits in `raw` are given.
    pub(super) fn fixed(self, i: usize, raw: u128, (lowest, bits): Bits) -> Component {
        let code = (raw >> lowest) as u32 & (u32::MAX >> (32 - bits));
        match (self.signed[i], self.pow2 && bits == 8) {
            (false, false) => Component::Unorm { code, bits },
            (true, false) => Component::Snorm { code, bits },
            (false, true) => Component::Ratio(code as i32, 256),
            (true, true) => Component::Ratio(i32::from(code as u8 as i8), 128),
        }
    }
}

/// A component in its stored form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Component {
    /// Unsigned fixed point.
    Unorm {
        /// The bits.
        code: u32,
        /// The number of bits.
        bits: u32,
    },
    /// Signed fixed point.
    Snorm {
        /// The bits.
        code: u32,
        /// The number of bits.
        bits: u32,
    },
    /// An exact fraction of small integers, for a component of 8 bits or fewer.
    Ratio(i32, i32),
    /// A float.
    Float(f32),
}

impl Component {
    /// A component that the format does not have.
    pub(super) const ZERO: Self = Self::Float(0.0);

    /// Returns its value.
    ///
    /// Fractions are rounded once: both parts have less than 24 bits, so they are floats.
    pub(super) fn value(self) -> f32 {
        match self {
            Self::Unorm { code, bits } => fixed::unorm_to_f32(code, bits),
            Self::Snorm { code, bits } => fixed::snorm_to_f32(code, bits),
            Self::Ratio(numerator, denominator) => numerator as f32 / denominator as f32,
            Self::Float(x) => x,
        }
    }

    /// Returns its value with sRGB gamma removed: a positive number of 8 bits or fewer is decoded by
    /// the sRGB curve, in double from the exact fraction; anything else is [`Self::value`].
    ///
    /// Documented: gamma is for components of at most 8 bits. Observed: it is sRGB's, and it is
    /// removed before filtering.
    pub(super) fn linear(self) -> f32 {
        let exact = match self {
            Self::Unorm { code, bits: 8 } => return srgb::to_linear8(code as u8),
            Self::Unorm { code, bits: bits @ 1..=7 } => {
                f64::from(code) / f64::from((1_u32 << bits) - 1)
            }
            Self::Snorm { code, bits: bits @ 2..=8 } if code >> (bits - 1) == 0 => {
                f64::from(code) / f64::from((1_u32 << (bits - 1)) - 1)
            }
            Self::Ratio(numerator, denominator) if numerator > 0 => {
                f64::from(numerator) / f64::from(denominator)
            }
            _ => return self.value(),
        };
        srgb::decode(exact) as f32
    }
}
