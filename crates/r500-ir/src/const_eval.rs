//! Constant evaluation, by the scalar reference semantics.

use super::{AddSign, Inst, MulFlags, Opcode, Operand};
use r500_numerics::{Arith, compare, flush, kernels};

/// Evaluates an operation on constants. Returns `None` for inputs, loads of constants, quad broadcasts, selects and operations on masks.
#[must_use]
pub fn evaluate(opcode: Opcode, args: [u32; 3]) -> Option<u32> {
    let reference = Arith::REFERENCE;
    let [a, b, c] = args.map(f32::from_bits);
    let mask = |set: bool| if set { !0 } else { 0 };
    let product = |product: MulFlags| {
        let zero = |x: f32, rule: bool| rule && compare::eq(x, 0.0);
        if zero(a, product.zero_a) || zero(b, product.zero_b) {
            return 0.0;
        }
        reference.mul(if product.negate { -a } else { a }, b)
    };
    Some(match opcode {
        Opcode::Mul(p) => product(p).to_bits(),
        Opcode::Mad(p, AddSign::Plus) => reference.add(product(p), c).to_bits(),
        Opcode::Mad(p, AddSign::Minus) => reference.sub(product(p), c).to_bits(),
        Opcode::Add => reference.add(a, b).to_bits(),
        Opcode::Sub => reference.sub(a, b).to_bits(),
        Opcode::Neg => (-a).to_bits(),
        Opcode::Abs => a.abs().to_bits(),
        Opcode::NegAbs => (-a.abs()).to_bits(),
        Opcode::Min(_) => compare::min(a, b).to_bits(),
        Opcode::Max(_) => compare::max(a, b).to_bits(),
        Opcode::Flush => flush(a).to_bits(),
        Opcode::Clamp01 => reference.clamp01(a).to_bits(),
        Opcode::Frc => reference.frc(a).to_bits(),
        Opcode::Rcp => reference.rcp(a).to_bits(),
        Opcode::Rsq => reference.rsq(a).to_bits(),
        Opcode::Ex2 => kernels::ex2(a).to_bits(),
        Opcode::Ln2 => kernels::ln2(a).to_bits(),
        Opcode::Sin => kernels::sin(a).to_bits(),
        Opcode::Cos => kernels::cos(a).to_bits(),
        Opcode::Lt => mask(compare::lt(a, b)),
        Opcode::Ge => mask(compare::ge(a, b)),
        Opcode::Eq => mask(compare::eq(a, b)),
        Opcode::Ne => mask(compare::ne(a, b)),
        Opcode::Input { .. }
        | Opcode::Select
        | Opcode::LoadConstant { .. }
        | Opcode::QuadBroadcast(_)
        | Opcode::And
        | Opcode::Or
        | Opcode::AndNot => return None,
    })
}

/// Evaluates an operation on operands some of which are unknown or depend on the lane (`None`); of masks, all bits are equal. Returns `None`
/// if the result is unknown too: one known operand may decide masks, and selects between equal operands.
pub fn evaluate_partially(inst: &Inst, operand: impl Fn(Operand) -> Option<u32>) -> Option<u32> {
    let mut args = [Some(0); 3];
    for (bits, arg) in args.iter_mut().zip(&inst.args[..inst.opcode.arity()]) {
        *bits = operand(*arg);
    }
    let [a, b, c] = args;
    match inst.opcode {
        Opcode::And if a == Some(0) || b == Some(0) => Some(0),
        Opcode::And => Some(a? & b?),
        Opcode::Or if a == Some(!0) || b == Some(!0) => Some(!0),
        Opcode::Or => Some(a? | b?),
        Opcode::AndNot if a == Some(0) || b == Some(!0) => Some(0),
        Opcode::AndNot => Some(a? & !b?),
        Opcode::Select => match a {
            Some(0) => c,
            Some(_) => b,
            None => b.filter(|_| b == c),
        },
        opcode => evaluate(opcode, [a?, b?, c?]),
    }
}
