//! Colour encoding by `US_OUT_FMT`: the format in which a colour leaves for a render target.
//!
//! A format has up to four components. `C0_SEL` to `C3_SEL` select the colour channel of each, `OUT_FMT` defines width and number format.
//! A pixel is a little-endian integer with component 0 in the lowest bits ([`LAYOUTS`]).
//!
//! | rule | evidence |
//! | --- | --- |
//! | formats, their widths, which are signed, unsigned or either; what `Cn_SEL` selects | documented |
//! | component 0 has the lowest bits | observed: drivers get blue, green, red, alpha in memory by selecting them for components 0 to 3. For packed formats derived: texture formats of the same names are documented to number components from the right |
//! | fixed point: limited, multiplied, rounded to nearest even; NaN is 0 ([`fixed`]) | open; as D3D9 requires of hardware |
//! | `OUT_SIGN` bit n makes component n signed, where the format is documented as either | derived (four bits, four components) |
//! | float16 rounds to nearest even, overflow gives infinity ([`half`]); NaN is stored in one form | open |
//! | `C4_10`, `C4_10_GAMMA`: each component in the low bits of 16 | open. A pixel of 40 bits would not be addressable; the blend unit has a format of four times 10 bits whose layout no document gives. (In drivers that unit packs `C4_10` into 2:10:10:10, the layout of [`C_2_10_10_10`](OutFormat::C_2_10_10_10).) |
//! | `C4_10_GAMMA`: the [sRGB curve](srgb) on red, green and blue; alpha is linear | open. It is the curve that `TX_FORMAT1.GAMMA` removes, and D3D9's sRGB writes leave alpha linear; Mesa's driver formerly chose the format for sRGB targets |
//! | `C_16_MPEG`, `C2_16_MPEG`: as the signed 16-bit formats | open. Documented as signed, without a scale |
//! | `C_6_5_6` is 5, 6 and 5 bits | open. Six, five and six bits are 17; another public header (xf86-video-ati's) calls the same code 5_6_5, a pixel of 16 bits |
//! | `ROUND_ADJ` has no effect | open, see below |
//! | a reserved format stores nothing, like `UNUSED` | open |
//!
//! **`ROUND_ADJ`** is documented as modified rounding of fixed-point data, without details. It cannot select the rounding of ties: the
//! only float whose product with 2^n - 1 is a tie is 1/2, and its even neighbour is the upper one, so that every nearest rounding gives
//! the same. The remaining meanings (truncation, another bias, dithering) would move every picture that sets the bit by up to one step, a
//! wrong guess in the wrong direction. Mesa's driver never sets the bit.
//!
//! **The blend unit** may select other components than the format's name suggests: drivers assume that an 8-bit colour buffer takes
//! component 2, one of two 8-bit channels components 2 and 0, one of two 32-bit floats components 0 and 2. That is a property of the
//! colour buffer's format, not of the program's state, and is not modelled: here component n is component n.

use r500_isa::state::UsOutFmt;
use r500_isa::values::{OutFormat, OutSel};

use crate::frame::Pixel;
use crate::numerics::canonical_nan;
use r500_numerics::codec::{fixed, half, srgb};
use r500_simd::{Simd, SimdLevel, SimdTask};

/// The layout of a pixel of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The format.
    pub format: OutFormat,
    /// Bytes of a pixel.
    pub bytes: usize,
    /// The number format of its components.
    pub number: NumberFormat,
    /// The components in order: lowest bit and width.
    pub components: &'static [(u32, u32)],
}

/// The number format of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberFormat {
    /// Fixed point in 0..1.
    Unsigned,
    /// Fixed point in -1..1.
    Signed,
    /// Fixed point, signed or not by the component's bit of `OUT_SIGN`.
    Either,
    /// Fixed point in 0..1 on the sRGB curve, alpha without it.
    Gamma,
    /// Float16 or float32, by the width.
    Float,
}

