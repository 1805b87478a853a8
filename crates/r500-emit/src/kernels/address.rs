//! Address modes: from a coordinate along one axis of a level to the texels that a filter reads, as `r500-texture` computes them.

use r500_isa::values::ClampMode;

use super::Kernel;
use crate::source::{Expr, Op, Type};

/// Coordinates are limited to this magnitude, in texels.
const FARTHEST: f32 = (1 << 30) as f32;

/// One axis of a level.
pub(super) struct Axis {
    pub mode: ClampMode,
    /// Its texels: a word.
    pub size: Expr,
    /// Whether the size is a power of two in every level.
    pub is_power: bool,
    pub linear: bool,
}

/// A texel number in its axis.
#[derive(Clone)]
pub(super) struct Tap {
    pub texel: Expr,
    /// Whether it is in the axis; always, if there is no condition.
    pub inside: Option<Expr>,
}

/// The texels that a filter reads along an axis.
pub(super) enum Taps {
    Point(Tap),
    /// Two, with the weight of the second.
    Linear([Tap; 2], Expr),
}

/// Returns a coordinate in texels of a level, limited to the range of texel numbers, NaN as 0.
pub(super) fn coordinate(kernel: &mut Kernel, x: Expr) -> Expr {
    let x = nan_to_zero(kernel, x);
    limited(kernel, x, FARTHEST)
}

/// Returns x, which is not NaN, limited to a magnitude.
pub(super) fn limited(kernel: &mut Kernel, x: Expr, most: f32) -> Expr {
    let below = Expr::op(Op::Lt, [x.clone(), Expr::float(-most)]);
    let x = kernel.select_float(below, -most, x);
    let beyond = Expr::op(Op::Lt, [Expr::float(most), x.clone()]);
    kernel.select_float(beyond, most, x)
}

/// Returns x, or 0 for NaN: by its bits, because hosts may take a comparison with itself for true.
pub(super) fn nan_to_zero(kernel: &mut Kernel, x: Expr) -> Expr {
    let bits = kernel.named(Expr::op(Op::Bits, [x.clone()]), Type::U32);
    let magnitude = Expr::op(Op::WordAnd, [bits, Expr::U32(0x7fff_ffff)]);
    let is_nan = Expr::op(Op::WordLt, [Expr::U32(0x7f80_0000), magnitude]);
    kernel.select_float(is_nan, 0.0, x)
}

/// Returns the texels that a filter reads at a limited coordinate.
pub(super) fn taps(kernel: &mut Kernel, axis: &Axis, x: Expr) -> Taps {
    let x = match axis.mode {
        ClampMode::CLAMP_HALF => within(kernel, axis, x),
        ClampMode::MIRROR_ONCE_HALF => {
            let magnitude =
                Expr::op(Op::WordAnd, [Expr::op(Op::Bits, [x]), Expr::U32(0x7fff_ffff)]);
            let x = kernel.named(Expr::op(Op::FromBits, [magnitude]), Type::F32);
            within(kernel, axis, x)
        }
        _ => x,
    };
    if !axis.linear {
        let floor = kernel.named(Expr::op(Op::Floor, [x]), Type::F32);
        let number = kernel.named(Expr::op(Op::ToWordSigned, [floor]), Type::U32);
        return Taps::Point(tap(kernel, axis, number));
    }
    let from_centre = kernel.named(Expr::op(Op::Sub, [x, Expr::float(0.5)]), Type::F32);
    let floor = kernel.named(Expr::op(Op::Floor, [from_centre.clone()]), Type::F32);
    let weight = kernel.named(Expr::op(Op::Sub, [from_centre, floor.clone()]), Type::F32);
    let first = kernel.named(Expr::op(Op::ToWordSigned, [floor]), Type::U32);
    let second = kernel.named(Expr::op(Op::WordAdd, [first.clone(), Expr::U32(1)]), Type::U32);
    Taps::Linear([tap(kernel, axis, first), tap(kernel, axis, second)], weight)
}

