//! Arithmetic of the builder: constant folding, strength reduction, and removal of the zero rule.
//!
//! The zero rule of a product is dropped if the [ranges](crate::Range) of its factors show that it has no effect.

use super::{Builder, ModifiedOperand, argument_order};
use crate::const_eval::evaluate;
use crate::value_range::SMALL;
use crate::{AddSign, DenormalMode, MulFlags, Opcode, Operand, Range};
use r500_numerics::{Arith, flush};

impl Builder {
    /// Applies the modifiers.
    pub fn bits(&mut self, term: ModifiedOperand) -> Operand {
        if let Some(x) = term.constant() {
            return Operand::float(x);
        }
        let range = self.term_range(term);
        match (term.abs, term.neg) {
            (false, false) => term.value,
            (false, true) => self.def(Opcode::Neg, &[term.value], range),
            (true, false) if !self.range(term.value).may_be_negative_or_nan() => term.value,
            (true, false) => self.def(Opcode::Abs, &[term.value], range),
            (true, true) => self.def(Opcode::NegAbs, &[term.value], range),
        }
    }

    /// Applies the modifiers except the sign change, which is returned.
    fn split_sign(&mut self, term: ModifiedOperand) -> (Operand, bool) {
        if let Some(x) = term.constant() {
            return (Operand::float(x), false);
        }
        (self.bits(ModifiedOperand { neg: false, ..term }), term.neg)
    }

    /// Returns a * b + c; with `zero_rule`, zero times anything is +0.
    pub fn mad(
        &mut self,
        a: ModifiedOperand,
        b: ModifiedOperand,
        c: ModifiedOperand,
        zero_rule: bool,
    ) -> Operand {
        if let (Some(a), Some(b), Some(c)) = (a.constant(), b.constant(), c.constant()) {
            return Operand::float(Arith::REFERENCE.with_zero_rule(zero_rule).mad(a, b, c));
        }
        if let (Some(a), Some(b)) = (a.constant(), b.constant()) {
            let product = Arith::REFERENCE.with_zero_rule(zero_rule).product(a, b);
            return self.add(Operand::float(product).into(), c);
        }
        let c_range = self.term_range(c);
        // +0 + c.
        let is_zero = |x: Option<f32>| x.is_some_and(|x| flush(x) == 0.0);
        if zero_rule && (is_zero(a.constant()) || is_zero(b.constant())) {
            return self.add(Operand::float(0.0).into(), c);
        }
        let (mut a, a_neg) = self.split_sign(a);
        let (mut b, b_neg) = self.split_sign(b);
        let mut negate = a_neg != b_neg;
        if a.as_float().is_some() {
            (a, b) = (b, a);
        }
        if let Some(factor) = b.as_float() {
            if negate != (factor < 0.0) && factor.abs() == 1.0 {
                (b, negate) = (Operand::float(1.0), true);
            } else if negate {
                (b, negate) = (Operand::float(-factor), false);
            }
        } else if let (Operand::Value(x), Operand::Value(y)) = (a, b)
            && x > y
        {
            (a, b) = (b, a);
        }
        let a_range = self.range(a);
        let product_range = {
            let product = self.product_range(a, b, zero_rule);
            if negate { product.negated() } else { product }
        };
        // The sign of a zero product matters if the addend can be -0.
        let shows = c_range.minus_zero || (c_range.denormal && c_range.lo < 0.0);
        let zero_minus = |range: Range| range.flush().minus_zero;
        if b.as_float() == Some(1.0) && !(shows && zero_minus(a_range)) && !(shows && negate) {
            let a = ModifiedOperand { value: a, abs: false, neg: negate };
            return self.add(a, c);
        }
        if c.constant().is_some_and(|c| c == 0.0 && c.is_sign_negative()) {
            return self.mul_signed(a, b, negate, zero_rule);
        }
        let product = self.product(a, b, negate, zero_rule, shows);
        if c.constant().is_some_and(|c| c == 0.0) && !product_range.minus_zero {
            return self.def(Opcode::Mul(product), &[a, b], product_range);
        }
        let range = product_range.plus(c_range);
        let (c, c_neg) = self.split_sign(c);
        let sign = if c_neg { AddSign::Minus } else { AddSign::Plus };
        self.def(Opcode::Mad(product, sign), &[a, b, c], range)
    }