/// Every format that stores something, in the order of the documents.
#[rustfmt::skip]
pub const LAYOUTS: [Layout; 20] = {
    use {NumberFormat::*, OutFormat as F};
    const fn row(
        format: OutFormat, bytes: usize, number: NumberFormat, components: &'static [(u32, u32)],
    ) -> Layout {
        Layout { format, bytes, number, components }
    }
    [
        row(F::C4_8,          4, Either,   &[(0, 8), (8, 8), (16, 8), (24, 8)]),
        row(F::C4_10,         8, Unsigned, &[(0, 10), (16, 10), (32, 10), (48, 10)]),
        row(F::C4_10_GAMMA,   8, Gamma,    &[(0, 10), (16, 10), (32, 10), (48, 10)]),
        row(F::C_16,          2, Either,   &[(0, 16)]),
        row(F::C2_16,         4, Either,   &[(0, 16), (16, 16)]),
        row(F::C4_16,         8, Either,   &[(0, 16), (16, 16), (32, 16), (48, 16)]),
        row(F::C_16_MPEG,     2, Signed,   &[(0, 16)]),
        row(F::C2_16_MPEG,    4, Signed,   &[(0, 16), (16, 16)]),
        row(F::C2_4,          1, Unsigned, &[(0, 4), (4, 4)]),
        row(F::C_3_3_2,       1, Unsigned, &[(0, 2), (2, 3), (5, 3)]),
        row(F::C_6_5_6,       2, Either,   &[(0, 5), (5, 6), (11, 5)]),
        row(F::C_11_11_10,    4, Either,   &[(0, 10), (10, 11), (21, 11)]),
        row(F::C_10_11_11,    4, Either,   &[(0, 11), (11, 11), (22, 10)]),
        row(F::C_2_10_10_10,  4, Either,   &[(0, 10), (10, 10), (20, 10), (30, 2)]),
        row(F::C_16_FP,       2, Float,    &[(0, 16)]),
        row(F::C2_16_FP,      4, Float,    &[(0, 16), (16, 16)]),
        row(F::C4_16_FP,      8, Float,    &[(0, 16), (16, 16), (32, 16), (48, 16)]),
        row(F::C_32_FP,       4, Float,    &[(0, 32)]),
        row(F::C2_32_FP,      8, Float,    &[(0, 32), (32, 32)]),
        row(F::C4_32_FP,     16, Float,    &[(0, 32), (32, 32), (64, 32), (96, 32)]),
    ]
};

/// Returns the layout of `format`; `None` for `UNUSED` and reserved codes, which store nothing.
#[must_use]
pub fn layout(format: OutFormat) -> Option<&'static Layout> {
    LAYOUTS.iter().find(|layout| layout.format == format)
}

/// Returns the size of a pixel in bytes; `None` where nothing is stored.
#[must_use]
pub fn bytes_per_pixel(fmt: UsOutFmt) -> Option<usize> {
    layout(fmt.out_fmt()).map(|layout| layout.bytes)
}

/// Appends a pixel of the given colour (red, green, blue, alpha, as the program wrote it): [`bytes_per_pixel`] bytes, none if the format
/// stores nothing. Bits outside all components are 0.
pub fn store(fmt: UsOutFmt, rgba: [f32; 4], bytes: &mut Vec<u8>) {
    let Some(layout) = layout(fmt.out_fmt()) else { return };
    bytes.extend_from_slice(&encode_pixel(fmt, layout, rgba).to_le_bytes()[..layout.bytes]);
}

/// A pixel format with all registers applied: the layout of `OUT_FMT` with `C0_SEL` to `C3_SEL` and `OUT_SIGN`. For compilers: the
/// conversion of [`store`], component by component.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PixelEncoding {
    /// Bytes of a pixel: a power of two up to 16.
    pub bytes: u8,
    components: [Option<Component>; 4],
}

impl PixelEncoding {
    /// Returns the encoding of a format; `None` where nothing is stored.
    #[must_use]
    pub fn of(fmt: UsOutFmt) -> Option<Self> {
        let layout = layout(fmt.out_fmt())?;
        let mut encoded = components(fmt, layout);
        let components = std::array::from_fn(|_| encoded.next());
        Some(Self { bytes: layout.bytes as u8, components })
    }

    /// Returns the components, from the lowest bit up. Bits outside all of them are 0.
    pub fn components(&self) -> impl Iterator<Item = Component> + use<> {
        self.components.into_iter().flatten()
    }
}

/// Appends pixels of the given colours, as [`store`] does for one.
pub fn store_all(fmt: UsOutFmt, colors: &[Pixel], bytes: &mut Vec<u8>) {
    let Some(size) = bytes_per_pixel(fmt) else { return };
    let start = bytes.len();
    bytes.resize(start + colors.len() * size, 0);
    store_row(fmt, colors, None, &mut bytes[start..]);
}

fn encode_pixel(fmt: UsOutFmt, layout: &'static Layout, rgba: Pixel) -> u128 {
    let mut pixel = 0_u128;
    for component in components(fmt, layout) {
        let code = component.encode(rgba[component.channel]);
        pixel |= u128::from(code) << component.lo;
    }
    pixel
}

