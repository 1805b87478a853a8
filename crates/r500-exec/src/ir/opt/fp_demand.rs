//! Zeros whose sign nobody sees, and denormals that nobody tells from zeros.
//!
//! A program multiplies by adding +0 to a product, which makes +0 of -0 and changes nothing else. Where
//! all that looks at the result takes either zero for the same, the sum need not be made; nor is the zero
//! rule needed that only keeps a sign. What arithmetic looks at need not be flushed before.

use crate::ir::{
    AddSign, DenormalMode, Function, Inst, MulFlags, Opcode, Operand, Range, Stmt, Value,
};

/// Leaves out what only changes bits that nobody sees. The ranges are those of the function's values.
pub(super) fn simplify_zeros_and_denormals(function: &mut Function, ranges: &[Range]) {
    let count = function.values as usize;
    let mut demand = Demand {
        ranges,
        bits: vec![NOTHING; count],
        operands: vec![Vec::new(); count],
        work: Vec::new(),
    };
    function.outputs().for_each(|operand| demand.demand(operand, SIGN | DENORMAL));
    demand.collect(&function.body);
    demand.propagate();
    let Demand { bits, .. } = demand;
    let mut rewrite = Rewrite {
        seen: bits,
        ranges,
        same: vec![None; count],
        is_flushing: vec![false; count],
        negated: vec![None; count],
    };
    rewrite.list(&mut function.body);
    for operand in function.outputs_mut() {
        rewrite.replace(operand);
    }
}

/// What is seen of a value.
type DemandedFp = u8;

const NOTHING: DemandedFp = 0;
/// The sign of a zero.
const SIGN: DemandedFp = 1;
/// That a denormal is not zero.
const DENORMAL: DemandedFp = 2;

/// What is seen of each value.
struct Demand<'a> {
    ranges: &'a [Range],
    bits: Vec<DemandedFp>,
    /// Values that each shows, and what of them if it is seen of itself.
    operands: Vec<Vec<(Value, DemandedFp)>>,
    work: Vec<Value>,
}

impl Demand<'_> {
    fn collect(&mut self, list: &[Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::Def(value, inst) => self.inst(*value, inst),
                Stmt::If(branch) => {
                    for phi in &branch.phis {
                        let from = phi.incoming.into_iter().chain(phi.arms.into_iter().flatten());
                        from.for_each(|from| self.forward(phi.value, from, SIGN | DENORMAL));
                    }
                    branch.arms.iter().for_each(|arm| self.collect(arm));
                }
                Stmt::Loop(repeat) => {
                    for param in &repeat.params {
                        self.forward(param.value, param.init, SIGN | DENORMAL);
                        self.forward(param.value, param.next, SIGN | DENORMAL);
                    }
                    self.collect(&repeat.body);
                }
                // How a coordinate counts is the sampler's affair.
                _ => stmt.operands(&mut |operand| self.demand(operand, SIGN | DENORMAL)),
            }
        }
    }

    fn inst(&mut self, value: Value, inst: &Inst) {
        let [a, b, c] = inst.args;
        let sign_unless = |hidden: bool| if hidden { NOTHING } else { SIGN };
        // A square has the same sign either way.
        let factors = |product: MulFlags, hidden: bool| {
            let hidden = hidden || a == b;
            [sign_unless(hidden || product.zero_a), sign_unless(hidden || product.zero_b)]
        };
        let [of_a, of_b, of_c] = match inst.opcode {
            Opcode::Add => [
                sign_unless(self.absorbs_zero_sign(b, false)),
                sign_unless(self.absorbs_zero_sign(a, false)),
                NOTHING,
            ],
            Opcode::Sub => [
                sign_unless(self.absorbs_zero_sign(b, true)),
                sign_unless(self.absorbs_zero_sign(a, false)),
                NOTHING,
            ],
            Opcode::Mul(product) => {
                let [a, b] = factors(product, false);
                [a, b, NOTHING]
            }
            Opcode::Mad(product, sign) => {
                let [a, b] = factors(product, self.absorbs_zero_sign(c, sign == AddSign::Minus));
                [a, b, SIGN]
            }
            Opcode::Select => [NOTHING, SIGN | DENORMAL, SIGN | DENORMAL],
            // It counts on that there are none.
            Opcode::Min(DenormalMode::Excluded) | Opcode::Max(DenormalMode::Excluded) => {
                self.demand(a, DENORMAL);
                self.demand(b, DENORMAL);
                [SIGN; 3]
            }
            Opcode::Neg | Opcode::Min(_) | Opcode::Max(_) | Opcode::QuadBroadcast(_) => {
                [SIGN | DENORMAL; 3]
            }
            Opcode::Abs | Opcode::NegAbs | Opcode::Clamp01 => [DENORMAL; 3],
            Opcode::Flush => [SIGN; 3],
            // Comparisons take zeros for equal; masks have no sign; the fraction of -0 is +0.
            Opcode::Frc
            | Opcode::Lt
            | Opcode::Ge
            | Opcode::Eq
            | Opcode::Ne
            | Opcode::And
            | Opcode::Or
            | Opcode::AndNot
            | Opcode::Input { .. } => [NOTHING; 3],
            // Infinity of either sign comes of zeros.
            Opcode::Rcp | Opcode::Rsq => {
                self.demand(a, SIGN);
                return;
            }
            // These put bits together.
            Opcode::Ex2 | Opcode::Ln2 | Opcode::Sin | Opcode::Cos => {
                self.demand(a, SIGN | DENORMAL);
                return;
            }
        };
        let args = [(a, of_a), (b, of_b), (c, of_c)];
        args.into_iter()
            .take(inst.opcode.arity())
            .for_each(|(arg, bits)| self.forward(value, arg, bits));
    }

    /// Whether a sum with this operand is the same for either zero: it is no zero itself, or +0 (-0 if it
    /// is taken away).
    fn absorbs_zero_sign(&self, operand: Operand, taken: bool) -> bool {
        match operand {
            Operand::Const(bits) if f32::from_bits(bits) == 0.0 => (bits != 0) == taken,
            Operand::Const(bits) => !f32::from_bits(bits).is_subnormal(),
            Operand::Value(value) => {
                self.ranges.get(value.index()).is_some_and(|range| !range.may_be_zero())
            }
        }
    }

    fn forward(&mut self, value: Value, from: Operand, bits: DemandedFp) {
        if bits != NOTHING {
            self.operands[value.index()].extend(from.value().map(|from| (from, bits)));
        }
    }

    fn demand(&mut self, operand: Operand, bits: DemandedFp) {
        let Operand::Value(value) = operand else { return };
        let seen = &mut self.bits[value.index()];
        if *seen | bits != *seen {
            *seen |= bits;
            self.work.push(value);
        }
    }

    fn propagate(&mut self) {
        while let Some(value) = self.work.pop() {
            let seen = self.bits[value.index()];
            for at in 0..self.operands[value.index()].len() {
                let (from, bits) = self.operands[value.index()][at];
                self.demand(Operand::Value(from), bits & seen);
            }
        }
    }
}

