//! Sums, products, choices, bits.
//!
//! The processor's own rule makes denormals zeros (the code sets it), so only what is picked and must
//! keep its bits needs care.

use r500_ir::{AddSign, DenormalMode, MulFlags, Opcode, Operand, Value};

use super::{Lower, fold};
use crate::op::{Class, Given, Kind, Relation, Rounding, V};

const SIGN: u32 = 0x8000_0000;

impl Lower<'_> {
    /// Operations of up to two numbers.
    pub(super) fn simple(&mut self, opcode: Opcode, a: V, b: V) -> V {
        match opcode {
            Opcode::Add => self.op(Kind::Add, &[a, b]),
            Opcode::Sub => self.op(Kind::Sub, &[a, b]),
            Opcode::Neg => {
                let sign = self.bits(SIGN);
                self.op(Kind::Xor, &[a, sign])
            }
            Opcode::Abs => {
                let rest = self.bits(!SIGN);
                self.op(Kind::And, &[a, rest])
            }
            Opcode::NegAbs => {
                let sign = self.bits(SIGN);
                self.op(Kind::Or, &[a, sign])
            }
            Opcode::Min(DenormalMode::Excluded) => self.op(Kind::Min, &[a, b]),
            Opcode::Min(DenormalMode::Kept) => {
                let less = self.compare(Relation::Lt, a, b);
                self.choose(less, a, b)
            }
            // Of equal zeros the first, of NaN the second: no maximum of the processor's.
            Opcode::Max(_) => {
                let not_less = self.compare(Relation::Ge, a, b);
                self.choose(not_less, a, b)
            }
            // As a product it is flushed.
            Opcode::Flush => {
                let one = self.float(1.0);
                self.op(Kind::Mul, &[a, one])
            }
            // The second of what does not compare: NaN and -0 become +0 here.
            Opcode::Clamp01 => {
                let (zero, one) = (self.bits(0), self.float(1.0));
                let positive = self.op(Kind::Max, &[a, zero]);
                self.op(Kind::Min, &[positive, one])
            }
            Opcode::Frc => {
                let floor = self.op(Kind::Round(Rounding::Floor), &[a]);
                self.op(Kind::Sub, &[a, floor])
            }
            Opcode::Rcp => {
                let one = self.float(1.0);
                self.op(Kind::Div, &[one, a])
            }
            Opcode::Rsq => {
                let one = self.float(1.0);
                let root = self.op(Kind::Sqrt, &[a]);
                self.op(Kind::Div, &[one, root])
            }
            Opcode::Ex2 => self.ex2(a),
            Opcode::Ln2 => self.ln2(a),
            Opcode::Sin => self.sin(a),
            Opcode::Cos => self.cos(a),
            Opcode::QuadBroadcast(corner) => self.op(Kind::Corner(corner), &[a]),
            Opcode::Lt => self.compare(Relation::Lt, a, b),
            Opcode::Ge => self.compare(Relation::Ge, a, b),
            Opcode::Eq => self.compare(Relation::Eq, a, b),
            Opcode::Ne => self.compare(Relation::Ne, a, b),
            // These are lowered elsewhere.
            Opcode::Input { .. }
            | Opcode::Mul(_)
            | Opcode::Mad(..)
            | Opcode::Select
            | Opcode::And
            | Opcode::Or
            | Opcode::AndNot => a,
        }
    }

    pub(super) fn compare(&mut self, relation: Relation, a: V, b: V) -> V {
        let constants = self.constant(a).zip(self.constant(b));
        match constants.and_then(|(a, b)| fold::related(relation, a, b)) {
            Some(all) => self.mask(Operand::Const(if all { u32::MAX } else { 0 })),
            None => self.op(Kind::Cmp(relation), &[a, b]),
        }
    }

    /// A * B.
    pub(super) fn product(&mut self, product: MulFlags, a: V, b: V) -> V {
        let MulFlags { mut negate, zero_a, zero_b } = product;
        let (mut a, mut b) = (a, b);
        // The sign goes to a constant for nothing.
        if negate {
            for factor in [&mut a, &mut b] {
                if let Some(Given::Const(bits)) = self.program.given(*factor) {
                    *factor = self.bits(bits ^ SIGN);
                    negate = false;
                    break;
                }
            }
        }
        let mut factors = Vec::new();
        factors.extend(zero_a.then_some(a));
        factors.extend(zero_b.then_some(b).filter(|b| !zero_a || *b != a));
        let zero = self.bits(0);
        match self.mask_class {
            Class::Vector => {
                let mut p = self.op(Kind::Mul, &[a, b]);
                if negate {
                    let sign = self.bits(SIGN);
                    p = self.op(Kind::Xor, &[p, sign]);
                }
                for factor in factors {
                    let counts = self.compare(Relation::Ne, factor, zero);
                    p = self.op(Kind::And, &[counts, p]);
                }
                p
            }
            Class::Mask => {
                let counts = factors
                    .into_iter()
                    .map(|factor| self.compare(Relation::Ne, factor, zero))
                    .collect::<Vec<_>>();
                let counts = counts.into_iter().reduce(|a, b| self.op(Kind::MaskAnd, &[a, b]));
                match counts {
                    None => {
                        let p = self.op(Kind::Mul, &[a, b]);
                        self.negated_if(negate, p)
                    }
                    Some(counts) if !negate => self.op(Kind::MulKeep, &[counts, a, b]),
                    Some(counts) => {
                        let p = self.op(Kind::Mul, &[a, b]);
                        let p = self.negated_if(true, p);
                        self.op(Kind::Keep, &[counts, p])
                    }
                }
            }
        }
    }

    fn negated_if(&mut self, negate: bool, p: V) -> V {
        if !negate {
            return p;
        }
        let sign = self.bits(SIGN);
        self.op(Kind::Xor, &[p, sign])
    }

    /// A * B and C.
    pub(super) fn mad(&mut self, product: MulFlags, sign: AddSign, a: V, b: V, c: V) -> V {
        let MulFlags { negate, zero_a, zero_b } = product;
        let constant = |v| matches!(self.program.given(v), Some(Given::Const(_)));
        // c - p for -p + c, where no rule comes between.
        if negate && !zero_a && !zero_b && sign == AddSign::Plus && !constant(a) && !constant(b) {
            let p = self.product(MulFlags { negate: false, ..product }, a, b);
            return self.op(Kind::Sub, &[c, p]);
        }
        let p = self.product(product, a, b);
        match sign {
            AddSign::Plus => self.op(Kind::Add, &[p, c]),
            AddSign::Minus => self.op(Kind::Sub, &[p, c]),
        }
    }

    /// Selections and operations on masks.
    pub(super) fn logic(&mut self, value: Value, inst: &r500_ir::Inst) -> V {
        let [a, b, c] = inst.args;
        match inst.opcode {
            Opcode::And => {
                let (a, b) = (self.mask(a), self.mask(b));
                self.op(Kind::MaskAnd, &[a, b])
            }
            Opcode::Or => {
                let (a, b) = (self.mask(a), self.mask(b));
                self.op(Kind::MaskOr, &[a, b])
            }
            Opcode::AndNot => {
                let (a, b) = (self.mask(a), self.mask(b));
                self.op(Kind::MaskAndNot, &[b, a])
            }
            _ => {
                let mask = self.mask(a);
                // Two constants say nothing of their class; who looks at the result does.
                let class = self.class_of(value);
                let (b, c) = (self.operand(b, class), self.operand(c, class));
                self.choose(mask, b, c)
            }
        }
    }

    /// Mask ? A : B, bit for bit.
    pub(super) fn choose(&mut self, mask: V, a: V, b: V) -> V {
        if let Some(all) = self.everywhere(mask) {
            let chosen = if all { a } else { b };
            // What lies in a slot is another value than what is chosen: the slot may change before that is used.
            return match self.program.given(chosen) {
                Some(Given::Slot(..)) => self.op(Kind::Copy, &[chosen]),
                _ => chosen,
            };
        }
        let zero = |v| self.program.given(v) == Some(Given::Const(0));
        match (self.mask_class, self.program.class(a)) {
            (_, Class::Mask) => {
                let yes = self.op(Kind::MaskAnd, &[mask, a]);
                let no = self.op(Kind::MaskAndNot, &[mask, b]);
                self.op(Kind::MaskOr, &[yes, no])
            }
            (Class::Vector, _) if zero(b) => self.op(Kind::And, &[mask, a]),
            (Class::Vector, _) if zero(a) => self.op(Kind::AndNot, &[mask, b]),
            (Class::Mask, _) if zero(b) => self.op(Kind::Keep, &[mask, a]),
            _ => self.op(Kind::Blend, &[mask, a, b]),
        }
    }
}
