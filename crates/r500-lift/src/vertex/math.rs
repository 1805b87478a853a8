//! Operations of the math engine: scalar functions.

use std::f32::consts::{LOG2_E, PI, TAU};

use r500_ir::{ModifiedOperand, Opcode, Operand, Type};
use r500_pvs::{MathOp, Src};

use super::VertexLift;
use super::outcome::Outcome;
use super::vector::{IS_NOT_NEGATIVE, IS_NOT_ZERO, IS_POSITIVE, IS_ZERO};

/// What makes turns of radians.
const TURNS: f32 = 1.0 / TAU;

/// The operands of the math engine.
#[derive(Clone, Copy)]
pub(super) struct Scalars {
    x: ModifiedOperand,
    factor: ModifiedOperand,
    exponent: ModifiedOperand,
    /// Components x, y and w of the first source.
    light: [ModifiedOperand; 3],
}

impl Scalars {
    /// Returns those of the second operation of an instruction, which has a source of two scalars.
    pub(super) fn of_dual([x, y]: [ModifiedOperand; 2]) -> Self {
        let zero = Operand::float(0.0).into();
        Self { x, factor: y, exponent: y, light: [x, y, zero] }
    }
}

const ZERO: Operand = Operand::Const(0);
const ONE: Operand = Operand::Const(1.0_f32.to_bits());

