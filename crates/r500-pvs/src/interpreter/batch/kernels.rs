//! Execution of operations on slots, for all vertices at once, at a level of vector instructions.

use std::cell::Cell;

use r500_lanes::arith::{self, PlusC, ZeroBoth};
use r500_lanes::select::{self, Compare, Eq, Ge, Lt, Ne, Select};
use r500_lanes::{Chunk, Lanewise, Slot, Src, bits, functions, map};
use r500_simd::SimdLevel;

use super::code::{Kernel, ONES, SlotIndex, SlotOp};

/// Chunks of a slot.
pub(super) const CHUNKS: usize = super::BATCH / r500_lanes::LANES;

/// All slots.
pub(super) type Slots = [Cell<Chunk>];

/// Returns the chunks in use of a slot.
#[inline(always)]
pub(super) fn slot(slots: &Slots, index: SlotIndex, chunks: usize) -> Slot<'_> {
    let start = usize::from(index) * CHUNKS;
    &slots[start..start + chunks.min(CHUNKS)]
}

/// Executes an operation.
#[inline(always)]
pub(super) fn execute<L: SimdLevel>(op: &SlotOp, slots: &Slots, chunks: usize) {
    let [a, b, c] = op.from.map(|index| slot(slots, index, chunks));
    let to = slot(slots, op.to, chunks);
    let ones = slot(slots, ONES, chunks);
    match op.kernel {
        Kernel::Copy => bits::copy(to, a),
        Kernel::Negate => bits::neg(to, a),
        Kernel::Absolute => map::<L, bits::Abs, 1>(to, (a,)),
        Kernel::NegateAbsolute => bits::neg_abs(to, a),
        Kernel::Add => map::<L, arith::Add<PlusC>, 2>(to, (a, b)),
        Kernel::Multiply => map::<L, arith::MulZero<ZeroBoth>, 2>(to, (a, b)),
        Kernel::MultiplyAdd => map::<L, arith::MadZero<ZeroBoth, PlusC>, 3>(to, (a, b, c)),
        Kernel::MultiplyIeee => map::<L, arith::Mul, 2>(to, (a, b)),
        Kernel::Finite => map::<L, Finite, 1>(to, (a,)),
        Kernel::Maximum => select::pick_raw::<L::Flush, Ge>(to, a, b),
        Kernel::Minimum => select::pick_raw::<L::Flush, Lt>(to, a, b),
        Kernel::Fraction => map::<L, functions::Frc, 1>(to, (a,)),
        Kernel::Floor => map::<L, functions::Floor, 1>(to, (a,)),
        Kernel::Clamp => map::<L, functions::Clamp01, 1>(to, (a,)),
        Kernel::Reciprocal => map::<L, arith::Rcp, 1>(to, (a,)),
        Kernel::ReciprocalRoot => map::<L, arith::Rsq, 1>(to, (a,)),
        Kernel::Exponential => map::<L, functions::Ex2, 1>(to, (a,)),
        Kernel::Logarithm => map::<L, functions::Ln2, 1>(to, (a,)),
        Kernel::Sine => map::<L, functions::Sin, 1>(to, (a,)),
        Kernel::Cosine => map::<L, functions::Cos, 1>(to, (a,)),
        Kernel::SetEqual => set::<L, Eq>(to, a, b, ones),
        Kernel::SetNotEqual => set::<L, Ne>(to, a, b, ones),
        Kernel::SetLess => set::<L, Lt>(to, a, b, ones),
        Kernel::SetGreaterEqual => set::<L, Ge>(to, a, b, ones),
        Kernel::IsEqual => map::<L, Compare<Eq>, 2>(to, (a, b)),
        Kernel::IsLess => map::<L, Compare<Lt>, 2>(to, (a, b)),
        Kernel::IsGreaterEqual => map::<L, Compare<Ge>, 2>(to, (a, b)),
        Kernel::Select => map::<L, Select, 3>(to, (a, b, c)),
        Kernel::Blend => select::blend(to, b, a),
    }
}

/// 1 where a relation holds, else 0.
#[inline(always)]
fn set<L: SimdLevel, R: select::Relation>(to: Slot<'_>, a: impl Src, b: impl Src, ones: impl Src) {
    map::<L, Compare<R>, 2>(to, (a, b));
    select::and(to, to, ones);
}

/// An infinity as the greatest number of its sign. A denormal stays or is flushed: only quotients and logarithms are made finite, which are
/// neither.
struct Finite;

impl Lanewise<1> for Finite {
    const CHECKS_DENORMALS: bool = false;

    #[inline(always)]
    fn lane<L: SimdLevel>(_: &mut u32, [x]: [f32; 1]) -> f32 {
        // By the order of magnitudes, so that a NaN stays.
        let bits = x.to_bits();
        let infinite = bits & 0x7fff_ffff == f32::INFINITY.to_bits();
        f32::from_bits(if infinite { bits - 1 } else { bits })
    }

    fn reference([x]: [f32; 1]) -> f32 {
        super::super::math::finite(x)
    }
}
