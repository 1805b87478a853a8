//! Algebraic simplification: gives operations with equal results the same form.
//!
//! Each rule is exact for every float, NaN and infinities included, in the [demanded](DemandedFp) bits: all bits,
//! except the sign of a zero or the difference between a denormal and a zero if users do not demand these. Operands are
//! known only by their value ranges.

use r500_ir::{
    DENORMAL, DemandedFp, MulFlags, Opcode, Operand, Range, SIGN, evaluate, operand_demands,
};

use super::table::{EVERY, NONE, Node, Number, Table};

const MINUS_ZERO: u32 = 1 << 31;
const ONE: u32 = 0x3f80_0000;
const TWO: u32 = 0x4000_0000;
const PLAIN: MulFlags = MulFlags { negate: false, zero_a: false, zero_b: false };
const NEGATED: MulFlags = MulFlags { negate: true, ..PLAIN };

/// An operation is distributed over the leaves of its operands up to this number of combinations.
const MOST_LEAVES: usize = 8;

impl Table {
    /// Returns the number of an operation, simplified for the demanded bits.
    pub(super) fn simplified(
        &mut self,
        opcode: Opcode,
        args: Vec<Number>,
        fp: DemandedFp,
    ) -> Number {
        self.step();
        if self.is_exhausted() {
            return NONE;
        }
        // f(m ? a : b) → m ? f(a) : f(b), because operations are lane by lane.
        if !matches!(opcode, Opcode::QuadBroadcast(_))
            && let Some(atom) = self.first_atom(&args)
            && self.is_distributed(&args)
        {
            let key = (opcode, args, fp);
            if let Some(&known) = self.distributed.get(&key) {
                return known;
            }
            let [yes, no] = [0, 1].map(|answer| {
                let args = key.1.iter().map(|&arg| self.cofactors(arg, atom)[answer]).collect();
                self.simplified(opcode, args, fp)
            });
            // Results of comparisons are atoms, which may precede this one in the order.
            let number = self.select(atom, yes, no);
            self.distributed.insert(key, number);
            return number;
        }
        let constants: Option<Vec<u32>> = args.iter().map(|&arg| self.constant_bits(arg)).collect();
        if let Some(constants) = constants
            && !constants.is_empty()
        {
            if let Opcode::QuadBroadcast(_) = opcode {
                return args[0];
            }
            let mut bits = [0; 3];
            bits[..constants.len()].copy_from_slice(&constants);
            if let Some(bits) = evaluate(opcode, bits) {
                return self.constant(demanded_bits(bits, fp));
            }
        }
        match (opcode, &args[..]) {
            (Opcode::Neg, &[a]) => self.neg(a, fp),
            (Opcode::Abs, &[a]) => self.abs(a),
            (Opcode::NegAbs, &[a]) => {
                let a = self.abs(a);
                self.neg(a, fp)
            }
            (Opcode::Flush, &[a]) if fp & DENORMAL == 0 || !self.range(a).denormal => a,
            (Opcode::Clamp01, &[a]) if self.range(a).is_unit() => a,
            (Opcode::Min(_) | Opcode::Max(_), &[a, b]) if a == b => a,
            (Opcode::Add, &[a, b]) => self.add(a, b, fp),
            (Opcode::Sub, &[a, b]) => self.sub(a, b, fp),
            (Opcode::Mul(flags), &[a, b]) => self.mul(flags, a, b, fp),
            (Opcode::Eq | Opcode::Lt | Opcode::Ge, &[a, b]) => self.compare(opcode, a, b),
            (Opcode::Ne, &[a, b]) => {
                let equal = self.compare(Opcode::Eq, a, b);
                self.not(equal)
            }
            _ => self.op(opcode, args),
        }
    }

    /// Returns whether an operation is distributed over the leaves of its operands: they have few combinations, or all
    /// leaves are constants, so that there are few results.
    fn is_distributed(&self, args: &[Number]) -> bool {
        if args.iter().all(|&arg| self.has_constant_leaves(arg)) {
            return true;
        }
        let combinations: usize = args.iter().map(|&arg| self.leaves(arg)).product();
        combinations <= MOST_LEAVES
    }

    /// Counts the leaves of a diagram, up to one more than the limit.
    fn leaves(&self, diagram: Number) -> usize {
        let mut leaves = 0;
        let mut work = vec![diagram];
        while let Some(diagram) = work.pop() {
            match self.decision(diagram) {
                Some([_, yes, no]) => work.extend([yes, no]),
                None => leaves += 1,
            }
            if leaves > MOST_LEAVES {
                break;
            }
        }
        leaves
    }

