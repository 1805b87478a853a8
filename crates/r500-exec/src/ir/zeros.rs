//! Zeros whose sign nobody sees, and denormals that nobody tells from zeros.
//!
//! A program multiplies by adding +0 to a product, which makes +0 of -0 and changes nothing else. Where
//! all that looks at the result takes either zero for the same, the sum need not be made; nor is the zero
//! rule needed that only keeps a sign. What arithmetic looks at need not be flushed before.

use super::{Code, Denormals, Function, Op, Operand, Product, Range, Sign, Stmt, Value};

/// Leaves out what only changes bits that nobody sees. The ranges are those of the function's values.
pub(super) fn simplify(function: &mut Function, ranges: &[Range]) {
    let count = function.values as usize;
    let mut seen = Seen {
        ranges,
        bits: vec![NOTHING; count],
        behind: vec![Vec::new(); count],
        work: Vec::new(),
    };
    function.outputs().for_each(|operand| seen.look(operand, SIGN | DENORMAL));
    seen.collect(&function.body);
    seen.mark();
    let Seen { bits, .. } = seen;
    let mut rewrite = Rewrite {
        seen: bits,
        ranges,
        same: vec![None; count],
        flushes: vec![false; count],
        opposite: vec![None; count],
    };
    rewrite.list(&mut function.body);
    for operand in function.outputs_mut() {
        rewrite.replace(operand);
    }
}

/// What is seen of a value.
type Bits = u8;

const NOTHING: Bits = 0;
/// The sign of a zero.
const SIGN: Bits = 1;
/// That a denormal is not zero.
const DENORMAL: Bits = 2;

/// What is seen of each value.
struct Seen<'a> {
    ranges: &'a [Range],
    bits: Vec<Bits>,
    /// Values that each shows, and what of them if it is seen of itself.
    behind: Vec<Vec<(Value, Bits)>>,
    work: Vec<Value>,
}

