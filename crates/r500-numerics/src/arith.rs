//! IEEE 754 binary32 arithmetic of the processor: sums, products, quotients, roots, clamping, output modifiers.

use crate::compare;
use crate::special::{CANONICAL_NAN, canonical_nan, flush};

/// The arithmetic: operations as methods, open rules as fields.
///
/// Every engine implements [`Arith::REFERENCE`]. The reference engine implements all combinations, for comparison with
/// a card.
///
/// All operations are on IEEE binary32 and round to nearest even. Unless a method says otherwise, a denormal operand
/// counts as zero of its sign and a tiny result becomes zero of its sign ([`Denormals`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arith {
    /// `US_CONFIG.ZERO_TIMES_ANYTHING_EQUALS_ZERO`. Not a reading but a bit of the program's state; false in
    /// [`Arith::REFERENCE`], as in a register that was not written.
    pub zero_rule: bool,
    /// The sign of the zero that `zero_rule` produces.
    pub zero_sign: ZeroSign,
    /// How sums, products and quotients treat denormals.
    pub denormals: Denormals,
    /// Whether a multiply-add rounds once (true) or twice (false).
    ///
    /// Open: not documented; pictures agree with two roundings. No operation of this generation is documented to round
    /// once.
    pub fused: bool,
    /// The result of the clamp to 0..1 for NaN.
    pub clamp_nan: ClampNan,
}

/// The sign of a product that `ZERO_TIMES_ANYTHING_EQUALS_ZERO` makes zero.
///
/// Open: the documents say zero, without a sign. Visible only through `RCP`, raw copies and float targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ZeroSign {
    /// Always +0.
    Plus,
    /// The exclusive OR of the factors' signs; NaN counts as positive.
    Xor,
}

/// How arithmetic treats denormal operands and results.
///
/// Open. Applies to sums, products, quotients, roots and fractions only: under either reading comparisons treat
/// denormals as zero (CTM guide), [`finish`] flushes them (documented), and so do the [kernels](super::kernels), whose
/// polynomials are for normal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Denormals {
    /// Flush-to-zero: denormal operands count as zero, tiny results become zero, of the same sign.
    Flush,
    /// IEEE 754: denormal operands keep their value, results underflow gradually.
    Keep,
}

/// The result of the clamp to 0..1 for NaN.
///
/// Open: not documented, and no known program depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClampNan {
    /// +0, the result of `x > 0 ? (x < 1 ? x : 1) : 0`.
    Zero,
    /// 1, the result of `x < 1 ? (x > 0 ? x : 0) : 1`.
    One,
    /// [`CANONICAL_NAN`].
    Nan,
}

/// Bound of *tiny* numbers (magnitude below 2^-126 after rounding with an unbounded exponent): 2^-126 - 2^-151.
///
/// With an unbounded exponent, floats just below 2^-126 are 2^-150 apart. The last of them is 2^-126 - 2^-150. The
/// midpoint between it and 2^-126 rounds to even, that is to 2^-126, so it is the smallest magnitude that is not tiny.
const TINY_BELOW: f64 = f32::MIN_POSITIVE as f64 * (1.0 - 1.0 / (1_u64 << 25) as f64);

impl Default for Arith {
    fn default() -> Self {
        Self::REFERENCE
    }
}

impl Arith {
    /// The project's choice, for a `US_CONFIG` of 0.
    pub const REFERENCE: Self = Self {
        zero_rule: false,
        zero_sign: ZeroSign::Plus,
        denormals: Denormals::Flush,
        fused: false,
        clamp_nan: ClampNan::Zero,
    };

    /// Returns the same readings with `ZERO_TIMES_ANYTHING_EQUALS_ZERO` as given.
    #[inline]
    #[must_use]
    pub const fn with_zero_rule(self, zero_rule: bool) -> Self {
        Self { zero_rule, ..self }
    }

