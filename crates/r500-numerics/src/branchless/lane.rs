//! One lane as a builder of kernels: its operations are the arithmetic itself, which the compiler vectorises.

use core::marker::PhantomData;

use r500_simd::Rint;

use super::KernelBuilder;

/// A lane, with the rounding to integers of a SIMD level. Arguments of kernels must be flushed.
pub struct Lane<R>(PhantomData<R>);

impl<R: Rint> Lane<R> {
    /// Returns the builder; it has no state.
    #[allow(
        clippy::new_without_default,
        reason = "a default would be mistaken for a default rounding"
    )]
    #[inline(always)]
    #[must_use]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// Applies a kernel to a number.
    #[inline(always)]
    pub fn apply(x: f32, kernel: impl FnOnce(&mut Self, u32) -> u32) -> f32 {
        f32::from_bits(kernel(&mut Self::new(), x.to_bits()))
    }
}

/// Applies an operation to two floats.
#[inline(always)]
fn floats(a: u32, b: u32, f: impl FnOnce(f32, f32) -> f32) -> u32 {
    f(f32::from_bits(a), f32::from_bits(b)).to_bits()
}

impl<R: Rint> KernelBuilder for Lane<R> {
    type Value = u32;
    type Mask = bool;

    #[inline(always)]
    fn bits(&mut self, bits: u32) -> u32 {
        bits
    }

    #[inline(always)]
    fn add(&mut self, a: u32, b: u32) -> u32 {
        floats(a, b, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(&mut self, a: u32, b: u32) -> u32 {
        floats(a, b, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(&mut self, a: u32, b: u32) -> u32 {
        floats(a, b, |a, b| a * b)
    }

    #[inline(always)]
    fn min(&mut self, a: u32, b: u32) -> u32 {
        floats(a, b, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn max(&mut self, a: u32, b: u32) -> u32 {
        floats(a, b, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn rint(&mut self, a: u32) -> u32 {
        R::rint(f32::from_bits(a)).to_bits()
    }

    #[inline(always)]
    fn and(&mut self, a: u32, b: u32) -> u32 {
        a & b
    }

    #[inline(always)]
    fn or(&mut self, a: u32, b: u32) -> u32 {
        a | b
    }

    #[inline(always)]
    fn int_add(&mut self, a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn int_sub(&mut self, a: u32, b: u32) -> u32 {
        a.wrapping_sub(b)
    }

    #[inline(always)]
    fn exponent_from_int(&mut self, a: u32) -> u32 {
        a << 23
    }

    #[inline(always)]
    fn exponent_to_float(&mut self, a: u32) -> u32 {
        ((a.cast_signed() >> 23) as f32).to_bits()
    }

    #[inline(always)]
    fn lt(&mut self, a: u32, b: u32) -> bool {
        f32::from_bits(a) < f32::from_bits(b)
    }

    #[inline(always)]
    fn ge(&mut self, a: u32, b: u32) -> bool {
        f32::from_bits(a) >= f32::from_bits(b)
    }

    // Test the bits: the compiler combines several float comparisons into a test of the class, for which a denormal is
    // not a zero in any floating-point environment.
    #[inline(always)]
    fn is_zero(&mut self, a: u32) -> bool {
        a & 0x7f80_0000 == 0
    }

    #[inline(always)]
    fn select(&mut self, mask: bool, a: u32, b: u32) -> u32 {
        if mask { a } else { b }
    }
}
