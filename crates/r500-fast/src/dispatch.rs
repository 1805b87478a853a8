//! Kernel selection: monomorphised dispatch by opcode and operand kinds.
//!
//! Each loop is monomorphised for each instruction-set level. Constant arguments have loops of their own where they are frequent in
//! programs; elsewhere they are materialised in a slot.

pub(super) mod fused;

use core::marker::PhantomData;

use super::arg::Arg;
use super::reg_file::{ChunkRange, RegFile, SlotCells};
use r500_ir::{AddSign, DenormalMode, MulFlags, Opcode};
use r500_lanes::arith::{self, FromC, Ieee, MinusBoth, MinusC, PlusC, ZeroA, ZeroBoth};
use r500_lanes::{Slot, Splat, Src, bits, functions, map, select};
use r500_simd::{Dispatched, SimdFn, SimdLevel};

/// The arguments of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct KernelArgs {
    /// The slot that the kernel writes.
    pub(super) dst: u32,
    /// The operands.
    pub(super) args: [Arg; 3],
    /// Further operands of fused kernels.
    more: [Arg; 2],
    /// The sign of a product: -0 or +0.
    sign: f32,
}

impl KernelArgs {
    /// Returns the arguments of one operation.
    fn new(dst: u32, args: [Arg; 3]) -> Self {
        Self { dst, args, more: [Arg::Const(0.0); 2], sign: 0.0 }
    }
}

/// A loop compiled for one level.
pub(super) type Kernel = Dispatched<RegFile, [KernelArgs]>;

/// A loop over up to three operands.
trait LaneLoop {
    fn run<L: SimdLevel>(dst: Slot<'_>, a: impl Src, b: impl Src, c: impl Src, sign: Splat);
}

/// A kernel for some operand kinds: runs calls in order, each over the executing chunks.
struct LaneLoopImpl<K, A, B, C>(PhantomData<(K, A, B, C)>);

impl<K: LaneLoop, A: OperandKind, B: OperandKind, C: OperandKind> SimdFn<RegFile, [KernelArgs]>
    for LaneLoopImpl<K, A, B, C>
{
    #[inline(always)]
    fn run<L: SimdLevel>(memory: &mut RegFile, calls: &[KernelArgs]) {
        let (slots, ranges) = memory.cells();
        for call in calls {
            let KernelArgs { dst, args: [a, b, c], sign, .. } = *call;
            for &range in ranges {
                let (a, b, c) =
                    (A::of(a, slots, range), B::of(b, slots, range), C::of(c, slots, range));
                K::run::<L>(slots.get(dst, range), a, b, c, Splat(sign));
            }
        }
    }
}

/// The kind of an operand: slot or constant.
trait OperandKind {
    type Src<'a>: Src;
    fn of(arg: Arg, slots: SlotCells<'_>, range: ChunkRange) -> Self::Src<'_>;
}

/// A slot operand.
struct InSlot;

impl OperandKind for InSlot {
    type Src<'a> = Slot<'a>;

    #[inline(always)]
    fn of(arg: Arg, slots: SlotCells<'_>, range: ChunkRange) -> Slot<'_> {
        match arg {
            Arg::Slot(slot) => slots.get(slot, range),
            Arg::Const(_) => &[],
        }
    }
}

/// A constant operand, or none.
struct Broadcast;

impl OperandKind for Broadcast {
    type Src<'a> = Splat;

