//! Lowering of arithmetic, selections and bit operations.
//!
//! The processor flushes denormals (MXCSR), so every step matches the reference arithmetic. Only results that are moved bit for bit need
//! care.

use r500_ir::{AddSign, DenormalMode, MulFlags, Operand, Value};
use r500_numerics::branchless;

use super::{Lower, fold};
use crate::{Class, MemOperand, Opcode, Relation, Rounding, VReg};

const SIGN: u32 = 0x8000_0000;

impl Lower<'_> {
    /// Lowers operations of up to two operands.
    pub(super) fn simple(&mut self, opcode: r500_ir::Opcode, a: VReg, b: VReg) -> VReg {
        match opcode {
            r500_ir::Opcode::Add => self.op(Opcode::Add, &[a, b]),
            r500_ir::Opcode::Sub => self.op(Opcode::Sub, &[a, b]),
            r500_ir::Opcode::Neg => {
                let sign = self.bits(SIGN);
                self.op(Opcode::Xor, &[a, sign])
            }
            r500_ir::Opcode::Abs => {
                let rest = self.bits(!SIGN);
                self.op(Opcode::And, &[a, rest])
            }
            r500_ir::Opcode::NegAbs => {
                let sign = self.bits(SIGN);
                self.op(Opcode::Or, &[a, sign])
            }
            r500_ir::Opcode::Min(DenormalMode::Excluded) => self.op(Opcode::Min, &[a, b]),
            r500_ir::Opcode::Min(DenormalMode::Kept) => {
                let less = self.compare(Relation::Lt, a, b);
                self.choose(less, a, b)
            }
            // Equal zeros give the first operand, NaN the second: the processor's maximum does neither.
            r500_ir::Opcode::Max(_) => {
                let not_less = self.compare(Relation::Ge, a, b);
                self.choose(not_less, a, b)
            }
            // A product flushes its result.
            r500_ir::Opcode::Flush => {
                let one = self.float(1.0);
                self.op(Opcode::Mul, &[a, one])
            }
            // The second operand if unordered: NaN and -0 become +0 here.
            r500_ir::Opcode::Clamp01 => {
                let (zero, one) = (self.bits(0), self.float(1.0));
                let positive = self.op(Opcode::Max, &[a, zero]);
                self.op(Opcode::Min, &[positive, one])
            }
            r500_ir::Opcode::Frc => {
                let floor = self.op(Opcode::Round(Rounding::Floor), &[a]);
                self.op(Opcode::Sub, &[a, floor])
            }
            r500_ir::Opcode::Rcp => self.reciprocal(a),
            r500_ir::Opcode::Rsq => {
                let one = self.float(1.0);
                let root = self.op(Opcode::Sqrt, &[a]);
                let reciprocal = self.op(Opcode::Div, &[one, root]);
                self.roots.insert(reciprocal, root);
                reciprocal
            }
            r500_ir::Opcode::Sin => branchless::sin(self, a),
            r500_ir::Opcode::Cos => branchless::cos(self, a),
            r500_ir::Opcode::QuadBroadcast(corner) => self.op(Opcode::QuadBroadcast(corner), &[a]),
            r500_ir::Opcode::Lt => self.compare(Relation::Lt, a, b),
            r500_ir::Opcode::Ge => self.compare(Relation::Ge, a, b),
            r500_ir::Opcode::Eq => self.compare(Relation::Eq, a, b),
            r500_ir::Opcode::Ne => self.compare(Relation::Ne, a, b),
            // These are lowered elsewhere.
            r500_ir::Opcode::Input { .. }
            | r500_ir::Opcode::LoadConstant { .. }
            | r500_ir::Opcode::Ex2
            | r500_ir::Opcode::Ln2
            | r500_ir::Opcode::Mul(_)
            | r500_ir::Opcode::Mad(..)
            | r500_ir::Opcode::Select
            | r500_ir::Opcode::And
            | r500_ir::Opcode::Or
            | r500_ir::Opcode::AndNot => a,
        }
    }

    /// Emits 1 / y. Programs compute roots as reciprocals of reciprocals of roots, which needs no second division.
    ///
    /// `y` is the root `s`'s reciprocal, rounded, so `s * y = 1 - e` with an error `e` of at most 2^-23, which the fused multiply-add
    /// computes exactly. Then `1 / y = s / (1 - e)` is `s + s * e` before rounding, but for `s * e^2`, which changes no rounding: a test
    /// compares the two for all fractions of `s`. (Roots and their reciprocals are normal, so exponents do not matter.) `e` is NaN if `s` is
    /// a zero, infinite or NaN; then `1 / y` is `s`.
    fn reciprocal(&mut self, y: VReg) -> VReg {
        let one = self.float(1.0);
        let Some(&root) = self.roots.get(&y).filter(|_| self.caps.fused) else {
            return self.op(Opcode::Div, &[one, y]);
        };
        let error = self.op(Opcode::NegMulAdd, &[root, y, one]);
        let reciprocal = self.op(Opcode::MulAdd, &[root, error, root]);
        let is_number = self.compare(Relation::Eq, error, error);
        self.choose(is_number, reciprocal, root)
    }

    pub(super) fn compare(&mut self, relation: Relation, a: VReg, b: VReg) -> VReg {
        let constants = self.constant(a).zip(self.constant(b));
        match constants.and_then(|(a, b)| fold::related(relation, a, b)) {
            Some(all) => self.mask(Operand::Const(if all { u32::MAX } else { 0 })),
            None => self.op(Opcode::Cmp(relation), &[a, b]),
        }
    }

    /// Lowers the product A * B with its flags.
    pub(super) fn product(&mut self, product: MulFlags, a: VReg, b: VReg) -> VReg {
        let MulFlags { mut negate, zero_a, zero_b } = product;
        let (mut a, mut b) = (a, b);
        // A constant factor absorbs the sign at no cost.
        if negate {
            for factor in [&mut a, &mut b] {
                if let Some(MemOperand::Const(bits)) = self.function.mem_operand(*factor) {
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
        match self.caps.mask_class {
            Class::Vector => {
                let mut p = self.op(Opcode::Mul, &[a, b]);
                if negate {
                    let sign = self.bits(SIGN);
                    p = self.op(Opcode::Xor, &[p, sign]);
                }
                for factor in factors {
                    let counts = self.compare(Relation::Ne, factor, zero);
                    p = self.op(Opcode::And, &[counts, p]);
                }
                p
            }
            Class::Mask => {
                let counts = factors
                    .into_iter()
                    .map(|factor| self.compare(Relation::Ne, factor, zero))
                    .collect::<Vec<_>>();
                let counts = counts.into_iter().reduce(|a, b| self.op(Opcode::MaskAnd, &[a, b]));
                match counts {
                    None => {
                        let p = self.op(Opcode::Mul, &[a, b]);
                        self.negated_if(negate, p)
                    }
                    Some(counts) if !negate => self.op(Opcode::MaskedMul, &[counts, a, b]),
                    Some(counts) => {
                        let p = self.op(Opcode::Mul, &[a, b]);
                        let p = self.negated_if(true, p);
                        self.op(Opcode::MaskedMove, &[counts, p])
                    }
                }
            }
        }
    }

    fn negated_if(&mut self, negate: bool, p: VReg) -> VReg {
        if !negate {
            return p;
        }
        let sign = self.bits(SIGN);
        self.op(Opcode::Xor, &[p, sign])
    }

    /// Lowers A * B + C or A * B - C, with the flags of the product.
    pub(super) fn mad(
        &mut self,
        product: MulFlags,
        sign: AddSign,
        a: VReg,
        b: VReg,
        c: VReg,
    ) -> VReg {
        let MulFlags { negate, zero_a, zero_b } = product;
        let constant = |v| matches!(self.function.mem_operand(v), Some(MemOperand::Const(_)));
        // `-(a * b) + c` → `c - a * b`; sound if no zero rule applies to the product.
        if negate && !zero_a && !zero_b && sign == AddSign::Plus && !constant(a) && !constant(b) {
            let p = self.product(MulFlags { negate: false, ..product }, a, b);
            return self.op(Opcode::Sub, &[c, p]);
        }
        let p = self.product(product, a, b);
        match sign {
            AddSign::Plus => self.op(Opcode::Add, &[p, c]),
            AddSign::Minus => self.op(Opcode::Sub, &[p, c]),
        }
    }

    /// Returns the factor of a product, with its sign, if the product is exact for bounded operands, so that product and sum can be fused:
    /// a power of two from 1 up to 2^20.
    pub(super) fn exact_factor(
        &mut self,
        product: MulFlags,
        sign: AddSign,
        factor: VReg,
    ) -> Option<VReg> {
        let MulFlags { negate, zero_a, zero_b } = product;
        let bits = self.constant(factor)?;
        let exponent = (bits >> 23 & 0xff).checked_sub(127)?;
        let exact = bits << 9 == 0 && exponent <= 20;
        if !self.caps.fused || !exact || zero_a || zero_b || sign == AddSign::Minus {
            return None;
        }
        Some(self.bits(if negate { bits ^ SIGN } else { bits }))
    }

    /// Lowers selections and operations on masks.
    pub(super) fn logic(&mut self, value: Value, inst: &r500_ir::Inst) -> VReg {
        let [a, b, c] = inst.args;
        match inst.opcode {
            r500_ir::Opcode::And => {
                let (a, b) = (self.mask(a), self.mask(b));
                self.op(Opcode::MaskAnd, &[a, b])
            }
            r500_ir::Opcode::Or => {
                let (a, b) = (self.mask(a), self.mask(b));
                self.op(Opcode::MaskOr, &[a, b])
            }
            r500_ir::Opcode::AndNot => {
                let (a, b) = (self.mask(a), self.mask(b));
                self.op(Opcode::MaskAndNot, &[b, a])
            }
            _ => {
                let mask = self.mask(a);
                // Two constants have no class; the result's type decides.
                let class = self.class_of(value);
                let (b, c) = (self.operand(b, class), self.operand(c, class));
                self.choose(mask, b, c)
            }
        }
    }

    /// Emits mask ? A : B, bit for bit.
    pub(super) fn choose(&mut self, mask: VReg, a: VReg, b: VReg) -> VReg {
        if let Some(all) = self.constant_mask(mask) {
            let chosen = if all { a } else { b };
            // A slot may be overwritten before the result is used, so the value is copied.
            return match self.function.mem_operand(chosen) {
                Some(MemOperand::Slot(..)) => self.op(Opcode::Copy, &[chosen]),
                _ => chosen,
            };
        }
        let zero = |v| self.function.mem_operand(v) == Some(MemOperand::Const(0));
        match (self.caps.mask_class, self.function.class(a)) {
            (_, Class::Mask) => {
                let yes = self.op(Opcode::MaskAnd, &[mask, a]);
                let no = self.op(Opcode::MaskAndNot, &[mask, b]);
                self.op(Opcode::MaskOr, &[yes, no])
            }
            (Class::Vector, _) if zero(b) => self.op(Opcode::And, &[mask, a]),
            (Class::Vector, _) if zero(a) => self.op(Opcode::AndNot, &[mask, b]),
            (Class::Mask, _) if zero(b) => self.op(Opcode::MaskedMove, &[mask, a]),
            _ => self.op(Opcode::Blend, &[mask, a, b]),
        }
    }
}