/// What becomes of operations.
struct Rewrite<'a> {
    seen: Vec<DemandedFp>,
    ranges: &'a [Range],
    /// Values that are others, as far as anyone sees.
    same: Vec<Option<Operand>>,
    /// Values that flushing operations make.
    is_flushing: Vec<bool>,
    /// Values that are others with the sign changed, as far as anyone sees.
    negated: Vec<Option<Operand>>,
}

impl Rewrite<'_> {
    fn list(&mut self, list: &mut Vec<Stmt>) {
        list.retain_mut(|stmt| {
            stmt.operands_mut(&mut |operand| self.replace(operand));
            match stmt {
                Stmt::Def(value, inst) => {
                    self.propagate_neg(inst);
                    let same = self.inst(*value, inst);
                    self.same[value.index()] = same;
                    self.is_flushing[value.index()] = flushes_result(inst.opcode);
                    return same.is_none();
                }
                // What regions hand out comes from inside.
                Stmt::If(branch) => {
                    branch.arms.iter_mut().for_each(|arm| self.list(arm));
                    stmt.operands_mut(&mut |operand| self.replace(operand));
                }
                Stmt::Loop(repeat) => {
                    self.list(&mut repeat.body);
                    stmt.operands_mut(&mut |operand| self.replace(operand));
                }
                _ => {}
            }
            true
        });
    }

    /// Makes an operation simpler; gives the operand that its result is, if it is one.
    fn inst(&mut self, value: Value, inst: &mut Inst) -> Option<Operand> {
        let seen = self.seen[value.index()];
        let [a, b, _] = inst.args;
        if inst.opcode == Opcode::Flush && seen & DENORMAL == 0 {
            return Some(a);
        }
        if seen & SIGN != 0 {
            return self.simplify_mul_one(inst, seen);
        }
        let is_flush = |operand: Operand| seen & DENORMAL == 0 || self.is_flushed(operand);
        match (inst.opcode, inst.args) {
            (Opcode::Add, [a @ Operand::Value(_), Operand::Const(0), _]) if is_flush(a) => {
                return Some(a);
            }
            (Opcode::Sub, [Operand::Const(0), b @ Operand::Value(_), _]) if is_flush(b) => {
                self.negated[value.index()] = Some(b);
            }
            (Opcode::Mad(product, AddSign::Plus), [a, b, Operand::Const(0)]) => {
                *inst = Inst::new(Opcode::Mul(product), &[a, b]);
            }
            _ => {}
        }
        // What a zero makes zero anyway needs no rule: but infinity and NaN it does not.
        if let Opcode::Mul(product) | Opcode::Mad(product, _) = &mut inst.opcode {
            product.zero_a &= !self.range(b).is_finite();
            product.zero_b &= !self.range(a).is_finite();
        }
        self.simplify_mul_one(inst, seen)
    }

    /// Something times one is what it is.
    fn simplify_mul_one(&self, inst: &mut Inst, seen: DemandedFp) -> Option<Operand> {
        const PLAIN: MulFlags = MulFlags { negate: false, zero_a: false, zero_b: false };
        const MINUS: MulFlags = MulFlags { negate: true, ..PLAIN };
        let [a, b, c] = inst.args;
        if b.as_float() != Some(1.0) {
            return None;
        }
        match inst.opcode {
            Opcode::Mul(PLAIN) if seen & DENORMAL == 0 || self.is_flushed(a) => return Some(a),
            Opcode::Mad(PLAIN, AddSign::Plus) => *inst = Inst::new(Opcode::Add, &[a, c]),
            Opcode::Mad(PLAIN, AddSign::Minus) => *inst = Inst::new(Opcode::Sub, &[a, c]),
            Opcode::Mad(MINUS, AddSign::Plus) => *inst = Inst::new(Opcode::Sub, &[c, a]),
            _ => {}
        }
        None
    }

    /// Looks at what others are the negated of, where that is as cheap.
    fn propagate_neg(&self, inst: &mut Inst) {
        let negated = |operand: Operand| self.negated[operand.value()?.index()];
        let [a, b, _] = inst.args;
        match inst.opcode {
            Opcode::Add => {
                if let Some(x) = negated(b) {
                    *inst = Inst::new(Opcode::Sub, &[a, x]);
                } else if let Some(x) = negated(a) {
                    *inst = Inst::new(Opcode::Sub, &[b, x]);
                }
            }
            Opcode::Sub => {
                if let Some(x) = negated(b) {
                    *inst = Inst::new(Opcode::Add, &[a, x]);
                }
            }
            Opcode::Mul(_) | Opcode::Mad(..) => {
                if let (Some(x), Operand::Const(bits)) = (negated(a), b) {
                    inst.args[0] = x;
                    inst.args[1] = Operand::float(-f32::from_bits(bits));
                }
            }
            _ => {}
        }
    }

    /// Whether an operand is no denormal, whatever else becomes of the function: ranges tell of what it was,
    /// and what makes a value need not flush where nobody sees it. (In a loop, two products with one could
    /// each count on the other.)
    fn is_flushed(&self, operand: Operand) -> bool {
        let stays = operand.value().is_none_or(|value| {
            self.is_flushing[value.index()] || self.seen[value.index()] & DENORMAL != 0
        });
        stays && !self.range(operand).denormal
    }

    fn range(&self, operand: Operand) -> Range {
        match operand {
            Operand::Const(bits) => Range::of(f32::from_bits(bits)),
            Operand::Value(value) => self.ranges.get(value.index()).copied().unwrap_or(Range::ANY),
        }
    }

    fn replace(&self, operand: &mut Operand) {
        if let Operand::Value(value) = operand
            && let Some(same) = self.same[value.index()]
        {
            *operand = same;
        }
    }
}

