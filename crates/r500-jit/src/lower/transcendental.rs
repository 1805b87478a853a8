//! Functions of one number, step by step as `r500_numerics::kernels`; where a step is another, it
//! gives the same bits, for the reason beside it.

use r500_numerics::kernels::{EX2, LN2, LN2_SPLIT, SINE};

use super::Lower;
use crate::lir::{Opcode, Relation, Rounding, VReg};

const SIGN: u32 = 0x8000_0000;

impl Lower<'_> {
    /// 2 to the power of x.
    pub(super) fn ex2(&mut self, x: VReg) -> VReg {
        // Numbers of this size have no fraction, and two's complement in their last bits. An integer 0
        // is +0 here, but what it is taken from goes into a polynomial only.
        let fractionless = self.float(12_582_912.0);
        let sum = self.op(Opcode::Add, &[x, fractionless]);
        let n = self.op(Opcode::Sub, &[sum, fractionless]);
        let f = self.op(Opcode::Sub, &[x, n]);
        let p = self.horner(&EX2, f);
        // 2^n by way of the exponent: the result is normal for n from -126 to 128 (p is at least 1 where
        // n is -126, less than 1 where it is 128), and anything outside.
        let exponent = self.op(Opcode::Shl(23), &[sum]);
        let scaled = self.op(Opcode::IntAdd, &[p, exponent]);
        let (low, high) = (self.float(-126.0), self.float(128.0));
        let large_enough = self.compare(Relation::Ge, x, low);
        let zero = self.bits(0);
        let from_below = self.choose(large_enough, scaled, zero);
        // Infinity of what is large, NaN of NaN: the maximum gives its second argument then.
        let infinity = self.float(f32::INFINITY);
        let beyond = self.op(Opcode::Max, &[infinity, x]);
        let small_enough = self.compare(Relation::Lt, x, high);
        let power = self.choose(small_enough, from_below, beyond);
        self.program.magnitude_bounds.insert(power, -126);
        power
    }

    /// The logarithm of x to base 2.
    pub(super) fn ln2(&mut self, x: VReg) -> VReg {
        let split = self.bits(LN2_SPLIT);
        let i = self.op(Opcode::IntSub, &[x, split]);
        let e = self.op(Opcode::Sar(23), &[i]);
        let e = self.op(Opcode::ToFloat, &[e]);
        let upper = self.bits(0xff80_0000);
        let exponent = self.op(Opcode::And, &[i, upper]);
        let m = self.op(Opcode::IntSub, &[x, exponent]);
        let one = self.float(1.0);
        let f = self.op(Opcode::Sub, &[m, one]);
        let q = self.horner(&LN2, f);
        let q = self.op(Opcode::Mul, &[f, q]);
        let q = self.op(Opcode::Add, &[f, q]);
        let logarithm = self.op(Opcode::Add, &[e, q]);
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
    pub(super) fn sin(&mut self, x: VReg) -> VReg {
        let (r, a) = self.reduce(x);
        let two = self.float(2.0);
        let down = self.op(Opcode::Sub, &[two, a]);
        let w = self.op(Opcode::Min, &[a, down]);
        // What is 0 to 1 takes the sign.
        let sign = self.bits(SIGN);
        let sign = self.op(Opcode::And, &[r, sign]);
        let w = self.op(Opcode::Or, &[w, sign]);
        self.sine_of_quarters(w)
    }

    /// The cosine of x turns.
    pub(super) fn cos(&mut self, x: VReg) -> VReg {
        let (_, a) = self.reduce(x);
        let one = self.float(1.0);
        let w = self.op(Opcode::Sub, &[one, a]);
        self.sine_of_quarters(w)
    }

    /// The rest without whole turns, in turns and, without its sign, in quarters.
    fn reduce(&mut self, x: VReg) -> (VReg, VReg) {
        let turns = self.op(Opcode::Round(Rounding::Nearest), &[x]);
        let r = self.op(Opcode::Sub, &[x, turns]);
        let rest = self.bits(!SIGN);
        let size = self.op(Opcode::And, &[r, rest]);
        let four = self.float(4.0);
        (r, self.op(Opcode::Mul, &[size, four]))
    }

    fn sine_of_quarters(&mut self, w: VReg) -> VReg {
        let square = self.op(Opcode::Mul, &[w, w]);
        let s = self.horner(&SINE, square);
        let s = self.op(Opcode::Mul, &[w, s]);
        self.op(Opcode::Add, &[w, s])
    }

    /// The polynomial with these coefficients (constant term first) at x, each product and each sum
    /// rounded.
    fn horner(&mut self, coefficients: &[f32], x: VReg) -> VReg {
        let mut terms = coefficients.iter().rev();
        let mut sum = self.float(*terms.next().expect("a polynomial has a coefficient"));
        for &term in terms {
            let term = self.float(term);
            let product = self.op(Opcode::Mul, &[x, sum]);
            sum = self.op(Opcode::Add, &[product, term]);
        }
        sum
    }
}