    /// Returns a + b.
    #[inline]
    #[must_use]
    pub fn add(self, a: f32, b: f32) -> f32 {
        // A sum below 2^-126 is exact, so it is tiny exactly if it is denormal.
        self.operand(self.operand(a) + self.operand(b))
    }

    /// Returns a - b.
    #[inline]
    #[must_use]
    pub fn sub(self, a: f32, b: f32) -> f32 {
        self.operand(self.operand(a) - self.operand(b))
    }

    /// Returns a * b by IEEE 754, without the zero rule: for texture coordinates and presubtract.
    ///
    /// The product is tiny, and becomes zero, exactly if |a * b| < 2^-126 - 2^-151. IEEE rounding would return 2^-126
    /// for some of these.
    #[inline]
    #[must_use]
    pub fn mul(self, a: f32, b: f32) -> f32 {
        // Exact: a double holds the 48 bits of the product and its exponent.
        self.narrow(f64::from(self.operand(a)) * f64::from(self.operand(b)))
    }

    /// Returns a * b under `ZERO_TIMES_ANYTHING_EQUALS_ZERO`: zero if a factor is zero, even if the other is infinite
    /// or NaN.
    #[inline]
    #[must_use]
    pub fn mul_zero_rule(self, a: f32, b: f32) -> f32 {
        // By bits: see `compare::is_zero`.
        let zero = |x: f32| self.operand(x).to_bits() << 1 == 0;
        if zero(a) || zero(b) { self.zero_product(a, b) } else { self.mul(a, b) }
    }

    /// Returns a product of the ALU (`MAD`, the dot products, `MDH`, `MDV`): a * b with or without the zero rule.
    #[inline]
    #[must_use]
    pub fn product(self, a: f32, b: f32) -> f32 {
        if self.zero_rule { self.mul_zero_rule(a, b) } else { self.mul(a, b) }
    }

    /// `MAD`: returns a * b + c.
    #[inline]
    #[must_use]
    pub fn mad(self, a: f32, b: f32, c: f32) -> f32 {
        if self.fused { self.fused_mad(a, b, c) } else { self.add(self.product(a, b), c) }
    }

    /// `D2A`: returns (a0 * b0 + a1 * b1) + c.
    #[inline]
    #[must_use]
    pub fn dot2_add(self, a: [f32; 2], b: [f32; 2], c: f32) -> f32 {
        let first = self.product(a[0], b[0]);
        self.add(self.mad(a[1], b[1], first), c)
    }

    /// `DP3`: returns (a0 * b0 + a1 * b1) + a2 * b2.
    #[inline]
    #[must_use]
    pub fn dot3(self, a: [f32; 3], b: [f32; 3]) -> f32 {
        let first = self.product(a[0], b[0]);
        self.mad(a[2], b[2], self.mad(a[1], b[1], first))
    }

    /// `DP4`: returns ((a0 * b0 + a1 * b1) + a2 * b2) + a3 * b3.
    #[inline]
    #[must_use]
    pub fn dot4(self, a: [f32; 4], b: [f32; 4]) -> f32 {
        let three = self.dot3([a[0], a[1], a[2]], [b[0], b[1], b[2]]);
        self.mad(a[3], b[3], three)
    }

    /// `SRCP_OP` 0: returns 1 - 2 * x, a rounded product and then a rounded difference.
    #[inline]
    #[must_use]
    pub fn one_minus_twice(self, x: f32) -> f32 {
        self.sub(1.0, self.mul(2.0, x))
    }

    /// Returns a / b, correctly rounded.
    #[inline]
    #[must_use]
    pub fn div(self, a: f32, b: f32) -> f32 {
        // Double rounding is innocuous: no quotient of floats lies within 2^-49 of a midpoint between floats, or of
        // TINY_BELOW, unless it equals that point.
        self.narrow(f64::from(self.operand(a)) / f64::from(self.operand(b)))
    }

    /// `RCP`: returns 1 / x, correctly rounded. Zeros give infinities of their sign.
    #[inline]
    #[must_use]
    pub fn rcp(self, x: f32) -> f32 {
        self.div(1.0, x)
    }

