//! IEEE 754 single-precision arithmetic as SSE, AVX and AVX-512 instructions compute it: round to nearest even, flush
//! to zero, denormals are zero, NaN propagation.
//!
//! Operations are computed in double precision and rounded once more. For sums, products, quotients and square roots of
//! single-precision numbers this gives the correctly rounded result, since 53 >= 2 * 24 + 2 (Figueroa, "When is double
//! rounding innocuous?", 1995). Double precision also shows which results are tiny after rounding with unbounded
//! exponent; the processor flushes these. No operand or intermediate result is a denormal double, so the flush bits of
//! the host's MXCSR have no effect.

use crate::op::Arith;
use crate::registers::Lanes;

const SIGN: u32 = 0x8000_0000;
const QUIET: u32 = 0x0040_0000;
const INFINITY: u32 = 0x7f80_0000;
/// 2^-126.
const MIN_NORMAL: u32 = 0x0080_0000;
/// The result of an invalid operation.
const DEFAULT_NAN: u32 = 0xffc0_0000;
/// The result of a conversion to an integer that cannot represent the number.
const INTEGER_INDEFINITE: u32 = 0x8000_0000;

pub(crate) fn is_nan(x: u32) -> bool {
    x & !SIGN > INFINITY
}

fn is_denormal(x: u32) -> bool {
    (x & !SIGN).wrapping_sub(1) < MIN_NORMAL - 1
}

/// Converts to half precision, to nearest even, regardless of the flush bits. A NaN keeps its sign and its upper bits.
pub(crate) fn to_half(x: u32) -> u16 {
    let (sign, magnitude) = ((x >> 16) as u16 & 0x8000, x & !SIGN);
    if is_nan(x) {
        return sign | 0x7e00 | (magnitude >> 13) as u16 & 0x3ff;
    }
    // Numbers of at least 2^-14 have 10 bits after the leading one; smaller ones are multiples of 2^-24. Both are exact
    // in doubles.
    const LARGEST: f64 = 65504.0;
    let value = f64::from(f32::from_bits(magnitude));
    let exponent = (magnitude >> 23).max(127 - 14);
    let unit = f64::from_bits(u64::from(exponent + 1023 - 127 - 10) << 52);
    let rounded = (value / unit).round_ties_even() * unit;
    if rounded > LARGEST {
        return sign | 0x7c00;
    }
    let steps = (rounded / unit) as u16;
    // A carry out of the mantissa increments the exponent.
    sign | ((exponent - (127 - 14)) as u16 * 0x400).wrapping_add(steps)
}

/// The flush bits of MXCSR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flush {
    /// FTZ: tiny results become zeros of their sign.
    pub(crate) results: bool,
    /// DAZ: denormal operands count as zeros of their sign.
    pub(crate) operands: bool,
}

impl Flush {
    /// Returns the flush bits of an MXCSR value.
    pub(crate) fn of(mxcsr: u32) -> Self {
        Self { results: mxcsr & 1 << 15 != 0, operands: mxcsr & 1 << 6 != 0 }
    }

    fn operand(self, x: u32) -> u32 {
        if self.operands && is_denormal(x) { x & SIGN } else { x }
    }

    /// Rounds to single precision.
    fn round(self, x: f64) -> u32 {
        let sign = ((x.to_bits() >> 32) as u32) & SIGN;
        let magnitude = x.abs();
        // The midpoint between 2^-126 and the largest number below it, if the exponent were unbounded; a tie rounds to
        // even, to 2^-126.
        const TINY: f64 = f64::from_bits((1023 - 126) << 52) * (1.0 - 1.0 / (1 << 25) as f64);
        const DENORMALS_TO_ONE: f64 = f64::from_bits((1023 + 149) << 52);
        if magnitude >= TINY || magnitude == 0.0 {
            return (x as f32).to_bits();
        }
        if self.results {
            return sign;
        }
        sign | (magnitude * DENORMALS_TO_ONE).round_ties_even() as u32
    }

    /// Computes one lane of an operation.
    pub(crate) fn arith(self, op: Arith, a: u32, b: u32) -> u32 {
        let (a, b) = (self.operand(a), self.operand(b));
        if let Arith::Min | Arith::Max = op {
            // The second operand is the result for NaN (which does not propagate) and for equal zeros.
            let (x, y) = (widen(a), widen(b));
            let first = if op == Arith::Min { x < y } else { x > y };
            return if first { a } else { b };
        }
        if is_nan(a) {
            return a | QUIET;
        }
        if is_nan(b) {
            return b | QUIET;
        }
        let (x, y) = (widen(a), widen(b));
        let exact = match op {
            Arith::Add => x + y,
            Arith::Sub => x - y,
            Arith::Mul => x * y,
            Arith::Div => x / y,
            Arith::Min | Arith::Max => unreachable!("done above"),
        };
        if exact.is_nan() { DEFAULT_NAN } else { self.round(exact) }
    }

