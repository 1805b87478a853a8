//! Faces of a cube, as `r500-texture` chooses them.

use super::Kernel;
use crate::source::{Expr, Op, Type, Var};
use crate::textures::ExactTexture;

const SIGN: u32 = 0x8000_0000;

/// Returns |x|.
fn magnitude(kernel: &mut Kernel, x: Expr) -> Expr {
    let bits = Expr::op(Op::WordAnd, [Expr::op(Op::Bits, [x]), Expr::U32(!SIGN)]);
    kernel.named(Expr::op(Op::FromBits, [bits]), Type::F32)
}

/// Returns -x.
fn negated(kernel: &mut Kernel, x: Expr) -> Expr {
    let bits = Expr::op(Op::WordXor, [Expr::op(Op::Bits, [x]), Expr::U32(SIGN)]);
    kernel.named(Expr::op(Op::FromBits, [bits]), Type::F32)
}

/// Returns the face that a direction, the three parameters, hits: 0 to 5 for +X, -X, +Y, -Y, +Z, -Z. Of equal components the first one counts.
pub(super) fn face(kernel: &mut Kernel) -> Expr {
    let direction = [0, 1, 2].map(|n| Expr::Var(Var(n)));
    let [s, t, r] = direction.clone().map(|x| magnitude(kernel, x));
    let ge = |a: &Expr, b: &Expr| Expr::op(Op::Ge, [a.clone(), b.clone()]);
    let x_first = kernel.named(Expr::and(ge(&s, &t), ge(&s, &r)), Type::Bool);
    let y_first = kernel.named(ge(&t, &r), Type::Bool);
    let [s, t, r] =
        direction.map(|x| kernel.named(Expr::op(Op::Ge, [x, Expr::float(0.0)]), Type::Bool));
    let [x, y, z] = [(s, 0.0), (t, 2.0), (r, 4.0)].map(|(is_positive, face)| {
        let face = Expr::select(is_positive, Expr::float(face), Expr::float(face + 1.0));
        kernel.named(face, Type::F32)
    });
    let other = kernel.named(Expr::select(y_first, y, z), Type::F32);
    kernel.named(Expr::select(x_first, x, other), Type::F32)
}

/// Returns the position of a direction on a face, u and v in texels, and its component along the axis of the face, which is positive toward the face.
/// The parameters are the face and the direction.
pub(super) fn face_point(kernel: &mut Kernel, texture: &ExactTexture) -> [Expr; 4] {
    let [face, s, t, r] = [0, 1, 2, 3].map(|n| Expr::Var(Var(n)));
    let [minus_s, minus_t, minus_r] = [&s, &t, &r].map(|x| negated(kernel, x.clone()));
    let is_below = |n: f32| Expr::op(Op::Lt, [face.clone(), Expr::float(n)]);
    let mut by_face = |faces: [&Expr; 6]| {
        let mut chosen = faces[5].clone();
        for (n, value) in [0.5, 1.5, 2.5, 3.5, 4.5].iter().zip(faces).rev() {
            chosen = kernel.named(Expr::select(is_below(*n), value.clone(), chosen), Type::F32);
        }
        chosen
    };
    let major = by_face([&s, &minus_s, &t, &minus_t, &r, &minus_r]);
    let column = by_face([&minus_r, &r, &s, &s, &s, &minus_s]);
    let row = by_face([&minus_t, &minus_t, &r, &minus_r, &minus_t, &minus_t]);
    let divisor = magnitude(kernel, major.clone());
    let mut onto = |along: Expr, axis: usize| {
        let quotient = kernel.named(Expr::op(Op::Div, [along, divisor.clone()]), Type::F32);
        let sum = kernel.named(Expr::op(Op::Add, [quotient, Expr::float(1.0)]), Type::F32);
        let half = kernel.named(Expr::op(Op::Mul, [sum, Expr::float(0.5)]), Type::F32);
        let scale = Expr::float(texture.settings.scale[axis]);
        kernel.named(Expr::op(Op::Mul, [half, scale]), Type::F32)
    };
    let (u, v) = (onto(column, 0), onto(row, 1));
    [u, v, major, Expr::float(0.0)]
}
