//! Texel formats: where the components of a texel lie and what they mean.
//!
//! [`Layout::of`] looks a format up in one of two tables, a row each. What comes of a texel are four
//! [`Component`]s, numbers still in the form they are stored in, because removing gamma starts from
//! the exact fraction.

use r500_isa::texture::{TxFormat1, TxFormat2};
use r500_isa::values::{TxFormat, TxFormatMsb};

use super::blocks::{self, Block};
use super::component::{Bits, Component, Interpret};
use super::error::{BindError, Setting};
use super::readings::DepthStencil;
use r500_numerics::codec::{half, w24};

/// How a format stores texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Fixed-point components in so many bits a texel, component 0 first.
    Fixed(u32, &'static [Bits]),
    /// As 1 bit, but the first texel of a byte in its highest bit.
    OneReversed,
    /// 24 bits of depth above 8 of stencil; which is component 0 is a [`DepthStencil`] reading.
    DepthStencil,
    /// One component of 8 bits in every channel; selects and signs are ignored (documented).
    Luminance,
    /// 24-bit float in the lowest bits of 32.
    W24,
    /// So many float16.
    Half(u32),
    /// So many float32.
    Float(u32),
    /// Blocks of 4x4 texels.
    Blocks(Block),
}

use Layout::{Fixed, Float, Half};

/// Formats with `TXFORMAT_MSB` clear.
///
/// Documented: the components' bits and their order, numbered from the right of the name. Not
/// documented: the DXT codes (Mesa's r300 driver), where the bits of `W24_FP` lie.
#[rustfmt::skip]
static FORMATS: &[(TxFormat, Layout)] = &[
    (TxFormat::X8,           Fixed(8,  &[(0, 8)])),
    (TxFormat::X16,          Fixed(16, &[(0, 16)])),
    (TxFormat::X4_4,         Fixed(8,  &[(0, 4), (4, 4)])),
    (TxFormat::X8_8,         Fixed(16, &[(0, 8), (8, 8)])),
    (TxFormat::X16_16,       Fixed(32, &[(0, 16), (16, 16)])),
    (TxFormat::X3_3_2,       Fixed(8,  &[(0, 2), (2, 3), (5, 3)])),
    (TxFormat::X5_6_5,       Fixed(16, &[(0, 5), (5, 6), (11, 5)])),
    (TxFormat::X6_5_5,       Fixed(16, &[(0, 5), (5, 5), (10, 6)])),
    (TxFormat::X11_11_10,    Fixed(32, &[(0, 10), (10, 11), (21, 11)])),
    (TxFormat::X10_11_11,    Fixed(32, &[(0, 11), (11, 11), (22, 10)])),
    (TxFormat::X4_4_4_4,     Fixed(16, &[(0, 4), (4, 4), (8, 4), (12, 4)])),
    (TxFormat::X1_5_5_5,     Fixed(16, &[(0, 5), (5, 5), (10, 5), (15, 1)])),
    (TxFormat::X8_8_8_8,     Fixed(32, EIGHT_BITS)),
    (TxFormat::X2_10_10_10,  Fixed(32, &[(0, 10), (10, 10), (20, 10), (30, 2)])),
    (TxFormat::X16_16_16_16, Fixed(64, &[(0, 16), (16, 16), (32, 16), (48, 16)])),
    (TxFormat::DXT1,         Layout::Blocks(Block::Dxt1)),
    (TxFormat::DXT3,         Layout::Blocks(Block::Dxt3)),
    (TxFormat::DXT5,         Layout::Blocks(Block::Dxt5)),
    (TxFormat::Y8,           Layout::Luminance),
    (TxFormat::X16_MPEG,     Fixed(16, &[(0, 16)])),
    (TxFormat::X16_16_MPEG,  Fixed(32, &[(0, 16), (16, 16)])),
    (TxFormat::F16,          Half(1)),
    (TxFormat::F16_16,       Half(2)),
    (TxFormat::F16_16_16_16, Half(4)),
    (TxFormat::F32,          Float(1)),
    (TxFormat::F32_32,       Float(2)),
    (TxFormat::F32_32_32_32, Float(4)),
    (TxFormat::W24_FP,       Layout::W24),
    (TxFormat::ATI2N,        Layout::Blocks(Block::Ati2n)),
];

/// Formats with `TXFORMAT_MSB` set. Not documented: which ten of 16 bits hold a component.
#[rustfmt::skip]
static MSB_FORMATS: &[(TxFormatMsb, Layout)] = &[
    (TxFormatMsb::X1,           Fixed(1,  &[(0, 1)])),
    (TxFormatMsb::X1_REVERSE,   Layout::OneReversed),
    (TxFormatMsb::X10,          Fixed(16, &[(0, 10)])),
    (TxFormatMsb::X10_10,       Fixed(32, &[(0, 10), (16, 10)])),
    (TxFormatMsb::X10_10_10_10, Fixed(64, &[(0, 10), (16, 10), (32, 10), (48, 10)])),
    (TxFormatMsb::ATI1N,        Layout::Blocks(Block::Ati1n)),
    (TxFormatMsb::X24_8,        Layout::DepthStencil),
];

/// Four components of 8 bits.
pub(super) const EIGHT_BITS: &[Bits] = &[(0, 8), (8, 8), (16, 8), (24, 8)];

