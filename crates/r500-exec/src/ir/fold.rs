//! Operations on constants, by the scalar law.

use super::{Code, Product, Sign};
use crate::numerics::{Arith, compare, flush, kernels};

/// Whether an operation gives a mask.
pub(super) fn is_mask(code: Code) -> bool {
    matches!(code, Code::Lt | Code::Ge | Code::Eq | Code::Ne | Code::And | Code::Or | Code::AndNot)
}

/// An operation on numbers, by the scalar law. `None` for inputs, corners, choices and what makes masks
/// of masks, which are no matter of numbers.
#[must_use]
pub fn evaluate(code: Code, args: [u32; 3]) -> Option<u32> {
    let law = Arith::LAW;
    let [a, b, c] = args.map(f32::from_bits);
    let mask = |set: bool| if set { !0 } else { 0 };
    let product = |product: Product| {
        let zero = |x: f32, rule: bool| rule && compare::eq(x, 0.0);
        if zero(a, product.zero_a) || zero(b, product.zero_b) {
            return 0.0;
        }
        law.mul(if product.negate { -a } else { a }, b)
    };
    Some(match code {
        Code::Mul(p) => product(p).to_bits(),
        Code::Mad(p, Sign::Plus) => law.add(product(p), c).to_bits(),
        Code::Mad(p, Sign::Minus) => law.sub(product(p), c).to_bits(),
        Code::Add => law.add(a, b).to_bits(),
        Code::Sub => law.sub(a, b).to_bits(),
        Code::Neg => (-a).to_bits(),
        Code::Abs => a.abs().to_bits(),
        Code::NegAbs => (-a.abs()).to_bits(),
        Code::Min(_) => compare::min(a, b).to_bits(),
        Code::Max(_) => compare::max(a, b).to_bits(),
        Code::Flush => flush(a).to_bits(),
        Code::Clamp01 => law.clamp01(a).to_bits(),
        Code::Frc => law.frc(a).to_bits(),
        Code::Rcp => law.rcp(a).to_bits(),
        Code::Rsq => law.rsq(a).to_bits(),
        Code::Ex2 => kernels::ex2(a).to_bits(),
        Code::Ln2 => kernels::ln2(a).to_bits(),
        Code::Sin => kernels::sin(a).to_bits(),
        Code::Cos => kernels::cos(a).to_bits(),
        Code::Lt => mask(compare::lt(a, b)),
        Code::Ge => mask(compare::ge(a, b)),
        Code::Eq => mask(compare::eq(a, b)),
        Code::Ne => mask(compare::ne(a, b)),
        Code::Input { .. }
        | Code::Select
        | Code::Corner(_)
        | Code::And
        | Code::Or
        | Code::AndNot => return None,
    })
}