impl Seen<'_> {
    fn collect(&mut self, list: &[Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::Def(value, op) => self.op(*value, op),
                Stmt::If(branch) => {
                    for merge in &branch.merges {
                        let from = merge.before.into_iter().chain(merge.arms.into_iter().flatten());
                        from.for_each(|from| self.shows(merge.value, from, SIGN | DENORMAL));
                    }
                    branch.arms.iter().for_each(|arm| self.collect(arm));
                }
                Stmt::Loop(repeat) => {
                    for carried in &repeat.carried {
                        self.shows(carried.value, carried.init, SIGN | DENORMAL);
                        self.shows(carried.value, carried.next, SIGN | DENORMAL);
                    }
                    self.collect(&repeat.body);
                }
                // How a coordinate counts is the sampler's affair.
                _ => stmt.operands(&mut |operand| self.look(operand, SIGN | DENORMAL)),
            }
        }
    }

    fn op(&mut self, value: Value, op: &Op) {
        let [a, b, c] = op.args;
        let sign_unless = |hidden: bool| if hidden { NOTHING } else { SIGN };
        // A square has the same sign either way.
        let factors = |product: Product, hidden: bool| {
            let hidden = hidden || a == b;
            [sign_unless(hidden || product.zero_a), sign_unless(hidden || product.zero_b)]
        };
        let [of_a, of_b, of_c] = match op.code {
            Code::Add => {
                [sign_unless(self.hides(b, false)), sign_unless(self.hides(a, false)), NOTHING]
            }
            Code::Sub => {
                [sign_unless(self.hides(b, true)), sign_unless(self.hides(a, false)), NOTHING]
            }
            Code::Mul(product) => {
                let [a, b] = factors(product, false);
                [a, b, NOTHING]
            }
            Code::Mad(product, sign) => {
                let [a, b] = factors(product, self.hides(c, sign == Sign::Minus));
                [a, b, SIGN]
            }
            Code::Select => [NOTHING, SIGN | DENORMAL, SIGN | DENORMAL],
            // It counts on that there are none.
            Code::Min(Denormals::Excluded) | Code::Max(Denormals::Excluded) => {
                self.look(a, DENORMAL);
                self.look(b, DENORMAL);
                [SIGN; 3]
            }
            Code::Neg | Code::Min(_) | Code::Max(_) | Code::Corner(_) => [SIGN | DENORMAL; 3],
            Code::Abs | Code::NegAbs | Code::Clamp01 => [DENORMAL; 3],
            Code::Flush => [SIGN; 3],
            // Comparisons take zeros for equal; masks have no sign; the fraction of -0 is +0.
            Code::Frc
            | Code::Lt
            | Code::Ge
            | Code::Eq
            | Code::Ne
            | Code::And
            | Code::Or
            | Code::AndNot
            | Code::Input { .. } => [NOTHING; 3],
            // Infinity of either sign comes of zeros.
            Code::Rcp | Code::Rsq => {
                self.look(a, SIGN);
                return;
            }
            // These put bits together.
            Code::Ex2 | Code::Ln2 | Code::Sin | Code::Cos => {
                self.look(a, SIGN | DENORMAL);
                return;
            }
        };
        let args = [(a, of_a), (b, of_b), (c, of_c)];
        args.into_iter().take(op.code.arity()).for_each(|(arg, bits)| self.shows(value, arg, bits));
    }

    /// Whether a sum with this operand is the same for either zero: it is no zero itself, or +0 (-0 if it
    /// is taken away).
    fn hides(&self, operand: Operand, taken: bool) -> bool {
        match operand {
            Operand::Const(bits) if f32::from_bits(bits) == 0.0 => (bits != 0) == taken,
            Operand::Const(bits) => !f32::from_bits(bits).is_subnormal(),
            Operand::Value(value) => {
                self.ranges.get(value.index()).is_some_and(|range| !range.may_be_zero())
            }
        }
    }

    fn shows(&mut self, value: Value, from: Operand, bits: Bits) {
        if bits != NOTHING {
            self.behind[value.index()].extend(from.value().map(|from| (from, bits)));
        }
    }

    fn look(&mut self, operand: Operand, bits: Bits) {
        let Operand::Value(value) = operand else { return };
        let seen = &mut self.bits[value.index()];
        if *seen | bits != *seen {
            *seen |= bits;
            self.work.push(value);
        }
    }

    fn mark(&mut self) {
        while let Some(value) = self.work.pop() {
            let seen = self.bits[value.index()];
            for at in 0..self.behind[value.index()].len() {
                let (from, bits) = self.behind[value.index()][at];
                self.look(Operand::Value(from), bits & seen);
            }
        }
    }
}

/// What becomes of operations.
struct Rewrite<'a> {
    seen: Vec<Bits>,
    ranges: &'a [Range],
    /// Values that are others, as far as anyone sees.
    same: Vec<Option<Operand>>,
    /// Values that flushing operations make.
    flushes: Vec<bool>,
    /// Values that are others with the sign changed, as far as anyone sees.
    opposite: Vec<Option<Operand>>,
}

