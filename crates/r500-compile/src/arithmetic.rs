//! What the chip computes, as the formulas of the language's functions need it.
//!
//! The formulas are written once, over [`Arithmetic`]: the compiler makes instructions of them, the evaluator numbers.

use r500_isa::values::TexOp;
use r500_numerics::{Arith, compare, kernels};

/// An operation on scalars, by components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Alu {
    /// a * b + c
    Mad,
    Min,
    Max,
    /// c >= 0 ? a : b
    Cmp,
    Frc,
    Ex2,
    Ln2,
    Rcp,
    Rsq,
    /// Of turns.
    Sin,
    /// Of turns.
    Cos,
    /// The difference in the quad from left to right.
    Ddx,
    /// The difference in the quad from its first row to its second.
    Ddy,
}

impl Alu {
    /// Returns whether only the alpha half has it.
    pub(crate) fn is_transcendental(self) -> bool {
        matches!(self, Self::Ex2 | Self::Ln2 | Self::Rcp | Self::Rsq | Self::Sin | Self::Cos)
    }
}

/// The chip's arithmetic, with `ZERO_TIMES_ANYTHING_EQUALS_ZERO`, which programs of this compiler set.
pub(crate) const ARITH: Arith = Arith::REFERENCE.with_zero_rule(true);

/// Returns the result of an operation that does not look at neighbours, rounded and finished as the chip does.
pub(crate) fn compute(op: Alu, [a, b, c]: [f32; 3]) -> f32 {
    let raw = match op {
        Alu::Mad => ARITH.mad(a, b, c),
        Alu::Min => compare::min(a, b),
        Alu::Max => compare::max(a, b),
        Alu::Cmp => compare::cmp(a, b, c),
        Alu::Frc => ARITH.frc(a),
        Alu::Ex2 => kernels::ex2(a),
        Alu::Ln2 => kernels::ln2(a),
        Alu::Rcp => ARITH.rcp(a),
        Alu::Rsq => ARITH.rsq(a),
        Alu::Sin => kernels::sin(a),
        Alu::Cos => kernels::cos(a),
        Alu::Ddx | Alu::Ddy => a,
    };
    r500_numerics::finish(raw, 1.0)
}

/// A fetch from a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FetchKind {
    pub(crate) unit: u8,
    pub(crate) op: TexOp,
    /// Coordinates in texels.
    pub(crate) unscaled: bool,
}

/// Values and what can be done with them. A value has components; an operand of one component stands for all.
pub(crate) trait Arithmetic {
    type Value: Clone;

    fn literal(&mut self, value: f32) -> Self::Value;
    fn len(&self, of: &Self::Value) -> usize;
    /// Returns components by number.
    fn pick(&self, of: &Self::Value, list: &[usize]) -> Self::Value;
    fn join(&self, list: &[Self::Value]) -> Self::Value;
    fn negate(&self, of: &Self::Value) -> Self::Value;
    fn abs(&self, of: &Self::Value) -> Self::Value;
    fn alu(&mut self, op: Alu, operands: &[&Self::Value]) -> Self::Value;
    /// a * b + c, limited to 0..1
    fn mad_sat(&mut self, operands: [&Self::Value; 3]) -> Self::Value;
    /// The sum of the products of 2 to 4 components.
    fn dot(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    fn fetch(
        &mut self,
        kind: FetchKind,
        strq: &Self::Value,
        gradients: Option<[&Self::Value; 2]>,
    ) -> Self::Value;

    fn mad(&mut self, a: &Self::Value, b: &Self::Value, c: &Self::Value) -> Self::Value {
        self.alu(Alu::Mad, &[a, b, c])
    }

    fn add(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        let one = self.literal(1.0);
        self.alu(Alu::Mad, &[a, &one, b])
    }

    fn sub(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        let minus = self.negate(b);
        self.add(a, &minus)
    }

    fn mul(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        let zero = self.literal(0.0);
        self.alu(Alu::Mad, &[a, b, &zero])
    }

    fn scale(&mut self, a: &Self::Value, by: f32) -> Self::Value {
        let by = self.literal(by);
        self.mul(a, &by)
    }

    /// Product with the reciprocal: what `/` is.
    fn div(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        let reciprocal = self.alu(Alu::Rcp, &[b]);
        self.mul(a, &reciprocal)
    }

    fn saturate(&mut self, a: &Self::Value) -> Self::Value {
        let (one, zero) = (self.literal(1.0), self.literal(0.0));
        self.mad_sat([a, &one, &zero])
    }

    /// test >= 0 ? a : b
    fn at_least_zero(
        &mut self,
        test: &Self::Value,
        a: &Self::Value,
        b: &Self::Value,
    ) -> Self::Value {
        self.alu(Alu::Cmp, &[a, b, test])
    }

    /// The square root; that of 0 is 0 because a product with 0 is.
    fn sqrt(&mut self, a: &Self::Value) -> Self::Value {
        let reciprocal = self.alu(Alu::Rsq, &[a]);
        self.mul(a, &reciprocal)
    }

    fn floor(&mut self, a: &Self::Value) -> Self::Value {
        let fraction = self.alu(Alu::Frc, &[a]);
        self.sub(a, &fraction)
    }

    /// The integer towards 0.
    fn trunc(&mut self, a: &Self::Value) -> Self::Value {
        let size = self.abs(a);
        let floor = self.floor(&size);
        let minus = self.negate(&floor);
        self.at_least_zero(a, &floor, &minus)
    }

    /// c[0] + x * (c[1] + x * ...)
    fn horner(&mut self, x: &Self::Value, c: &[f32]) -> Self::Value {
        let mut sum = self.literal(c.last().copied().unwrap_or(0.0));
        for c in c.iter().rev().skip(1) {
            let c = self.literal(*c);
            sum = self.mad(&sum, x, &c);
        }
        sum
    }
}