    #[inline(always)]
    fn of(arg: Arg, _: SlotCells<'_>, _: ChunkRange) -> Splat {
        match arg {
            Arg::Slot(_) => Splat(0.0),
            Arg::Const(x) => Splat(x),
        }
    }
}

macro_rules! kernels {
    ($($name:ident |$level:ident, $d:ident, $a:ident, $b:ident, $c:ident, $sign:ident| $call:expr;)*) => {$(
        struct $name;

        impl LaneLoop for $name {
            #[inline(always)]
            #[allow(unused_variables, reason = "each takes as many as it needs")]
            fn run<$level: SimdLevel>(
                $d: Slot<'_>,
                $a: impl Src,
                $b: impl Src,
                $c: impl Src,
                $sign: Splat,
            ) {
                $call;
            }
        }
    )*};
}

#[rustfmt::skip]
kernels! {
    Neg |L, d, a, b, c, s| bits::neg(d, a);
    Abs |L, d, a, b, c, s| map::<L, bits::Abs, 1>(d, (a,));
    NegAbs |L, d, a, b, c, s| bits::neg_abs(d, a);
    Flush |L, d, a, b, c, s| bits::flush(d, a);
    CanonicalNan |L, d, a, b, c, s| bits::canonical_nan(d, a);
    TopLeft |L, d, a, b, c, s| bits::corner::<0>(d, a);
    TopRight |L, d, a, b, c, s| bits::corner::<1>(d, a);
    BottomLeft |L, d, a, b, c, s| bits::corner::<2>(d, a);
    Clamp01 |L, d, a, b, c, s| map::<L, functions::Clamp01, 1>(d, (a,));
    Frc |L, d, a, b, c, s| map::<L, functions::Frc, 1>(d, (a,));
    Rcp |L, d, a, b, c, s| map::<L, arith::Rcp, 1>(d, (a,));
    Rsq |L, d, a, b, c, s| map::<L, arith::Rsq, 1>(d, (a,));
    Ex2 |L, d, a, b, c, s| map::<L, functions::Ex2, 1>(d, (a,));
    Ln2 |L, d, a, b, c, s| map::<L, functions::Ln2, 1>(d, (a,));
    Sin |L, d, a, b, c, s| map::<L, functions::Sin, 1>(d, (a,));
    Cos |L, d, a, b, c, s| map::<L, functions::Cos, 1>(d, (a,));

    Add |L, d, a, b, c, s| map::<L, arith::Add<PlusC>, 2>(d, (a, b));
    Sub |L, d, a, b, c, s| map::<L, arith::Add<MinusC>, 2>(d, (a, b));
    Mul |L, d, a, b, c, s| map::<L, arith::Mul, 2>(d, (a, b));
    MulSigned |L, d, a, b, c, s| map::<L, arith::MulSigned<Ieee>, 3>(d, (a, b, s));
    MulZeroA |L, d, a, b, c, s| map::<L, arith::MulSigned<ZeroA>, 3>(d, (a, b, s));
    MulZeroBoth |L, d, a, b, c, s| map::<L, arith::MulSigned<ZeroBoth>, 3>(d, (a, b, s));
    Min |L, d, a, b, c, s| map::<L, select::Pick<select::Lt>, 2>(d, (a, b));
    Max |L, d, a, b, c, s| map::<L, select::Pick<select::Ge>, 2>(d, (a, b));
    MinRaw |L, d, a, b, c, s| select::pick_raw::<L::Flush, select::Lt>(d, a, b);
    MaxRaw |L, d, a, b, c, s| select::pick_raw::<L::Flush, select::Ge>(d, a, b);
    Lt |L, d, a, b, c, s| map::<L, select::Compare<select::Lt>, 2>(d, (a, b));
    Ge |L, d, a, b, c, s| map::<L, select::Compare<select::Ge>, 2>(d, (a, b));
    Eq |L, d, a, b, c, s| map::<L, select::Compare<select::Eq>, 2>(d, (a, b));
    Ne |L, d, a, b, c, s| map::<L, select::Compare<select::Ne>, 2>(d, (a, b));
    And |L, d, a, b, c, s| select::and(d, a, b);
    Or |L, d, a, b, c, s| select::or(d, a, b);
    AndNot |L, d, a, b, c, s| map::<L, select::AndNot, 2>(d, (a, b));

    Mad |L, d, a, b, c, s| map::<L, arith::Mad<PlusC>, 3>(d, (a, b, c));
    MadMinus |L, d, a, b, c, s| map::<L, arith::Mad<MinusC>, 3>(d, (a, b, c));
    MadFrom |L, d, a, b, c, s| map::<L, arith::Mad<FromC>, 3>(d, (a, b, c));
    MadBoth |L, d, a, b, c, s| map::<L, arith::Mad<MinusBoth>, 3>(d, (a, b, c));
    MadZeroA |L, d, a, b, c, s| arith::mad_signed::<L, ZeroA, PlusC>(d, a, b, c, s);
    MadZeroAMinus |L, d, a, b, c, s| arith::mad_signed::<L, ZeroA, MinusC>(d, a, b, c, s);
    MadZeroBoth |L, d, a, b, c, s| arith::mad_signed::<L, ZeroBoth, PlusC>(d, a, b, c, s);
    MadZeroBothMinus |L, d, a, b, c, s| arith::mad_signed::<L, ZeroBoth, MinusC>(d, a, b, c, s);
    Copy |L, d, a, b, c, s| bits::copy(d, a);
    MaskedMove |L, d, a, b, c, s| select::blend(d, a, b);
    Select |L, d, a, b, c, s| map::<L, select::Select, 3>(d, (a, b, c));
}

/// Selects the kernel of an operation, and its arguments. `materialize` returns the slot of a constant.
pub(super) fn select_kernel<L: SimdLevel>(
    level: L,
    opcode: Opcode,
    dst: u32,
    args: [Arg; 3],
    materialize: &mut dyn FnMut(f32) -> Arg,
) -> (Kernel, KernelArgs) {
    let mut call = KernelArgs::new(dst, args);

    macro_rules! over {
        ($kernel:ident, $a:ident, $b:ident, $c:ident) => {
            level.entry::<RegFile, [KernelArgs], LaneLoopImpl<$kernel, $a, $b, $c>>()
        };
    }
    let mut as_slots = |call: &mut KernelArgs, places: &[usize]| {
        for &place in places {
            if let Arg::Const(x) = call.args[place] {
                call.args[place] = materialize(x);
            }
        }
    };
    macro_rules! unary {
        ($kernel:ident) => {{
            as_slots(&mut call, &[0]);
            over!($kernel, InSlot, Broadcast, Broadcast)
        }};
    }
    // The second operand may be constant.
    macro_rules! binary {
        ($kernel:ident) => {{
            as_slots(&mut call, &[0]);
            match call.args[1] {
                Arg::Slot(_) => over!($kernel, InSlot, InSlot, Broadcast),
                Arg::Const(_) => over!($kernel, InSlot, Broadcast, Broadcast),
            }
        }};
    }
    // The first or the second operand may be constant.
    macro_rules! either {
        ($kernel:ident) => {
            match (call.args[0], call.args[1]) {
                (Arg::Const(_), Arg::Slot(_)) => over!($kernel, Broadcast, InSlot, Broadcast),
                _ => binary!($kernel),
            }
        };
    }
    // The second and the third operand may be constant.
    macro_rules! ternary {
        ($kernel:ident) => {{
            as_slots(&mut call, &[0]);
            match (call.args[1], call.args[2]) {
                (Arg::Slot(_), Arg::Slot(_)) => over!($kernel, InSlot, InSlot, InSlot),
                (Arg::Slot(_), Arg::Const(_)) => over!($kernel, InSlot, InSlot, Broadcast),
                (Arg::Const(_), Arg::Slot(_)) => over!($kernel, InSlot, Broadcast, InSlot),
                (Arg::Const(_), Arg::Const(_)) => over!($kernel, InSlot, Broadcast, Broadcast),
            }
        }};
    }
    // Likewise, with both factors that may be zero in slots.
    macro_rules! both_slots {
        ($kernel:ident) => {{
            as_slots(&mut call, &[0, 1]);
            match call.args[2] {
                Arg::Slot(_) => over!($kernel, InSlot, InSlot, InSlot),
                Arg::Const(_) => over!($kernel, InSlot, InSlot, Broadcast),
            }
        }};
    }

    let entry = match opcode {
        // Inputs are loaded before the ops, and constants by an op of their own; this kernel is never selected.
        Opcode::Input { .. } | Opcode::LoadConstant { .. } => unary!(Copy),
        Opcode::Mul(product) => {
            let zero_factors = call.zero_factors(product);
            match (zero_factors, product.negate) {
                (ZeroFactors::Nowhere, false) => binary!(Mul),
                (ZeroFactors::Nowhere, true) => binary!(MulSigned),
                (ZeroFactors::First, _) => binary!(MulZeroA),
                (ZeroFactors::Both, _) => both_slots!(MulZeroBoth),
            }
        }
        Opcode::Mad(product, sum) => {
            let zero_factors = call.zero_factors(product);
            match (zero_factors, product.negate, sum) {
                (ZeroFactors::Nowhere, false, AddSign::Plus) => ternary!(Mad),
                (ZeroFactors::Nowhere, false, AddSign::Minus) => ternary!(MadMinus),
                (ZeroFactors::Nowhere, true, AddSign::Plus) => ternary!(MadFrom),
                (ZeroFactors::Nowhere, true, AddSign::Minus) => ternary!(MadBoth),
                (ZeroFactors::First, _, AddSign::Plus) => ternary!(MadZeroA),
                (ZeroFactors::First, _, AddSign::Minus) => ternary!(MadZeroAMinus),
                (ZeroFactors::Both, _, AddSign::Plus) => both_slots!(MadZeroBoth),
                (ZeroFactors::Both, _, AddSign::Minus) => both_slots!(MadZeroBothMinus),
            }
        }
        Opcode::Add => binary!(Add),
        Opcode::Sub => either!(Sub),
        Opcode::Neg => unary!(Neg),
        Opcode::Abs => unary!(Abs),
        Opcode::NegAbs => unary!(NegAbs),
        Opcode::Min(DenormalMode::Excluded) => binary!(Min),
        Opcode::Max(DenormalMode::Excluded) => binary!(Max),
        Opcode::Min(DenormalMode::Kept) => binary!(MinRaw),
        Opcode::Max(DenormalMode::Kept) => binary!(MaxRaw),
        Opcode::Select => ternary!(Select),
        Opcode::Flush => unary!(Flush),
        Opcode::Clamp01 => unary!(Clamp01),
        Opcode::Frc => unary!(Frc),
        Opcode::Rcp => unary!(Rcp),
        Opcode::Rsq => unary!(Rsq),
        Opcode::Ex2 => unary!(Ex2),
        Opcode::Ln2 => unary!(Ln2),
        Opcode::Sin => unary!(Sin),
        Opcode::Cos => unary!(Cos),
        Opcode::QuadBroadcast(0) => unary!(TopLeft),
        Opcode::QuadBroadcast(1) => unary!(TopRight),
        Opcode::QuadBroadcast(_) => unary!(BottomLeft),
        Opcode::Lt => either!(Lt),
        Opcode::Ge => either!(Ge),
        Opcode::Eq => either!(Eq),
        Opcode::Ne => either!(Ne),
        Opcode::And => binary!(And),
        Opcode::Or => binary!(Or),
        Opcode::AndNot => either!(AndNot),
    };
    (entry, call)
}

/// Returns the kernel of `dst = from`.
pub(super) fn copy<L: SimdLevel>(level: L, dst: u32, from: Arg) -> (Kernel, KernelArgs) {
    let call = KernelArgs::new(dst, [from, Arg::Const(0.0), Arg::Const(0.0)]);
    let entry = match from {
        Arg::Slot(_) => {
            level.entry::<RegFile, [KernelArgs], LaneLoopImpl<Copy, InSlot, Broadcast, Broadcast>>()
        }
        Arg::Const(_) => level
            .entry::<RegFile, [KernelArgs], LaneLoopImpl<Copy, Broadcast, Broadcast, Broadcast>>(),
    };
    (entry, call)
}

/// Returns the kernel of `dst = from` with canonical NaN.
pub(super) fn canonical_nan<L: SimdLevel>(level: L, dst: u32, from: u32) -> (Kernel, KernelArgs) {
    let args = [Arg::Slot(from), Arg::Const(0.0), Arg::Const(0.0)];
    let entry = level
        .entry::<RegFile, [KernelArgs], LaneLoopImpl<CanonicalNan, InSlot, Broadcast, Broadcast>>();
    (entry, KernelArgs::new(dst, args))
}

/// Returns the kernel of `dst = mask ? from : dst`.
pub(super) fn masked_move<L: SimdLevel>(
    level: L,
    dst: u32,
    mask: Arg,
    from: Arg,
    materialize: &mut dyn FnMut(f32) -> Arg,
) -> (Kernel, KernelArgs) {
    let mask = if let Arg::Const(x) = mask { materialize(x) } else { mask };
    let call = KernelArgs::new(dst, [mask, from, Arg::Const(0.0)]);
    let entry = match from {
        Arg::Slot(_) => level
            .entry::<RegFile, [KernelArgs], LaneLoopImpl<MaskedMove, InSlot, InSlot, Broadcast>>(),
        Arg::Const(_) => level
            .entry::<RegFile, [KernelArgs], LaneLoopImpl<MaskedMove, InSlot, Broadcast, Broadcast>>(
            ),
    };
    (entry, call)
}

/// The factors to which the zero rule applies.
#[derive(Clone, Copy)]
enum ZeroFactors {
    Nowhere,
    First,
    Both,
}

impl KernelArgs {
    /// Orders the factors of a product as kernels expect them, and sets its sign.
    fn zero_factors(&mut self, product: MulFlags) -> ZeroFactors {
        self.sign = if product.negate { -0.0 } else { 0.0 };
        match (product.zero_a, product.zero_b) {
            (false, false) => ZeroFactors::Nowhere,
            (true, false) => ZeroFactors::First,
            (false, true) => {
                self.args.swap(0, 1);
                ZeroFactors::First
            }
            (true, true) => ZeroFactors::Both,
        }
    }
}

#[cfg(test)]
mod tests;
