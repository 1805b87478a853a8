//! Random numbers with edge cases.

use crate::Choices;

/// Edge cases of arithmetic: zeros, ones, infinities, NaN (one with a payload, one signalling), the least and greatest
/// normal numbers and denormals, halves around rounding.
pub const SPECIAL: [u32; 28] = [
    0x0000_0000, // 0
    0x8000_0000, // -0
    0x3f80_0000, // 1
    0xbf80_0000, // -1
    0x3f00_0000, // 1/2
    0x3eff_ffff, // below 1/2
    0x3f00_0001, // above 1/2
    0x3f7f_ffff, // below 1
    0x3f80_0001, // above 1
    0x7f80_0000, // infinity
    0xff80_0000, // -infinity
    0x7fc0_0000, // NaN
    0xffc1_2345, // another, with a payload
    0x7f80_0001, // signalling
    0x0000_0001, // least denormal
    0x8000_0001, // its negative
    0x007f_ffff, // greatest denormal
    0x807f_ffff, // its negative
    0x0080_0000, // least normal number
    0x8080_0000, // its negative
    0x0080_0001, // above it
    0x7f7f_ffff, // greatest
    0xff7f_ffff, // its negative
    0x4b00_0000, // 2^23
    0x4b80_0001, // 2^24 + 2
    0x1fff_ffff, // its square is tiny
    0xc2fe_0000, // -127: EX2 of it would be denormal
    0x437f_0000, // 255
];

/// Returns an edge case, or rarely any bits.
pub fn special(choices: &mut impl Choices) -> f32 {
    let place = choices.below(SPECIAL.len() as u32 + 4) as usize;
    f32::from_bits(SPECIAL.get(place).copied().unwrap_or_else(|| choices.bits()))
}

/// Returns mostly a small number, as programs compare and count with, sometimes a special one.
pub fn number(choices: &mut impl Choices) -> f32 {
    match choices.weighted(&[10, 6, 4, 1]) {
        0 => choices.between(-3, 4) as f32,
        1 => choices.between(-8, 8) as f32 / 4.0,
        2 => choices.between(-(1 << 20), 1 << 20) as f32 / 300_000.0,
        _ => special(choices),
    }
}

/// Returns four numbers.
pub fn vector(choices: &mut impl Choices) -> [f32; 4] {
    std::array::from_fn(|_| number(choices))
}
