//! Functions of one number, step by step as `r500_numerics::kernels`; where a step is another, it
//! gives the same bits, for the reason beside it.

use r500_numerics::kernels::{EX2, LN2, LN2_SPLIT, SINE};

use super::Lower;
use crate::op::{Kind, Relation, Rounding, V};

const SIGN: u32 = 0x8000_0000;

impl Lower<'_> {
    /// 2 to the power of x.
    pub(super) fn ex2(&mut self, x: V) -> V {
        // Numbers of this size have no fraction, and two's complement in their last bits. An integer 0
        // is +0 here, but what it is taken from goes into a polynomial only.
        let fractionless = self.float(12_582_912.0);
        let sum = self.op(Kind::Add, &[x, fractionless]);
        let n = self.op(Kind::Sub, &[sum, fractionless]);
        let f = self.op(Kind::Sub, &[x, n]);
        let p = self.horner(&EX2, f);
        // 2^n by way of the exponent: the result is normal for n from -126 to 128 (p is at least 1 where
        // n is -126, less than 1 where it is 128), and anything outside.
        let exponent = self.op(Kind::Shl(23), &[sum]);
        let scaled = self.op(Kind::IntAdd, &[p, exponent]);
        let (low, high) = (self.float(-126.0), self.float(128.0));
        let large_enough = self.compare(Relation::Ge, x, low);
        let zero = self.bits(0);
        let from_below = self.choose(large_enough, scaled, zero);
        // Infinity of what is large, NaN of NaN: the maximum gives its second argument then.
        let infinity = self.float(f32::INFINITY);
        let beyond = self.op(Kind::Max, &[infinity, x]);
        let small_enough = self.compare(Relation::Lt, x, high);
        let power = self.choose(small_enough, from_below, beyond);
        self.program.powers.insert(power, -126);
        power
    }

    /// The logarithm of x to base 2.
    pub(super) fn ln2(&mut self, x: V) -> V {
        let split = self.bits(LN2_SPLIT);
        let i = self.op(Kind::IntSub, &[x, split]);
        let e = self.op(Kind::Sar(23), &[i]);
        let e = self.op(Kind::ToFloat, &[e]);
        let upper = self.bits(0xff80_0000);
        let exponent = self.op(Kind::And, &[i, upper]);
        let m = self.op(Kind::IntSub, &[x, exponent]);
        let one = self.float(1.0);
        let f = self.op(Kind::Sub, &[m, one]);
        let q = self.horner(&LN2, f);
        let q = self.op(Kind::Mul, &[f, q]);
        let q = self.op(Kind::Add, &[f, q]);
        let logarithm = self.op(Kind::Add, &[e, q]);
        // +inf and NaN are their own logarithms, those of negative numbers NaN, those of zeros -inf.
        let (zero, infinity) = (self.bits(0), self.float(f32::INFINITY));
        let number = self.compare(Relation::Lt, x, infinity);
        let result = self.choose(number, logarithm, x);
        let negative = self.compare(Relation::Lt, x, zero);
        let nan = self.float(f32::NAN);
        let result = self.choose(negative, nan, result);
        let none = self.compare(Relation::Eq, x, zero);
        let minus = self.float(f32::NEG_INFINITY);
        self.choose(none, minus, result)
    }

    /// The sine of x turns.
    pub(super) fn sin(&mut self, x: V) -> V {
        let (r, a) = self.reduce(x);
        let two = self.float(2.0);
        let down = self.op(Kind::Sub, &[two, a]);
        let w = self.op(Kind::Min, &[a, down]);
        // What is 0 to 1 takes the sign.
        let sign = self.bits(SIGN);
        let sign = self.op(Kind::And, &[r, sign]);
        let w = self.op(Kind::Or, &[w, sign]);
        self.sine_of_quarters(w)
    }

    /// The cosine of x turns.
    pub(super) fn cos(&mut self, x: V) -> V {
        let (_, a) = self.reduce(x);
        let one = self.float(1.0);
        let w = self.op(Kind::Sub, &[one, a]);
        self.sine_of_quarters(w)
    }

    /// The rest without whole turns, in turns and, without its sign, in quarters.
    fn reduce(&mut self, x: V) -> (V, V) {
        let turns = self.op(Kind::Round(Rounding::Nearest), &[x]);
        let r = self.op(Kind::Sub, &[x, turns]);
        let rest = self.bits(!SIGN);
        let size = self.op(Kind::And, &[r, rest]);
        let four = self.float(4.0);
        (r, self.op(Kind::Mul, &[size, four]))
    }

    fn sine_of_quarters(&mut self, w: V) -> V {
        let square = self.op(Kind::Mul, &[w, w]);
        let s = self.horner(&SINE, square);
        let s = self.op(Kind::Mul, &[w, s]);
        self.op(Kind::Add, &[w, s])
    }

    /// The polynomial with these coefficients (constant term first) at x, each product and each sum
    /// rounded.
    fn horner(&mut self, coefficients: &[f32], x: V) -> V {
        let mut terms = coefficients.iter().rev();
        let mut sum = self.float(terms.next().copied().unwrap_or(0.0));
        for &term in terms {
            let term = self.float(term);
            let product = self.op(Kind::Mul, &[x, sum]);
            sum = self.op(Kind::Add, &[product, term]);
        }
        sum
    }
}