/// Whether an operation makes zeros of denormals by itself.
fn flushes_result(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::Add
            | Opcode::Sub
            | Opcode::Mul(_)
            | Opcode::Mad(..)
            | Opcode::Flush
            | Opcode::Rcp
            | Opcode::Rsq
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::NONE;

    const V: fn(u32) -> Operand = |number| Operand::Value(Value(number));
    const PRODUCT: MulFlags = MulFlags { negate: false, zero_a: false, zero_b: false };

    /// What is left of operations on an input (0), the last of which is the colour.
    fn left(ops: &[Inst]) -> Vec<Inst> {
        let input = Inst::new(Opcode::Input { input: 0, channel: 0 }, &[]);
        let all = [&[input], ops].concat();
        let count = all.len() as u32;
        let body = (0..).zip(&all).map(|(number, inst)| Stmt::Def(Value(number), *inst)).collect();
        let mut function = Function {
            values: count,
            body,
            colors: [Some([V(count - 1); 4]), None, None, None],
            non_nan: [[false; 4]; 4],
            depth: None,
            source_locs: vec![0; all.len()],
        };
        simplify_zeros_and_denormals(&mut function, &vec![Range::ANY; all.len()]);
        let inst = |stmt: &Stmt| match stmt {
            Stmt::Def(_, inst) => *inst,
            _ => unreachable!(),
        };
        function.body.iter().skip(1).map(inst).collect()
    }

    fn mad(c: Operand) -> Inst {
        Inst::new(Opcode::Mad(PRODUCT, AddSign::Plus), &[V(0), Operand::float(2.0), c])
    }

    #[test]
    fn nobody_sees_the_sign_of_a_zero_beside_another_number() {
        let product = Inst::new(Opcode::Mul(PRODUCT), &[V(0), Operand::float(2.0)]);
        let one_more = Inst::new(Opcode::Add, &[V(1), Operand::float(1.0)]);
        assert_eq!(left(&[mad(NONE), one_more]), [product, one_more]);
        // -0 + -0 is -0, 1 / -0 is -infinity, and a colour shows what it is.
        let twice = Inst::new(Opcode::Add, &[V(1), V(1)]);
        let inverse = Inst::new(Opcode::Rcp, &[V(1)]);
        for inst in [twice, inverse] {
            assert_eq!(left(&[mad(NONE), inst]), [mad(NONE), inst]);
        }
        assert_eq!(left(&[mad(NONE)]), [mad(NONE)]);
        // What is added to a product is +0 still.
        let nested = Inst { args: [V(0), Operand::float(2.0), V(1)], ..mad(NONE) };
        assert_eq!(left(&[mad(NONE), nested]), [mad(NONE), nested]);
    }

    #[test]
    fn what_is_taken_from_zero_is_taken_away() {
        let minus = Inst::new(Opcode::Sub, &[NONE, V(0)]);
        let scaled =
            |of: u32, by: f32| Inst::new(Opcode::Mul(PRODUCT), &[V(of), Operand::float(by)]);
        let one_more = |of: u32| Inst::new(Opcode::Add, &[V(of), Operand::float(1.0)]);
        // The difference itself is swept out afterwards.
        let ops = left(&[minus, scaled(1, 2.0), one_more(2)]);
        assert_eq!(ops, [minus, scaled(0, -2.0), one_more(2)]);
        // 0 - 0 is +0, where 0 * -2 is -0.
        assert_eq!(left(&[minus, scaled(1, 2.0)]), [minus, scaled(1, 2.0)]);
    }

    #[test]
    fn once_is_nothing() {
        let once =
            Inst::new(Opcode::Mad(PRODUCT, AddSign::Minus), &[V(0), Operand::float(1.0), V(0)]);
        assert_eq!(left(&[once]), [Inst::new(Opcode::Sub, &[V(0), V(0)])]);
        let ruled = MulFlags { zero_a: true, ..PRODUCT };
        let ruled = Inst { opcode: Opcode::Mad(ruled, AddSign::Minus), ..once };
        assert_eq!(left(&[ruled]), [ruled]);
    }

    #[test]
    fn arithmetic_takes_denormals_for_zeros() {
        let flush = Inst::new(Opcode::Flush, &[V(0)]);
        let inverse = |of: u32| Inst::new(Opcode::Rcp, &[V(of)]);
        assert_eq!(left(&[flush, inverse(1)]), [inverse(0)]);
        let sign = Inst::new(Opcode::Neg, &[V(1)]);
        assert_eq!(left(&[flush, sign]), [flush, sign]);
    }

    /// Two products with one, one operands the other by way of a loop: neither may count on the other to flush.
    #[test]
    fn of_two_flushes_one_stays() {
        let once = |of: u32| Inst::new(Opcode::Mul(PRODUCT), &[V(of), Operand::float(1.0)]);
        let param = crate::ir::LoopParam { value: Value(2), init: Operand::Const(0), next: V(1) };
        let body = vec![Stmt::Def(Value(1), once(0))];
        let repeat =
            crate::ir::Loop { max_trips: 3, params: vec![param], body, continue_mask: None };
        let mut function = Function {
            values: 4,
            body: vec![
                Stmt::Def(Value(0), Inst::new(Opcode::Input { input: 0, channel: 0 }, &[])),
                Stmt::Loop(Box::new(repeat)),
                Stmt::Def(Value(3), once(2)),
            ],
            colors: [Some([V(3); 4]), None, None, None],
            non_nan: [[false; 4]; 4],
            depth: None,
            source_locs: vec![0; 4],
        };
        let ranges = [Range::ANY, Range::ARITHMETIC, Range::ARITHMETIC, Range::ARITHMETIC];
        simplify_zeros_and_denormals(&mut function, &ranges);
        let mut products = 0;
        let product =
            |stmt: &Stmt| matches!(stmt, Stmt::Def(_, Inst { opcode: Opcode::Mul(_), .. }));
        let count = &mut |stmt: &Stmt| products += u32::from(product(stmt));
        function.body.iter().for_each(|stmt| stmt.each(count));
        assert_eq!(products, 1);
    }
}