    /// Returns the flags of a product: the factors for which the zero rule has an effect. `shows`: the sign of a zero product is
    /// observable.
    fn product(
        &self,
        a: Operand,
        b: Operand,
        negate: bool,
        zero_rule: bool,
        shows: bool,
    ) -> MulFlags {
        let square = a == b && !negate;
        let (a, b) = (self.range(a), self.range(b));
        if square {
            // A square of zero is +0, and NaN only if the operand is.
            return MulFlags { negate, ..MulFlags::default() };
        }
        let needs = |zero: Range, other: Range| {
            zero_rule && MulFlags::zero_rule_shows(zero, other, negate, shows)
        };
        MulFlags { negate, zero_a: needs(a, b), zero_b: needs(b, a) }
    }

    fn product_range(&self, a: Operand, b: Operand, zero_rule: bool) -> Range {
        let range = self.range(a).times(self.range(b), zero_rule);
        if a != b {
            return range;
        }
        // A square is not negative, and NaN only if the operand is.
        let largest = self.range(a).abs().hi;
        Range { lo: 0.0, hi: largest * largest, nan: self.range(a).nan, minus_zero: false, ..range }
    }

    fn mul_signed(&mut self, a: Operand, b: Operand, negate: bool, zero_rule: bool) -> Operand {
        let product = self.product(a, b, negate, zero_rule, true);
        let range = self.product_range(a, b, zero_rule);
        let range = if negate { range.negated() } else { range };
        self.def(Opcode::Mul(product), &[a, b], range)
    }

    /// Returns a * b.
    pub fn mul(&mut self, a: ModifiedOperand, b: ModifiedOperand, zero_rule: bool) -> Operand {
        self.mad(a, b, Operand::float(-0.0).into(), zero_rule)
    }

    /// Returns a + b.
    pub fn add(&mut self, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        if let (Some(a), Some(b)) = (a.constant(), b.constant()) {
            return Operand::float(Arith::REFERENCE.add(a, b));
        }
        let range = self.term_range(a).plus(self.term_range(b));
        let ((a, a_neg), (b, b_neg)) = (self.split_sign(a), self.split_sign(b));
        for ((x, x_neg), (zero, zero_neg)) in [((a, a_neg), (b, b_neg)), ((b, b_neg), (a, a_neg))] {
            let term = ModifiedOperand { value: x, abs: false, neg: x_neg };
            let x_range = self.term_range(term);
            let same = zero.as_float().is_some_and(|zero| {
                let zero = if zero_neg { -zero } else { zero };
                zero == 0.0 && (zero.is_sign_negative() || !x_range.minus_zero)
            });
            if same && !x_range.denormal {
                return self.bits(term);
            }
        }
        match (a_neg, b_neg) {
            (false, false) => {
                let (a, b) = if argument_order(a) > argument_order(b) { (b, a) } else { (a, b) };
                self.def(Opcode::Add, &[a, b], range)
            }
            (false, true) => self.def(Opcode::Sub, &[a, b], range),
            (true, false) => self.def(Opcode::Sub, &[b, a], range),
            (true, true) => {
                let a = self.bits(ModifiedOperand { value: a, abs: false, neg: true });
                self.def(Opcode::Sub, &[a, b], range)
            }
        }
    }

    /// Returns a - b.
    pub fn sub(&mut self, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        self.add(a, b.negated())
    }

    /// Returns an operation on one argument.
    pub fn unary(&mut self, opcode: Opcode, a: ModifiedOperand) -> Operand {
        let a = self.bits(a);
        let range = self.range(a);
        match (opcode, a) {
            (Opcode::Flush, _) if !range.denormal => a,
            (Opcode::Clamp01, _) if range.is_unit() => a,
            (Opcode::QuadBroadcast(_), Operand::Const(_)) => a,
            (_, Operand::Const(bits)) => {
                Operand::Const(evaluate(opcode, [bits, 0, 0]).expect("arithmetic on one operand"))
            }
            _ => self.def(opcode, &[a], opcode.range([range, Range::ANY, Range::ANY])),
        }
    }

