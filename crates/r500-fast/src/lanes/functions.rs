//! Functions of one number: the steps of [`numerics::kernels`](r500_numerics::kernels), without
//! branches.
//!
//! Where a step here is another than there it gives the same bits, for the reason beside it.

use core::marker::PhantomData;

use super::{Chunk, Flush, Lanewise, Src, map};
use r500_numerics::kernels::{EX2, LN2, LN2_SPLIT, SINE};
use r500_numerics::{Arith, CANONICAL_NAN, kernels};
use r500_simd::Rint;

/// `FRC`: A - floor(A).
#[inline(always)]
pub(crate) fn frc<F: Flush, R: Rint>(dst: &mut [Chunk], a: impl Src) {
    map::<F, Frc<R>, 1>(dst, (a,));
}

/// A limited to 0..1; NaN and -0 give +0.
#[inline(always)]
pub(crate) fn clamp01<F: Flush>(dst: &mut [Chunk], a: impl Src) {
    map::<F, Clamp01, 1>(dst, (a,));
}

/// `EX2`.
#[inline(always)]
pub(crate) fn ex2<F: Flush>(dst: &mut [Chunk], a: impl Src) {
    map::<F, Ex2, 1>(dst, (a,));
}

/// `LN2`.
#[inline(always)]
pub(crate) fn ln2<F: Flush>(dst: &mut [Chunk], a: impl Src) {
    map::<F, Ln2, 1>(dst, (a,));
}

/// `SIN`, of turns.
#[inline(always)]
pub(crate) fn sin<F: Flush, R: Rint>(dst: &mut [Chunk], a: impl Src) {
    map::<F, Sin<R>, 1>(dst, (a,));
}

/// `COS`, of turns.
#[inline(always)]
pub(crate) fn cos<F: Flush, R: Rint>(dst: &mut [Chunk], a: impl Src) {
    map::<F, Cos<R>, 1>(dst, (a,));
}

struct Frc<R>(PhantomData<R>);

impl<R: Rint> Lanewise<1> for Frc<R> {
    const CHECKS_DENORMALS: bool = false;

    // A fraction is a multiple of A's last place, and A itself if it is between 0 and 1: not tiny.
    #[inline(always)]
    fn lane<F: Flush>(_: &mut u32, [a]: [f32; 1]) -> f32 {
        let a = F::operand(a);
        a - floor_of::<R>(a)
    }

    #[inline(always)]
    fn law([a]: [f32; 1]) -> f32 {
        Arith::LAW.frc(a)
    }
}

struct Clamp01;

impl Lanewise<1> for Clamp01 {
    const CHECKS_DENORMALS: bool = false;

    // In this form two instructions, a maximum and a minimum. But the maximum that the compiler takes
    // on AArch64 (FMAXNM) makes a signalling NaN a quiet one instead of 0: there, numbers from 0 to
    // infinity are told by their bits, which are in the order of integers.
    #[inline(always)]
    fn lane<F: Flush>(_: &mut u32, [a]: [f32; 1]) -> f32 {
        let a = F::operand(a);
        if cfg!(target_arch = "aarch64") {
            let number = a.to_bits() <= f32::INFINITY.to_bits();
            return f32::from_bits(if number { a.to_bits().min(1.0_f32.to_bits()) } else { 0 });
        }
        let positive = if a > 0.0 { a } else { 0.0 };
        if positive < 1.0 { positive } else { 1.0 }
    }

    #[inline(always)]
    fn law([a]: [f32; 1]) -> f32 {
        Arith::LAW.clamp01(a)
    }
}

struct Ex2;

impl Lanewise<1> for Ex2 {
    const CHECKS_DENORMALS: bool = false;