/// Returns x limited to 0..size.
fn within(kernel: &mut Kernel, axis: &Axis, x: Expr) -> Expr {
    let size = match axis.size {
        Expr::U32(size) => Expr::float(size as f32),
        ref size => kernel.named(Expr::op(Op::ToFloat, [size.clone()]), Type::F32),
    };
    let less = Expr::op(Op::Lt, [x.clone(), size.clone()]);
    let x_or_size = kernel.named(Expr::select(less, x.clone(), size), Type::F32);
    let positive = Expr::op(Op::Lt, [Expr::float(0.0), x]);
    kernel.named(Expr::select(positive, x_or_size, Expr::float(0.0)), Type::F32)
}

/// Maps a texel number, in two's complement, into an axis.
fn tap(kernel: &mut Kernel, axis: &Axis, i: Expr) -> Tap {
    let size = axis.size.clone();
    let last = |by: u32| match axis.size {
        Expr::U32(size) => Expr::U32(by * size - 1),
        ref size if by == 1 => Expr::op(Op::WordSub, [size.clone(), Expr::U32(1)]),
        ref size => {
            let twice = Expr::op(Op::ShiftLeft, [size.clone(), Expr::U32(1)]);
            Expr::op(Op::WordSub, [twice, Expr::U32(1)])
        }
    };
    let is_negative = Expr::op(Op::WordLt, [Expr::U32(0x7fff_ffff), i.clone()]);
    // -1 - i for a negative i.
    let mut mirrored = || {
        let flipped = Expr::op(Op::WordXor, [i.clone(), Expr::U32(u32::MAX)]);
        let mirrored = Expr::select(is_negative.clone(), flipped, i.clone());
        kernel.named(mirrored, Type::U32)
    };
    let least = |a: Expr, b: Expr| Expr::select(Expr::op(Op::WordLt, [a.clone(), b.clone()]), a, b);
    let everywhere = |texel| Tap { texel, inside: None };
    match axis.mode {
        ClampMode::WRAP if axis.is_power => {
            everywhere(kernel.named(Expr::op(Op::WordAnd, [i, last(1)]), Type::U32))
        }
        ClampMode::WRAP => {
            let mirrored = mirrored();
            let rest = kernel.named(Expr::op(Op::WordRem, [mirrored, size]), Type::U32);
            let from_end = Expr::op(Op::WordSub, [last(1), rest.clone()]);
            everywhere(kernel.named(Expr::select(is_negative, from_end, rest), Type::U32))
        }
        ClampMode::MIRROR => {
            let mirrored = mirrored();
            let rest = match axis.is_power {
                true => Expr::op(Op::WordAnd, [mirrored, last(2)]),
                false => {
                    let period = match axis.size {
                        Expr::U32(size) => Expr::U32(2 * size),
                        ref size => Expr::op(Op::ShiftLeft, [size.clone(), Expr::U32(1)]),
                    };
                    Expr::op(Op::WordRem, [mirrored, period])
                }
            };
            let rest = kernel.named(rest, Type::U32);
            let back = Expr::op(Op::WordSub, [last(2), rest.clone()]);
            everywhere(kernel.named(least(rest, back), Type::U32))
        }
        ClampMode::MIRROR_ONCE => {
            let mirrored = mirrored();
            everywhere(kernel.named(least(mirrored, last(1)), Type::U32))
        }
        ClampMode::CLAMP => clamped(kernel, is_negative, least(i, last(1))),
        // These modes reach half a texel into the border, which only the linear filter reads.
        ClampMode::CLAMP_HALF | ClampMode::MIRROR_ONCE_HALF if !axis.linear => {
            clamped(kernel, is_negative, least(i, last(1)))
        }
        mode => {
            let number = if mode == ClampMode::MIRROR_ONCE_BORDER { mirrored() } else { i };
            let inside = Expr::op(Op::WordLt, [number.clone(), size]);
            let inside = kernel.named(inside, Type::Bool);
            // Loads outside of the level have no defined result.
            let texel = Expr::select(inside.clone(), number, Expr::U32(0));
            Tap { texel: kernel.named(texel, Type::U32), inside: Some(inside) }
        }
    }
}

fn clamped(kernel: &mut Kernel, is_negative: Expr, at_most: Expr) -> Tap {
    let texel = Expr::select(is_negative, Expr::U32(0), at_most);
    Tap { texel: kernel.named(texel, Type::U32), inside: None }
}
