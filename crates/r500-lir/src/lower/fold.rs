//! Constant folding of low-level operations: a texture fetch along one axis, from one level, has constant
//! operands.
//!
//! Only finite, normal operands and results (or zeros) are folded: for others the result depends on the
//! processor's modes.

use crate::{Opcode, Relation, Rounding};

/// Returns the result of an operation on constants, if it can be folded.
pub(super) fn folded(opcode: Opcode, args: &[u32]) -> Option<u32> {
    let bits = |n: usize| args.get(n).copied();
    let float = |n: usize| bits(n).map(f32::from_bits).filter(|x| plain(*x));
    let whole = |n: usize| float(n).filter(|x| x.abs() < 2_147_483_648.0);
    let number = |x: f32| plain(x).then_some(x.to_bits());
    // A zero product of non-zero factors has underflowed: not folded.
    let product = |x: f32, y: f32| (x * y != 0.0 || x == 0.0 || y == 0.0).then_some(x * y);
    match opcode {
        Opcode::Add => number(float(0)? + float(1)?),
        Opcode::Sub => number(float(0)? - float(1)?),
        Opcode::Mul => number(product(float(0)?, float(1)?)?),
        Opcode::Min => number(if float(0)? < float(1)? { float(0)? } else { float(1)? }),
        Opcode::Max => number(if float(0)? > float(1)? { float(0)? } else { float(1)? }),
        Opcode::Round(Rounding::Floor) => number(float(0)?.floor()),
        Opcode::FloorToInt => Some((whole(0)?.floor() as i32).cast_unsigned()),
        Opcode::ToFloat => number(bits(0)?.cast_signed() as f32),
        Opcode::Truncate(_) => Some((whole(0)? as i32).cast_unsigned()),
        Opcode::And => Some(bits(0)? & bits(1)?),
        Opcode::Xor => Some(bits(0)? ^ bits(1)?),
        Opcode::IntAdd => Some(bits(0)?.wrapping_add(bits(1)?)),
        Opcode::IntSub => Some(bits(0)?.wrapping_sub(bits(1)?)),
        Opcode::IntMul => Some(bits(0)?.wrapping_mul(bits(1)?)),
        Opcode::IntMin => Some(bits(0)?.min(bits(1)?)),
        Opcode::Shl(by) => bits(0)?.checked_shl(by.into()),
        Opcode::QuadBroadcast(_) | Opcode::PermuteQuads => bits(0),
        _ => None,
    }
}

/// Compares two constants, if that can be folded.
pub(super) fn related(relation: Relation, a: u32, b: u32) -> Option<bool> {
    let [a, b] = [a, b].map(f32::from_bits);
    (plain(a) && plain(b)).then_some(match relation {
        Relation::Lt => a < b,
        Relation::Le => a <= b,
        Relation::Gt => a > b,
        Relation::Ge => a >= b,
        Relation::Eq => a == b,
        Relation::Ne => a != b,
    })
}

fn plain(x: f32) -> bool {
    x == 0.0 || x.is_normal()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IntRange;

    fn bits<const N: usize>(x: [f32; N]) -> [u32; N] {
        x.map(f32::to_bits)
    }

    #[test]
    fn usual_numbers_are_folded() {
        let least = f32::MIN_POSITIVE;
        for (opcode, args, wanted) in [
            (Opcode::Add, [0.5, 0.25], Some(0.75)),
            (Opcode::Sub, [0.5, 0.5], Some(0.0)),
            (Opcode::Mul, [-0.0, 3.0], Some(-0.0)),
            // Equal operands: the second one.
            (Opcode::Min, [0.0, -0.0], Some(-0.0)),
            (Opcode::Max, [0.0, -0.0], Some(-0.0)),
            // Subnormals, infinities and NaN are not folded.
            (Opcode::Mul, [least, 0.5], None),
            (Opcode::Mul, [least, least], None),
            (Opcode::Sub, [1.5 * least, least], None),
            (Opcode::Add, [0.5 * least, 1.0], None),
            (Opcode::Mul, [f32::MAX, 2.0], None),
            (Opcode::Max, [f32::NAN, 0.0], None),
        ] {
            let result = folded(opcode, &bits(args));
            assert_eq!(result, wanted.map(f32::to_bits), "{opcode:?} {args:?}");
        }
        let floor = Opcode::Round(Rounding::Floor);
        assert_eq!(folded(floor, &bits([-0.5])), Some((-1.0_f32).to_bits()));
        assert_eq!(folded(Opcode::Truncate(IntRange::All), &bits([-1.0])), Some(u32::MAX));
        assert_eq!(folded(Opcode::Truncate(IntRange::All), &bits([-2_147_483_648.0])), None);
        assert_eq!(folded(Opcode::FloorToInt, &bits([-0.5])), Some(u32::MAX));
        assert_eq!(folded(Opcode::FloorToInt, &bits([-2_147_483_648.0])), None);
        assert_eq!(folded(Opcode::ToFloat, &[u32::MAX]), Some((-1.0_f32).to_bits()));
        assert_eq!(folded(Opcode::Shl(23), &[3]), Some(3 << 23));
        assert_eq!(folded(Opcode::IntSub, &[1, 2]), Some(u32::MAX));
    }

    #[test]
    fn usual_numbers_are_compared() {
        for (relation, wanted) in [
            (Relation::Lt, [true, false]),
            (Relation::Le, [true, true]),
            (Relation::Gt, [false, false]),
            (Relation::Ge, [false, true]),
            (Relation::Eq, [false, true]),
            (Relation::Ne, [true, false]),
        ] {
            let [less, same] = [[1.0, 2.0], [0.0, -0.0]].map(bits);
            assert_eq!(related(relation, less[0], less[1]), Some(wanted[0]));
            assert_eq!(related(relation, same[0], same[1]), Some(wanted[1]));
            assert_eq!(related(relation, f32::NAN.to_bits(), 0), None);
            assert_eq!(related(relation, 1, 0), None);
        }
    }
}