    pub(super) fn constant_bits(&self, number: Number) -> Option<u32> {
        match *self.node(number) {
            Node::Constant(bits) => Some(bits),
            _ => None,
        }
    }

    fn constant_float(&self, number: Number) -> Option<f32> {
        self.constant_bits(number).map(f32::from_bits)
    }

    /// Returns the operand of a negation.
    fn negated(&self, number: Number) -> Option<Number> {
        match self.node(number) {
            Node::Op(Opcode::Neg, args) => Some(args[0]),
            _ => None,
        }
    }

    /// Returns whether arithmetic leaves a value unchanged in the demanded bits, so that flushing denormals is not
    /// observable.
    fn is_flushed(&self, number: Number, fp: DemandedFp) -> bool {
        fp & DENORMAL == 0 || !self.range(number).denormal
    }

    fn neg(&mut self, a: Number, fp: DemandedFp) -> Number {
        if let Some(bits) = self.constant_bits(a) {
            return self.constant(demanded_bits(bits ^ MINUS_ZERO, fp));
        }
        match self.node(a).clone() {
            Node::Op(Opcode::Neg, args) => args[0],
            // Rounding is symmetric, so -(a * b) = (-a) * b. With the zero rule, a product is +0 for both signs.
            Node::Op(Opcode::Mul(flags), args)
                if fp & SIGN == 0 || !(flags.zero_a || flags.zero_b) =>
            {
                let flags = MulFlags { negate: !flags.negate, ..flags };
                self.mul(flags, args[0], args[1], fp)
            }
            // -(a - b) = b - a except for the sign of a zero.
            Node::Op(Opcode::Sub, args) if fp & SIGN == 0 => self.sub(args[1], args[0], fp),
            _ => self.op(Opcode::Neg, vec![a]),
        }
    }

    fn abs(&mut self, a: Number) -> Number {
        if let Some(bits) = self.constant_bits(a) {
            return self.constant(bits & !MINUS_ZERO);
        }
        match self.node(a) {
            Node::Op(Opcode::Neg, args) => {
                let a = args[0];
                self.abs(a)
            }
            _ if !self.range(a).may_be_negative_or_nan() => a,
            _ => self.op(Opcode::Abs, vec![a]),
        }
    }

    fn add(&mut self, a: Number, b: Number, fp: DemandedFp) -> Number {
        if let Some(x) = self.negated(b) {
            return self.sub(a, x, fp);
        }
        if let Some(x) = self.negated(a) {
            return self.sub(b, x, fp);
        }
        for (x, zero) in [(a, b), (b, a)] {
            // x - 0 = x. x + 0 turns -0 into +0.
            let is_same = match self.constant_bits(zero) {
                Some(MINUS_ZERO) => true,
                Some(0) => fp & SIGN == 0 || !self.range(x).flush().minus_zero,
                _ => false,
            };
            if is_same && self.is_flushed(x, fp) {
                return x;
            }
        }
        // x + x = 2x: both are exact, overflow, or are flushed.
        if a == b {
            let two = self.constant(TWO);
            return self.mul(PLAIN, a, two, fp);
        }
        self.op(Opcode::Add, vec![a, b])
    }

    fn sub(&mut self, a: Number, b: Number, fp: DemandedFp) -> Number {
        if let Some(x) = self.negated(b) {
            return self.add(a, x, fp);
        }
        if let Some(bits) = self.constant_bits(b) {
            let b = self.constant(bits ^ MINUS_ZERO);
            return self.add(a, b, fp);
        }
        // -0 - b = -b. 0 - b differs from -b for b = +0.
        let is_negation = match self.constant_bits(a) {
            Some(MINUS_ZERO) => true,
            Some(0) => fp & SIGN == 0,
            _ => false,
        };
        if is_negation && self.is_flushed(b, fp) {
            return self.neg(b, fp);
        }
        self.op(Opcode::Sub, vec![a, b])
    }

    /// Returns the factors of a product without the signs that it absorbs, constants last, and the flags that have an
    /// effect.
    fn factors(
        &mut self,
        mut flags: MulFlags,
        mut a: Number,
        mut b: Number,
        sign_shows: bool,
    ) -> (MulFlags, Number, Number) {
        for factor in [&mut a, &mut b] {
            if let Some(x) = self.negated(*factor) {
                *factor = x;
                flags.negate = !flags.negate;
            }
        }
        if self.constant_bits(a).is_some() {
            (a, b) = (b, a);
            (flags.zero_a, flags.zero_b) = (flags.zero_b, flags.zero_a);
        }
        // The constant takes the sign; for a factor of 1, the product takes it.
        if let Some(factor) = self.constant_float(b) {
            if factor.abs() == 1.0 {
                flags.negate = flags.negate != (factor < 0.0);
                b = self.constant(ONE);
            } else if flags.negate {
                flags.negate = false;
                b = self.constant((-factor).to_bits());
            }
        }
        let [of_a, of_b] = [a, b].map(|factor| self.range(factor));
        if a == b && !flags.negate {
            // The square of a zero is +0, and a square is NaN only if its operand is.
            (flags.zero_a, flags.zero_b) = (false, false);
        } else {
            let shows = |zero: Range, other: Range| {
                MulFlags::zero_rule_shows(zero, other, flags.negate, sign_shows)
            };
            let (zero_a, zero_b) = (shows(of_a, of_b), shows(of_b, of_a));
            flags.zero_a &= zero_a;
            flags.zero_b &= zero_b;
        }
        (flags, a, b)
    }

