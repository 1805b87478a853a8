//! Kernels of comparisons, selections and masks.
//!
//! A denormal compares as zero, zeros of either sign are equal, NaN is unordered ([`numerics::compare`](r500_numerics::compare)).

use core::hint::black_box;

use crate::{
    Flush, LANES, Operands, Slot, Src, gather_lane, inhibit_outer_vectorization, lanewise,
};
use r500_numerics::compare;

/// A relation of two numbers.
pub trait Relation {
    /// Returns whether it holds, in a flushing environment or for numbers that are not denormal.
    fn holds(a: f32, b: f32) -> bool;

    /// Returns whether it holds, by the reference semantics.
    fn reference(a: f32, b: f32) -> bool;
}

/// A < B.
pub struct Lt;
/// A >= B.
pub struct Ge;
/// A == B.
pub struct Eq;
/// A != B; true for NaN.
pub struct Ne;

macro_rules! relations {
    ($($name:ident: $operator:tt, $reference:expr;)*) => {$(
        impl Relation for $name {
            #[inline(always)]
            fn holds(a: f32, b: f32) -> bool {
                a $operator b
            }

            #[inline(always)]
            fn reference(a: f32, b: f32) -> bool {
                $reference(a, b)
            }
        }
    )*};
}

relations! {
    Lt: <, compare::lt;
    Ge: >=, compare::ge;
    Eq: ==, compare::eq;
    Ne: !=, compare::ne;
}

/// `MASK ? A : DST`, bit for bit.
#[inline(always)]
pub fn blend(dst: Slot<'_>, mask: impl Src, a: impl Src) {
    let (mask, a) = (mask.limit(dst.len()), a.limit(dst.len()));
    for i in 0..dst.len() {
        inhibit_outer_vectorization();
        let (mask, a, old) = (mask.chunk(i), a.chunk(i), dst[i].get());
        let mut new = [0.0; LANES];
        for l in 0..LANES {
            let mask = mask[l].to_bits();
            new[l] = f32::from_bits(a[l].to_bits() & mask | old[l].to_bits() & !mask);
        }
        dst[i].set(new);
    }
}

/// A & B of two masks.
#[inline(always)]
pub fn and(dst: Slot<'_>, a: impl Src, b: impl Src) {
    bitwise(dst, (a, b), |[a, b]| a & b);
}

/// A | B of two masks.
#[inline(always)]
pub fn or(dst: Slot<'_>, a: impl Src, b: impl Src) {
    bitwise(dst, (a, b), |[a, b]| a | b);
}

#[inline(always)]
fn bitwise<const N: usize>(dst: Slot<'_>, operands: impl Operands<N>, f: impl Fn([u32; N]) -> u32) {
    let operands = operands.limit(dst.len());
    for i in 0..dst.len() {
        inhibit_outer_vectorization();
        let chunks = operands.chunks(i);
        let mut result = [0.0; LANES];
        for (l, to) in result.iter_mut().enumerate() {
            *to = f32::from_bits(f(gather_lane(&chunks, l).map(f32::to_bits)));
        }
        dst[i].set(result);
    }
}

/// A if `A R B`, else B, bit for bit: `MIN` and `MAX`.
///
/// The compiler would emit `minps`, which flushes its result. `black_box` hides that the mask has all bits set.
#[inline(always)]
pub fn pick_raw<F: Flush, R: Relation>(dst: Slot<'_>, a: impl Src, b: impl Src) {
    let (a, b) = (a.limit(dst.len()), b.limit(dst.len()));
    let all_bits = black_box(u32::MAX);
    for i in 0..dst.len() {
        inhibit_outer_vectorization();
        let (a, b) = (a.chunk(i), b.chunk(i));
        let mut result = [0.0; LANES];
        for l in 0..LANES {
            let mask =
                if R::holds(F::flush_operand(a[l]), F::flush_operand(b[l])) { all_bits } else { 0 };
            result[l] = f32::from_bits(a[l].to_bits() & mask | b[l].to_bits() & !mask);
        }
        dst[i].set(result);
    }
}

lanewise! {
    /// The mask of `A R B`.
    Compare<R: Relation>[2] false,
        |L, _, [a, b]| mask(R::holds(L::Flush::flush_operand(a), L::Flush::flush_operand(b))),
        |[a, b]| mask(R::reference(a, b));

    /// A if `A R B`, else B: `MIN` and `MAX`, whose denormal results may be flushed or not.
    Pick<R: Relation>[2] false,
        |L, _, [a, b]| {
            let (a, b) = (L::Flush::flush_operand(a), L::Flush::flush_operand(b));
            if R::holds(a, b) { a } else { b }
        },
        |[a, b]| if R::reference(a, b) { a } else { b };

    /// `MASK ? A : B`, bit for bit.
    Select[3] false, |L, _, operands| selected(operands), |operands| selected(operands);

    /// A & !B of two masks.
    AndNot[2] false, |L, _, operands| and_not_of(operands), |operands| and_not_of(operands);
}

#[inline(always)]
fn selected([mask, a, b]: [f32; 3]) -> f32 {
    let mask = mask.to_bits();
    f32::from_bits(a.to_bits() & mask | b.to_bits() & !mask)
}

#[inline(always)]
fn and_not_of([a, b]: [f32; 2]) -> f32 {
    f32::from_bits(a.to_bits() & !b.to_bits())
}

#[inline(always)]
fn mask(set: bool) -> f32 {
    f32::from_bits(if set { u32::MAX } else { 0 })
}