    /// `RSQ`: returns 1 divided by the rounded square root of x.
    ///
    /// -0 gives -inf as in IEEE, numbers below zero give NaN. Over all 2^32 inputs (`ulp` example) the error is at
    /// most 1.4903 ulp.
    #[inline]
    #[must_use]
    pub fn rsq(self, x: f32) -> f32 {
        self.rcp(self.operand(x).sqrt())
    }

    /// Returns the largest integer that is not above x.
    #[inline]
    #[must_use]
    pub fn floor(self, x: f32) -> f32 {
        self.operand(x).floor()
    }

    /// `FRC`: returns x - floor(x). Infinities give NaN. Numbers from -2^-25 to below zero give 1, because the
    /// difference is rounded.
    #[inline]
    #[must_use]
    pub fn frc(self, x: f32) -> f32 {
        self.sub(x, self.floor(x))
    }

    /// `RGB_CLAMP`, `ALPHA_CLAMP`: returns x limited to 0..1; -0 gives +0.
    #[inline]
    #[must_use]
    pub fn clamp01(self, x: f32) -> f32 {
        if compare::gt(x, 0.0) {
            if compare::lt(x, 1.0) { x } else { 1.0 }
        } else if x.is_nan() {
            match self.clamp_nan {
                ClampNan::Zero => 0.0,
                ClampNan::One => 1.0,
                ClampNan::Nan => CANONICAL_NAN,
            }
        } else {
            0.0
        }
    }

    /// Applies the reading of denormals to an operand, or to a result that is exact if it is denormal.
    #[inline]
    fn operand(self, x: f32) -> f32 {
        match self.denormals {
            Denormals::Flush => flush(x),
            Denormals::Keep => x,
        }
    }

    /// Rounds a result from double to float and flushes it if it is tiny, as the reading says. The double is exact, or
    /// double rounding is innocuous.
    #[inline]
    fn narrow(self, exact: f64) -> f32 {
        let tiny = self.denormals == Denormals::Flush && exact.abs() < TINY_BELOW;
        let kept = if tiny { 0.0_f64.copysign(exact) } else { exact };
        kept as f32
    }

    /// Returns the zero of the zero rule for a and b.
    #[inline]
    fn zero_product(self, a: f32, b: f32) -> f32 {
        let negative = |x: f32| x.is_sign_negative() && !x.is_nan();
        match self.zero_sign {
            ZeroSign::Xor if negative(a) != negative(b) => -0.0,
            ZeroSign::Xor | ZeroSign::Plus => 0.0,
        }
    }

    /// Returns a * b + c, rounded once.
    fn fused_mad(self, a: f32, b: f32, c: f32) -> f32 {
        let (a, b, c) = (self.operand(a), self.operand(b), self.operand(c));
        if self.zero_rule && (a == 0.0 || b == 0.0) {
            return self.add(self.zero_product(a, b), c);
        }
        self.narrow(add_to_odd(f64::from(a) * f64::from(b), f64::from(c)))
    }
}

/// Applies `OMOD` 0..6: scales x by `factor` (a power of two from 1/8 to 8), flushes denormals before and after
/// scaling to zero of their sign, converts every NaN to [`CANONICAL_NAN`] (documented). `OMOD` 7 copies bits and does
/// not call this function.
#[inline]
#[must_use]
pub fn finish(x: f32, factor: f32) -> f32 {
    canonical_nan(Arith::REFERENCE.mul(x, factor))
}

/// Returns a + b rounded to odd: if the sum is inexact, the one of the two neighbouring doubles whose last bit is set.
///
/// That bit is a sticky bit: the result rounds to float, and compares with any number of fewer bits, as the exact sum
/// does.
fn add_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    // The rounding error of a sum is itself a double (Knuth's two-sum).
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        sum
    } else if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    }
}

#[cfg(test)]
mod tests;