impl VertexLift<'_> {
    /// Returns the operands of an instruction: the sources' w.
    pub(super) fn instruction_scalars(&mut self, [a, b, c]: [Src; 3]) -> Scalars {
        let [x, factor, exponent] = [a, b, c].map(|src| self.source(src, 3));
        let light = [0, 1, 3].map(|n| self.source(a, n));
        Scalars { x, factor, exponent, light }
    }

    /// Lifts an operation. Reserved opcodes give 0.
    pub(super) fn math(&mut self, op: MathOp, scalars: Scalars) -> Outcome {
        let Scalars { x, factor, exponent, light } = scalars;
        let value = match op {
            MathOp::NOP => return Outcome::nothing(),
            MathOp::EXP_BASE2_DX => return self.exponential_parts(x),
            MathOp::LOG_BASE2_DX => return self.logarithm_parts(x),
            MathOp::LIGHT_COEFF_DX => return self.light(light),
            MathOp::PRED_SET_EQ
            | MathOp::PRED_SET_GT
            | MathOp::PRED_SET_GTE
            | MathOp::PRED_SET_NEQ
            | MathOp::PRED_SET_CLR
            | MathOp::PRED_SET_INV
            | MathOp::PRED_SET_POP
            | MathOp::PRED_SET_RESTORE => return self.predicate(op, x),
            MathOp::EXP_BASEE_FF => {
                let scaled = self.builder.mul(x, Operand::float(LOG2_E).into(), false);
                self.builder.unary(Opcode::Ex2, scaled.into())
            }
            MathOp::POWER_FUNC_FF => self.power(x, exponent),
            MathOp::POWER_FUNC_FF_CLAMP_B => {
                let exponent = self.builder.max(exponent, ZERO.into());
                self.power(x, exponent.into())
            }
            MathOp::POWER_FUNC_FF_CLAMP_B1 => {
                let exponent = self.limited(exponent, [0.0, 1.0]);
                self.power(x, exponent.into())
            }
            MathOp::POWER_FUNC_FF_CLAMP_01 => {
                let power = self.power(x, exponent);
                self.builder.unary(Opcode::Clamp01, power.into())
            }
            MathOp::RECIP_DX => self.finite(Opcode::Rcp, x),
            MathOp::RECIP_FF => self.zero_for_zero(Opcode::Rcp, x),
            MathOp::RECIP_IEEE => self.builder.unary(Opcode::Rcp, x),
            MathOp::RECIP_SQRT_DX => self.finite(Opcode::Rsq, x.abs()),
            MathOp::RECIP_SQRT_FF => self.zero_for_zero(Opcode::Rsq, x.abs()),
            MathOp::RECIP_SQRT_IEEE => self.builder.unary(Opcode::Rsq, x),
            MathOp::MULTIPLY => self.builder.mul(x, factor, true),
            MathOp::EXP_BASE2_FULL_DX => self.builder.unary(Opcode::Ex2, x),
            MathOp::LOG_BASE2_FULL_DX => self.finite(Opcode::Ln2, x.abs()),
            MathOp::LOG_BASE2_IEEE => self.builder.unary(Opcode::Ln2, x.abs()),
            MathOp::SIN => self.wave(Opcode::Sin, x),
            MathOp::COS => self.wave(Opcode::Cos, x),
            _ => ZERO,
        };
        Outcome::of([value; 4])
    }

    /// Lifts an operation that sets the predicate.
    fn predicate(&mut self, op: MathOp, x: ModifiedOperand) -> Outcome {
        let tested = match op {
            MathOp::PRED_SET_EQ => Some(IS_ZERO),
            MathOp::PRED_SET_GT => Some(IS_POSITIVE),
            MathOp::PRED_SET_GTE => Some(IS_NOT_NEGATIVE),
            MathOp::PRED_SET_NEQ => Some(IS_NOT_ZERO),
            _ => None,
        };
        if let Some(test) = tested {
            let holds = self.test(test, x);
            let counter = self.builder.select(Type::F32, holds, ZERO, ONE);
            return self.counter(counter);
        }
        let counter = match op {
            MathOp::PRED_SET_CLR => Operand::float(f32::MAX),
            MathOp::PRED_SET_INV => {
                let is_zero = self.test(IS_ZERO, x);
                let is_one = self.builder.compare(Opcode::Eq, x, ONE.into());
                let x = self.builder.bits(x);
                let other = self.builder.select(Type::F32, is_one, ZERO, x);
                self.builder.select(Type::F32, is_zero, ONE, other)
            }
            MathOp::PRED_SET_POP => {
                let less = self.builder.sub(x, ONE.into());
                self.builder.max(less.into(), ZERO.into())
            }
            _ => self.builder.bits(x),
        };
        self.counter(counter)
    }

    fn exponential_parts(&mut self, x: ModifiedOperand) -> Outcome {
        let bits = self.builder.bits(x);
        let floor = self.floor(bits);
        let exponential = self.builder.unary(Opcode::Ex2, floor.into());
        let fraction = self.builder.unary(Opcode::Frc, x);
        Outcome::of([exponential, fraction, self.builder.unary(Opcode::Ex2, x), ONE])
    }

    /// Returns exponent, mantissa, logarithm, 1.
    fn logarithm_parts(&mut self, x: ModifiedOperand) -> Outcome {
        let log = self.finite(Opcode::Ln2, x.abs());
        let exponent = self.floor(log);
        let negated = ModifiedOperand::from(exponent).negated();
        let scale = self.builder.unary(Opcode::Ex2, negated);
        let mantissa = self.builder.mul(x.abs(), scale.into(), false);
        Outcome::of([exponent, mantissa, log, ONE])
    }

    fn wave(&mut self, function: Opcode, x: ModifiedOperand) -> Operand {
        let angle = self.limited(x, [-PI, PI]);
        let turns = self.builder.mul(angle.into(), Operand::float(TURNS).into(), false);
        self.builder.unary(function, turns.into())
    }

    /// Returns a function whose infinities are replaced by the greatest number of their sign.
    fn finite(&mut self, function: Opcode, x: ModifiedOperand) -> Operand {
        let y = self.builder.unary(function, x);
        self.limited(y.into(), [f32::MIN, f32::MAX])
    }

    /// Returns x limited to a range; NaN stays.
    fn limited(&mut self, x: ModifiedOperand, [least, most]: [f32; 2]) -> Operand {
        // The second operand is the result if a comparison with it does not hold.
        let x = self.builder.min(Operand::float(most).into(), x);
        self.builder.max(Operand::float(least).into(), x.into())
    }

    fn zero_for_zero(&mut self, function: Opcode, x: ModifiedOperand) -> Operand {
        let is_zero = self.test(IS_ZERO, x);
        let y = self.builder.unary(function, x);
        self.builder.select(Type::F32, is_zero, ZERO, y)
    }

    fn power(&mut self, base: ModifiedOperand, exponent: ModifiedOperand) -> Operand {
        let is_zero = self.test(IS_ZERO, exponent);
        let logarithm = self.builder.unary(Opcode::Ln2, base);
        let product = self.builder.mul(exponent, logarithm.into(), true);
        let power = self.builder.unary(Opcode::Ex2, product.into());
        self.builder.select(Type::F32, is_zero, ONE, power)
    }

    /// Returns lighting coefficients of (x, exponent, y): 1, max(x, 0), x > 0 ? max(y, 0)^exponent : 0, 1.
    fn light(&mut self, [x, exponent, y]: [ModifiedOperand; 3]) -> Outcome {
        const LIMIT: f32 = 127.996_1;
        let exponent = {
            let limited = self.limited(exponent, [-LIMIT, LIMIT]);
            let is_number = self.builder.compare(Opcode::Eq, exponent, exponent);
            self.builder.select(Type::F32, is_number, limited, ZERO)
        };
        let lit = self.test(IS_POSITIVE, x);
        let shines = self.test(IS_POSITIVE, y);
        let (x, y) = (self.builder.bits(x), self.builder.bits(y));
        let base = self.builder.select(Type::F32, shines, y, ZERO);
        let power = self.power(base.into(), exponent.into());
        let specular = self.builder.select(Type::F32, lit, power, ZERO);
        let diffuse = self.builder.select(Type::F32, lit, x, ZERO);
        Outcome::of([ONE, diffuse, specular, ONE])
    }
}
