//! Kernels that move bits: right in any environment, for any bits.

use super::{Chunk, Src, inhibit_outer_vectorization};

/// A.
#[inline(always)]
pub(crate) fn copy(dst: &mut [Chunk], a: impl Src) {
    let a = a.limit(dst.len());
    for (i, to) in dst.iter_mut().enumerate() {
        inhibit_outer_vectorization();
        *to = a.chunk(i);
    }
}

/// -A: the sign bit flipped.
#[inline(always)]
pub(crate) fn neg(dst: &mut [Chunk], a: impl Src) {
    each(dst, a, |a| f32::from_bits(a.to_bits() ^ SIGN));
}

/// |A|: the sign bit cleared.
#[inline(always)]
pub(crate) fn abs(dst: &mut [Chunk], a: impl Src) {
    each(dst, a, |a| f32::from_bits(a.to_bits() & !SIGN));
}

/// -|A|: the sign bit set.
#[inline(always)]
pub(crate) fn neg_abs(dst: &mut [Chunk], a: impl Src) {
    each(dst, a, |a| f32::from_bits(a.to_bits() | SIGN));
}

/// A, denormals made zeros of their sign.
#[inline(always)]
pub(crate) fn flush(dst: &mut [Chunk], a: impl Src) {
    each(dst, a, r500_simd::flush::flush);
}

/// A, any NaN made the canonical one.
#[inline(always)]
pub(crate) fn canonical_nan(dst: &mut [Chunk], a: impl Src) {
    each(dst, a, r500_numerics::canonical_nan);
}

/// A of a corner of the lane's quad: 0 top left, 1 top right, 2 bottom left, 3 bottom right.
#[inline(always)]
pub(crate) fn corner<const K: usize>(dst: &mut [Chunk], a: impl Src) {
    let a = a.limit(dst.len());
    for (i, to) in dst.iter_mut().enumerate() {
        inhibit_outer_vectorization();
        let from = a.chunk(i);
        for quad in 0..4 {
            let corner = from[4 * quad + K];
            to[4 * quad..4 * quad + 4].fill(corner);
        }
    }
}

const SIGN: u32 = 0x8000_0000;

#[inline(always)]
fn each(dst: &mut [Chunk], a: impl Src, f: impl Fn(f32) -> f32) {
    let a = a.limit(dst.len());
    for (i, to) in dst.iter_mut().enumerate() {
        inhibit_outer_vectorization();
        *to = a.chunk(i).map(&f);
    }
}