    /// Computes an operation on all lanes. If no lane has a denormal, a NaN, or a result that may be one, the host's
    /// arithmetic gives the same results.
    pub(crate) fn arith_lanes(self, op: Arith, a: &Lanes, b: &Lanes) -> Lanes {
        let slow = || std::array::from_fn(|i| self.arith(op, a[i], b[i]));
        // The host's flush bits may be set, so the fast path requires both here.
        if !(self.results && self.operands) {
            return slow();
        }
        let fast = match op {
            Arith::Add => ordinary(a, b, |x, y| x + y),
            Arith::Sub => ordinary(a, b, |x, y| x - y),
            Arith::Mul => ordinary(a, b, |x, y| x * y),
            Arith::Div => ordinary(a, b, |x, y| x / y),
            Arith::Min => ordinary(a, b, |x, y| if x < y { x } else { y }),
            Arith::Max => ordinary(a, b, |x, y| if x > y { x } else { y }),
        };
        fast.unwrap_or_else(slow)
    }

    /// Returns x * y + z, or z - x * y if `negate`, rounded once.
    pub(crate) fn mul_add(self, negate: bool, [x, y, z]: [u32; 3]) -> u32 {
        let [x, y, z] = [x, y, z].map(|x| self.operand(x));
        if let Some(nan) = [x, y, z].into_iter().find(|x| is_nan(*x)) {
            return nan | QUIET;
        }
        // The product is exact. The sum is rounded to odd, so that the second rounding, to fewer bits, acts as a single
        // rounding (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
        let (product, z) = (widen(x) * widen(y), widen(z));
        let product = if negate { -product } else { product };
        let sum = product + z;
        if sum.is_nan() {
            return DEFAULT_NAN;
        }
        if !sum.is_finite() {
            return self.round(sum);
        }
        let rest = sum - product;
        let error = (product - (sum - rest)) + (z - rest);
        if error == 0.0 || sum.to_bits() & 1 != 0 {
            return self.round(sum);
        }
        let bits = sum.to_bits();
        let outward = (error > 0.0) == (sum > 0.0);
        self.round(f64::from_bits(if outward { bits + 1 } else { bits - 1 }))
    }

    pub(crate) fn sqrt(self, a: u32) -> u32 {
        let a = self.operand(a);
        if is_nan(a) {
            return a | QUIET;
        }
        let root = widen(a).sqrt();
        if root.is_nan() { DEFAULT_NAN } else { self.round(root) }
    }

    /// Rounds to an integral value: to nearest even (0), down (1), up (2), to zero (3).
    pub(crate) fn round_to_integral(self, mode: u8, a: u32) -> u32 {
        let a = self.operand(a);
        if is_nan(a) {
            return a | QUIET;
        }
        let x = widen(a);
        let rounded = match mode {
            0 => x.round_ties_even(),
            1 => x.floor(),
            2 => x.ceil(),
            _ => x.trunc(),
        };
        // Integral values are not denormal. The sign, also of zeros, is the operand's.
        (rounded as f32).to_bits() & !SIGN | a & SIGN
    }

    /// Computes VFIXUPIMM: selects a response from a table of eight 4-bit entries, by the class of the number.
    pub(crate) fn fix_up(self, old: u32, x: u32, table: u32) -> u32 {
        let x = self.operand(x);
        let negative = x & SIGN != 0;
        let class = match x {
            _ if is_nan(x) => u32::from(x & QUIET == 0),
            0 | SIGN => 2,
            0x3f80_0000 => 3,
            _ if x & !SIGN == INFINITY => {
                if negative {
                    4
                } else {
                    5
                }
            }
            _ => {
                if negative {
                    6
                } else {
                    7
                }
            }
        };
        match table >> (4 * class) & 15 {
            0 => old,
            1 => x,
            2 => x | INFINITY | QUIET,
            3 => DEFAULT_NAN,
            4 => SIGN | INFINITY,
            5 => INFINITY,
            6 => x & SIGN | INFINITY,
            7 => SIGN,
            8 => 0,
            9 => (-1.0_f32).to_bits(),
            10 => 1.0_f32.to_bits(),
            11 => 0.5_f32.to_bits(),
            12 => 90.0_f32.to_bits(),
            13 => std::f32::consts::FRAC_PI_2.to_bits(),
            14 => f32::MAX.to_bits(),
            _ => f32::MIN.to_bits(),
        }
    }

