//! Texel formats: the positions of the components of a texel, and their number formats.
//!
//! [`Layout::of`] finds a format in one of two tables, a row for each. A texel is decoded to four
//! [`Component`]s, still in their stored form, because removing gamma starts from the exact fraction.

use r500_isa::texture::{TxFormat1, TxFormat2};
use r500_isa::values::{TxFormat, TxFormatMsb};

use super::blocks::{self, Block};
use super::component::{Bits, Component, Interpret};
use super::error::{BindError, Setting};
use super::readings::DepthStencil;
use r500_numerics::codec::{half, w24};

/// The layout of a texel format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Fixed-point components: bits of a texel, then the bits of each component, component 0 first.
    Fixed(u32, &'static [Bits]),
    /// As the 1-bit format, with the first texel of a byte in its highest bit.
    OneReversed,
    /// 24 bits of depth above 8 of stencil; a [`DepthStencil`] reading selects which one is component 0.
    DepthStencil,
    /// One component of 8 bits in every channel; selects and signs are ignored (documented).
    Luminance,
    /// 24-bit float in the lowest bits of 32.
    W24,
    /// Float16 components, by their number.
    Half(u32),
    /// Float32 components, by their number.
    Float(u32),
    /// Blocks of 4x4 texels.
    Blocks(Block),
}

use Layout::{Fixed, Float, Half};

/// Formats with `TXFORMAT_MSB` clear.
///
/// Documented: the components' bits and their order, numbered from the right of the name. Not documented: the DXT
/// codes (Mesa's r300 driver), the position of the bits of `W24_FP`.
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
    /// Returns the layout of the format that two registers name.
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

    /// Returns the bits of a texel, or of a block.
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

    /// Returns the side of the stored unit in texels: 4 for blocks, else 1.
    pub(super) const fn unit_side(self) -> u32 {
        if matches!(self, Self::Blocks(_)) { 4 } else { 1 }
    }

    /// Returns the components of a texel. `raw` is the texel, or its block, from the lowest bit; `x` and `y` are its
    /// position in the block.
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

/// Returns the bits of a texel (of a block) of the format that two registers name, and the texels along the side of a
/// block: 1 without blocks.
///
/// # Errors
/// [`BindError`] if the format is reserved or not modelled.
pub fn storage(format1: TxFormat1, format2: TxFormat2) -> Result<(u32, u32), BindError> {
    let layout = Layout::of(format1, format2)?;
    Ok((layout.unit_bits(), layout.unit_side()))
}
