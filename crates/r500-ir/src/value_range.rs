//! Interval analysis of float values: bounds, and whether a value can be NaN, -0 or denormal.
//!
//! `ZERO_TIMES_ANYTHING_EQUALS_ZERO` costs two comparisons per product. It has an effect only if the other factor can be infinite or NaN,
//! or if the sign of a zero product affects the result. Ranges mostly exclude both: constants, texels, clamped values and interpolants are
//! bounded.
//!
//! The analysis is sound, not sharp: rounding is monotonic, so the bounds of a result are the results for the bounds.

use crate::{AddSign, MulFlags, Opcode};

/// Bounds of a float value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower bound of all numbers.
    pub lo: f32,
    /// The upper bound of all numbers.
    pub hi: f32,
    /// Whether the value may be NaN.
    pub nan: bool,
    /// Whether the value may be -0.
    pub minus_zero: bool,
    /// Whether the value may be denormal (bits that no arithmetic has produced).
    pub denormal: bool,
}

/// Facts about a range for code generation. They hold in lanes whose values are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RangeFacts {
    /// No value is infinite or NaN.
    pub finite: bool,
    /// All values are positive, finite and normal: none is a special case of a logarithm.
    pub positive: bool,
    /// All values are between -126 and 127: none is a special case of a power of two, which is normal.
    pub exponent: bool,
    /// All magnitudes are at most 2^100.
    pub bounded: bool,
    /// All values lie between 0 and 1, or are NaN; none is -0 or denormal.
    pub fraction: bool,
}

/// 2^-100. If one operand of a sum is this large, the sum is zero or not subnormal.
pub(super) const SMALL: f32 = 7.888_609e-31;

impl Range {
    /// The range of all floats.
    pub const ANY: Self = Self {
        lo: f32::NEG_INFINITY,
        hi: f32::INFINITY,
        nan: true,
        minus_zero: true,
        denormal: true,
    };

    /// The range of all results of arithmetic: no denormals.
    pub const ARITHMETIC: Self = Self { denormal: false, ..Self::ANY };

    /// Returns the range of one number.
    #[must_use]
    pub fn of(x: f32) -> Self {
        let (lo, hi) = if x.is_nan() { (0.0, 0.0) } else { (x, x) };
        Self {
            lo,
            hi,
            nan: x.is_nan(),
            minus_zero: x == 0.0 && x.is_sign_negative(),
            denormal: x.is_subnormal(),
        }
    }

    /// Returns the range of the numbers between two bounds, with the denormals and zeros of either sign among them.
    #[must_use]
    pub fn between(lo: f32, hi: f32) -> Self {
        Self { lo, hi, nan: false, minus_zero: lo <= 0.0, denormal: lo < f32::MIN_POSITIVE }
    }

    /// Returns the range of an arithmetic result between two bounds.
    fn result(lo: f32, hi: f32, nan: bool, minus_zero: bool) -> Self {
        if lo.is_nan() || hi.is_nan() {
            return Self { nan: true, ..Self::ARITHMETIC };
        }
        // A subnormal result is flushed to zero, which is outside of a subnormal bound.
        let tiny = |x: f32| x.abs() < f32::MIN_POSITIVE;
        let (lo, hi) =
            (if tiny(lo) { lo.min(0.0) } else { lo }, if tiny(hi) { hi.max(0.0) } else { hi });
        Self { lo, hi, nan, minus_zero, denormal: false }
    }

    /// Returns whether all values are finite numbers.
    #[must_use]
    pub fn is_finite(self) -> bool {
        !self.nan && self.lo > f32::NEG_INFINITY && self.hi < f32::INFINITY
    }

    /// Returns the facts for code generation.
    #[must_use]
    pub fn facts(self) -> RangeFacts {
        let finite = self.is_finite();
        RangeFacts {
            finite,
            positive: finite && self.lo >= f32::MIN_POSITIVE,
            exponent: finite && self.lo >= -126.0 && self.hi <= 127.0,
            bounded: finite && self.lo >= -1.0 / SMALL && self.hi <= 1.0 / SMALL,
            fraction: Self { nan: false, ..self }.is_unit(),
        }
    }

    /// Returns whether arithmetic may treat a value as zero.
    #[must_use]
    pub fn may_be_zero(self) -> bool {
        self.lo < f32::MIN_POSITIVE && self.hi > -f32::MIN_POSITIVE
    }

    /// Returns whether a value may be negative, or -0.
    #[must_use]
    pub fn may_be_negative(self) -> bool {
        self.lo < 0.0 || self.minus_zero
    }

