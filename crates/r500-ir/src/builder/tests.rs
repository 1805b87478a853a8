//! Tests of the builder: rewrites, and rewrites that would be wrong.

#![allow(clippy::panic)]

use super::*;
use crate::{AddSign, MulFlags};

fn builder() -> Builder {
    Builder::new()
}

fn code(builder: &mut Builder, operand: Operand) -> Option<Opcode> {
    builder.regions.iter().flat_map(|region| &region.stmts).find_map(|stmt| match stmt {
        Stmt::Def(value, inst) if Operand::Value(*value) == operand => Some(inst.opcode),
        _ => None,
    })
}

#[test]
fn a_product_of_known_size_needs_no_zero_rule() {
    let mut b = builder();
    let x = Operand::Value(b.fresh(Type::F32, Range::between(0.0, 1.0)));
    let any = Operand::Value(b.fresh(Type::F32, Range::ANY));
    let half = Operand::float(0.5);
    let sum = b.mad(x.into(), half.into(), Operand::float(1.0).into(), true);
    let plain = MulFlags::default();
    assert_eq!(code(&mut b, sum), Some(Opcode::Mad(plain, AddSign::Plus)));
    // 0 * infinity would be NaN.
    let sum = b.mad(x.into(), any.into(), Operand::float(1.0).into(), true);
    let Some(Opcode::Mad(product, _)) = code(&mut b, sum) else { panic!("no multiply-add") };
    assert_eq!((product.zero_a, product.zero_b), (true, false));
    // 0 * -2 would be -0, and -0 + -0 makes that observable.
    let sum = b.mad(x.into(), Operand::float(-2.0).into(), any.into(), true);
    let Some(Opcode::Mad(product, _)) = code(&mut b, sum) else { panic!("no multiply-add") };
    assert_eq!((product.zero_a, product.zero_b), (true, false));
}

#[test]
fn ones_and_zeros_go() {
    let mut b = builder();
    let x = Operand::Value(
        b.fresh(Type::F32, Range { denormal: false, minus_zero: false, ..Range::ANY }),
    );
    let (zero, one) = (Operand::float(0.0), Operand::float(1.0));
    assert_eq!(b.mad(x.into(), one.into(), zero.into(), true), x);
    assert_eq!(b.mad(x.into(), zero.into(), one.into(), true), one);
    let difference =
        b.mad(x.into(), ModifiedOperand::from(one).negated(), Operand::float(3.0).into(), true);
    assert_eq!(code(&mut b, difference), Some(Opcode::Sub));
    // -0 * 1 is +0 under the zero rule, and -0 + -0 makes that observable.
    let y = Operand::Value(b.fresh(Type::F32, Range::ANY));
    let sum = b.mad(y.into(), one.into(), y.into(), true);
    assert!(matches!(code(&mut b, sum), Some(Opcode::Mad(..))));
}

/// Truth values as numbers, as drivers use them for any(), all() and comparisons.
#[test]
fn truth_values_stay_truth_values() {
    let mut b = builder();
    let (x, y) = (b.fresh(Type::F32, Range::ANY), b.fresh(Type::F32, Range::ANY));
    let (zero, one) = (Operand::float(0.0), Operand::float(1.0));
    let masks = [x, y].map(|v| b.compare(Opcode::Ge, Operand::Value(v).into(), one.into()));
    let [p, q] = masks.map(|mask| b.select(Type::F32, mask, one, zero));
    let any = b.max(p.into(), q.into());
    let any = b.compare(Opcode::Lt, zero.into(), any.into());
    assert_eq!(b.def_of(any), Some((Opcode::Or, [masks[0], masks[1], NONE])));
    let all = b.mul(p.into(), q.into(), true);
    let all = b.compare(Opcode::Ne, all.into(), zero.into());
    assert_eq!(b.def_of(all), Some((Opcode::And, [masks[0], masks[1], NONE])));
    let first_alone = b.compare(Opcode::Lt, q.into(), p.into());
    assert_eq!(b.def_of(first_alone), Some((Opcode::AndNot, [masks[0], masks[1], NONE])));
    // A sum of two truth values has three results.
    let sum = b.add(p.into(), q.into());
    assert_eq!(code(&mut b, sum), Some(Opcode::Add));
}

#[test]
fn known_values_are_not_recomputed() {
    let mut b = builder();
    let x = Operand::Value(b.fresh(Type::F32, Range::ANY));
    let first = b.unary(Opcode::Frc, x.into());
    assert_eq!(b.unary(Opcode::Frc, x.into()), first);
    b.open_region();
    assert_eq!(b.unary(Opcode::Frc, x.into()), first);
    let inner = b.unary(Opcode::Rcp, x.into());
    b.close_region();
    // A value of a closed region is not available.
    assert_ne!(b.unary(Opcode::Rcp, x.into()), inner);
}

/// Merged values of a branch, and of a branch nested in it.
#[test]
fn selects_lose_selects_that_their_masks_decide() {
    let mut b = builder();
    let mut float = || Operand::Value(b.fresh(Type::F32, Range::ANY));
    let (x, y, z) = (float(), float(), float());
    let mut mask = || Operand::Value(b.fresh(Type::Mask, Range::ANY));
    let (outer, inner) = (mask(), mask());
    let (both, rest) = (b.and(outer, inner), b.and_not(outer, inner));
    let select = |b: &mut Builder, mask, yes, no| b.select(Type::F32, mask, yes, no);
    let of_both = select(&mut b, both, x, y);
    assert_eq!(select(&mut b, outer, of_both, y), of_both);
    // Lanes outside of `outer` are not in `both`; lanes of `rest` are in `outer` and not in `inner`.
    let of_z = select(&mut b, outer, z, y);
    assert_eq!(select(&mut b, outer, z, of_both), of_z);
    let of_rest = select(&mut b, rest, y, z);
    assert_eq!(select(&mut b, rest, of_both, z), of_rest);
    let of_outer = select(&mut b, outer, x, z);
    let of_both_x = select(&mut b, both, x, z);
    assert_eq!(select(&mut b, both, of_outer, z), of_both_x);
}
