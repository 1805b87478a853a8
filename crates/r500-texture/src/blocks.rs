//! Block compression: 4x4 texels in 8 or 16 bytes, by palettes of two stored values and values
//! interpolated between them.
//!
//! Derived: the formats are public (S3TC, and ATI's one- and two-component relatives of DXT5's
//! alpha), the card's codes for DXT come from Mesa's r300 driver. Interpolated values are exact
//! fractions here, rounded once in the conversion to float; how the card rounds them is open.
//!
//! Blocks are little-endian numbers: byte 0 in the lowest bits.

use super::component::{Component, Interpret};

/// A block format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// 8 bytes: colour, perhaps transparent.
    Dxt1,
    /// 16 bytes: 4-bit alpha, colour.
    Dxt3,
    /// 16 bytes: interpolated alpha, colour.
    Dxt5,
    /// 8 bytes: an interpolated component.
    Ati1n,
    /// 16 bytes: two interpolated components.
    Ati2n,
}

/// Returns the components of the n-th texel of a block, counted along rows from the first in memory.
pub(super) fn texel(block: Block, raw: u128, n: u32, how: Interpret) -> [Component; 4] {
    let (low, high) = (raw as u64, (raw >> 64) as u64);
    let (color, alpha) = match block {
        Block::Dxt1 => colors(low, n, true),
        Block::Dxt3 => (colors(high, n, false).0, four_bit_alpha(low, n)),
        Block::Dxt5 => (colors(high, n, false).0, interpolated(low, n, false)),
        Block::Ati1n => {
            let first = interpolated(low, n, how.signed[0]);
            return [first, Component::ZERO, Component::ZERO, Component::ZERO];
        }
        Block::Ati2n => {
            let (first, second) =
                (interpolated(low, n, how.signed[0]), interpolated(high, n, how.signed[1]));
            return [first, second, Component::ZERO, Component::ZERO];
        }
    };
    let [red, green, blue] = color;
    if how.blue_first { [blue, green, red, alpha] } else { [red, green, blue, alpha] }
}

/// Returns red, green, blue and alpha of a colour block: two colours of 5, 6 and 5 bits (blue
/// lowest), then two bits a texel.
///
/// The palette is the first colour, the second, and two interpolated colours, at thirds. In DXT1
/// (`transparent`) this holds only if the first is the greater number; else the palette has one
/// interpolated colour, the mean, and transparent black.
fn colors(block: u64, n: u32, transparent: bool) -> ([Component; 3], Component) {
    let (first, second) = (block as u32 & 0xffff, (block >> 16) as u32 & 0xffff);
    // The weights of the two colours; the fractions are relative to their sum.
    let (a, b) = match (block >> (32 + 2 * n) & 3, transparent && first <= second) {
        (0, _) => (1, 0),
        (1, _) => (0, 1),
        (2, false) => (2, 1),
        (_, false) => (1, 2),
        (2, true) => (1, 1),
        (_, true) => return ([Component::ZERO; 3], Component::ZERO),
    };
    let mix = |lowest: u32, bits: u32| {
        let max = (1 << bits) - 1;
        let part = |color: u32| (color >> lowest & max) as i32;
        Component::Ratio(a * part(first) + b * part(second), (a + b) * max as i32)
    };
    ([mix(11, 5), mix(5, 6), mix(0, 5)], Component::Ratio(1, 1))
}

/// Returns DXT3's alpha: 4 bits a texel.
fn four_bit_alpha(block: u64, n: u32) -> Component {
    Component::Unorm { code: (block >> (4 * n)) as u32 & 0xf, bits: 4 }
}

/// Returns a component of two 8-bit values and three bits a texel.
///
/// The palette is the first value, the second, and six interpolated values, at sevenths, if the
/// first is the greater; else four interpolated values, at fifths, and the ends of the range, 0
/// (signed: -1) and 1. A signed -128 means -127, as everywhere, but compares as -128.
fn interpolated(block: u64, n: u32, signed: bool) -> Component {
    let (first, second) = (block as u8, (block >> 8) as u8);
    let (descending, first, second, min, max) = if signed {
        let (first, second) = (first as i8, second as i8);
        let value = |x: i8| i32::from(x).max(-127);
        (first > second, value(first), value(second), -127, 127)
    } else {
        (first > second, i32::from(first), i32::from(second), 0, 255)
    };
    match ((block >> (16 + 3 * n) & 7) as i32, descending) {
        (0, _) => Component::Ratio(first, max),
        (1, _) => Component::Ratio(second, max),
        (6, false) => Component::Ratio(min, max),
        (7, false) => Component::Ratio(max, max),
        (code, true) => Component::Ratio((8 - code) * first + (code - 1) * second, 7 * max),
        (code, false) => Component::Ratio((6 - code) * first + (code - 1) * second, 5 * max),
    }
}
