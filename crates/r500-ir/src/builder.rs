//! The function builder: global value numbering, constant folding and strength reduction while a function is made.
//!
//! An operation that an open region has computed is not computed again. Operations on constants are folded, and
//! operations on selects of two constants become selects of their results. The zero rule of a product is dropped where
//! the [ranges](super::Range) of its factors show that it changes nothing.

use std::collections::HashMap;

use super::const_eval::evaluate;
use super::value_range::SMALL;
use super::{
    ALL, AddSign, DenormalMode, EntityMap, Inst, MulFlags, NONE, Opcode, Operand, Range, Stmt,
    Type, Value, ValueData, Values,
};
use r500_numerics::{Arith, compare, flush, kernels};

/// The cost up to which an arm is flattened: if-conversion.
const MAX_FLATTENED_COST: usize = 16;

/// The cost of an operation, in multiplications. The masks and selects of a flattened arm mostly fold away.
fn cost(opcode: Opcode) -> usize {
    match opcode {
        Opcode::Select | Opcode::And | Opcode::Or | Opcode::AndNot => 0,
        Opcode::Rcp | Opcode::Frc => 3,
        Opcode::Rsq => 5,
        Opcode::Ex2 | Opcode::Ln2 | Opcode::Sin | Opcode::Cos => 8,
        _ => 1,
    }
}

/// A function under construction.
#[derive(Debug, Default)]
pub(super) struct Builder {
    /// The debug location of values defined from now on.
    pub(super) address: u32,
    values: Values,
    ranges: EntityMap<Value, Range>,
    /// The operation that defines each value; `None` for texels, phis and loop parameters.
    pub(super) defs: EntityMap<Value, Option<Inst>>,
    /// The open regions, innermost last.
    regions: Vec<Region>,
    statements: usize,
}

/// A state to roll back to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checkpoint {
    values: usize,
    statements: usize,
}

#[derive(Debug, Default)]
struct Region {
    stmts: Vec<Stmt>,
    available: HashMap<(Type, Inst), Value>,
}

/// An operand with source modifiers, which many operations absorb.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModifiedOperand {
    value: Operand,
    abs: bool,
    neg: bool,
}

impl From<Operand> for ModifiedOperand {
    fn from(value: Operand) -> Self {
        Self { value, abs: false, neg: false }
    }
}

impl ModifiedOperand {
    pub(super) fn neg(self) -> Self {
        Self { neg: !self.neg, ..self }
    }

    pub(super) fn abs(self) -> Self {
        Self { abs: true, neg: false, ..self }
    }

    fn constant(self) -> Option<f32> {
        let x = self.value.as_float()?;
        let x = if self.abs { x.abs() } else { x };
        Some(if self.neg { -x } else { x })
    }
}

impl Builder {
    /// Opens a region.
    pub(super) fn open_region(&mut self) {
        self.regions.push(Region::default());
    }

    /// Closes the innermost region and returns its statements.
    pub(super) fn close_region(&mut self) -> Vec<Stmt> {
        self.regions.pop().map(|region| region.stmts).unwrap_or_default()
    }

    /// Closes the innermost region and appends its statements to the enclosing one.
    pub(super) fn flatten_region(&mut self) {
        let Some(inner) = self.regions.pop() else { return };
        if let Some(region) = self.regions.last_mut() {
            region.stmts.extend(inner.stmts);
            region.available.extend(inner.available);
        }
    }

    /// Returns whether running the innermost region in all lanes costs less than a branch: it has no branch, loop or
    /// fetch, and costs [`MAX_FLATTENED_COST`] at most.
    pub(super) fn is_cheap(&self) -> bool {
        let Some(region) = self.regions.last() else { return false };
        let cost = region.stmts.iter().try_fold(0, |sum, stmt| {
            Some(
                sum + match stmt {
                    Stmt::Def(_, inst) => cost(inst.opcode),
                    Stmt::Discard(_)
                    | Stmt::Stat { .. }
                    | Stmt::ConsumeFuel { .. }
                    | Stmt::GroupHazard(_) => 0,
                    Stmt::Fetch(_) | Stmt::If(_) | Stmt::Loop(_) => return None,
                },
            )
        });
        cost.is_some_and(|cost: usize| cost <= MAX_FLATTENED_COST)
    }

