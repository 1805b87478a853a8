//! Normalised fixed point: n bits (1 to 32) for 0..1 or -1..1.
//!
//! An unsigned code k means k / (2^n - 1). A signed code k is in two's complement and means k / (2^(n-1) - 1);
//! the one code below -1 means -1 too. Decoding is correctly rounded; encoding limits x to the range and rounds
//! the exact product to nearest even. These are D3D9's rules; the last bit on a card is open.
//!
//! A width of 0 has only the code 0; widths above 32 count as 32. A signed code of one bit, for which the rule
//! has no divisor, means 0 or -1.

use super::round::shift_round_even;

/// Decodes the lowest `bits` bits of `code` to 0..1.
#[must_use]
#[inline]
pub fn unorm_to_f32(code: u32, bits: u32) -> f32 {
    let max = max_code(bits);
    ratio(code & max, max)
}

/// Decodes the lowest `bits` bits of `code` to -1..1.
#[must_use]
#[inline]
pub fn snorm_to_f32(code: u32, bits: u32) -> f32 {
    let max = max_code(bits) >> 1;
    let magnitude = code & max;
    if bits == 0 || code & (max + 1) == 0 {
        ratio(magnitude, max)
    } else {
        // Two's complement: the sign bit counts -(max + 1).
        -ratio((max + 1 - magnitude).min(max.max(1)), max.max(1))
    }
}

/// Encodes `x` as an unsigned code of `bits` bits. Numbers below 0 and NaN give 0, numbers above 1 the largest
/// code.
#[must_use]
#[inline]
pub fn f32_to_unorm(x: f32, bits: u32) -> u32 {
    if x > 0.0 { scale_round(x.min(1.0), max_code(bits)) } else { 0 }
}

/// Encodes `x` as a signed code of `bits` bits, in two's complement within these bits. Numbers below -1 give
/// the code of -1, numbers above 1 that of 1, NaN gives 0.
#[must_use]
#[inline]
pub fn f32_to_snorm(x: f32, bits: u32) -> u32 {
    let mask = max_code(bits);
    if x.is_nan() {
        return 0;
    }
    let magnitude = scale_round(x.abs().min(1.0), mask >> 1);
    if x < 0.0 { magnitude.wrapping_neg() & mask } else { magnitude }
}

/// Returns the code with all bits of the width set.
#[inline]
const fn max_code(bits: u32) -> u32 {
    match bits {
        0 => 0,
        1..=31 => (1 << bits) - 1,
        _ => u32::MAX,
    }
}

/// Returns k / max, correctly rounded, for k <= max; 0 / 0 is 0.
#[inline]
fn ratio(k: u32, max: u32) -> f32 {
    if k == 0 {
        0.0
    } else if max < 1 << 24 {
        // Both are exact as floats, so the division rounds once.
        k as f32 / max as f32
    } else {
        // At least 32 bits of quotient, the last one a sticky bit: more than the 24 + 2 bits that correct
        // rounding to float needs.
        let shift = 32 + k.leading_zeros();
        let numerator = u64::from(k) << shift;
        let quotient = numerator / u64::from(max);
        let inexact = quotient * u64::from(max) != numerator;
        (quotient | u64::from(inexact)) as f32 * f32::from_bits((127 - shift) << 23)
    }
}

/// Returns the exact product of x in 0..1 and `max`, rounded to nearest even.
#[inline]
fn scale_round(x: f32, max: u32) -> u32 {
    // x is mantissa / 2^shift, and the product has at most 56 bits. For zero and denormals, whose mantissas
    // lack the leading one, the shift by 150 gives 0.
    let mantissa = 1 << 23 | (x.to_bits() & 0x7f_ffff);
    let shift = 127 + 23 - (x.to_bits() >> 23);
    shift_round_even(u64::from(mantissa) * u64::from(max), shift) as u32
}

#[cfg(test)]
mod tests;
