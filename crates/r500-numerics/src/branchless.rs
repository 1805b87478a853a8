//! The [kernels](crate::kernels) without branches, over a builder: one lane of vector code, or a code generator.
//!
//! Each has the bits of the kernel of its name, but for the payload of a NaN. Where a step differs from the kernel's,
//! a comment says why the bits are the same. Arguments must not be denormal, or the builder's arithmetic must take
//! denormals for zeros.

mod lane;

pub use lane::Lane;

use crate::kernels::{EX2, LN2, LN2_SPLIT, SINE};

/// What the kernels are made of: arithmetic on words of 32 bits, floats or integers.
pub trait KernelBuilder {
    /// A word.
    type Value: Copy;
    /// The result of a comparison.
    type Mask: Copy;

    /// A constant.
    fn bits(&mut self, bits: u32) -> Self::Value;
    /// a + b, of floats.
    fn add(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// a - b, of floats.
    fn sub(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// a * b, of floats.
    fn mul(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// a < b ? a : b, of floats.
    fn min(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// a > b ? a : b, of floats.
    fn max(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// The nearest integer as a float, halves to even.
    fn rint(&mut self, a: Self::Value) -> Self::Value;
    /// The bits of a and b.
    fn and(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// The bits of a or b.
    fn or(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// a + b, of integers.
    fn int_add(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// a - b, of integers.
    fn int_sub(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// The bits of a, 23 places up.
    fn exponent_from_int(&mut self, a: Self::Value) -> Self::Value;
    /// The signed integer a, 23 places down, as a float.
    fn exponent_to_float(&mut self, a: Self::Value) -> Self::Value;
    /// a < b, of floats.
    fn lt(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// a >= b, of floats.
    fn ge(&mut self, a: Self::Value, b: Self::Value) -> Self::Mask;
    /// Whether a is a zero, or a denormal that counts as one.
    fn is_zero(&mut self, a: Self::Value) -> Self::Mask;
    /// mask ? a : b.
    fn select(&mut self, mask: Self::Mask, a: Self::Value, b: Self::Value) -> Self::Value;

    /// The logarithm of x: a value computed for positive finite numbers, but of the others, which are their own logarithms
    /// (+inf, NaN) or have NaN (negative numbers) or -inf (zeros).
    #[inline(always)]
    fn ln2_of_special(&mut self, x: Self::Value, logarithm: Self::Value) -> Self::Value
    where
        Self: Sized,
    {
        ln2_of_special(self, x, logarithm)
    }

    /// A float constant.
    #[inline(always)]
    fn float(&mut self, x: f32) -> Self::Value {
        self.bits(x.to_bits())
    }
}

/// `EX2`.
#[inline(always)]
pub fn ex2<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    // The result is normal for n from -126 to 128 (p is at least 1 where n is -126, less than 1 where it is 128); outside it is
    // not used.
    let scaled = ex2_of_exponent(b, x);
    let (low, high) = (b.float(-126.0), b.float(128.0));
    let large_enough = b.ge(x, low);
    let zero = b.bits(0);
    let from_below = b.select(large_enough, scaled, zero);
    // Infinity of large numbers, NaN of NaN: the maximum gives its second argument then.
    let infinity = b.float(f32::INFINITY);
    let beyond = b.max(infinity, x);
    let small_enough = b.lt(x, high);
    b.select(small_enough, from_below, beyond)
}

/// [`ex2`] of an x from -126 to 127.
#[inline(always)]
pub fn ex2_of_exponent<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    // Numbers of this size have no fraction, and two's complement in their last bits. An integer 0 is +0 here, but the
    // difference goes into a polynomial only.
    let fractionless = b.float(12_582_912.0);
    let sum = b.add(x, fractionless);
    let n = b.sub(sum, fractionless);
    let f = b.sub(x, n);
    let p = ex2_polynomial(b, f);
    // 2^n by way of the exponent.
    let exponent = b.exponent_from_int(sum);
    b.int_add(p, exponent)
}

/// 2^f of an f of at most 1/2 in size, as [`ex2`] computes it.
#[inline(always)]
pub fn ex2_polynomial<B: KernelBuilder>(b: &mut B, f: B::Value) -> B::Value {
    horner(b, &EX2, f)
}

/// `LN2`.
#[inline(always)]
pub fn ln2<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    let logarithm = ln2_of_positive(b, x);
    b.ln2_of_special(x, logarithm)
}

/// [`ln2`] of a positive, finite and normal x.
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

/// [`KernelBuilder::ln2_of_special`] by comparisons.
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

/// `SIN`.
#[inline(always)]
pub fn sin<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    let (r, a) = reduce(b, x);
    let two = b.float(2.0);
    let down = b.sub(two, a);
    let w = b.min(a, down);
    // w is 0 to 1 and takes the sign.
    let sign = b.bits(0x8000_0000);
    let sign = b.and(r, sign);
    let w = b.or(w, sign);
    sine_of_quarters(b, w)
}

/// `COS`.
#[inline(always)]
pub fn cos<B: KernelBuilder>(b: &mut B, x: B::Value) -> B::Value {
    let (_, a) = reduce(b, x);
    let one = b.float(1.0);
    let w = b.sub(one, a);
    sine_of_quarters(b, w)
}

/// The remainder without whole turns, in turns, and its magnitude in quarters.
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

/// The polynomial with these coefficients (constant term first) at x, each product and each sum rounded.
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
