//! The operations of the self-test: as the intermediate representation has them, and as the reference arithmetic computes them.

use r500_ir::{AddSign, Builder, DenormalMode, MulFlags, Opcode, Operand, Range, Type};
use r500_numerics::{Arith, compare, flush, kernels};

use super::operands::Kind;

/// An operation of up to three operands.
pub(super) struct Operation {
    pub name: &'static str,
    pub operands: Kind,
    pub build: fn(&mut Builder, [Operand; 3]) -> Operand,
    pub expected: fn([f32; 3]) -> f32,
    /// The lane of the quad whose first operand is the result: column and row.
    pub lane: Option<[usize; 2]>,
}

const ARITH: Arith = Arith::REFERENCE;

const NO_FLAGS: MulFlags = MulFlags { negate: false, zero_a: false, zero_b: false };
const ZERO_RULE: MulFlags = MulFlags { zero_a: true, zero_b: true, ..NO_FLAGS };

/// 1.5 * 2^23, whose sum with a small number is rounded to an integer.
const ROUND_BIAS: f32 = 12_582_912.0;

fn def(b: &mut Builder, opcode: Opcode, args: &[Operand]) -> Operand {
    b.def(opcode, args, Range::ANY)
}

/// Returns an operation of the first operand without denormals.
fn flushed(b: &mut Builder, opcode: Opcode, x: Operand) -> Operand {
    let x = def(b, Opcode::Flush, &[x]);
    def(b, opcode, &[x])
}

fn number(b: &mut Builder, mask: Operand) -> Operand {
    let choice = [mask, Operand::float(1.0), Operand::float(0.0)];
    b.def_typed(Type::F32, Opcode::Select, &choice, Range::ANY)
}

fn truth(holds: bool) -> f32 {
    if holds { 1.0 } else { 0.0 }
}

const fn operation(
    name: &'static str,
    operands: Kind,
    build: fn(&mut Builder, [Operand; 3]) -> Operand,
    expected: fn([f32; 3]) -> f32,
) -> Operation {
    Operation { name, operands, build, expected, lane: None }
}

const fn lane(
    name: &'static str,
    lane: [usize; 2],
    build: fn(&mut Builder, [Operand; 3]) -> Operand,
) -> Operation {
    Operation { name, operands: Kind::Any, build, expected: |[x, ..]| x, lane: Some(lane) }
}

