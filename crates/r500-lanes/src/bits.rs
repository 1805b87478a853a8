//! Kernels that move bits: independent of the floating-point environment, for any bits.

use crate::{Slot, Src, inhibit_outer_vectorization, lanewise};

/// A.
#[inline(always)]
pub fn copy(dst: Slot<'_>, a: impl Src) {
    let a = a.limit(dst.len());
    for i in 0..dst.len() {
        inhibit_outer_vectorization();
        dst[i].set(a.chunk(i));
    }
}

/// -A: the sign bit flipped.
#[inline(always)]
pub fn neg(dst: Slot<'_>, a: impl Src) {
    each(dst, a, |a| f32::from_bits(a.to_bits() ^ SIGN));
}

/// -|A|: the sign bit set.
#[inline(always)]
pub fn neg_abs(dst: Slot<'_>, a: impl Src) {
    each(dst, a, |a| f32::from_bits(a.to_bits() | SIGN));
}

/// A, with denormals flushed to zeros of their sign.
#[inline(always)]
pub fn flush(dst: Slot<'_>, a: impl Src) {
    each(dst, a, r500_simd::flush::flush);
}

/// A, with NaN replaced by the canonical one.
#[inline(always)]
pub fn canonical_nan(dst: Slot<'_>, a: impl Src) {
    each(dst, a, r500_numerics::canonical_nan);
}

/// A of one lane of the quad, for all four: 0 top left, 1 top right, 2 bottom left, 3 bottom right.
#[inline(always)]
pub fn corner<const K: usize>(dst: Slot<'_>, a: impl Src) {
    let a = a.limit(dst.len());
    for i in 0..dst.len() {
        inhibit_outer_vectorization();
        let from = a.chunk(i);
        let mut result = from;
        for quad in 0..4 {
            result[4 * quad..4 * quad + 4].fill(from[4 * quad + K]);
        }
        dst[i].set(result);
    }
}

lanewise! {
    /// |A|: the sign bit cleared.
    Abs[1] false, |L, _, [a]| a.abs(), |[a]| a.abs();
}

const SIGN: u32 = 0x8000_0000;

#[inline(always)]
fn each(dst: Slot<'_>, a: impl Src, f: impl Fn(f32) -> f32) {
    let a = a.limit(dst.len());
    for i in 0..dst.len() {
        inhibit_outer_vectorization();
        dst[i].set(a.chunk(i).map(&f));
    }
}