/// Stores a row of colours: [`bytes_per_pixel`] bytes each, none if the format stores nothing. With a mask, only its pixels are stored.
/// Pixels after the end of `colors` store 0.
pub(crate) fn store_row(fmt: UsOutFmt, colors: &[Pixel], mask: Option<&[bool]>, bytes: &mut [u8]) {
    let Some(layout) = layout(fmt.out_fmt()) else { return };
    if layout.format == OutFormat::C4_8 && fmt.out_sign() == 0 {
        let order = selects(fmt).map(channel);
        let pixels = bytes.as_chunks_mut::<4>().0;
        return Simd::detect().run_plain(StoreEightBit { order, colors, mask, pixels });
    }
    let colors = colors.iter().chain(std::iter::repeat(&[0.0; 4]));
    let pixels = bytes.chunks_exact_mut(layout.bytes).zip(colors);
    for (n, (bytes, color)) in pixels.enumerate() {
        if mask.is_none_or(|mask| mask[n]) {
            let pixel = encode_pixel(fmt, layout, *color).to_le_bytes();
            bytes.copy_from_slice(&pixel[..layout.bytes]);
        }
    }
}

/// Stores a row of colours in four unsigned components of 8 bits, as [`store_row`] does.
struct StoreEightBit<'r> {
    /// The channel of each component.
    order: [usize; 4],
    colors: &'r [Pixel],
    mask: Option<&'r [bool]>,
    pixels: &'r mut [[u8; 4]],
}

/// Pixels that are converted together before a mask selects among them.
const BLOCK: usize = 64;

impl SimdTask for StoreEightBit<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) {
        let Self { order, colors, mask, pixels } = self;
        let Some(mask) = mask else { return eight_bit_pixels(order, colors, pixels) };
        let mut block = [[0; 4]; BLOCK];
        let blocks = pixels.chunks_mut(BLOCK).zip(mask.chunks(BLOCK));
        for (number, (pixels, mask)) in blocks.enumerate() {
            let colors = colors.get(number * BLOCK..).unwrap_or_default();
            let block = &mut block[..pixels.len()];
            eight_bit_pixels(order, colors, block);
            for ((to, from), covered) in pixels.iter_mut().zip(block).zip(mask) {
                // A bitwise select, which the compiler vectorises.
                let all = u32::from(*covered).wrapping_neg();
                let [to_bits, from] = [*to, *from].map(u32::from_le_bytes);
                *to = (to_bits & !all | from & all).to_le_bytes();
            }
        }
    }
}

/// Converts colours to pixels; pixels after the last colour are zero.
#[inline(always)]
fn eight_bit_pixels(order: [usize; 4], colors: &[Pixel], pixels: &mut [[u8; 4]]) {
    let (with_color, without) = pixels.split_at_mut(colors.len().min(pixels.len()));
    without.fill([0; 4]);
    let bytes = with_color.as_flattened_mut();
    for (byte, value) in bytes.iter_mut().zip(colors.as_flattened()) {
        *byte = eight_bit(*value);
    }
    match order {
        [0, 1, 2, 3] => {}
        // The order of most drivers, as a permutation that the compiler knows.
        [2, 1, 0, 3] => with_color.iter_mut().for_each(|pixel| pixel.swap(0, 2)),
        order => with_color.iter_mut().for_each(|pixel| *pixel = order.map(|from| pixel[from])),
    }
}

/// Converts colours to 8 bits a channel, each as [`eight_bit`] does; as many as the shorter slice has.
// Not inlined: in code that is compiled for size the loop would not be vectorised.
#[inline(never)]
pub fn eight_bits(colors: &[[f32; 4]], to: &mut [[u8; 4]]) {
    for (to, from) in to.as_flattened_mut().iter_mut().zip(colors.as_flattened()) {
        *to = eight_bit(*from);
    }
}

/// Returns a value from 0 to 1 in 8 bits, as [`fixed::f32_to_unorm`] does: the limited value times 255, rounded to nearest even; NaN is
/// 0.
#[must_use]
#[inline(always)]
pub fn eight_bit(value: f32) -> u8 {
    // The product is exact. A sum of 2^52 or more has no fraction bits: the addition rounds to nearest even, and the lowest bits are the
    // integer. `round_ties_even` would be a call on older processors.
    const NO_FRACTIONS: f64 = 4_503_599_627_370_496.0;
    // NaN fails the comparison. Two selects, because `min` is a call on some processors.
    let below = if value < 1.0 { value } else { 1.0 };
    let limited = if value > 0.0 { below } else { 0.0 };
    (f64::from(limited) * 255.0 + NO_FRACTIONS).to_bits() as u8
}