    #[inline(always)]
    fn lane<F: Flush>(_: &mut u32, [a]: [f32; 1]) -> f32 {
        // Numbers of this size have no fraction, and two's complement in their last bits.
        const FRACTIONLESS: f32 = 12_582_912.0;
        let x = F::operand(a);
        let sum = x + FRACTIONLESS;
        // An integer 0 is +0 here, but what it is taken from goes into a polynomial only.
        let n = sum - FRACTIONLESS;
        let p = horner(&EX2, x - n);
        // 2^n by way of the exponent: p is at least 1 where n is -126, less than 1 where it is 128,
        // so the result is a normal number. Outside -126..128 this is anything.
        let scaled = p.to_bits().wrapping_add(sum.to_bits() << 23);
        let below = if x < -126.0 { 0 } else { scaled };
        let above = if x >= 128.0 { f32::INFINITY.to_bits() } else { below };
        f32::from_bits(if x.is_nan() { CANONICAL_NAN.to_bits() } else { above })
    }

    #[inline(always)]
    fn law([a]: [f32; 1]) -> f32 {
        kernels::ex2(a)
    }
}

struct Ln2;

impl Lanewise<1> for Ln2 {
    const CHECKS_DENORMALS: bool = false;

    #[inline(always)]
    fn lane<F: Flush>(_: &mut u32, [a]: [f32; 1]) -> f32 {
        let x = F::operand(a);
        let bits = x.to_bits();
        let i = bits.wrapping_sub(LN2_SPLIT) as i32;
        let e = (i >> 23) as f32;
        let f = f32::from_bits(bits.wrapping_sub(i as u32 & 0xff80_0000)) - 1.0;
        let logarithm = e + (f + f * horner(&LN2, f));
        // +inf and NaN are their own logarithms.
        let positive = if x < f32::INFINITY { logarithm } else { x };
        let number = if x < 0.0 { CANONICAL_NAN } else { positive };
        // Asked of the bits, and last: of three comparisons the compiler makes a test of the class,
        // and to that a denormal is no zero in any environment.
        if bits & 0x7f80_0000 == 0 { f32::NEG_INFINITY } else { number }
    }

    #[inline(always)]
    fn law([a]: [f32; 1]) -> f32 {
        kernels::ln2(a)
    }
}

struct Sin<R>(PhantomData<R>);

impl<R: Rint> Lanewise<1> for Sin<R> {
    const CHECKS_DENORMALS: bool = false;

    #[inline(always)]
    fn lane<F: Flush>(_: &mut u32, [a]: [f32; 1]) -> f32 {
        let (r, a) = reduce::<F, R>(a);
        let down = 2.0 - a;
        let w = if a < down { a } else { down };
        sine_of_quarters(w.copysign(r))
    }

    #[inline(always)]
    fn law([a]: [f32; 1]) -> f32 {
        kernels::sin(a)
    }
}

struct Cos<R>(PhantomData<R>);

impl<R: Rint> Lanewise<1> for Cos<R> {
    const CHECKS_DENORMALS: bool = false;

    #[inline(always)]
    fn lane<F: Flush>(_: &mut u32, [a]: [f32; 1]) -> f32 {
        let (_, a) = reduce::<F, R>(a);
        sine_of_quarters(1.0 - a)
    }

    #[inline(always)]
    fn law([a]: [f32; 1]) -> f32 {
        kernels::cos(a)
    }
}

/// The rest without whole turns, in turns and, without its sign, in quarters.
#[inline(always)]
fn reduce<F: Flush, R: Rint>(x: f32) -> (f32, f32) {
    let x = F::operand(x);
    let r = x - R::rint(x);
    (r, 4.0 * r.abs())
}

#[inline(always)]
fn sine_of_quarters(w: f32) -> f32 {
    w + w * horner(&SINE, w * w)
}

/// The largest integer that is not above x: the nearest one, or the one before.
#[inline(always)]
fn floor_of<R: Rint>(x: f32) -> f32 {
    let nearest = R::rint(x);
    let before = nearest - 1.0;
    if nearest > x { before } else { nearest }
}

/// The polynomial with these coefficients (constant term first) at x, each product and each sum
/// rounded.
#[inline(always)]
fn horner<const N: usize>(coefficients: &[f32; N], x: f32) -> f32 {
    let mut sum = coefficients[N - 1];
    let mut n = N - 1;
    while n > 0 {
        n -= 1;
        sum = sum * x + coefficients[n];
    }
    sum
}