impl Layout {
    /// The layout of the format that two registers name.
    pub(super) fn of(format1: TxFormat1, format2: TxFormat2) -> Result<Self, BindError> {
        let format = format1.txformat();
        if format2.txformat_msb() {
            let code = format.code();
            let row = MSB_FORMATS.iter().find(|row| row.0 == TxFormatMsb::new(code));
            return row.map(|row| row.1).ok_or(BindError::ReservedFormat { code });
        }
        FORMATS.iter().find(|row| row.0 == format).map(|row| row.1).ok_or_else(|| {
            Setting::of(TxFormat1::TXFORMAT, format1)
                .not_modelled("convert the texels to RGB, for example to TX_FMT_8_8_8_8")
        })
    }

    /// Bits of a texel, or of a block.
    pub(super) const fn unit_bits(self) -> u32 {
        match self {
            Self::Fixed(bits, _) => bits,
            Self::OneReversed => 1,
            Self::DepthStencil | Self::W24 => 32,
            Self::Luminance => 8,
            Self::Half(n) => 16 * n,
            Self::Float(n) => 32 * n,
            Self::Blocks(Block::Dxt1 | Block::Ati1n) => 64,
            Self::Blocks(Block::Dxt3 | Block::Dxt5 | Block::Ati2n) => 128,
        }
    }

    /// Texels along the side of what is stored as one: 4 for blocks, else 1.
    pub(super) const fn unit_side(self) -> u32 {
        if matches!(self, Self::Blocks(_)) { 4 } else { 1 }
    }

    /// The components of a texel. `raw` is it, or its block, from the lowest bit; `x` and `y` are
    /// its place in the block.
    pub(super) fn components(
        self,
        raw: u128,
        [x, y]: [u32; 2],
        how: Interpret,
        depth_stencil: DepthStencil,
    ) -> [Component; 4] {
        let mut out = [Component::ZERO; 4];
        match self {
            Self::Fixed(_, components) => {
                for (i, &bits) in components.iter().enumerate() {
                    out[i] = how.fixed(i, raw, bits);
                }
            }
            Self::OneReversed => out[0] = how.fixed(0, raw, (0, 1)),
            Self::Luminance => out = [how.fixed(0, raw, (0, 8)); 4],
            Self::DepthStencil => {
                let order: [Bits; 2] = match depth_stencil {
                    DepthStencil::LowestFirst => [(0, 8), (8, 24)],
                    DepthStencil::DepthFirst => [(8, 24), (0, 8)],
                };
                out[0] = how.fixed(0, raw, order[0]);
                out[1] = how.fixed(1, raw, order[1]);
            }
            Self::W24 => out[0] = Component::Float(w24::to_f32(raw as u32)),
            Self::Half(n) => {
                for (i, component) in out.iter_mut().take(n as usize).enumerate() {
                    *component = Component::Float(half::to_f32((raw >> (16 * i)) as u16));
                }
            }
            Self::Float(n) => {
                for (i, component) in out.iter_mut().take(n as usize).enumerate() {
                    *component = Component::Float(f32::from_bits((raw >> (32 * i)) as u32));
                }
            }
            Self::Blocks(block) => return blocks::texel(block, raw, 4 * y + x, how),
        }
        out
    }
}
<<<<<<< HEAD:crates/r500-texture/src/format.rs
=======

/// Bits of a texel (of a block) of the format that two registers name, and texels along the side of a block: 1 without
/// blocks.
///
/// # Errors
/// [`BindError`] if the format is reserved or not modelled.
pub fn storage(format1: TxFormat1, format2: TxFormat2) -> Result<(u32, u32), BindError> {
    let layout = Layout::of(format1, format2)?;
    Ok((layout.unit_bits(), layout.unit_side()))
}

/// How the registers of a texture want its components read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interpret {
    /// `SIGNED_COMP0` to `SIGNED_COMP3`. They mean nothing to floats and DXT blocks.
    pub(super) signed: [bool; 4],
    /// `POW2FIX2FLT`.
    pub(super) pow2: bool,
    /// `DXTC_SWIZZLE_ENABLE`.
    pub(super) blue_first: bool,
}

impl Interpret {
    /// Component `i`, whose bits lie there in `raw`.
    fn fixed(self, i: usize, raw: u128, (lowest, bits): Bits) -> Component {
        let code = (raw >> lowest) as u32 & (u32::MAX >> (32 - bits));
        match (self.signed[i], self.pow2 && bits == 8) {
            (false, false) => Component::Unorm { code, bits },
            (true, false) => Component::Snorm { code, bits },
            (false, true) => Component::Ratio(code as i32, 256),
            (true, true) => Component::Ratio(i32::from(code as u8 as i8), 128),
        }
    }
}

/// A component as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Component {
    /// Unsigned fixed point.
    Unorm {
        /// The bits.
        code: u32,
        /// How many.
        bits: u32,
    },
    /// Signed fixed point.
    Snorm {
        /// The bits.
        code: u32,
        /// How many.
        bits: u32,
    },
    /// An exact fraction of small integers, of a component of 8 bits or fewer.
    Ratio(i32, i32),
    /// A float.
    Float(f32),
}

impl Component {
    /// What a component is that the format lacks.
    pub(super) const ZERO: Self = Self::Float(0.0);

    /// The number that it stands for.
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

    /// The number without sRGB gamma: what is positive and has 8 bits or fewer is taken from the
    /// curve, in double from the exact fraction; anything else is [`Self::value`].
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
>>>>>>> 151e352 (card: the virtual R500, block by block: vertex fetch and programs, clipping, exact coverage, fragment programs, depth, stencil, blending):crates/r500-exec/src/texture/format.rs
