//! Operations of the vector engine, component by component.

use r500_ir::{ModifiedOperand, NONE, Opcode, Operand, Type};
use r500_pvs::{Src, VectorOp};

use super::VertexLift;
use super::outcome::Outcome;

const ZERO: Operand = Operand::Const(0);

/// A test of a number: the operation, and whether 0 is its first operand.
#[derive(Clone, Copy)]
pub(super) struct Test(Opcode, bool);

pub(super) const IS_ZERO: Test = Test(Opcode::Eq, false);
pub(super) const IS_NOT_ZERO: Test = Test(Opcode::Ne, false);
pub(super) const IS_POSITIVE: Test = Test(Opcode::Lt, true);
pub(super) const IS_NOT_NEGATIVE: Test = Test(Opcode::Ge, false);

/// Sources a, b and c of a component.
type Operands = [ModifiedOperand; 3];

impl VertexLift<'_> {
    /// Lifts an operation; only `wanted` components are computed.
    pub(super) fn vector(&mut self, op: VectorOp, sources: [Src; 3], wanted: [bool; 4]) -> Outcome {
        match op {
            VectorOp::NOP => Outcome::nothing(),
            VectorOp::DOT_PRODUCT => match wanted.contains(&true) {
                true => Outcome::of([self.dot_product(sources); 4]),
                false => Outcome::of([ZERO; 4]),
            },
            VectorOp::DISTANCE_VECTOR => self.distance_vector(sources),
            VectorOp::PRED_SET_EQ_PUSH => self.push(sources, IS_ZERO),
            VectorOp::PRED_SET_GT_PUSH => self.push(sources, IS_POSITIVE),
            VectorOp::PRED_SET_GTE_PUSH => self.push(sources, IS_NOT_NEGATIVE),
            VectorOp::PRED_SET_NEQ_PUSH => self.push(sources, IS_NOT_ZERO),
            VectorOp::COND_WRITE_EQ => self.conditional(sources, wanted, IS_ZERO),
            VectorOp::COND_WRITE_GT => self.conditional(sources, wanted, IS_POSITIVE),
            VectorOp::COND_WRITE_GTE => self.conditional(sources, wanted, IS_NOT_NEGATIVE),
            VectorOp::COND_WRITE_NEQ => self.conditional(sources, wanted, IS_NOT_ZERO),
            _ => {
                let mut values = [ZERO; 4];
                for n in (0..4).filter(|n| wanted[*n]) {
                    let operands = self.operands(op, sources, n);
                    values[n] = self.component(op, operands);
                }
                Outcome::of(values)
            }
        }
    }

    /// Returns a component of the sources that an operation reads.
    fn operands(&mut self, op: VectorOp, sources: [Src; 3], n: usize) -> Operands {
        let mut operands = [ModifiedOperand::from(ZERO); 3];
        let count = r500_pvs::Op::Vector(op).sources();
        for (operand, src) in operands.iter_mut().zip(sources).take(count) {
            *operand = self.source(src, n);
        }
        operands
    }

    /// Lifts a component of an operation that computes each from the same component of its sources. Reserved opcodes give 0.
    fn component(&mut self, op: VectorOp, [a, b, c]: Operands) -> Operand {
        let builder = &mut self.builder;
        match op {
            VectorOp::MULTIPLY => builder.mul(a, b, true),
            VectorOp::ADD => builder.add(a, b),
            VectorOp::MULTIPLY_ADD => builder.mad(a, b, c, true),
            VectorOp::FRACTION => builder.unary(Opcode::Frc, a),
            VectorOp::MAXIMUM => builder.max(a, b),
            VectorOp::MINIMUM => builder.min(a, b),
            VectorOp::MULTIPLYX2_ADD => {
                let product = builder.mul(a, b, true);
                builder.mad(product.into(), Operand::float(2.0).into(), c, false)
            }
            VectorOp::MULTIPLY_CLAMP => {
                let product = builder.mul(a, b, true);
                builder.unary(Opcode::Clamp01, product.into())
            }
            VectorOp::FLT2FIX_DX => {
                let a = builder.bits(a);
                self.floor(a)
            }
            VectorOp::FLT2FIX_DX_RND => {
                let sum = builder.add(a, Operand::float(0.5).into());
                self.floor(sum)
            }
            VectorOp::SET_GREATER_THAN_EQUAL => self.set(Opcode::Ge, a, b),
            VectorOp::SET_LESS_THAN => self.set(Opcode::Lt, a, b),
            VectorOp::SET_GREATER_THAN => self.set(Opcode::Lt, b, a),
            VectorOp::SET_EQUAL => self.set(Opcode::Eq, a, b),
            VectorOp::SET_NOT_EQUAL => self.set(Opcode::Ne, a, b),
            VectorOp::COND_MUX_EQ => self.mux(IS_ZERO, [a, b, c]),
            VectorOp::COND_MUX_GT => self.mux(IS_POSITIVE, [a, b, c]),
            VectorOp::COND_MUX_GTE => self.mux(IS_NOT_NEGATIVE, [a, b, c]),
            _ => ZERO,
        }
    }

    /// Lifts a dot product: multiplies and adds from left to right, each step rounded.
    fn dot_product(&mut self, [a, b, _]: [Src; 3]) -> Operand {
        let (x, y) = (self.source(a, 0), self.source(b, 0));
        let mut sum = self.builder.mul(x, y, true);
        for n in 1..4 {
            let (x, y) = (self.source(a, n), self.source(b, n));
            sum = self.builder.mad(x, y, sum.into(), true);
        }
        sum
    }

    fn distance_vector(&mut self, [a, b, _]: [Src; 3]) -> Outcome {
        let (ay, by) = (self.source(a, 1), self.source(b, 1));
        let (az, bw) = (self.source(a, 2), self.source(b, 3));
        let y = self.builder.mul(ay, by, true);
        Outcome::of([Operand::float(1.0), y, self.builder.bits(az), self.builder.bits(bw)])
    }

    /// Returns 1 where a comparison holds, else 0.
    fn set(&mut self, opcode: Opcode, a: ModifiedOperand, b: ModifiedOperand) -> Operand {
        let mask = self.builder.compare(opcode, a, b);
        self.builder.select(Type::F32, mask, Operand::float(1.0), ZERO)
    }

    /// Returns the lanes in which a test holds.
    pub(super) fn test(&mut self, Test(opcode, zero_first): Test, x: ModifiedOperand) -> Operand {
        match zero_first {
            true => self.builder.compare(opcode, ZERO.into(), x),
            false => self.builder.compare(opcode, x, ZERO.into()),
        }
    }

    fn mux(&mut self, test: Test, [a, b, c]: Operands) -> Operand {
        let mask = self.test(test, a);
        let (b, c) = (self.builder.bits(b), self.builder.bits(c));
        self.builder.select(Type::F32, mask, b, c)
    }

    /// Lifts a write of b where a test of a holds.
    fn conditional(&mut self, [a, b, _]: [Src; 3], wanted: [bool; 4], test: Test) -> Outcome {
        let mut outcome = Outcome { values: [ZERO; 4], writes: [NONE; 4], predicate: None };
        for n in (0..4).filter(|n| wanted[*n]) {
            let (a, b) = (self.source(a, n), self.source(b, n));
            outcome.values[n] = self.builder.bits(b);
            outcome.writes[n] = self.test(test, a);
        }
        outcome
    }

    /// Lifts an operation that pushes a predicate counter.
    fn push(&mut self, [a, b, _]: [Src; 3], test: Test) -> Outcome {
        let (counter, value) = (self.source(a, 3), self.source(b, 3));
        let starts = self.test(IS_ZERO, counter);
        let holds = self.test(test, value);
        let zero = self.builder.and(starts, holds);
        let more = self.builder.add(counter, Operand::float(1.0).into());
        let counter = self.builder.select(Type::F32, zero, ZERO, more);
        self.counter(counter)
    }

    /// Returns the result of a predicate counter: the predicate is whether it is 0.
    pub(super) fn counter(&mut self, counter: Operand) -> Outcome {
        let predicate = self.test(IS_ZERO, counter.into());
        Outcome { predicate: Some(predicate), ..Outcome::of([counter; 4]) }
    }
}