    /// Appends a statement to the innermost region.
    pub(super) fn push(&mut self, stmt: Stmt) {
        self.statements += 1;
        if let Some(region) = self.regions.last_mut() {
            region.stmts.push(stmt);
        }
    }

    /// The number of statements so far.
    pub(super) fn len(&self) -> usize {
        self.statements
    }

    /// Moves the table of values out of the builder.
    pub(super) fn take_values(&mut self) -> Values {
        std::mem::take(&mut self.values)
    }

    /// Adds a value that a statement other than an operation defines.
    pub(super) fn fresh(&mut self, ty: Type, range: Range) -> Value {
        self.ranges.push(range);
        self.defs.push(None);
        self.values.push(ValueData { ty, source_loc: self.address })
    }

    /// Returns the current state.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { values: self.ranges.len(), statements: self.statements }
    }

    /// Drops all values since a checkpoint. Regions opened since must be closed.
    pub(super) fn rollback(&mut self, checkpoint: Checkpoint) {
        self.ranges.truncate(checkpoint.values);
        self.values.truncate(checkpoint.values);
        self.defs.truncate(checkpoint.values);
        self.statements = checkpoint.statements;
    }

    /// The range of each value.
    pub(super) fn ranges(&self) -> &EntityMap<Value, Range> {
        &self.ranges
    }

    /// The range of an operand.
    pub(super) fn range(&self, operand: Operand) -> Range {
        match operand {
            Operand::Const(bits) => Range::of(f32::from_bits(bits)),
            Operand::Value(value) => self.ranges[value],
        }
    }

    fn term_range(&self, term: ModifiedOperand) -> Range {
        let range = self.range(term.value);
        let range = if term.abs { range.abs() } else { range };
        if term.neg { range.negated() } else { range }
    }

    /// Returns the value of an operation: one that is available, or a new one.
    pub(super) fn def(&mut self, opcode: Opcode, args: &[Operand], range: Range) -> Operand {
        let ty = opcode.result_type().expect("the type of a select is given");
        self.def_typed(ty, opcode, args, range)
    }

    /// As [`def`](Self::def), for a select too.
    pub(super) fn def_typed(
        &mut self,
        ty: Type,
        opcode: Opcode,
        args: &[Operand],
        range: Range,
    ) -> Operand {
        let inst = Inst::new(opcode, args);
        if let Some(value) =
            self.regions.iter().rev().find_map(|region| region.available.get(&(ty, inst)))
        {
            return Operand::Value(*value);
        }
        if let Some(choice) = self.fold_through_select(inst) {
            return choice;
        }
        let value = self.fresh(ty, range);
        self.defs[value] = Some(inst);
        self.push(Stmt::Def(value, inst));
        if let Some(region) = self.regions.last_mut() {
            region.available.insert((ty, inst), value);
        }
        Operand::Value(value)
    }

    /// Folds an operation on selects of two constants to a select of its results: `max (%m ? 1 : 0), 0.5` →
    /// `%m ? 1 : 0.5`. Drivers write truth values as numbers that they multiply, compare and take the maximum of.
    fn fold_through_select(&mut self, inst: Inst) -> Option<Operand> {
        let mut values: Vec<Value> = inst.args().iter().filter_map(|arg| arg.value()).collect();
        values.dedup();
        let choices: Vec<_> =
            values.iter().map(|value| self.select_of_constants(*value)).collect::<Option<_>>()?;
        let result = |bits: [u32; 2]| {
            let arg = |arg: Operand| match arg {
                Operand::Const(bits) => bits,
                Operand::Value(value) => bits[usize::from(value != values[0])],
            };
            evaluate(inst.opcode, inst.args.map(arg))
        };
        match *choices {
            [(mask, a, b)] => {
                let (a, b) = (result([a; 2])?, result([b; 2])?);
                Some(self.select_constants(inst.opcode, mask, a, b))
            }
            [(one, a, b), (other, c, d)] => {
                let [both, first, second, none] =
                    [result([a, c])?, result([a, d])?, result([b, c])?, result([b, d])?];
                let (mask, yes, no) =
                    match (both == first, both == second, first == none, second == none) {
                        (true, _, _, true) => (one, both, none),
                        (_, true, true, _) => (other, both, none),
                        (_, _, true, true) => (self.and(one, other), both, none),
                        (true, true, ..) => (self.or(one, other), both, none),
                        (_, true, _, true) => (self.and_not(one, other), first, none),
                        (true, _, true, _) => (self.and_not(other, one), second, none),
                        _ => return None,
                    };
                Some(self.select_constants(inst.opcode, mask, yes, no))
            }
            _ => None,
        }
    }

    /// Returns mask and operands of a value that selects between two constants.
    fn select_of_constants(&self, value: Value) -> Option<(Operand, u32, u32)> {
        match self.def_of(Operand::Value(value))? {
            (Opcode::Select, [mask, Operand::Const(a), Operand::Const(b)]) => Some((mask, a, b)),
            _ => None,
        }
    }

    /// mask ? a : b, for two results of an operation.
    fn select_constants(&mut self, opcode: Opcode, mask: Operand, a: u32, b: u32) -> Operand {
        let (a, b) = (Operand::Const(a), Operand::Const(b));
        let ty = opcode.result_type().expect("a select is not evaluated");
        if (a, b) == (NONE, ALL) && ty == Type::Mask {
            return self.not(mask);
        }
        self.select(ty, mask, a, b)
    }

    /// A channel of an input.
    pub(super) fn input(&mut self, input: u8, channel: u8, range: Range) -> Operand {
        self.def(Opcode::Input { input, channel }, &[], range)
    }

    /// Applies the modifiers.
    pub(super) fn bits(&mut self, term: ModifiedOperand) -> Operand {
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

    /// Applies the modifiers but for the sign change, which is returned.
    fn split_sign(&mut self, term: ModifiedOperand) -> (Operand, bool) {
        if let Some(x) = term.constant() {
            return (Operand::float(x), false);
        }
        (self.bits(ModifiedOperand { neg: false, ..term }), term.neg)
    }

    /// a * b + c; with `zero_rule`, zero times anything is +0.
    pub(super) fn mad(
        &mut self,
        a: ModifiedOperand,
        b: ModifiedOperand,
        c: ModifiedOperand,
        zero_rule: bool,
    ) -> Operand {
        if let (Some(a), Some(b), Some(c)) = (a.constant(), b.constant(), c.constant()) {
            return Operand::float(Arith::LAW.with_zero_rule(zero_rule).mad(a, b, c));
        }
        if let (Some(a), Some(b)) = (a.constant(), b.constant()) {
            let product = Arith::LAW.with_zero_rule(zero_rule).product(a, b);
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

    /// The flags of a product: for which factor the zero rule has an effect. `shows`: the sign of a zero product matters.
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
            let minus = if negate {
                other.hi >= 0.0 || zero.flush().minus_zero
            } else {
                other.may_be_negative() || (zero.flush().minus_zero && other.hi >= 0.0)
            };
            zero_rule && zero.may_be_zero() && (!other.is_finite() || (shows && minus))
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

    /// a * b.
    pub(super) fn mul(
        &mut self,
        a: ModifiedOperand,
        b: ModifiedOperand,
        zero_rule: bool,
    ) -> Operand {
        self.mad(a, b, Operand::float(-0.0).into(), zero_rule)
    }

    /// a + b.
    pub(super) fn add(&mut self, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        if let (Some(a), Some(b)) = (a.constant(), b.constant()) {
            return Operand::float(Arith::LAW.add(a, b));
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

    /// a - b.
    pub(super) fn sub(&mut self, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        self.add(a, b.neg())
    }

    /// An operation of one argument.
    pub(super) fn unary(&mut self, opcode: Opcode, a: ModifiedOperand) -> Operand {
        let a = self.bits(a);
        let law = Arith::LAW;
        let range = self.range(a);
        let (fold, range): (fn(Arith, f32) -> f32, Range) = match opcode {
            Opcode::Flush if !range.denormal => return a,
            Opcode::Clamp01 if is_unit(range) => return a,
            Opcode::Flush => (|_, x| flush(x), range.flush()),
            Opcode::Clamp01 => (Arith::clamp01, range.clamp01()),
            Opcode::Frc => (Arith::frc, range.frc()),
            Opcode::Rcp => (Arith::rcp, range.rcp()),
            Opcode::Rsq => (Arith::rsq, range.rsq()),
            Opcode::Ex2 => (|_, x| kernels::ex2(x), range.ex2()),
            Opcode::Ln2 => (|_, x| kernels::ln2(x), range.ln2()),
            Opcode::Sin => (|_, x| kernels::sin(x), range.sine()),
            Opcode::Cos => (|_, x| kernels::cos(x), range.sine()),
            // A quad broadcast of a constant; other opcodes have another arity.
            _ => (|_, x| x, range),
        };
        match a.as_float() {
            Some(x) => Operand::float(fold(law, x)),
            None => self.def(opcode, &[a], range),
        }
    }

    /// a < b ? a : b.
    pub(super) fn min(&mut self, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        let (a, b) = (self.bits(a), self.bits(b));
        let range = self.range(a).min(self.range(b));
        match (a.as_float(), b.as_float()) {
            _ if a == b => a,
            (Some(a), Some(b)) => Operand::float(compare::min(a, b)),
            _ => self.def(Opcode::Min(denormals(range)), &[a, b], range),
        }
    }

    /// a >= b ? a : b.
    pub(super) fn max(&mut self, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        let (a, b) = (self.bits(a), self.bits(b));
        let range = self.range(a).max(self.range(b));
        match (a.as_float(), b.as_float()) {
            _ if a == b => a,
            (Some(a), Some(b)) => Operand::float(compare::max(a, b)),
            _ => self.def(Opcode::Max(denormals(range)), &[a, b], range),
        }
    }

    /// The mask of a comparison: Lt, Ge, Eq or Ne.
    pub(super) fn compare(
        &mut self,
        opcode: Opcode,
        a: ModifiedOperand,
        b: ModifiedOperand,
    ) -> Operand {
        if let (Some(a), Some(b)) = (a.constant(), b.constant()) {
            return mask_const(match opcode {
                Opcode::Lt => compare::lt(a, b),
                Opcode::Ge => compare::ge(a, b),
                Opcode::Eq => compare::eq(a, b),
                _ => compare::ne(a, b),
            });
        }
        // -a < b → -b < a
        let (a, b) = match (a.neg && a.constant().is_none(), b.constant()) {
            (true, Some(_)) if matches!(opcode, Opcode::Eq | Opcode::Ne) => (a.neg(), b.neg()),
            (true, Some(_)) => (b.neg(), a.neg()),
            _ => (a, b),
        };
        let (a, b) = (self.bits(a), self.bits(b));
        let (a, b) = self.compared_instead_of_difference(a, b);
        let (b, a) = self.compared_instead_of_difference(b, a);
        self.def(opcode, &[a, b], Range::ANY)
    }

    /// `x - y < 0` → `x < y`, where no difference rounds or flushes to zero. Drivers compare two numbers so.
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

    /// Returns the least and the largest constant that `to` adds to `from`, over all selects: the step of an induction
    /// variable. `None` if `to` is something else.
    pub(super) fn step(&self, from: Operand, to: Operand, depth: usize) -> Option<(f32, f32)> {
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

/// Returns whether the difference of a number and any other is zero or flushed only if they are equal.
fn is_exact_in_differences(x: f32) -> bool {
    x.is_finite() && x.abs() >= SMALL
}

impl Range {
    fn may_be_negative_or_nan(self) -> bool {
        self.nan || self.may_be_negative()
    }
}

fn denormals(range: Range) -> DenormalMode {
    if range.denormal { DenormalMode::Kept } else { DenormalMode::Excluded }
}

/// A constant mask.
pub(super) fn mask_const(set: bool) -> Operand {
    if set { ALL } else { NONE }
}

fn is_unit(range: Range) -> bool {
    !range.nan && !range.minus_zero && !range.denormal && range.lo >= 0.0 && range.hi <= 1.0
}

/// The key by which the operands of a commutative operation are ordered: constants last.
pub(super) fn argument_order(operand: Operand) -> u64 {
    match operand {
        Operand::Value(value) => u64::from(value.0),
        Operand::Const(bits) => 1 << 32 | u64::from(bits),
    }
}

#[cfg(test)]
mod tests;
