//! What the chip's processors compute, as the formulas of the language's functions need it.
//!
//! The formulas are written once, over [`Arithmetic`]: the compiler makes instructions of them, the evaluator numbers.

use r500_glsl::Stage;
use r500_isa::values::TexOp;
use r500_numerics::{Arith, compare, kernels};
use r500_pvs::MathOp;

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
    /// Of turns in fragments, of -pi to pi in vertices.
    Sin,
    /// As [`Self::Sin`].
    Cos,
    /// a ^ b, of vertices.
    Pow,
    /// The difference in the quad from left to right.
    Ddx,
    /// The difference in the quad from its first row to its second.
    Ddy,
}

impl Alu {
    /// Returns whether only the alpha half has it.
    pub(crate) fn is_transcendental(self) -> bool {
        matches!(
            self,
            Self::Ex2 | Self::Ln2 | Self::Rcp | Self::Rsq | Self::Sin | Self::Cos | Self::Pow
        )
    }

    /// Returns whether it reads the neighbours in the quad.
    pub(crate) fn is_difference(self) -> bool {
        matches!(self, Self::Ddx | Self::Ddy)
    }

    /// Returns the operation of the vertex processor's math engine that it is, as drivers choose it.
    pub(crate) fn of_math_engine(self) -> Option<MathOp> {
        Some(match self {
            Self::Ex2 => MathOp::EXP_BASE2_FULL_DX,
            Self::Ln2 => MathOp::LOG_BASE2_FULL_DX,
            Self::Rcp => MathOp::RECIP_DX,
            Self::Rsq => MathOp::RECIP_SQRT_DX,
            Self::Sin => MathOp::SIN,
            Self::Cos => MathOp::COS,
            Self::Pow => MathOp::POWER_FUNC_FF,
            _ => return None,
        })
    }
}

/// The chip's arithmetic, with `ZERO_TIMES_ANYTHING_EQUALS_ZERO`, which fragment programs of this compiler set and vertex programs always
/// have.
pub(crate) const ARITH: Arith = Arith::REFERENCE.with_zero_rule(true);

/// Returns the result of an operation that does not look at neighbours, rounded and finished as the chip does.
#[expect(clippy::expect_used, reason = "an operation without a value must not compile")]
pub(crate) fn compute(stage: Stage, op: Alu, [a, b, c]: [f32; 3]) -> f32 {
    if stage == Stage::Vertex
        && let Some(op) = op.of_math_engine()
    {
        return r500_pvs::scalar(op, a, b).expect("these operations give a scalar");
    }
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
        Alu::Pow => unreachable!(
            "fragment programs have no powers; the formula of `pow` is several operations"
        ),
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

/// The components of a value; an operand of one component stands for all.
pub(crate) type Value<A> = Vec<<A as Arithmetic>::Component>;

/// Components of values and what can be done with them.
pub(crate) trait Arithmetic {
    type Component: Copy;

    /// Returns whose operations these are.
    fn stage(&self) -> Stage;

    /// Returns the component that is a number.
    fn number(value: f32) -> Self::Component;
    fn negate(&self, of: &Value<Self>) -> Value<Self>;
    fn abs(&self, of: &Value<Self>) -> Value<Self>;
    fn alu(&mut self, op: Alu, operands: &[&Value<Self>]) -> Value<Self>;
    /// a * b + c, limited to 0..1
    fn mad_sat(&mut self, operands: [&Value<Self>; 3]) -> Value<Self>;
    /// The sum of the products of 2 to 4 components.
    fn dot(&mut self, a: &Value<Self>, b: &Value<Self>) -> Value<Self>;
    fn fetch(
        &mut self,
        kind: FetchKind,
        strq: &Value<Self>,
        gradients: Option<[&Value<Self>; 2]>,
    ) -> Value<Self>;

    fn literal(&self, value: f32) -> Value<Self> {
        vec![Self::number(value)]
    }

    /// Returns components by number.
    fn pick(&self, of: &Value<Self>, list: &[usize]) -> Value<Self> {
        list.iter().map(|n| of[*n]).collect()
    }

    fn join(&self, list: &[Value<Self>]) -> Value<Self> {
        list.concat()
    }

    fn mad(&mut self, a: &Value<Self>, b: &Value<Self>, c: &Value<Self>) -> Value<Self> {
        self.alu(Alu::Mad, &[a, b, c])
    }

    fn add(&mut self, a: &Value<Self>, b: &Value<Self>) -> Value<Self> {
        let one = self.literal(1.0);
        self.alu(Alu::Mad, &[a, &one, b])
    }

    fn sub(&mut self, a: &Value<Self>, b: &Value<Self>) -> Value<Self> {
        let minus = self.negate(b);
        self.add(a, &minus)
    }

    fn mul(&mut self, a: &Value<Self>, b: &Value<Self>) -> Value<Self> {
        let zero = self.literal(0.0);
        self.alu(Alu::Mad, &[a, b, &zero])
    }

    fn scale(&mut self, a: &Value<Self>, by: f32) -> Value<Self> {
        let by = self.literal(by);
        self.mul(a, &by)
    }

    /// Product with the reciprocal: what `/` is.
    fn div(&mut self, a: &Value<Self>, b: &Value<Self>) -> Value<Self> {
        let reciprocal = self.alu(Alu::Rcp, &[b]);
        self.mul(a, &reciprocal)
    }

    fn saturate(&mut self, a: &Value<Self>) -> Value<Self> {
        let (one, zero) = (self.literal(1.0), self.literal(0.0));
        self.mad_sat([a, &one, &zero])
    }

    /// test >= 0 ? a : b
    fn at_least_zero(
        &mut self,
        test: &Value<Self>,
        a: &Value<Self>,
        b: &Value<Self>,
    ) -> Value<Self> {
        self.alu(Alu::Cmp, &[a, b, test])
    }

    /// The square root; that of 0 is 0 because a product with 0 is.
    fn sqrt(&mut self, a: &Value<Self>) -> Value<Self> {
        let reciprocal = self.alu(Alu::Rsq, &[a]);
        self.mul(a, &reciprocal)
    }

    fn floor(&mut self, a: &Value<Self>) -> Value<Self> {
        let fraction = self.alu(Alu::Frc, &[a]);
        self.sub(a, &fraction)
    }

    /// The integer towards 0.
    fn trunc(&mut self, a: &Value<Self>) -> Value<Self> {
        let size = self.abs(a);
        let floor = self.floor(&size);
        let minus = self.negate(&floor);
        self.at_least_zero(a, &floor, &minus)
    }

    /// `c[0] + x * (c[1] + x * ...)`
    fn horner(&mut self, x: &Value<Self>, c: &[f32]) -> Value<Self> {
        let mut sum = self.literal(c.last().copied().unwrap_or(0.0));
        for c in c.iter().rev().skip(1) {
            let c = self.literal(*c);
            sum = self.mad(&sum, x, &c);
        }
        sum
    }
}

/// The sum of the products of components, of which there may be one.
pub(crate) fn dot<A: Arithmetic>(a: &mut A, x: &Value<A>, y: &Value<A>) -> Value<A> {
    match x.len() {
        1 => a.mul(x, y),
        _ => a.dot(x, y),
    }
}
