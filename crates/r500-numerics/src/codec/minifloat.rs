//! Minifloats: floats of fewer bits with the exponent bias of float16.
//!
//! [`half`](super::half) and [`w24`](super::w24) differ here in the width of the mantissa only: in both,
//! exponent code E > 0 means 2^(E-15) and code 0 is that of the denormals, below 2^-14. Those modules handle
//! sign, infinities and NaN.

use super::round::shift_round_even;

/// Difference of the exponents' biases, 127 - 15, in the exponent field of a float32.
const REBIAS: u32 = (127 - 15) << 23;

/// 2^-14 as a float32, the smallest number that is not denormal.
const SMALLEST_NORMAL: u32 = (127 - 14) << 23;

/// Encodes a magnitude (the bits of a float32 without its sign) without the lowest `cut` bits of the mantissa,
/// rounded to nearest even. A magnitude too large for the format gives an exponent too large for it; the
/// caller must limit the code.
#[inline]
pub(super) fn encode(magnitude: u32, cut: u32) -> u32 {
    let code = if magnitude >= SMALLEST_NORMAL {
        shift_round_even(u64::from(magnitude - REBIAS), cut)
    } else {
        // Float32's own denormals (exponent 0) are far below half of the smallest code.
        let mantissa = 1 << 23 | (magnitude & 0x7f_ffff);
        let below = (SMALLEST_NORMAL >> 23) - (magnitude >> 23);
        shift_round_even(mantissa.into(), cut + below)
    };
    code as u32
}

/// Decodes a code of [`encode`], exactly.
#[inline]
pub(super) fn decode(code: u32, cut: u32) -> f32 {
    if code >> (23 - cut) == 0 {
        // The code of a denormal counts multiples of 2^-14 / 2^(mantissa bits).
        code as f32 * f32::from_bits(SMALLEST_NORMAL - ((23 - cut) << 23))
    } else {
        f32::from_bits((code << cut) + REBIAS)
    }
}
