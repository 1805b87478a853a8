//! Lane kernels: each one operation over a batch of pixels.
//!
//! A slot holds one value of every pixel of a batch, in [`Chunk`]s of sixteen lanes; a quad is four
//! neighbouring lanes. A kernel is a loop from source slots to a destination slot, plain Rust that
//! the compiler turns into whatever vectors its caller is compiled for (see
//! [`r500_simd`]), so everything here is `#[inline(always)]`. Kernels equal
//! [`numerics`](r500_numerics) in every bit, but for the payload of a NaN.
//!
//! Sources are slots (`&[Chunk]`), as long as the destination or longer, or a [`Splat`].
//!
//! | module | kernels |
//! | --- | --- |
//! | [`arith`] | sums, products, dot products, quotients |
//! | [`select`] | comparisons, selections, masks, minimum and maximum |
//! | [`functions`] | `FRC`, `EX2`, `LN2`, `SIN`, `COS`, the clamp |
//! | [`bits`] | copies, sign bits, corners of quads |
//!
//! **Denormals.** Kernels that compute or compare come with a [`Flush`]: under [`HwFlush`](r500_simd::HwFlush) they must
//! run inside [`fp_env::flushing`](r500_simd::fp_env::flushing), under [`SoftFlush`](r500_simd::SoftFlush) anywhere. Those
//! that only move bits take none and are right in any environment.
//!
//! **Masks** are slots whose lanes have all bits set or none.

pub(crate) mod arith;
pub(crate) mod bits;
pub(crate) mod functions;
pub(crate) mod select;

use r500_simd::flush::{self, Flush};
use r500_simd::inhibit_outer_vectorization;
pub(crate) use r500_simd::{Chunk, LANES};

/// Where an operand comes from.
pub(crate) trait Src: Copy {
    /// The same, known to serve this many chunks. Panics if it cannot.
    fn limit(self, chunks: usize) -> Self;

    /// The values of sixteen pixels.
    fn chunk(self, i: usize) -> Chunk;
}

impl Src for &[Chunk] {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        &self[..chunks]
    }

    #[inline(always)]
    fn chunk(self, i: usize) -> Chunk {
        self[i]
    }
}

/// The same value in every lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Splat(pub(crate) f32);

impl Src for Splat {
    #[inline(always)]
    fn limit(self, _: usize) -> Self {
        self
    }

    #[inline(always)]
    fn chunk(self, _: usize) -> Chunk {
        [self.0; LANES]
    }
}

/// An operation on the lanes of N operands.
trait Lanewise<const N: usize> {
    /// Whether a chunk with denormals is recomputed lane by lane by [`law`](Self::law).
    /// Otherwise [`lane`](Self::lane) is right for all operands.
    const CHECKS_DENORMALS: bool;

    /// Computes one lane. Notes in `flags` whether a rounded result may be subnormal.
    fn lane<F: Flush>(flags: &mut u32, operands: [f32; N]) -> f32;

    /// One lane by the scalar law, in plain arithmetic.
    fn law(operands: [f32; N]) -> f32;
}

/// The operands of a chunk: one to three sources, or some slots.
trait Operands<const N: usize>: Copy {
    fn limit(self, chunks: usize) -> Self;
    fn chunks(self, i: usize) -> [Chunk; N];
}

impl<A: Src> Operands<1> for (A,) {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        (self.0.limit(chunks),)
    }

    #[inline(always)]
    fn chunks(self, i: usize) -> [Chunk; 1] {
        [self.0.chunk(i)]
    }
}

impl<A: Src, B: Src> Operands<2> for (A, B) {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        (self.0.limit(chunks), self.1.limit(chunks))
    }

    #[inline(always)]
    fn chunks(self, i: usize) -> [Chunk; 2] {
        [self.0.chunk(i), self.1.chunk(i)]
    }
}

impl<A: Src, B: Src, C: Src> Operands<3> for (A, B, C) {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        (self.0.limit(chunks), self.1.limit(chunks), self.2.limit(chunks))
    }

    #[inline(always)]
    fn chunks(self, i: usize) -> [Chunk; 3] {
        [self.0.chunk(i), self.1.chunk(i), self.2.chunk(i)]
    }
}

impl<A: Src, B: Src, C: Src, D: Src> Operands<4> for (A, B, C, D) {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        (self.0.limit(chunks), self.1.limit(chunks), self.2.limit(chunks), self.3.limit(chunks))
    }

    #[inline(always)]
    fn chunks(self, i: usize) -> [Chunk; 4] {
        [self.0.chunk(i), self.1.chunk(i), self.2.chunk(i), self.3.chunk(i)]
    }
}

impl<const N: usize> Operands<N> for [&[Chunk]; N] {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        self.map(|slot| slot.limit(chunks))
    }

    #[inline(always)]
    fn chunks(self, i: usize) -> [Chunk; N] {
        self.map(|slot| slot.chunk(i))
    }
}

/// Does an operation lane by lane.
///
/// The inner loop has a fixed length and only values of its own, so the compiler makes straight
/// vector code of it, with no other version for odd ends or overlapping slots.
#[inline(always)]
fn map<F: Flush, O: Lanewise<N>, const N: usize>(dst: &mut [Chunk], operands: impl Operands<N>) {
    let operands = operands.limit(dst.len());
    for (i, to) in dst.iter_mut().enumerate() {
        inhibit_outer_vectorization();
        let chunks = operands.chunks(i);
        let mut flags = [flush::NO_FLAGS; LANES];
        let mut result = [0.0; LANES];
        for l in 0..LANES {
            let lane = gather_lane(&chunks, l);
            if O::CHECKS_DENORMALS {
                for x in lane {
                    F::check_operand(&mut flags[l], x);
                }
            }
            result[l] = O::lane::<F>(&mut flags[l], lane);
        }
        *to = result;
        if O::CHECKS_DENORMALS && F::needs_recompute(flags) {
            again::<O, N>(to, &chunks);
        }
    }
}

/// The operands of a lane.
#[inline(always)]
fn gather_lane<const N: usize>(chunks: &[Chunk; N], lane: usize) -> [f32; N] {
    let mut operands = [0.0; N];
    for n in 0..N {
        operands[n] = chunks[n][lane];
    }
    operands
}

/// A chunk once more by the scalar law: a denormal was met.
#[cold]
#[inline(never)]
fn again<O: Lanewise<N>, const N: usize>(to: &mut Chunk, chunks: &[Chunk; N]) {
    for (l, to) in to.iter_mut().enumerate() {
        *to = O::law(gather_lane(chunks, l));
    }
}
