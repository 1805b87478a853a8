//! Branch-free transcendental [kernels](crate::kernels), generic over a builder: one lane of vector code, or a code generator.
//!
//! Each function returns the bits of the kernel of its name, except for the payload of a NaN. Where a step differs from the
//! kernel's, a comment says why the bits are the same. Arguments must not be denormal, unless the builder's arithmetic treats
//! denormals as zeros.

mod lane;

pub use lane::Lane;

use crate::kernels::{EX2, LN2, LN2_SPLIT, SINE};

/// The operations that kernels are built of: arithmetic on 32-bit words, which are floats or integers.
pub trait KernelBuilder {
    /// A 32-bit word.
    type Value: Copy;
    /// The result of a comparison.
    type Mask: Copy;

    /// Returns a constant.
    fn bits(&mut self, bits: u32) -> Self::Value;
    /// Returns a + b of floats.
    fn add(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns a - b of floats.
    fn sub(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns a * b of floats.
    fn mul(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns a < b ? a : b of floats.
    fn min(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns a > b ? a : b of floats.
    fn max(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns the nearest integer as a float, ties to even.
    fn rint(&mut self, a: Self::Value) -> Self::Value;
    /// Returns the bitwise AND of a and b.
    fn and(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns the bitwise OR of a and b.
    fn or(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns a + b of integers.
    fn int_add(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns a - b of integers.
    fn int_sub(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Returns a shifted left by 23 bits, into the exponent field.
    fn exponent_from_int(&mut self, a: Self::Value) -> Self::Value;
    /// Returns the signed integer a, shifted right by 23 bits, as a float.
    fn exponent_to_float(&mut self, a: Self::Value) -> Self::Value;
    /// Returns whether a < b, of floats.
    fn lt(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// Returns whether a >= b, of floats.
    fn ge(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// Returns whether a is a zero, or a denormal that counts as one.
    fn is_zero(&mut self, a: Self::Value) -> Self::Mask;
    /// Returns mask ? a : b.
    fn select(&mut self, mask: Self::Mask, a: Self::Value, b: Self::Value) -> Self::Value;

    /// Returns the logarithm of x: `logarithm` for positive finite numbers, x itself for +inf and NaN, NaN for negative
    /// numbers, -inf for zeros.
    #[inline(always)]
    fn ln2_of_special(&mut self, x: Self::Value, logarithm: Self::Value) -> Self::Value
    where
        Self: Sized,
    {
        ln2_of_special(self, x, logarithm)
    }

    /// Returns a float constant.
    #[inline(always)]
    fn float(&mut self, x: f32) -> Self::Value {
        self.bits(x.to_bits())
    }
}

/// Computes `EX2`.
#[inline(always)]
pub fn ex2<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    // The result is normal for n from -126 to 128 (p is at least 1 where n is -126, less than 1 where it is 128); outside this
    // range it is not used.
    let scaled = ex2_of_exponent(b, x);
    let (low, high) = (b.float(-126.0), b.float(128.0));
    let large_enough = b.ge(x, low);
    let zero = b.bits(0);
    let from_below = b.select(large_enough, scaled, zero);
    // Infinity for large numbers, NaN for NaN: the maximum returns its second argument if the comparison is false.
    let infinity = b.float(f32::INFINITY);
    let beyond = b.max(infinity, x);
    let small_enough = b.lt(x, high);
    b.select(small_enough, from_below, beyond)
}

/// Computes [`ex2`] for x from -126 to 127.
#[inline(always)]
pub fn ex2_of_exponent<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    // Adding 1.5 * 2^23 rounds to an integer, which is in the last bits of the sum in two's complement. An integer 0 is +0
    // here, but the difference goes into a polynomial only.
    let round_bias = b.float(12_582_912.0);
    let sum = b.add(x, round_bias);
    let n = b.sub(sum, round_bias);
    let f = b.sub(x, n);
    let p = ex2_polynomial(b, f);
    // Multiply by 2^n: add n to the exponent field.
    let exponent = b.exponent_from_int(sum);
    b.int_add(p, exponent)
}

/// Computes 2^f for |f| <= 1/2, as [`ex2`] does.
#[inline(always)]
pub fn ex2_polynomial<B: KernelBuilder>(b: &mut B, f: B::Value) -> B::Value {
    horner(b, &EX2, f)
}

/// Computes `LN2`.
#[inline(always)]
pub fn ln2<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    let logarithm = ln2_of_positive(b, x);
    b.ln2_of_special(x, logarithm)
}

/// Computes [`ln2`] for a positive, finite and normal x.
#[inline(always)]
pub fn ln2_of_positive<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    let split = b.bits(LN2_SPLIT);
    let i = b.int_sub(x, split);
    let e = b.exponent_to_float(i);
    let upper = b.bits(0xff80_0000);
    let exponent = b.and(i, upper);
    let m = b.int_sub(x, exponent);
    let one = b.float(1.0);
    let f = b.sub(m, one);
    let q = horner(b, &LN2, f);
    let q = b.mul(f, q);
    let q = b.add(f, q);
    b.add(e, q)
}

/// Computes [`KernelBuilder::ln2_of_special`] by comparisons.
#[inline(always)]
pub fn ln2_of_special<B: KernelBuilder>(b: &mut B, x: B::Value, logarithm: B::Value) -> B::Value {
    let (zero, infinity) = (b.bits(0), b.float(f32::INFINITY));
    let number = b.lt(x, infinity);
    let result = b.select(number, logarithm, x);
    let negative = b.lt(x, zero);
    let nan = b.float(f32::NAN);
    let result = b.select(negative, nan, result);
    let none = b.is_zero(x);
    let minus = b.float(f32::NEG_INFINITY);
    b.select(none, minus, result)
}

/// Computes `SIN`.
#[inline(always)]
pub fn sin<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    let (r, a) = reduce(b, x);
    let two = b.float(2.0);
    let down = b.sub(two, a);
    let w = b.min(a, down);
    // w is in 0..1 and takes the sign.
    let sign = b.bits(0x8000_0000);
    let sign = b.and(r, sign);
    let w = b.or(w, sign);
    sine_of_quarters(b, w)
}

/// Computes `COS`.
#[inline(always)]
pub fn cos<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    let (_, a) = reduce(b, x);
    let one = b.float(1.0);
    let w = b.sub(one, a);
    sine_of_quarters(b, w)
}

/// Reduces x turns by the nearest integer. Returns the remainder in turns, and its magnitude in quarters of a turn.
#[inline(always)]
fn reduce<B: KernelBuilder>(b: &mut B, x: B::Value) -> (B::Value, B::Value) {
    let turns = b.rint(x);
    let r = b.sub(x, turns);
    let rest = b.bits(0x7fff_ffff);
    let size = b.and(r, rest);
    let four = b.float(4.0);
    (r, b.mul(size, four))
}

#[inline(always)]
fn sine_of_quarters<B: KernelBuilder>(b: &mut B, w: B::Value) -> B::Value {
    let square = b.mul(w, w);
    let s = horner(b, &SINE, square);
    let s = b.mul(w, s);
    b.add(w, s)
}

/// Evaluates the polynomial with these coefficients (constant term first) at x, rounding each product and each sum.
#[inline(always)]
pub fn horner<B: KernelBuilder, const N: usize>(
    b: &mut B,
    coefficients: &[f32; N],
    x: B::Value,
) -> B::Value {
    let mut sum = b.float(coefficients[N - 1]);
    let mut n = N - 1;
    while n > 0 {
        n -= 1;
        let term = b.float(coefficients[n]);
        let product = b.mul(x, sum);
        sum = b.add(product, term);
    }
    sum
}
