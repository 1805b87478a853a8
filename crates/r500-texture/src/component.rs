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

    /// Returns a signed component of 8 bits as one of 16, the byte repeated; any other as it is. (Of an unsigned one the repetition is the
    /// same number.)
    ///
    /// Observed for border colours: Mesa writes 0.5 as 64 of 127, and a card (RV530) passes piglit's texwrap bordercolor for
    /// RGB16_SNORM and RGBA16_SNORM, which accepts 126 to 128 of 255; 64/127 would be 129.
    pub(super) fn widened(self) -> Self {
        match self {
            Self::Snorm { code, bits: 8 } => Self::Snorm { code: code << 8 | code, bits: 16 },
            other => other,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_border_colours_of_8_bits_become_16_bits() {
        let widened = |code: u32| Component::Snorm { code, bits: 8 }.widened().value();
        // In 255ths as piglit reads them: 0.1, 0.5, 0.9 and 1 as Mesa writes them, each within 1 of 25.5, 127.5, 229.5 and 255.
        let shown = |code| (widened(code) * 255.0).round() as i32;
        assert_eq!([13, 64, 114, 127].map(shown), [26, 128, 228, 254]);
        // 0xc0c0 is -16,192 and 0x8080 -32,640, of 32,767.
        assert_eq!([0, 0xc0, 0x80].map(shown), [0, -126, -254]);
        let unsigned = Component::Unorm { code: 128, bits: 8 };
        assert_eq!(unsigned.widened().value(), unsigned.value());
    }
}
