//! Floats with fewer bits whose exponents start where float16's do.
//!
//! [`half`](super::half) and [`w24`](super::w24) differ in the bits of the mantissa only: in both,
//! exponent code E > 0 stands for 2^(E-15) and code 0 holds the denormals below 2^-14. Sign,
//! infinities and NaN are theirs.

use super::round::shift_round_even;

/// Difference of the exponents' biases, 127 - 15, where a float32 has its exponent.
const REBIAS: u32 = (127 - 15) << 23;

/// 2^-14 as a float32, the smallest number that is not denormal.
const SMALLEST_NORMAL: u32 = (127 - 14) << 23;

/// Encodes a magnitude (the bits of a float32 without its sign) without the lowest `cut` bits of the mantissa,
/// rounded to nearest even. A magnitude too large for the format gets an exponent too large for it, which the
/// caller must limit.
#[inline]
pub(super) fn encode(magnitude: u32, cut: u32) -> u32 {
    let code = if magnitude >= SMALLEST_NORMAL {
        shift_round_even(u64::from(magnitude - REBIAS), cut)
    } else {
        // Float32's own denormals (exponent 0) lie far below half of the smallest code.
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
        // A code of denormals counts multiples of 2^-14 / 2^(mantissa bits).
        code as f32 * f32::from_bits(SMALLEST_NORMAL - ((23 - cut) << 23))
    } else {
        f32::from_bits((code << cut) + REBIAS)
    }
}