    /// Returns whether a value may be negative, -0, or NaN, so that dropping its sign may change it.
    #[must_use]
    pub fn may_be_negative_or_nan(self) -> bool {
        self.nan || self.may_be_negative()
    }

    /// Returns whether a clamp to 0..1 leaves all values unchanged.
    #[must_use]
    pub fn is_unit(self) -> bool {
        !self.nan && !self.minus_zero && !self.denormal && self.lo >= 0.0 && self.hi <= 1.0
    }

    fn may_be_infinite(self) -> bool {
        self.lo == f32::NEG_INFINITY || self.hi == f32::INFINITY
    }

    fn may_be_small(self) -> bool {
        self.lo < SMALL && self.hi > -SMALL
    }

    /// Returns the smallest range that contains both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
            nan: self.nan || other.nan,
            minus_zero: self.minus_zero || other.minus_zero,
            denormal: self.denormal || other.denormal,
        }
    }

    /// Widens the range: non-zero bounds become infinite.
    #[must_use]
    pub fn widen(self) -> Self {
        let lo = if self.lo >= 0.0 { 0.0 } else { f32::NEG_INFINITY };
        let hi = if self.hi <= 0.0 { 0.0 } else { f32::INFINITY };
        Self { lo, hi, ..self }
    }

    /// Widens the range to bounds that simplifications rely on: zero, and the smallest and the largest normal number of each sign.
    #[must_use]
    pub fn widen_finite(self) -> Self {
        let above = |lo: f32| match lo {
            _ if lo >= f32::MIN_POSITIVE => f32::MIN_POSITIVE,
            _ if lo >= 0.0 => 0.0,
            _ if lo >= f32::MIN => f32::MIN,
            _ => f32::NEG_INFINITY,
        };
        Self { lo: above(self.lo), hi: -above(-self.hi), ..self }
    }

    /// Returns the range after some iterations, each of which adds between `down` and `up`.
    #[must_use]
    pub fn advance(self, iterations: u32, (down, up): (f32, f32)) -> Self {
        let far = |bound: f32, step: f32| {
            if step == 0.0 || bound.is_infinite() {
                return bound;
            }
            // Sums are rounded, and subnormal ones are flushed: the error of thousands of sums is less than this.
            let way = iterations as f32 * step;
            bound + way + (bound.abs() + way.abs()).copysign(step) / 256.0
        };
        Self { lo: far(self.lo, down), hi: far(self.hi, up), ..self }
    }

    /// Returns whether the range contains all values of another.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.lo <= other.lo
            && self.hi >= other.hi
            && (self.nan || !other.nan)
            && (self.minus_zero || !other.minus_zero)
            && (self.denormal || !other.denormal)
    }

    /// Returns the range of -x.
    #[must_use]
    pub fn negated(self) -> Self {
        let minus_zero = self.lo <= 0.0 && self.hi >= 0.0;
        Self { lo: -self.hi, hi: -self.lo, minus_zero, ..self }
    }

    /// Returns the range of |x|.
    #[must_use]
    pub fn abs(self) -> Self {
        let hi = self.lo.abs().max(self.hi.abs());
        let lo =
            if self.lo <= 0.0 && self.hi >= 0.0 { 0.0 } else { self.lo.abs().min(self.hi.abs()) };
        Self { lo, hi, minus_zero: false, ..self }
    }

    /// Returns the range of x + y.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let nan = self.nan || other.nan || (self.may_be_infinite() && other.may_be_infinite());
        let (lo, hi) = (self.lo + other.lo, self.hi + other.hi);
        // A sum is -0 if both operands are, or if it is negative and subnormal, for which both must be small.
        let small = |range: Self| range.may_be_small() && (range.lo, range.hi) != (0.0, 0.0);
        let tiny = lo < 0.0 && small(self) && small(other);
        Self::result(lo, hi, nan, tiny || (self.may_be_zero_minus() && other.may_be_zero_minus()))
    }

    /// Returns whether arithmetic may treat a value as -0: -0 itself, or a negative denormal.
    fn may_be_zero_minus(self) -> bool {
        self.minus_zero || (self.denormal && self.lo < 0.0)
    }

    /// Returns the range of x * y; with the zero rule, zero times anything is +0.
    #[must_use]
    pub fn times(self, other: Self, zero_rule: bool) -> Self {
        let zero_times_infinity = (self.may_be_zero() && other.may_be_infinite())
            || (other.may_be_zero() && self.may_be_infinite());
        let nan = self.nan || other.nan || (zero_times_infinity && !zero_rule);
        let corners =
            [self.lo * other.lo, self.lo * other.hi, self.hi * other.lo, self.hi * other.hi];
        // 0 * infinity at a corner: products in between have any magnitude.
        let spread = |x: f32, open: f32| if x.is_nan() { open } else { x };
        let lo = corners.iter().fold(f32::INFINITY, |lo, &x| lo.min(spread(x, f32::NEG_INFINITY)));
        let hi = corners.iter().fold(f32::NEG_INFINITY, |hi, &x| hi.max(spread(x, f32::INFINITY)));
        // A zero between the bounds is in the hull of the corners.
        let minus = (self.may_be_negative() && (other.hi >= 0.0))
            || (other.may_be_negative() && self.hi >= 0.0);
        Self::result(lo, hi, nan, minus)
    }

    /// Returns the range of x < y ? x : y.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        let either = self.join(other);
        if either.nan { either } else { Self { hi: self.hi.min(other.hi), ..either } }
    }

    /// Returns the range of x >= y ? x : y.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        let either = self.join(other);
        if either.nan { either } else { Self { lo: self.lo.max(other.lo), ..either } }
    }

    /// Returns the range of x clamped to 0..1.
    #[must_use]
    pub fn clamp01(self) -> Self {
        let limit = |x: f32| x.clamp(0.0, 1.0);
        let lo = if self.nan { 0.0 } else { limit(self.lo) };
        Self { lo, hi: limit(self.hi), nan: false, minus_zero: false, denormal: self.denormal }
    }

    /// Returns the range of x with denormals flushed.
    #[must_use]
    pub fn flush(self) -> Self {
        Self { minus_zero: self.may_be_zero_minus(), denormal: false, ..self }
    }

    /// Returns the range of x - floor(x).
    #[must_use]
    pub fn frc(self) -> Self {
        Self::result(0.0, 1.0, self.nan || self.may_be_infinite(), false)
    }

    /// Returns the range of 1 / x.
    #[must_use]
    pub fn rcp(self) -> Self {
        if self.may_be_zero() {
            let lo = if self.may_be_negative() { f32::NEG_INFINITY } else { 0.0 };
            return Self::result(lo, f32::INFINITY, self.nan, self.lo < 0.0);
        }
        Self::result(1.0 / self.hi, 1.0 / self.lo, self.nan, self.hi < 0.0)
    }

    /// Returns the range of 1 / sqrt(x).
    #[must_use]
    pub fn rsq(self) -> Self {
        let nan = self.nan || self.lo < 0.0;
        let lo = if self.may_be_zero_minus() { f32::NEG_INFINITY } else { 0.0 };
        let hi = if self.lo >= f32::MIN_POSITIVE { 2.0 / self.lo.sqrt() } else { f32::INFINITY };
        Self::result(lo, hi, nan, false)
    }

    /// Returns the range of 2^x.
    #[must_use]
    pub fn ex2(self) -> Self {
        // The error of the kernel is a few units in the last place.
        let hi = if self.hi < 127.0 { self.hi.exp2() * 1.001 } else { f32::INFINITY };
        Self::result(0.0, hi, self.nan, false)
    }

    /// Returns the range of the logarithm of x to base 2.
    #[must_use]
    pub fn ln2(self) -> Self {
        // The errors of the kernel and of `log2` are a few units in the last place.
        let hi = if self.hi >= f32::MIN_POSITIVE { self.hi.log2() + 0.01 } else { -125.0 };
        let lo =
            if self.lo >= f32::MIN_POSITIVE { self.lo.log2() - 0.01 } else { f32::NEG_INFINITY };
        Self::result(lo, hi, self.nan || self.lo < 0.0, true)
    }

    /// Returns the range of a sine or cosine.
    #[must_use]
    pub fn sine(self) -> Self {
        Self::result(-1.001, 1.001, self.nan || self.may_be_infinite(), true)
    }
}

