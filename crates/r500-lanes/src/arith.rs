//! Kernels of sums, products, quotients: every step is rounded, none is fused.

use core::hint::black_box;

use crate::{Flush, Slot, Splat, Src, lanewise, map};
use r500_numerics::Arith;
use r500_simd::SimdLevel;

const REFERENCE: Arith = Arith::REFERENCE;

/// The zero rule of a product.
pub trait Product {
    /// Whether a zero A makes the product +0, for any B.
    const ZERO_A: bool;
    /// Whether a zero B makes the product +0, for any A.
    const ZERO_B: bool;

    /// Returns the product with its sign flipped where the sign bit of `sign` is set; where a zero factor decides, `zero`, the bits of +0.
    #[inline(always)]
    fn of<F: Flush>(flags: &mut u32, [a, b]: [f32; 2], sign: f32, zero: u32) -> f32 {
        let mut bits = F::check_result(flags, a * b).to_bits() ^ sign.to_bits();
        if Self::ZERO_A {
            bits = if a == 0.0 { zero } else { bits };
        }
        if Self::ZERO_B {
            bits = if b == 0.0 { zero } else { bits };
        }
        f32::from_bits(bits)
    }

    /// Returns the product by the reference arithmetic.
    #[inline(always)]
    fn reference(a: f32, b: f32) -> f32 {
        let zero = r500_numerics::compare::is_zero;
        if Self::ZERO_A && zero(a) || Self::ZERO_B && zero(b) {
            return 0.0;
        }
        REFERENCE.mul(a, b)
    }
}

/// No zero rule: IEEE 754.
pub struct Ieee;

impl Product for Ieee {
    const ZERO_A: bool = false;
    const ZERO_B: bool = false;
}

/// `ZERO_TIMES_ANYTHING_EQUALS_ZERO` for a zero A only, where the rule has no effect for a zero B.
pub struct ZeroA;

impl Product for ZeroA {
    const ZERO_A: bool = true;
    const ZERO_B: bool = false;
}

/// `ZERO_TIMES_ANYTHING_EQUALS_ZERO`.
pub struct ZeroBoth;

impl Product for ZeroBoth {
    const ZERO_A: bool = true;
    const ZERO_B: bool = true;
}

/// The signs of a sum of a product P and C.
pub trait Sum {
    /// Whether the product is negated, after the zero rule.
    const MINUS_P: bool;
    /// Whether C is negated.
    const MINUS_C: bool;

    /// Returns the sum at a level.
    #[inline(always)]
    fn of(p: f32, c: f32) -> f32 {
        let p = if Self::MINUS_P { -p } else { p };
        if Self::MINUS_C { p - c } else { p + c }
    }

    /// Returns the sum by the reference arithmetic.
    #[inline(always)]
    fn reference(p: f32, c: f32) -> f32 {
        let p = if Self::MINUS_P { -p } else { p };
        if Self::MINUS_C { REFERENCE.sub(p, c) } else { REFERENCE.add(p, c) }
    }
}

/// P + C.
pub struct PlusC;

impl Sum for PlusC {
    const MINUS_P: bool = false;
    const MINUS_C: bool = false;
}

/// P - C.
pub struct MinusC;

impl Sum for MinusC {
    const MINUS_P: bool = false;
    const MINUS_C: bool = true;
}

/// C - P.
pub struct FromC;

impl Sum for FromC {
    const MINUS_P: bool = true;
    const MINUS_C: bool = false;
}

/// -P - C.
pub struct MinusBoth;

impl Sum for MinusBoth {
    const MINUS_P: bool = true;
    const MINUS_C: bool = true;
}

