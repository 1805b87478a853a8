//! Texel formats: storage, and the register fields that select it.

use r500_isa::values::{TxFormat, TxFormatMsb, TxSel};
use r500_isa::{FieldValue, Value};

/// A texel format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// `TXFORMAT`.
    pub format: TxFormat,
    /// `TXFORMAT_MSB`: the format is one of [`TxFormatMsb`].
    pub msb: bool,
    /// Components that the program reads as red, green, blue, alpha.
    pub components: Components,
    /// Whether components are signed.
    pub signed: bool,
    /// Whether colours are sRGB-encoded.
    pub srgb: bool,
}

/// `SEL_RED`, `SEL_GREEN`, `SEL_BLUE`, `SEL_ALPHA`.
pub type Components = [TxSel; 4];

pub(super) const C0: TxSel = TxSel::C0;
pub(super) const C1: TxSel = TxSel::C1;
pub(super) const C2: TxSel = TxSel::C2;
pub(super) const C3: TxSel = TxSel::C3;
pub(super) const ZERO: TxSel = TxSel::ZERO;
pub(super) const ONE: TxSel = TxSel::ONE;

/// Components 0 to 3 as red, green, blue, alpha.
pub(super) const RGBA: Components = [C0, C1, C2, C3];
/// Components 2, 1, 0, 3 as red, green, blue, alpha.
pub(super) const BGRA: Components = [C2, C1, C0, C3];

impl Pixels {
    /// Returns a format with `TXFORMAT_MSB` clear.
    #[must_use]
    pub fn new(format: TxFormat, components: Components) -> Self {
        Self { format, msb: false, components, signed: false, srgb: false }
    }

    /// Returns a format with `TXFORMAT_MSB` set.
    #[must_use]
    pub fn msb(format: TxFormatMsb, components: Components) -> Self {
        Self { msb: true, ..Self::new(TxFormat::new(format.code()), components) }
    }

    /// Returns the format with this name: a documented one without `TX_FMT_` (`8_8_8_8`, `16f_16f`, `ATI2N`), or
    /// `DXT1`, `DXT3`, `DXT5`. Case is ignored. Missing components read as 0, missing alpha as 1.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let is = |value: &&Value| {
            let documented = value.name.strip_prefix("TX_FMT_").unwrap_or(value.name);
            !documented.is_empty() && documented.eq_ignore_ascii_case(name)
        };
        let code = |value: &Value| value.code as u8;
        let blocks = [("DXT1", TxFormat::DXT1), ("DXT3", TxFormat::DXT3), ("DXT5", TxFormat::DXT5)];
        if let Some((_, format)) = blocks.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)) {
            return Some(Self::new(*format, RGBA));
        }
        let mut pixels = if let Some(value) = TxFormat::VALUES.iter().find(is) {
            Self::new(TxFormat::new(code(value)), RGBA)
        } else {
            let value = TxFormatMsb::VALUES.iter().find(is)?;
            Self::msb(TxFormatMsb::new(code(value)), RGBA)
        };
        let count = pixels.component_count();
        for (i, select) in pixels.components.iter_mut().enumerate().skip(count) {
            *select = if i == 3 { TxSel::ONE } else { TxSel::ZERO };
        }
        Some(pixels)
    }

    /// Returns how many components the format has.
    fn component_count(&self) -> usize {
        if self.msb {
            return match TxFormatMsb::new(self.format.code()) {
                TxFormatMsb::X10_10 | TxFormatMsb::X24_8 => 2,
                TxFormatMsb::X10_10_10_10 => 4,
                _ => 1,
            };
        }
        match self.format {
            TxFormat::X8
            | TxFormat::X16
            | TxFormat::X16_MPEG
            | TxFormat::F16
            | TxFormat::F32
            | TxFormat::W24_FP => 1,
            TxFormat::X4_4
            | TxFormat::X8_8
            | TxFormat::X16_16
            | TxFormat::X16_16_MPEG
            | TxFormat::F16_16
            | TxFormat::F32_32
            | TxFormat::ATI2N => 2,
            TxFormat::X3_3_2
            | TxFormat::X5_6_5
            | TxFormat::X6_5_5
            | TxFormat::X11_11_10
            | TxFormat::X10_11_11 => 3,
            _ => 4,
        }
    }

    /// Returns the bits of a storage unit, and its width in texels: 4 for blocks, else 1.
    pub(super) fn unit(&self) -> (u64, u32) {
        if self.msb {
            return match TxFormatMsb::new(self.format.code()) {
                TxFormatMsb::X1 | TxFormatMsb::X1_REVERSE => (1, 1),
                TxFormatMsb::X10 => (16, 1),
                TxFormatMsb::X10_10_10_10 => (64, 1),
                TxFormatMsb::ATI1N => (64, 4),
                _ => (32, 1),
            };
        }
        match self.format {
            TxFormat::DXT1 => (64, 4),
            TxFormat::DXT3 | TxFormat::DXT5 | TxFormat::ATI2N => (128, 4),
            TxFormat::X8 | TxFormat::X4_4 | TxFormat::X3_3_2 | TxFormat::Y8 => (8, 1),
            TxFormat::X16
            | TxFormat::X8_8
            | TxFormat::X5_6_5
            | TxFormat::X6_5_5
            | TxFormat::X4_4_4_4
            | TxFormat::X1_5_5_5
            | TxFormat::X16_MPEG
            | TxFormat::F16
            | TxFormat::VYUY422
            | TxFormat::YVYU422 => (16, 1),
            TxFormat::X16_16_16_16 | TxFormat::F16_16_16_16 | TxFormat::F32_32 => (64, 1),
            TxFormat::F32_32_32_32 => (128, 1),
            _ => (32, 1),
        }
    }

    /// Returns the bytes of a level of this size. Rows of texels smaller than a byte are padded to a whole byte.
    #[must_use]
    pub fn level_bytes(&self, [width, height, layers]: [u32; 3]) -> u64 {
        let (bits, side) = self.unit();
        let row = (u64::from(width.div_ceil(side)) * bits).div_ceil(8);
        row.saturating_mul(u64::from(height.div_ceil(side))).saturating_mul(u64::from(layers))
    }
}
