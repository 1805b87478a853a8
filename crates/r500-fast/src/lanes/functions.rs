//! Functions of one number: the [branchless kernels](r500_numerics::branchless), `FRC` and the clamp.

use core::marker::PhantomData;

use super::{Chunk, Flush, Lanewise, Src, map};
use r500_numerics::branchless::{self, Lane};
use r500_numerics::{Arith, kernels};
use r500_simd::{MagicRound, Rint};

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
        let a = F::flush_operand(a);
        a - floor_of::<R>(a)
    }

    #[inline(always)]
    fn law([a]: [f32; 1]) -> f32 {
        Arith::REFERENCE.frc(a)
    }
}

struct Clamp01;

impl Lanewise<1> for Clamp01 {
    const CHECKS_DENORMALS: bool = false;

    // In this form two instructions, a maximum and a minimum. But the maximum that the compiler takes
    // on AArch64 (FMAXNM) makes a signalling NaN a quiet one instead of 0: there, numbers from 0 to
    // infinity are recognised by their bits, which are in the order of integers.
    #[inline(always)]
    fn lane<F: Flush>(_: &mut u32, [a]: [f32; 1]) -> f32 {
        let a = F::flush_operand(a);
        if cfg!(target_arch = "aarch64") {
            let number = a.to_bits() <= f32::INFINITY.to_bits();
            return f32::from_bits(if number { a.to_bits().min(1.0_f32.to_bits()) } else { 0 });
        }
        let positive = if a > 0.0 { a } else { 0.0 };
        if positive < 1.0 { positive } else { 1.0 }
    }

    #[inline(always)]
    fn law([a]: [f32; 1]) -> f32 {
        Arith::REFERENCE.clamp01(a)
    }
}

struct Ex2;

impl Lanewise<1> for Ex2 {
    const CHECKS_DENORMALS: bool = false;

    #[inline(always)]
    fn lane<F: Flush>(_: &mut u32, [a]: [f32; 1]) -> f32 {
        Lane::<MagicRound>::apply(F::flush_operand(a), branchless::ex2)
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
        Lane::<MagicRound>::apply(F::flush_operand(a), branchless::ln2)
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
        Lane::<R>::apply(F::flush_operand(a), branchless::sin)
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
        Lane::<R>::apply(F::flush_operand(a), branchless::cos)
    }

    #[inline(always)]
    fn law([a]: [f32; 1]) -> f32 {
        kernels::cos(a)
    }
}

/// The largest integer that is not above x: the nearest one, or the one before.
#[inline(always)]
fn floor_of<R: Rint>(x: f32) -> f32 {
    let nearest = R::rint(x);
    let before = nearest - 1.0;
    if nearest > x { before } else { nearest }
}
