//! Comparisons, and the operations that select by a comparison.
//!
//! A denormal compares as zero (CTM guide), the two zeros are equal, and a comparison with NaN is false
//! except [`ne`] (the guide's formulas; IEEE). This holds for predicates, the ALU result, `TEXKILL` and
//! the operations here; no reading varies it.
//!
//! A selected operand keeps its bits, denormals and NaN payloads included: `OMOD` 7 can make them visible
//! (documented).

use crate::special::flush;

/// Returns whether a == b.
#[inline]
#[must_use]
pub fn eq(a: f32, b: f32) -> bool {
    flush(a) == flush(b)
}

/// Returns whether x is zero or a denormal, which counts as zero.
///
/// It tests bits: of `eq(a, 0.0) || eq(b, 0.0)` rustc 1.95 makes code for AArch64 that is wrong for NaN and zero where a loop has it (observed:
/// `dispatch::tests::products_and_sums` of r500-fast).
#[inline]
#[must_use]
pub fn is_zero(x: f32) -> bool {
    x.to_bits() & 0x7f80_0000 == 0
}

/// Returns whether a != b; true with NaN.
#[inline]
#[must_use]
pub fn ne(a: f32, b: f32) -> bool {
    flush(a) != flush(b)
}

/// Returns whether a < b.
#[inline]
#[must_use]
pub fn lt(a: f32, b: f32) -> bool {
    flush(a) < flush(b)
}

/// Returns whether a > b.
#[inline]
#[must_use]
pub fn gt(a: f32, b: f32) -> bool {
    flush(a) > flush(b)
}

/// Returns whether a >= b.
#[inline]
#[must_use]
pub fn ge(a: f32, b: f32) -> bool {
    flush(a) >= flush(b)
}

/// `MIN`: returns a < b ? a : b. Equal operands and NaN give b.
#[inline]
#[must_use]
pub fn min(a: f32, b: f32) -> f32 {
    if lt(a, b) { a } else { b }
}

/// `MAX`: returns a >= b ? a : b. Equal operands give a, NaN gives b.
#[inline]
#[must_use]
pub fn max(a: f32, b: f32) -> f32 {
    if ge(a, b) { a } else { b }
}

/// `CND`: returns c > 0.5 ? a : b.
#[inline]
#[must_use]
pub fn cnd(a: f32, b: f32, c: f32) -> f32 {
    if gt(c, 0.5) { a } else { b }
}

/// `CMP`: returns c >= 0 ? a : b. -0 and negative denormals give a, NaN gives b.
#[inline]
#[must_use]
pub fn cmp(a: f32, b: f32, c: f32) -> f32 {
    if ge(c, 0.0) { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENORMAL: f32 = f32::from_bits(1);
    const INF: f32 = f32::INFINITY;
    const NAN: f32 = f32::NAN;

    fn same(got: f32, want: f32) {
        assert_eq!(got.to_bits(), want.to_bits(), "got {got:e}, want {want:e}");
    }

    #[test]
    fn denormals_compare_as_zero() {
        assert!(eq(DENORMAL, 0.0) && eq(-DENORMAL, DENORMAL) && !ne(DENORMAL, -0.0));
        assert!(!lt(-DENORMAL, 0.0) && !gt(DENORMAL, 0.0) && ge(-DENORMAL, DENORMAL));
        // The smallest normal number is not a denormal.
        assert!(gt(f32::MIN_POSITIVE, DENORMAL) && lt(-f32::MIN_POSITIVE, -DENORMAL));
        assert!(ne(f32::MIN_POSITIVE, 0.0));
    }

    #[test]
    fn only_not_equal_holds_with_nan() {
        for other in [NAN, 0.0, 1.0, -INF] {
            for (a, b) in [(NAN, other), (other, NAN)] {
                assert!(!eq(a, b) && !lt(a, b) && !gt(a, b) && !ge(a, b) && ne(a, b));
            }
        }
    }

    #[test]
    fn zeros_are_equal_so_min_gives_b_and_max_gives_a() {
        same(min(0.0, -0.0), -0.0);
        same(min(-0.0, 0.0), 0.0);
        same(max(0.0, -0.0), 0.0);
        same(max(-0.0, 0.0), -0.0);
    }

    #[test]
    fn selection_keeps_the_bits_of_denormals_and_nan() {
        let payload = f32::from_bits(0xffc1_2345);
        // Denormals compare equal, regardless of their order as numbers.
        same(min(DENORMAL, -DENORMAL), -DENORMAL);
        same(min(-DENORMAL, DENORMAL), DENORMAL);
        same(max(-DENORMAL, DENORMAL), -DENORMAL);
        same(max(-1.0, DENORMAL), DENORMAL);
        same(max(DENORMAL, -1.0), DENORMAL);
        same(min(-DENORMAL, 1.0), -DENORMAL);
        same(min(1.0, -DENORMAL), -DENORMAL);
        same(cmp(DENORMAL, 1.0, 0.0), DENORMAL);
        same(cnd(payload, 1.0, 2.0), payload);
        same(min(1.0, payload), payload);
        same(max(1.0, payload), payload);
        same(min(payload, 1.0), 1.0);
        same(max(payload, 1.0), 1.0);
    }

    #[test]
    fn cmp_takes_a_from_minus_zero_upwards() {
        for c in [0.0, -0.0, DENORMAL, -DENORMAL, 1.0, INF] {
            same(cmp(2.0, 3.0, c), 2.0);
        }
        for c in [-f32::MIN_POSITIVE, -1.0, -INF, NAN, -NAN] {
            same(cmp(2.0, 3.0, c), 3.0);
        }
    }

    #[test]
    fn cnd_takes_a_above_one_half_only() {
        for c in [0.5_f32.next_up(), 1.0, INF] {
            same(cnd(2.0, 3.0, c), 2.0);
        }
        for c in [0.5, 0.0, -INF, NAN] {
            same(cnd(2.0, 3.0, c), 3.0);
        }
    }
}