    /// Returns a < b ? a : b.
    pub fn min(&mut self, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        self.either(Opcode::Min, a, b)
    }

    /// Returns a >= b ? a : b.
    pub fn max(&mut self, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        self.either(Opcode::Max, a, b)
    }

    /// Returns a minimum or maximum.
    fn either(
        &mut self,
        opcode: fn(DenormalMode) -> Opcode,
        a: ModifiedOperand,
        b: ModifiedOperand,
    ) -> Operand {
        let (a, b) = (self.bits(a), self.bits(b));
        if a == b {
            return a;
        }
        let range = opcode(DenormalMode::Kept).range([self.range(a), self.range(b), Range::ANY]);
        let denormals = if range.denormal { DenormalMode::Kept } else { DenormalMode::Excluded };
        self.folded(opcode(denormals), [a, b], range)
    }

    /// Returns an operation on two arguments, folded if both are constants.
    fn folded(&mut self, opcode: Opcode, args: [Operand; 2], range: Range) -> Operand {
        match args {
            [Operand::Const(a), Operand::Const(b)] => {
                Operand::Const(evaluate(opcode, [a, b, 0]).expect("arithmetic on two operands"))
            }
            _ => self.def(opcode, &args, range),
        }
    }

    /// Returns the mask of a comparison: Lt, Ge, Eq or Ne.
    pub fn compare(&mut self, opcode: Opcode, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        // -a < b → -b < a
        let (a, b) = match (a.neg && a.constant().is_none(), b.constant()) {
            (true, Some(_)) if matches!(opcode, Opcode::Eq | Opcode::Ne) => {
                (a.negated(), b.negated())
            }
            (true, Some(_)) => (b.negated(), a.negated()),
            _ => (a, b),
        };
        let (a, b) = (self.bits(a), self.bits(b));
        let (a, b) = self.compared_instead_of_difference(a, b);
        let (b, a) = self.compared_instead_of_difference(b, a);
        self.folded(opcode, [a, b], Range::ANY)
    }

    /// `x - y < 0` → `x < y`, if no difference rounds or flushes to zero. Drivers compare two numbers this way.
    fn compared_instead_of_difference(&self, sum: Operand, zero: Operand) -> (Operand, Operand) {
        if zero.as_float() != Some(0.0) {
            return (sum, zero);
        }
        match self.def_of(sum) {
            Some((Opcode::Add, [x, y, _])) => {
                match y.as_float().filter(|y| is_exact_in_differences(*y)) {
                    Some(y) => (x, Operand::float(-y)),
                    None => (sum, zero),
                }
            }
            Some((Opcode::Sub, [x, y, _])) if x.as_float().is_some_and(is_exact_in_differences) => {
                (x, y)
            }
            _ => (sum, zero),
        }
    }

    /// Returns the minimum and maximum constant that `to` adds to `from`, over all selects: the step of an induction variable. `None` if
    /// `to` is not such a sum.
    pub fn step(&self, from: Operand, to: Operand, depth: usize) -> Option<(f32, f32)> {
        if from == to {
            return Some((0.0, 0.0));
        }
        match self.def_of(to)? {
            (Opcode::Add, [x, y, _]) if x == from => {
                let y = y.as_float().filter(|y| is_exact_in_differences(*y))?;
                Some((y.min(0.0), y.max(0.0)))
            }
            (Opcode::Select, [_, x, y]) if depth > 0 => {
                let (x, y) = (self.step(from, x, depth - 1)?, self.step(from, y, depth - 1)?);
                Some((x.0.min(y.0), x.1.max(y.1)))
            }
            _ => None,
        }
    }
}

/// Returns whether the difference of `x` and any number is zero or flushed only if the two are equal.
fn is_exact_in_differences(x: f32) -> bool {
    x.is_finite() && x.abs() >= SMALL
}
