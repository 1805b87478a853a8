//! Lane kernels: each is one operation over a batch of pixels, or of vertices.
//!
//! A slot holds one value of every pixel or vertex of a batch, in [`Chunk`]s of sixteen lanes; a quad is four adjacent lanes. A kernel is a loop from
//! source slots to a destination slot, in plain Rust that the compiler vectorises for the level that its caller is compiled for (see
//! [`r500_simd`]), so everything here is `#[inline(always)]`. Kernels equal [`numerics`](r500_numerics) in every bit, except the payload of
//! a NaN.
//!
//! Sources are slots, at least as long as the destination, or a [`Splat`]. Slots are slices of cells ([`Slot`]), so a kernel may write a
//! slot that it reads.
//!
//! | module | kernels |
//! | --- | --- |
//! | [`arith`] | sums, products, dot products, quotients |
//! | [`select`] | comparisons, selections, masks, minimum and maximum |
//! | [`functions`] | `FRC`, `EX2`, `LN2`, `SIN`, `COS`, the clamp |
//! | [`bits`] | copies, sign bits, corners of quads |
//! | [`fused`] | two of these in one loop |
//!
//! **Denormals.** Kernels that compute or compare take a [`Flush`]: with [`HwFlush`](r500_simd::HwFlush) they must run inside
//! [`fp_env::flushing`](r500_simd::fp_env::flushing), with [`SoftFlush`](r500_simd::SoftFlush) anywhere. Kernels that only move bits take
//! none and run in any environment.
//!
//! **Masks** are slots whose lanes have all bits set or none.

#![allow(
    clippy::manual_memcpy,
    clippy::needless_range_loop,
    reason = "indices that are known to be below all lengths have no bounds checks; loops over lanes become vector instructions"
)]

pub mod arith;
pub mod bits;
pub mod functions;
pub mod fused;
pub mod select;

use core::cell::Cell;

use r500_simd::flush::{self, Flush};
pub use r500_simd::{Chunk, LANES};
use r500_simd::{SimdLevel, inhibit_outer_vectorization};

/// The chunks of a slot.
pub type Slot<'a> = &'a [Cell<Chunk>];

/// A source operand.
pub trait Src: Copy {
    /// Returns the source restricted to a number of chunks. Panics if it is shorter.
    fn limit(self, chunks: usize) -> Self;

    /// Returns the values of sixteen lanes.
    fn chunk(self, i: usize) -> Chunk;
}

impl Src for Slot<'_> {
    #[inline(always)]
    fn limit(self, chunks: usize) -> Self {
        &self[..chunks]
    }

    #[inline(always)]
    fn chunk(self, i: usize) -> Chunk {
        self[i].get()
    }
}

/// A source with the same value in every lane.
#[derive(Clone, Copy, Debug)]
pub struct Splat(pub f32);

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
pub trait Lanewise<const N: usize> {
    /// Whether a chunk with denormals is recomputed lane by lane with [`reference`](Self::reference). Otherwise [`lane`](Self::lane) is right for all
    /// operands.
    const CHECKS_DENORMALS: bool;

    /// Computes one lane at a level. Records in `flags` whether a rounded result may be subnormal.
    fn lane<L: SimdLevel>(flags: &mut u32, operands: [f32; N]) -> f32;

    /// Computes one lane by the scalar reference semantics, in IEEE arithmetic.
    fn reference(operands: [f32; N]) -> f32;
}

/// Defines operations: `NAME[operands] CHECKS_DENORMALS, lane, reference`.
macro_rules! lanewise {
    ($(
        $(#[$doc:meta])*
        $name:ident $(<$($param:ident: $bound:ident),*>)? [$n:literal] $checks:literal,
            |$level:ident, $flags:pat_param, $operands:pat_param| $lane:expr,
            |$reference_operands:pat_param| $reference:expr;
    )*) => {$(
        $(#[$doc])*
        pub struct $name $(<$($param),*>(core::marker::PhantomData<($($param,)*)>))?;

        impl $(<$($param: $bound),*>)? $crate::Lanewise<$n> for $name $(<$($param),*>)? {
            const CHECKS_DENORMALS: bool = $checks;

            #[inline(always)]
            fn lane<$level: r500_simd::SimdLevel>($flags: &mut u32, $operands: [f32; $n]) -> f32 {
                $lane
            }

            #[inline(always)]
            fn reference($reference_operands: [f32; $n]) -> f32 {
                $reference
            }
        }
    )*};
}
use lanewise;

/// The operands of a chunk: one to five sources.
pub trait Operands<const N: usize>: Copy {
    /// Returns the sources restricted to a number of chunks. Panics if one is shorter.
    fn limit(self, chunks: usize) -> Self;
    /// Returns the values of sixteen lanes.
    fn chunks(self, i: usize) -> [Chunk; N];
}

macro_rules! operands {
    ($($n:literal: $($source:ident $at:tt),*;)*) => {$(
        impl<$($source: Src),*> Operands<$n> for ($($source,)*) {
            #[inline(always)]
            fn limit(self, chunks: usize) -> Self {
                ($(self.$at.limit(chunks),)*)
            }

            #[inline(always)]
            fn chunks(self, i: usize) -> [Chunk; $n] {
                [$(self.$at.chunk(i)),*]
            }
        }
    )*};
}

operands! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
}

/// Applies an operation lane by lane.
///
/// The inner loop has a fixed length and only local values, so the compiler emits straight-line vector code for it, without versions for
/// remainders or overlapping slots.
#[inline(always)]
pub fn map<L: SimdLevel, O: Lanewise<N>, const N: usize>(
    dst: Slot<'_>,
    operands: impl Operands<N>,
) {
    let operands = operands.limit(dst.len());
    for i in 0..dst.len() {
        inhibit_outer_vectorization();
        let chunks = operands.chunks(i);
        let mut flags = [flush::NO_FLAGS; LANES];
        let mut result = [0.0; LANES];
        for l in 0..LANES {
            let lane = gather_lane(&chunks, l);
            if O::CHECKS_DENORMALS {
                for x in lane {
                    L::Flush::check_operand(&mut flags[l], x);
                }
            }
            result[l] = O::lane::<L>(&mut flags[l], lane);
        }
        if O::CHECKS_DENORMALS && L::Flush::needs_recompute(flags) {
            recompute_scalar::<O, N>(&mut result, &chunks);
        }
        dst[i].set(result);
    }
}

/// Returns the operands of a lane.
#[inline(always)]
fn gather_lane<const N: usize>(chunks: &[Chunk; N], lane: usize) -> [f32; N] {
    let mut operands = [0.0; N];
    for n in 0..N {
        operands[n] = chunks[n][lane];
    }
    operands
}

/// Recomputes a chunk that contains a denormal, by the scalar reference semantics.
#[cold]
#[inline(never)]
fn recompute_scalar<O: Lanewise<N>, const N: usize>(to: &mut Chunk, chunks: &[Chunk; N]) {
    for (l, to) in to.iter_mut().enumerate() {
        *to = O::reference(gather_lane(chunks, l));
    }
}