impl Opcode {
    /// Returns the range of the result, given those of the operands; [`Range::ANY`] for masks and inputs.
    #[must_use]
    pub fn range(self, [a, b, c]: [Range; 3]) -> Range {
        let product = |flags: MulFlags| {
            // The zero rule excludes the NaN of zero times infinity if it holds for each factor that may be zero.
            let excluded = |zero: Range, other: Range, rule: bool| {
                rule || !zero.may_be_zero() || other.is_finite()
            };
            let zero_rule = excluded(a, b, flags.zero_a) && excluded(b, a, flags.zero_b);
            let range = a.times(b, zero_rule);
            if flags.negate { range.negated() } else { range }
        };
        match self {
            Self::Mul(flags) => product(flags),
            Self::Mad(flags, AddSign::Plus) => product(flags).plus(c),
            Self::Mad(flags, AddSign::Minus) => product(flags).plus(c.negated()),
            Self::Add => a.plus(b),
            Self::Sub => a.plus(b.negated()),
            Self::Neg => a.negated(),
            Self::Abs => a.abs(),
            Self::NegAbs => a.abs().negated(),
            Self::Min(_) => a.min(b),
            Self::Max(_) => a.max(b),
            Self::Select => b.join(c),
            Self::Flush => a.flush(),
            Self::Clamp01 => a.clamp01(),
            Self::Frc => a.frc(),
            Self::Rcp => a.rcp(),
            Self::Rsq => a.rsq(),
            Self::Ex2 => a.ex2(),
            Self::Ln2 => a.ln2(),
            Self::Sin | Self::Cos => a.sine(),
            Self::QuadBroadcast(_) => a,
            Self::Input { .. }
            | Self::LoadConstant { .. }
            | Self::Lt
            | Self::Ge
            | Self::Eq
            | Self::Ne
            | Self::And
            | Self::Or
            | Self::AndNot => Range::ANY,
        }
    }
}