    /// Converts to a signed integer, rounded down.
    pub(crate) fn floor_to_int(self, a: u32) -> u32 {
        let x = widen(self.operand(a)).floor();
        if (-2_147_483_648.0..2_147_483_648.0).contains(&x) {
            (x as i32).cast_unsigned()
        } else {
            INTEGER_INDEFINITE
        }
    }

    /// Computes VREDUCE: the operand minus the nearest integer; 0 for an infinity.
    pub(crate) fn remainder(self, a: u32) -> u32 {
        let a = self.operand(a);
        if is_nan(a) {
            return a | QUIET;
        }
        let x = widen(a);
        if x.is_infinite() { 0 } else { self.round(x - x.round_ties_even()) }
    }

    /// Computes VSCALEF: a * 2^floor(b).
    pub(crate) fn scale(self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.operand(a), self.operand(b));
        let magnitude = a & !SIGN;
        match (is_nan(a), is_nan(b)) {
            // For a quiet NaN, an infinite exponent determines the result.
            (true, _) if a & QUIET != 0 && b & !SIGN == INFINITY => {
                if b & SIGN != 0 {
                    0
                } else {
                    INFINITY
                }
            }
            (true, _) => a | QUIET,
            (_, true) => b | QUIET,
            // Infinity times zero.
            _ if b == INFINITY && magnitude == 0 => DEFAULT_NAN,
            _ if b == SIGN | INFINITY && magnitude == INFINITY => DEFAULT_NAN,
            _ => {
                // Beyond these exponents, all results are zero or infinite; each factor is a normal double.
                let exponent = widen(b).floor().clamp(-400.0, 400.0) as i64;
                let factor = f64::from_bits(((1023 + exponent) as u64) << 52);
                self.round(widen(a) * factor)
            }
        }
    }

    /// Returns whether the relation with a predicate number holds.
    pub(crate) fn compare(self, predicate: u8, a: u32, b: u32) -> bool {
        let (x, y) = (widen(self.operand(a)), widen(self.operand(b)));
        let (equal, less, greater) = (x == y, x < y, x > y);
        let unordered = !(equal || less || greater);
        // The upper 16 of the 32 predicates have the same relations; only their exceptions differ.
        match predicate & 0xf {
            0x0 => equal,
            0x1 => less,
            0x2 => less || equal,
            0x3 => unordered,
            0x4 => !equal,
            0x5 => !less,
            0x6 => greater || unordered,
            0x7 => !unordered,
            0x8 => equal || unordered,
            0x9 => less || unordered,
            0xa => !greater,
            0xb => false,
            0xc => less || greater,
            0xd => greater || equal,
            0xe => greater,
            _ => true,
        }
    }
}

/// Converts to a signed integer, truncating towards zero.
pub(crate) fn truncate(a: u32) -> u32 {
    let x = f32::from_bits(a);
    if (-2_147_483_648.0..2_147_483_648.0).contains(&x) {
        // A denormal is less than one, whether it is flushed or not.
        (x as i32).cast_unsigned()
    } else {
        INTEGER_INDEFINITE
    }
}

/// Converts from a signed integer.
pub(crate) fn to_float(a: u32) -> u32 {
    (a.cast_signed() as f32).to_bits()
}

/// Returns the same number in double precision. Denormals are converted with integer arithmetic.
fn widen(x: u32) -> f64 {
    const ULP: f64 = f64::from_bits((1023 - 149) << 52);
    if is_denormal(x) {
        let magnitude = f64::from(x & !SIGN) * ULP;
        return if x & SIGN != 0 { -magnitude } else { magnitude };
    }
    f64::from(f32::from_bits(x))
}

/// Computes with the host's arithmetic; `None` if a lane may be a special case.
#[inline(always)]
fn ordinary(a: &Lanes, b: &Lanes, f: impl Fn(f32, f32) -> f32) -> Option<Lanes> {
    // Special cases are denormals and NaN, and results of 2^-126, to which a tiny value may have been rounded.
    let special = |x: u32, least: u32| {
        let magnitude = x & !SIGN;
        (magnitude.wrapping_sub(1) < least) | (magnitude > INFINITY)
    };
    let (mut lanes, mut any) = ([0; 16], false);
    for i in 0..16 {
        lanes[i] = f(f32::from_bits(a[i]), f32::from_bits(b[i])).to_bits();
        any |= special(a[i], MIN_NORMAL - 1);
        any |= special(b[i], MIN_NORMAL - 1);
        any |= special(lanes[i], MIN_NORMAL);
    }
    (!any).then_some(lanes)
}
