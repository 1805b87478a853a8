//! Transcendental functions: `EX2`, `LN2`, `SIN` and `COS` as fixed sequences of rounded steps.
//!
//! The documents name the functions but not their accuracy, so that the sequences are this project's choice
//! (open). Every engine executes these steps, in this order, with these constants, so that results do not depend
//! on the vector width. No multiplication is fused with an addition, polynomials are in Horner form, `rint`
//! rounds halves to even.
//!
//! A denormal argument counts as zero under every reading. After that, denormals have no effect: a product can be
//! tiny only in a polynomial or as its argument, and then a constant of at least 10^-4 is added to it, so that
//! the sum does not depend on flushing. Plain operators therefore give the same bits as a flushing processor (a
//! test compares both).
//!
//! `cargo run --release -p r500-numerics --example ulp` compares the kernels with f64 over all 2^32 arguments, in
//! units in the last place of the exact result, where argument and result are normal numbers. It finds no wrong
//! special value, and these largest errors (the required bound is 2):
//!
//! | kernel | ulp | at |
//! | --- | --- | --- |
//! | `EX2` | 1.0716 | -0.49694356 (`befe6f63`) |
//! | `LN2` | 1.5878 | 0.70733297 (`3f3513c6`) |
//! | `SIN` | 1.8472 | 0.24992532 (`3e7fec6c`) |
//! | `COS` | 1.8558 | 0.015656255 (`3c80418c`) |
//! | `RCP` | 0.5000 | 2.3160559e-38 (`00fc3237`) |
//! | `RSQ` | 1.4903 | 1.1827658e-38 (`0080cab3`) |
//!
//! `RCP` and `RSQ` are quotients: [`Arith::rcp`](super::Arith::rcp),
//! [`Arith::rsq`](super::Arith::rsq).

#![allow(
    clippy::excessive_precision,
    clippy::approx_constant,
    reason = "constants stand as published: nine digits name a float"
)]

use crate::special::{CANONICAL_NAN, flush};

/// Coefficients of 2^f for f in -1/2..1/2.
pub const EX2: [f32; 7] =
    [1.0, 0.693147182, 0.240226448, 0.0555035882, 0.00961883366, 0.00133913022, 0.000152412846];

/// Coefficients of (log2(1 + f) - f) / f for 1 + f from the root of 1/2 to the root of 2.
pub const LN2: [f32; 9] = [
    0.442694992,
    -0.721347213,
    0.480911434,
    -0.360715747,
    0.287912160,
    -0.238675654,
    0.215429381,
    -0.208991989,
    0.128802344,
];

/// Coefficients of sin(pi/2 w) / w - 1 in w squared, for w in -1..1.
pub const SINE: [f32; 5] =
    [0.570796311, -0.645963609, 0.0796893165, -0.00467328774, 0.000151274202];

/// The bits of the square root of one half, where [`ln2`] switches to the next exponent.
pub const LN2_SPLIT: u32 = 0x3f35_04f3;

/// `EX2`: returns 2 to the power of x, with an error of at most 1.0716 ulp.
///
/// Zeros and denormals give 1, x below -126 (-inf included) +0, from 128
/// upwards +inf, NaN gives NaN. No result is denormal.
#[inline]
#[must_use]
pub fn ex2(x: f32) -> f32 {
    let x = flush(x);
    if x.is_nan() {
        return CANONICAL_NAN;
    }
    if x < -126.0 {
        return 0.0;
    }
    // p(f) * 2^n overflows from here on; the code below needs a small n.
    if x >= 128.0 {
        return f32::INFINITY;
    }
    let n = x.round_ties_even();
    let p = horner(&EX2, x - n);
    // n is in -126..=128, and 2^128 is not a float: scale in two steps, the first one exact.
    let n = n as i32;
    let half = n >> 1;
    (p * power_of_two(half)) * power_of_two(n - half)
}

/// `LN2`: returns the logarithm of x to base 2, with an error of at most 1.5878 ulp.
///
/// Zeros and denormals give -inf, negative numbers NaN, +inf gives +inf, 1 gives +0, NaN gives NaN.
#[inline]
#[must_use]
pub fn ln2(x: f32) -> f32 {
    let x = flush(x);
    if x == 0.0 {
        return f32::NEG_INFINITY;
    }
    if x.is_nan() || x < 0.0 {
        return CANONICAL_NAN;
    }
    if x == f32::INFINITY {
        return x;
    }
    // x = 2^e * (1 + f), with 1 + f between the roots of 1/2 and 2.
    let bits = x.to_bits();
    let i = bits.wrapping_sub(LN2_SPLIT) as i32;
    let e = (i >> 23) as f32;
    let f = f32::from_bits(bits.wrapping_sub(i as u32 & 0xff80_0000)) - 1.0;
    e + (f + f * horner(&LN2, f))
}

/// `SIN`: returns the sine of x turns, with an error of at most 1.8472 ulp.
///
/// Multiples of one half give zero, of the sign of x - rint(x): +0 for integers
/// (-0 and denormals included), -0 for -1/2 and 3/2. Infinities and NaN give
/// NaN.
#[inline]
#[must_use]
pub fn sin(x: f32) -> f32 {
    let (r, a) = reduce(x);
    // Fold the half turn to quarters of a turn, rising then falling.
    let down = 2.0 - a;
    let w = if a < down { a } else { down };
    sine_of_quarters(w.copysign(r))
}

/// `COS`: returns the cosine of x turns, with an error of at most 1.8558 ulp.
///
/// Zeros and denormals give 1, infinities and NaN NaN; the zeros are +0.
#[inline]
#[must_use]
pub fn cos(x: f32) -> f32 {
    let (_, a) = reduce(x);
    sine_of_quarters(1.0 - a)
}

/// Reduces x turns by the nearest integer, exactly, for arguments of any magnitude. Returns the remainder with
/// sign in turns (-1/2..1/2), and its magnitude in quarters (0..2); NaN for infinities.
#[inline]
fn reduce(x: f32) -> (f32, f32) {
    let x = flush(x);
    let r = x - x.round_ties_even();
    (r, 4.0 * r.abs())
}

/// Returns the sine of w quarters of a turn, w in -1..1.
#[inline]
fn sine_of_quarters(w: f32) -> f32 {
    w + w * horner(&SINE, w * w)
}

/// Evaluates the polynomial with these coefficients (constant term first) at x, rounding each product and each
/// sum.
#[inline]
fn horner<const N: usize>(coefficients: &[f32; N], x: f32) -> f32 {
    let highest_first = coefficients.iter().rev().copied();
    highest_first.reduce(|sum, c| sum * x + c).unwrap_or(0.0)
}

/// Returns 2^n for n in -126..=127.
#[inline]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits(((n + 127) as u32) << 23)
}

#[cfg(test)]
mod tests;