impl Rewrite<'_> {
    fn list(&mut self, list: &mut Vec<Stmt>) {
        list.retain_mut(|stmt| {
            stmt.operands_mut(&mut |operand| self.replace(operand));
            match stmt {
                Stmt::Def(value, op) => {
                    self.turn(op);
                    let same = self.op(*value, op);
                    self.same[value.index()] = same;
                    self.flushes[value.index()] = flushes(op.code);
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
    fn op(&mut self, value: Value, op: &mut Op) -> Option<Operand> {
        let seen = self.seen[value.index()];
        let [a, b, _] = op.args;
        if op.code == Code::Flush && seen & DENORMAL == 0 {
            return Some(a);
        }
        if seen & SIGN != 0 {
            return self.once(op, seen);
        }
        let is_flush = |operand: Operand| seen & DENORMAL == 0 || self.is_flushed(operand);
        match (op.code, op.args) {
            (Code::Add, [a @ Operand::Value(_), Operand::Const(0), _]) if is_flush(a) => {
                return Some(a);
            }
            (Code::Sub, [Operand::Const(0), b @ Operand::Value(_), _]) if is_flush(b) => {
                self.opposite[value.index()] = Some(b);
            }
            (Code::Mad(product, Sign::Plus), [a, b, Operand::Const(0)]) => {
                *op = Op::new(Code::Mul(product), &[a, b]);
            }
            _ => {}
        }
        // What a zero makes zero anyway needs no rule: but infinity and NaN it does not.
        if let Code::Mul(product) | Code::Mad(product, _) = &mut op.code {
            product.zero_a &= !self.range(b).is_finite();
            product.zero_b &= !self.range(a).is_finite();
        }
        self.once(op, seen)
    }

    /// Something times one is what it is.
    fn once(&self, op: &mut Op, seen: Bits) -> Option<Operand> {
        const PLAIN: Product = Product { negate: false, zero_a: false, zero_b: false };
        const MINUS: Product = Product { negate: true, ..PLAIN };
        let [a, b, c] = op.args;
        if b.as_float() != Some(1.0) {
            return None;
        }
        match op.code {
            Code::Mul(PLAIN) if seen & DENORMAL == 0 || self.is_flushed(a) => return Some(a),
            Code::Mad(PLAIN, Sign::Plus) => *op = Op::new(Code::Add, &[a, c]),
            Code::Mad(PLAIN, Sign::Minus) => *op = Op::new(Code::Sub, &[a, c]),
            Code::Mad(MINUS, Sign::Plus) => *op = Op::new(Code::Sub, &[c, a]),
            _ => {}
        }
        None
    }

    /// Looks at what others are the opposite of, where that is as cheap.
    fn turn(&self, op: &mut Op) {
        let opposite = |operand: Operand| self.opposite[operand.value()?.index()];
        let [a, b, _] = op.args;
        match op.code {
            Code::Add => {
                if let Some(x) = opposite(b) {
                    *op = Op::new(Code::Sub, &[a, x]);
                } else if let Some(x) = opposite(a) {
                    *op = Op::new(Code::Sub, &[b, x]);
                }
            }
            Code::Sub => {
                if let Some(x) = opposite(b) {
                    *op = Op::new(Code::Add, &[a, x]);
                }
            }
            Code::Mul(_) | Code::Mad(..) => {
                if let (Some(x), Operand::Const(bits)) = (opposite(a), b) {
                    op.args[0] = x;
                    op.args[1] = Operand::float(-f32::from_bits(bits));
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
            self.flushes[value.index()] || self.seen[value.index()] & DENORMAL != 0
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
fn flushes(code: Code) -> bool {
    matches!(
        code,
        Code::Add | Code::Sub | Code::Mul(_) | Code::Mad(..) | Code::Flush | Code::Rcp | Code::Rsq
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::NONE;

    const V: fn(u32) -> Operand = |number| Operand::Value(Value(number));
    const PRODUCT: Product = Product { negate: false, zero_a: false, zero_b: false };

    /// What is left of operations on an input (0), the last of which is the colour.
    fn left(ops: &[Op]) -> Vec<Op> {
        let input = Op::new(Code::Input { input: 0, channel: 0 }, &[]);
        let all = [&[input], ops].concat();
        let count = all.len() as u32;
        let body = (0..).zip(&all).map(|(number, op)| Stmt::Def(Value(number), *op)).collect();
        let mut function = Function {
            values: count,
            body,
            colors: [Some([V(count - 1); 4]), None, None, None],
            numbers: [[false; 4]; 4],
            depth: None,
            origins: vec![0; all.len()],
        };
        simplify(&mut function, &vec![Range::ANY; all.len()]);
        let op = |stmt: &Stmt| match stmt {
            Stmt::Def(_, op) => *op,
            _ => unreachable!(),
        };
        function.body.iter().skip(1).map(op).collect()
    }

    fn mad(c: Operand) -> Op {
        Op::new(Code::Mad(PRODUCT, Sign::Plus), &[V(0), Operand::float(2.0), c])
    }

    #[test]
    fn nobody_sees_the_sign_of_a_zero_beside_another_number() {
        let product = Op::new(Code::Mul(PRODUCT), &[V(0), Operand::float(2.0)]);
        let one_more = Op::new(Code::Add, &[V(1), Operand::float(1.0)]);
        assert_eq!(left(&[mad(NONE), one_more]), [product, one_more]);
        // -0 + -0 is -0, 1 / -0 is -infinity, and a colour shows what it is.
        let twice = Op::new(Code::Add, &[V(1), V(1)]);
        let inverse = Op::new(Code::Rcp, &[V(1)]);
        for op in [twice, inverse] {
            assert_eq!(left(&[mad(NONE), op]), [mad(NONE), op]);
        }
        assert_eq!(left(&[mad(NONE)]), [mad(NONE)]);
        // What is added to a product is +0 still.
        let nested = Op { args: [V(0), Operand::float(2.0), V(1)], ..mad(NONE) };
        assert_eq!(left(&[mad(NONE), nested]), [mad(NONE), nested]);
    }

    #[test]
    fn what_is_taken_from_zero_is_taken_away() {
        let minus = Op::new(Code::Sub, &[NONE, V(0)]);
        let scaled = |of: u32, by: f32| Op::new(Code::Mul(PRODUCT), &[V(of), Operand::float(by)]);
        let one_more = |of: u32| Op::new(Code::Add, &[V(of), Operand::float(1.0)]);
        // The difference itself is swept out afterwards.
        let ops = left(&[minus, scaled(1, 2.0), one_more(2)]);
        assert_eq!(ops, [minus, scaled(0, -2.0), one_more(2)]);
        // 0 - 0 is +0, where 0 * -2 is -0.
        assert_eq!(left(&[minus, scaled(1, 2.0)]), [minus, scaled(1, 2.0)]);
    }

    #[test]
    fn once_is_nothing() {
        let once = Op::new(Code::Mad(PRODUCT, Sign::Minus), &[V(0), Operand::float(1.0), V(0)]);
        assert_eq!(left(&[once]), [Op::new(Code::Sub, &[V(0), V(0)])]);
        let ruled = Product { zero_a: true, ..PRODUCT };
        let ruled = Op { code: Code::Mad(ruled, Sign::Minus), ..once };
        assert_eq!(left(&[ruled]), [ruled]);
    }

    #[test]
    fn arithmetic_takes_denormals_for_zeros() {
        let flush = Op::new(Code::Flush, &[V(0)]);
        let inverse = |of: u32| Op::new(Code::Rcp, &[V(of)]);
        assert_eq!(left(&[flush, inverse(1)]), [inverse(0)]);
        let sign = Op::new(Code::Neg, &[V(1)]);
        assert_eq!(left(&[flush, sign]), [flush, sign]);
    }

    /// Two products with one, one behind the other by way of a loop: neither may count on the other to flush.
    #[test]
    fn of_two_flushes_one_stays() {
        let once = |of: u32| Op::new(Code::Mul(PRODUCT), &[V(of), Operand::float(1.0)]);
        let carried = crate::ir::Carried { value: Value(2), init: Operand::Const(0), next: V(1) };
        let body = vec![Stmt::Def(Value(1), once(0))];
        let repeat = crate::ir::Loop { passes: 3, carried: vec![carried], body, again: None };
        let mut function = Function {
            values: 4,
            body: vec![
                Stmt::Def(Value(0), Op::new(Code::Input { input: 0, channel: 0 }, &[])),
                Stmt::Loop(Box::new(repeat)),
                Stmt::Def(Value(3), once(2)),
            ],
            colors: [Some([V(3); 4]), None, None, None],
            numbers: [[false; 4]; 4],
            depth: None,
            origins: vec![0; 4],
        };
        let ranges = [Range::ANY, Range::ARITHMETIC, Range::ARITHMETIC, Range::ARITHMETIC];
        simplify(&mut function, &ranges);
        let mut products = 0;
        let product = |stmt: &Stmt| matches!(stmt, Stmt::Def(_, Op { code: Code::Mul(_), .. }));
        let count = &mut |stmt: &Stmt| products += u32::from(product(stmt));
        function.body.iter().for_each(|stmt| stmt.each(count));
        assert_eq!(products, 1);
    }
}