    fn mul(&mut self, flags: MulFlags, a: Number, b: Number, fp: DemandedFp) -> Number {
        let (flags, a, b) = self.factors(flags, a, b, fp & SIGN != 0);
        if self.constant_bits(b) == Some(ONE) && self.is_flushed(a, fp) {
            match flags {
                PLAIN => return a,
                NEGATED => return self.neg(a, fp),
                _ => {}
            }
        }
        self.op(Opcode::Mul(flags), vec![a, b])
    }

    /// Simplifies a comparison other than `Ne`. Signs of zeros and denormals of operands are not observable.
    fn compare(&mut self, opcode: Opcode, mut a: Number, mut b: Number) -> Number {
        // -a < -b is b < a; the sign of a constant is inverted.
        let inverse = |table: &mut Self, number: Number| {
            table.negated(number).or_else(|| {
                let bits = table.constant_bits(number)?;
                Some(table.constant(demanded_bits(bits ^ MINUS_ZERO, 0)))
            })
        };
        if (self.negated(a).is_some() || self.negated(b).is_some())
            && let (Some(x), Some(y)) = (inverse(self, a), inverse(self, b))
        {
            (a, b) = if opcode == Opcode::Eq { (x, y) } else { (y, x) };
        }
        let [of_a, of_b] = [a, b].map(|number| self.range(number));
        let bits = |x: f32, y: f32| evaluate(opcode, [x.to_bits(), y.to_bits(), 0]) == Some(!0);
        let never_nan = !of_a.nan && !of_b.nan;
        match opcode {
            // Comparisons are monotonic, so the bounds decide them.
            Opcode::Lt if !bits(of_a.lo, of_b.hi) => return NONE,
            Opcode::Lt if never_nan && bits(of_a.hi, of_b.lo) => return EVERY,
            Opcode::Lt if a == b => return NONE,
            Opcode::Ge if !bits(of_a.hi, of_b.lo) => return NONE,
            Opcode::Ge if never_nan && (a == b || bits(of_a.lo, of_b.hi)) => return EVERY,
            Opcode::Eq if never_nan && a == b => return EVERY,
            // a >= b is !(a < b) without NaN.
            Opcode::Ge if never_nan => {
                let less = self.op(Opcode::Lt, vec![a, b]);
                return self.not(less);
            }
            _ => {}
        }
        self.op(opcode, vec![a, b])
    }
}

/// Returns the bits of a constant reduced to the demanded ones: +0 for -0, a zero for a denormal.
pub(super) fn demanded_bits(bits: u32, fp: DemandedFp) -> u32 {
    let x = f32::from_bits(bits);
    let bits = if x.is_subnormal() && fp & DENORMAL == 0 { bits & MINUS_ZERO } else { bits };
    if bits == MINUS_ZERO && fp & SIGN == 0 { 0 } else { bits }
}

/// Returns the demand of an operation for operand `n`, given the demand for its result. The other operands must keep
/// their bits.
pub(super) fn demand_of(
    table: &Table,
    opcode: Opcode,
    args: &[Number],
    n: usize,
    fp: DemandedFp,
) -> DemandedFp {
    let args: Vec<Operand> = args.iter().map(|&arg| table.operand(arg)).collect();
    let range = |operand: Operand| match operand {
        Operand::Const(bits) => Range::of(f32::from_bits(bits)),
        Operand::Value(value) => table.range(value.0),
    };
    let demand = operand_demands(&r500_ir::Inst::new(opcode, &args), range)[n].given(fp);
    // Adding a zero to +0 gives +0, and leaves other numbers as they are; so does subtracting one.
    let is_hidden = match opcode {
        Opcode::Add => !range(args[1 - n]).flush().minus_zero,
        Opcode::Sub => n == 1 && !range(args[0]).flush().minus_zero,
        _ => false,
    };
    if is_hidden { demand & !SIGN } else { demand }
}