lanewise! {
    /// A * B. Also the scaling of `OMOD` (B is a power of two).
    Mul[2] true, |L, flags, [a, b]| L::Flush::check_result(flags, a * b), |[a, b]| REFERENCE.mul(a, b);

    /// A * B and C, added by their signs.
    Mad<S: Sum>[3] true,
        |L, flags, [a, b, c]| {
            let p = L::Flush::check_result(flags, a * b);
            L::Flush::check_result(flags, S::of(p, c))
        },
        |[a, b, c]| S::reference(REFERENCE.mul(a, b), c);

    /// A * B, with a zero rule.
    MulZero<P: Product>[2] true,
        |L, flags, [a, b]| P::of::<L::Flush>(flags, [a, b], 0.0, 0),
        |[a, b]| P::reference(a, b);

    /// [`MulZero`] and C, added by their signs.
    MadZero<P: Product, S: Sum>[3] true,
        |L, flags, [a, b, c]| {
            let p = P::of::<L::Flush>(flags, [a, b], 0.0, 0);
            L::Flush::check_result(flags, S::of(p, c))
        },
        |[a, b, c]| S::reference(P::reference(a, b), c);

    /// A * B with the sign flipped, before the zero rule, where `sign` is -0; unchanged where it is +0.
    MulSigned<P: Product>[3] true,
        |L, flags, [a, b, sign]| P::of::<L::Flush>(flags, [a, b], sign, 0),
        |[a, b, sign]| P::reference(flip(a, sign), b);

    /// [`MulSigned`] and C, added by their signs.
    MadSigned<P: Product, S: Sum>[4] true,
        |L, flags, [a, b, c, sign]| {
            // The compiler treats subtraction of zero as an identity, and would pass C through unflushed where the product is zero: hide
            // the zero from it.
            let zero = if S::MINUS_P { sign.to_bits() & 0x7fff_ffff } else { 0 };
            let p = P::of::<L::Flush>(flags, [a, b], sign, zero);
            L::Flush::check_result(flags, S::of(p, c))
        },
        |[a, b, c, sign]| S::reference(P::reference(flip(a, sign), b), c);

    /// The sum of A and B, by their signs.
    Add<S: Sum>[2] true, |L, flags, [a, b]| L::Flush::check_result(flags, S::of(a, b)), |[a, b]| S::reference(a, b);

    /// `RCP`: 1 / A, correctly rounded.
    Rcp[1] true, |L, flags, [a]| L::Flush::check_result(flags, 1.0 / a), |[a]| REFERENCE.rcp(a);

    /// `RSQ`: 1 / the rounded root of A. No root of a normal number is near 2^-126 or 2^126.
    Rsq[1] true, |L, _, [a]| 1.0 / a.sqrt(), |[a]| REFERENCE.rsq(a);
}

/// [`MadSigned`] over chunks.
#[inline(always)]
pub fn mad_signed<L: SimdLevel, P: Product, S: Sum>(
    dst: Slot<'_>,
    a: impl Src,
    b: impl Src,
    c: impl Src,
    sign: Splat,
) {
    let sign = if S::MINUS_P { Splat(black_box(sign.0)) } else { sign };
    map::<L, MadSigned<P, S>, 4>(dst, (a, b, c, sign));
}

/// Returns x with its sign flipped where the sign bit of `sign` is set.
#[inline(always)]
fn flip(x: f32, sign: f32) -> f32 {
    f32::from_bits(x.to_bits() ^ sign.to_bits() & 0x8000_0000)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use r500_simd::level::Portable;

    use super::*;
    use crate::LANES;

    /// A zero or denormal factor decides, whatever the other is, also in a chunk that is computed again because of a denormal.
    #[test]
    fn a_zero_factor_makes_zero_next_to_a_denormal() {
        let zeros = [0.0, -0.0, f32::from_bits(1), f32::from_bits(0x807f_ffff)];
        let others = [f32::NAN, f32::from_bits(0x7f80_0001), f32::INFINITY, 1.5, -0.0];
        for zero in zeros {
            for other in others {
                for (a, b) in [(zero, other), (other, zero)] {
                    let mut values = [a; LANES];
                    values[3] = f32::from_bits(1);
                    let slot = |values| [Cell::new(black_box(values))];
                    let (a, b, to) = (slot(values), slot([b; LANES]), slot([0.25; LANES]));
                    map::<Portable, MulZero<ZeroBoth>, 2>(&to, (&a[..], &b[..]));
                    assert_eq!(to[0].get().map(f32::to_bits), [0; LANES], "{values:?} {b:?}");
                }
            }
        }
    }
}