impl MulFlags {
    /// Returns whether the zero rule of factor `zero` has an effect on a product; `sign_shows`: the sign of a zero product is observable.
    #[must_use]
    pub fn zero_rule_shows(zero: Range, other: Range, negate: bool, sign_shows: bool) -> bool {
        let minus = if negate {
            other.hi >= 0.0 || zero.flush().minus_zero
        } else {
            other.may_be_negative() || (zero.flush().minus_zero && other.hi >= 0.0)
        };
        zero.may_be_zero() && (!other.is_finite() || (sign_shows && minus))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use r500_numerics::Arith;

    const POINTS: [f32; 13] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        3.0e38,
        -3.0e38,
        f32::MIN_POSITIVE,
        -f32::MIN_POSITIVE,
        1.0e-30,
        -2.0e-38,
        f32::INFINITY,
        f32::NEG_INFINITY,
    ];

    fn holds(range: Range, x: f32) -> bool {
        if x.is_nan() {
            return range.nan;
        }
        let minus = x == 0.0 && x.is_sign_negative();
        range.lo <= x
            && x <= range.hi
            && (!minus || range.minus_zero)
            && (!x.is_subnormal() || range.denormal)
    }

    /// Every range between two points holds the results of points inside it.
    #[test]
    fn results_of_points_lie_in_results_of_ranges() {
        let mut ranges = vec![(Range::ANY, POINTS.to_vec())];
        for &lo in &POINTS {
            for &hi in POINTS.iter().filter(|&&hi| lo <= hi) {
                let inside: Vec<f32> =
                    POINTS.iter().copied().filter(|x| lo <= *x && *x <= hi).collect();
                let mut range = Range::between(lo, hi);
                range.minus_zero |= inside.contains(&0.0);
                ranges.push((range, inside));
            }
        }
        let reference = Arith::REFERENCE;
        let zero_rule = reference.with_zero_rule(true);
        for (a, points) in &ranges {
            for &x in points {
                assert!(holds(a.negated(), -x) && holds(a.abs(), x.abs()));
                assert!(holds(a.rcp(), reference.rcp(x)), "1/{x:e} in {a:?}");
                assert!(holds(a.rsq(), reference.rsq(x)), "rsq {x:e} in {a:?}");
                assert!(holds(a.frc(), reference.frc(x)), "frc {x:e} in {a:?}");
                assert!(holds(a.clamp01(), reference.clamp01(x)));
                assert!(holds(a.ex2(), r500_numerics::kernels::ex2(x)));
                assert!(holds(a.ln2(), r500_numerics::kernels::ln2(x)));
                assert!(holds(a.sine(), r500_numerics::kernels::sin(x)));
            }
            for (b, others) in &ranges {
                for (&x, &y) in points.iter().flat_map(|x| others.iter().map(move |y| (x, y))) {
                    assert!(
                        holds(a.plus(*b), reference.add(x, y)),
                        "{x:e} + {y:e} in {a:?} + {b:?}"
                    );
                    assert!(
                        holds(a.times(*b, false), reference.mul(x, y)),
                        "{x:e} * {y:e} in {a:?} * {b:?}"
                    );
                    assert!(
                        holds(a.times(*b, true), zero_rule.product(x, y)),
                        "{x:e} * {y:e} in {a:?} * {b:?}"
                    );
                    assert!(holds(a.min(*b), r500_numerics::compare::min(x, y)));
                    assert!(holds(a.max(*b), r500_numerics::compare::max(x, y)));
                }
            }
        }
    }
}
