//! Kernels of unary functions: the [branchless kernels](r500_numerics::branchless), `FRC`, the floor and the clamp.

use crate::{Flush, lanewise};
use r500_numerics::branchless::{self, Lane};
use r500_numerics::{Arith, kernels};
use r500_simd::{MagicRound, Rint};

lanewise! {
    /// `FRC`: A - floor(A). The result is a multiple of A's last place, and A itself if A is between 0 and 1: not tiny.
    Frc[1] false,
        |L, _, [a]| {
            let a = L::Flush::flush_operand(a);
            a - floor_of::<L::Rint>(a)
        },
        |[a]| Arith::REFERENCE.frc(a);

    /// The largest integer that is not above A.
    Floor[1] false,
        |L, _, [a]| floor_of::<L::Rint>(L::Flush::flush_operand(a)),
        |[a]| Arith::REFERENCE.floor(a);

    /// A clamped to 0..1; NaN and -0 give +0.
    Clamp01[1] false, |L, _, [a]| clamp01(L::Flush::flush_operand(a)), |[a]| Arith::REFERENCE.clamp01(a);

    /// `EX2`.
    Ex2[1] false,
        |L, _, [a]| Lane::<MagicRound>::apply(L::Flush::flush_operand(a), branchless::ex2),
        |[a]| kernels::ex2(a);

    /// `LN2`.
    Ln2[1] false,
        |L, _, [a]| Lane::<MagicRound>::apply(L::Flush::flush_operand(a), branchless::ln2),
        |[a]| kernels::ln2(a);

    /// `SIN`, of turns.
    Sin[1] false,
        |L, _, [a]| Lane::<L::Rint>::apply(L::Flush::flush_operand(a), branchless::sin),
        |[a]| kernels::sin(a);

    /// `COS`, of turns.
    Cos[1] false,
        |L, _, [a]| Lane::<L::Rint>::apply(L::Flush::flush_operand(a), branchless::cos),
        |[a]| kernels::cos(a);
}

/// Returns A clamped to 0..1.
///
/// In this form it compiles to two instructions, a maximum and a minimum. But the maximum instruction on AArch64 (FMAXNM) returns a quiet
/// NaN for a signalling one instead of 0: there, numbers from 0 to infinity are recognised by their bits, which have the order of integers.
#[inline(always)]
fn clamp01(a: f32) -> f32 {
    if cfg!(target_arch = "aarch64") {
        let number = a.to_bits() <= f32::INFINITY.to_bits();
        return f32::from_bits(if number { a.to_bits().min(1.0_f32.to_bits()) } else { 0 });
    }
    let positive = if a > 0.0 { a } else { 0.0 };
    if positive < 1.0 { positive } else { 1.0 }
}

/// Returns floor(x): the nearest integer, or the one below it.
#[inline(always)]
fn floor_of<R: Rint>(x: f32) -> f32 {
    let nearest = R::rint(x);
    let before = nearest - 1.0;
    if nearest > x { before } else { nearest }
}