/// Decodes a stored pixel: the inverse of [`store`], to view a picture as it is stored.
///
/// A channel without a component is 0, alpha 1; a channel with several components is taken from the first. Returns `None` if the format
/// stores nothing, or if `bytes` are fewer than a pixel; ignores further bytes.
#[must_use]
pub fn load(fmt: UsOutFmt, bytes: &[u8]) -> Option<[f32; 4]> {
    let layout = layout(fmt.out_fmt())?;
    let mut pixel = [0; 16];
    pixel[..layout.bytes].copy_from_slice(bytes.get(..layout.bytes)?);
    let pixel = u128::from_le_bytes(pixel);

    let mut held = [None; 4];
    for component in components(fmt, layout) {
        let code = (pixel >> component.lo) as u32 & (u32::MAX >> (32 - component.bits));
        held[component.channel].get_or_insert_with(|| component.decode(code));
    }
    let [red, green, blue, alpha] = held;
    Some([red.unwrap_or(0.0), green.unwrap_or(0.0), blue.unwrap_or(0.0), alpha.unwrap_or(1.0)])
}

/// A component, all registers applied.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Component {
    /// The colour channel that it takes: 0 red to 3 alpha.
    pub channel: usize,
    /// Its lowest bit in the pixel.
    pub lo: u32,
    /// Its width.
    pub bits: u32,
    /// The encoding of its number.
    pub code: Code,
}

/// The encoding of a component's number.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// Fixed point in 0..1: [`fixed::f32_to_unorm`].
    Unorm,
    /// Fixed point in -1..1: [`fixed::f32_to_snorm`].
    Snorm,
    /// Fixed point in 0..1 on the [sRGB curve](srgb).
    Srgb,
    /// Float16: [`half::from_f32`].
    Half,
    /// Float32, every NaN the canonical one.
    Float,
}

fn components(fmt: UsOutFmt, layout: &'static Layout) -> impl Iterator<Item = Component> {
    let signs = fmt.out_sign();
    layout.components.iter().zip(selects(fmt)).enumerate().map(move |(n, (&(lo, bits), select))| {
        let channel = channel(select);
        let code = match layout.number {
            NumberFormat::Signed => Code::Snorm,
            NumberFormat::Either if signs >> n & 1 != 0 => Code::Snorm,
            NumberFormat::Unsigned | NumberFormat::Either => Code::Unorm,
            NumberFormat::Gamma if channel != ALPHA => Code::Srgb,
            NumberFormat::Gamma => Code::Unorm,
            NumberFormat::Float if bits == 16 => Code::Half,
            NumberFormat::Float => Code::Float,
        };
        Component { channel, lo, bits, code }
    })
}

const ALPHA: usize = 3;

/// Returns the select of each component.
fn selects(fmt: UsOutFmt) -> [OutSel; 4] {
    [fmt.c0_sel(), fmt.c1_sel(), fmt.c2_sel(), fmt.c3_sel()]
}

/// Returns the colour channel that a component selects: 0 red to 3 alpha.
fn channel(select: OutSel) -> usize {
    match select {
        OutSel::R => 0,
        OutSel::G => 1,
        OutSel::B => 2,
        _ => ALPHA,
    }
}

impl Component {
    /// Returns the largest unsigned code, for the sRGB curve, which is computed in f64.
    fn max(&self) -> f64 {
        f64::from(u32::MAX >> (32 - self.bits))
    }

    /// Returns the code of a number, in the lowest bits.
    #[must_use]
    pub fn encode(&self, x: f32) -> u32 {
        match self.code {
            Code::Unorm => fixed::f32_to_unorm(x, self.bits),
            Code::Snorm => fixed::f32_to_snorm(x, self.bits),
            Code::Srgb => (srgb::encode(x.into()) * self.max()).round_ties_even() as u32,
            Code::Half => half::from_f32(x).into(),
            Code::Float => canonical_nan(x).to_bits(),
        }
    }

    fn decode(&self, code: u32) -> f32 {
        match self.code {
            Code::Unorm => fixed::unorm_to_f32(code, self.bits),
            Code::Snorm => fixed::snorm_to_f32(code, self.bits),
            Code::Srgb => srgb::decode(f64::from(code) / self.max()) as f32,
            Code::Half => half::to_f32(code as u16),
            Code::Float => canonical_nan(f32::from_bits(code)),
        }
    }
}

#[cfg(test)]
mod tests;