/// All operations, by row.
pub(super) const OPERATIONS: [Operation; 30] = [
    operation("a (a texel that is loaded)", Kind::Any, |_, [x, ..]| x, |[x, ..]| x),
    operation(
        "a + b",
        Kind::Any,
        |b, [x, y, _]| def(b, Opcode::Add, &[x, y]),
        |[x, y, _]| ARITH.add(x, y),
    ),
    operation(
        "a - b",
        Kind::Moderate,
        |b, [x, y, _]| def(b, Opcode::Sub, &[x, y]),
        |[x, y, _]| ARITH.sub(x, y),
    ),
    operation(
        "a * b",
        Kind::Any,
        |b, [x, y, _]| def(b, Opcode::Mul(NO_FLAGS), &[x, y]),
        |[x, y, _]| ARITH.mul(x, y),
    ),
    operation(
        "a * b, 0 if a factor is 0",
        Kind::Any,
        |b, [x, y, _]| def(b, Opcode::Mul(ZERO_RULE), &[x, y]),
        |[x, y, _]| ARITH.mul_zero_rule(x, y),
    ),
    operation(
        "a * b + c, rounded twice",
        Kind::Sums,
        |b, [x, y, z]| def(b, Opcode::Mad(NO_FLAGS, AddSign::Plus), &[x, y, z]),
        |[x, y, z]| ARITH.mad(x, y, z),
    ),
    operation(
        "a * b - c, rounded twice",
        Kind::Sums,
        |b, [x, y, z]| {
            let minus = def(b, Opcode::Neg, &[z]);
            def(b, Opcode::Mad(NO_FLAGS, AddSign::Minus), &[x, y, minus])
        },
        |[x, y, z]| ARITH.mad(x, y, z),
    ),
    operation(
        "(a + b) + c, in this order",
        Kind::Moderate,
        |b, [x, y, z]| {
            let sum = def(b, Opcode::Add, &[x, y]);
            def(b, Opcode::Add, &[sum, z])
        },
        |[x, y, z]| ARITH.add(ARITH.add(x, y), z),
    ),
    operation(
        "(a + 12582912) - 12582912, not folded",
        Kind::Moderate,
        |b, [x, ..]| {
            let sum = def(b, Opcode::Add, &[x, Operand::float(ROUND_BIAS)]);
            def(b, Opcode::Sub, &[sum, Operand::float(ROUND_BIAS)])
        },
        |[x, ..]| ARITH.sub(ARITH.add(x, ROUND_BIAS), ROUND_BIAS),
    ),
    operation(
        "a + 0, not folded",
        Kind::Any,
        |b, [x, ..]| def(b, Opcode::Add, &[x, Operand::float(0.0)]),
        |[x, ..]| ARITH.add(x, 0.0),
    ),
    operation(
        "a * 1, not folded",
        Kind::Any,
        |b, [x, ..]| def(b, Opcode::Mul(NO_FLAGS), &[x, Operand::float(1.0)]),
        |[x, ..]| ARITH.mul(x, 1.0),
    ),
    operation(
        "a * 0, not folded",
        Kind::Any,
        |b, [x, ..]| def(b, Opcode::Mul(NO_FLAGS), &[x, Operand::float(0.0)]),
        |[x, ..]| ARITH.mul(x, 0.0),
    ),
    operation("1 / a", Kind::Any, |b, [x, ..]| def(b, Opcode::Rcp, &[x]), |[x, ..]| ARITH.rcp(x)),
    operation(
        "1 / (1 / a), not folded",
        Kind::Moderate,
        |b, [x, ..]| {
            let inverse = def(b, Opcode::Rcp, &[x]);
            def(b, Opcode::Rcp, &[inverse])
        },
        |[x, ..]| ARITH.rcp(ARITH.rcp(x)),
    ),
    operation(
        "1 / sqrt(a)",
        Kind::Any,
        |b, [x, ..]| def(b, Opcode::Rsq, &[x]),
        |[x, ..]| ARITH.rsq(x),
    ),
    operation(
        "a - floor(a)",
        Kind::Moderate,
        |b, [x, ..]| def(b, Opcode::Frc, &[x]),
        |[x, ..]| ARITH.frc(x),
    ),
    operation(
        "a limited to 0..1",
        Kind::Moderate,
        |b, [x, ..]| flushed(b, Opcode::Clamp01, x),
        |[x, ..]| ARITH.clamp01(flush(x)),
    ),
    operation(
        "a < b ? a : b",
        Kind::Any,
        |b, [x, y, _]| def(b, Opcode::Min(DenormalMode::Kept), &[x, y]),
        |[x, y, _]| compare::min(x, y),
    ),
    operation(
        "a >= b ? a : b",
        Kind::Any,
        |b, [x, y, _]| def(b, Opcode::Max(DenormalMode::Kept), &[x, y]),
        |[x, y, _]| compare::max(x, y),
    ),
    operation(
        "a < b",
        Kind::Any,
        |b, [x, y, _]| {
            let mask = def(b, Opcode::Lt, &[x, y]);
            number(b, mask)
        },
        |[x, y, _]| truth(compare::lt(x, y)),
    ),
    operation(
        "a >= b",
        Kind::Any,
        |b, [x, y, _]| {
            let mask = def(b, Opcode::Ge, &[x, y]);
            number(b, mask)
        },
        |[x, y, _]| truth(compare::ge(x, y)),
    ),
    operation(
        "a != b",
        Kind::Any,
        |b, [x, y, _]| {
            let mask = def(b, Opcode::Ne, &[x, y]);
            number(b, mask)
        },
        |[x, y, _]| truth(compare::ne(x, y)),
    ),
    operation(
        "a without a denormal's fraction",
        Kind::Any,
        |b, [x, ..]| def(b, Opcode::Flush, &[x]),
        |[x, ..]| flush(x),
    ),
    operation(
        "exponential",
        Kind::Moderate,
        |b, [x, ..]| flushed(b, Opcode::Ex2, x),
        |[x, ..]| kernels::ex2(flush(x)),
    ),
    operation(
        "logarithm",
        Kind::Any,
        |b, [x, ..]| flushed(b, Opcode::Ln2, x),
        |[x, ..]| kernels::ln2(flush(x)),
    ),
    operation(
        "sine",
        Kind::Moderate,
        |b, [x, ..]| flushed(b, Opcode::Sin, x),
        |[x, ..]| kernels::sin(flush(x)),
    ),
    operation(
        "cosine",
        Kind::Moderate,
        |b, [x, ..]| flushed(b, Opcode::Cos, x),
        |[x, ..]| kernels::cos(flush(x)),
    ),
    lane("a of the upper left pixel", [0, 0], |b, [x, ..]| def(b, Opcode::QuadBroadcast(0), &[x])),
    lane("a of the upper right pixel", [1, 0], |b, [x, ..]| def(b, Opcode::QuadBroadcast(1), &[x])),
    lane("a of the lower left pixel", [0, 1], |b, [x, ..]| def(b, Opcode::QuadBroadcast(2), &[x])),
];
