//! Lane kernels: each one operation over a batch of pixels.
//!
//! A slot holds one value of every pixel of a batch, in [`Chunk`]s of sixteen lanes; a quad is four
//! neighbouring lanes. A kernel is a loop from source slots to a destination slot, plain Rust that
//! the compiler turns into whatever vectors its caller is compiled for (see
//! [`simd`](super::simd)), so everything here is `#[inline(always)]`. Kernels equal
//! [`numerics`](crate::numerics) in every bit, but for the payload of a NaN.
//!
//! Sources are slots (`&[Chunk]`), as long as the destination or longer, or a [`Splat`].
//!
//! | module | kernels |
//! | --- | --- |
//! | [`arith`] | sums, products, dot products, quotients |
//! | [`choose`] | comparisons, selections, masks, minimum and maximum |
//! | [`functions`] | `FRC`, `EX2`, `LN2`, `SIN`, `COS`, the clamp |
//! | [`bits`] | copies, sign bits, corners of quads |
//! | [`flush`] | who takes care of denormals |
//!
//! **Denormals.** Kernels that compute or compare come with a [`Flush`]: under [`HwFlush`] they must
//! run inside [`fp_env::flushing`](super::fp_env::flushing), under [`SoftFlush`] anywhere. Those
//! that only move bits take none and are right in any environment.
//!
//! **Masks** are slots whose lanes have all bits set or none.

pub(crate) mod arith;
pub(crate) mod bits;
pub(crate) mod choose;
pub(crate) mod flush;
pub(crate) mod functions;

#[cfg(test)]
mod tests;

pub(crate) use flush::{CleanFlush, Flush, HwFlush, SoftFlush};
pub(crate) use functions::{BitTrick, Instruction, Rint};

/// Lanes of a chunk: one vector of the widest level.
pub(crate) const LANES: usize = 16;

/// A value of sixteen pixels.
pub(crate) type Chunk = [f32; LANES];

/// Where an operand comes from.
pub(crate) trait Src: Copy {
    /// The same, known to have this many chunks. Panics if there are fewer.
    fn limit(self, chunks: usize) -> Self;

    /// A value of one lane of all.
    fn lane(self, i: usize) -> f32;

    /// Sixteen values.
    fn chunk(self, i: usize) -> Chunk;
}

impl Src for &[Chunk] {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        &self[..chunks]
    }

    #[inline(always)]
    fn lane(self, i: usize) -> f32 {
        self.as_flattened()[i]
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
    fn lane(self, _: usize) -> f32 {
        self.0
    }

    #[inline(always)]
    fn chunk(self, _: usize) -> Chunk {
        [self.0; LANES]
    }
}

/// An operation on the lanes of N operands.
///
/// The loops are over single lanes, not over chunks: that is the form that the compiler vectorises
/// without fail, however long the operation.
trait Lanewise<const N: usize> {
    /// Whether the kernel answers for denormals by doing the batch again by [`law`](Self::law).
    /// Otherwise [`lane`](Self::lane) is right for all operands.
    const WATCHES: bool;

    /// One lane. What it rounds it shows to `seen`, if that can be tiny.
    fn lane<F: Flush>(seen: &mut u32, operands: [f32; N]) -> f32;

    /// One lane by the scalar law, in plain arithmetic.
    fn law(operands: [f32; N]) -> f32;
}

/// The operands of one lane: one to three sources, or some slots.
trait Operands<const N: usize>: Copy {
    fn limit(self, chunks: usize) -> Self;
    fn lane(self, i: usize) -> [f32; N];
}

impl<A: Src> Operands<1> for (A,) {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        (self.0.limit(chunks),)
    }

    #[inline(always)]
    fn lane(self, i: usize) -> [f32; 1] {
        [self.0.lane(i)]
    }
}

impl<A: Src, B: Src> Operands<2> for (A, B) {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        (self.0.limit(chunks), self.1.limit(chunks))
    }

    #[inline(always)]
    fn lane(self, i: usize) -> [f32; 2] {
        [self.0.lane(i), self.1.lane(i)]
    }
}

impl<A: Src, B: Src, C: Src> Operands<3> for (A, B, C) {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        (self.0.limit(chunks), self.1.limit(chunks), self.2.limit(chunks))
    }

    #[inline(always)]
    fn lane(self, i: usize) -> [f32; 3] {
        [self.0.lane(i), self.1.lane(i), self.2.lane(i)]
    }
}

impl<const N: usize> Operands<N> for [&[Chunk]; N] {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        self.map(|slot| slot.limit(chunks))
    }

    #[inline(always)]
    fn lane(self, i: usize) -> [f32; N] {
        self.map(|slot| slot.lane(i))
    }
}

/// Does an operation lane by lane.
#[inline(always)]
fn map<F: Flush, O: Lanewise<N>, const N: usize>(dst: &mut [Chunk], operands: impl Operands<N>) {
    let operands = operands.limit(dst.len());
    let mut seen = flush::NOTHING;
    for (i, to) in dst.as_flattened_mut().iter_mut().enumerate() {
        let lanes = operands.lane(i);
        if O::WATCHES {
            for x in lanes {
                F::given(&mut seen, x);
            }
        }
        *to = O::lane::<F>(&mut seen, lanes);
    }
    if O::WATCHES && F::met(seen) {
        again::<O, N>(dst, operands);
    }
}

/// The batch once more by the scalar law: a denormal was met.
#[cold]
#[inline(never)]
fn again<O: Lanewise<N>, const N: usize>(dst: &mut [Chunk], operands: impl Operands<N>) {
    let operands = operands.limit(dst.len());
    for (i, to) in dst.as_flattened_mut().iter_mut().enumerate() {
        *to = O::law(operands.lane(i));
    }
}
