//! Fused kernels: two operations in one loop, the first of which has no other user.
//!
//! The cost of a loop is mostly its loads and its store. Each entry of the table saves one of each per chunk; the pairs are the most
//! frequent ones in compiled programs.

use core::marker::PhantomData;

use super::{Broadcast, InSlot, Kernel, KernelArgs, OperandKind};
use crate::arg::Arg;
use crate::reg_file::{ChunkRange, RegFile, SlotCells};
use r500_ir::{AddSign, DenormalMode, Inst, MulFlags, Opcode, Operand};
use r500_lanes::arith::{self, MinusC, PlusC, ZeroA, ZeroBoth};
use r500_lanes::fused::FusedPair;
use r500_lanes::{Lanewise, Operands, bits, functions, map, select};
use r500_simd::{SimdFn, SimdLevel};

/// A kernel of an operation on operands of given kinds.
struct Fused<O, K, const N: usize>(PhantomData<(O, K)>);

impl<O: Lanewise<N>, K: Kinds<N>, const N: usize> SimdFn<RegFile, [KernelArgs]> for Fused<O, K, N> {
    #[inline(always)]
    fn run<L: SimdLevel>(memory: &mut RegFile, calls: &[KernelArgs]) {
        let (slots, ranges) = memory.cells();
        for call in calls {
            for &range in ranges {
                map::<L, O, N>(slots.get(call.dst, range), K::of(call, slots, range));
            }
        }
    }
}

/// The kinds of N operands.
trait Kinds<const N: usize> {
    type Operands<'a>: Operands<N>;
    fn of<'a>(call: &KernelArgs, slots: SlotCells<'a>, range: ChunkRange) -> Self::Operands<'a>;
}

macro_rules! kinds {
    ($($n:literal: $($kind:ident $at:literal),*;)*) => {$(
        impl<$($kind: OperandKind),*> Kinds<$n> for ($($kind,)*) {
            type Operands<'a> = ($($kind::Src<'a>,)*);

            #[inline(always)]
            fn of<'a>(
                call: &KernelArgs,
                slots: SlotCells<'a>,
                range: ChunkRange,
            ) -> Self::Operands<'a> {
                ($($kind::of(call.operand($at), slots, range),)*)
            }
        }
    )*};
}

kinds! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
}

impl KernelArgs {
    /// Returns the arguments of a fused kernel: those of the first operation, then the others of the second.
    pub(crate) fn fused(dst: u32, args: [Arg; 5]) -> Self {
        let [a, b, c, d, e] = args;
        Self { dst, args: [a, b, c], more: [d, e], sign: 0.0 }
    }

    #[inline(always)]
    fn operand(&self, at: usize) -> Arg {
        if at < 3 { self.args[at] } else { self.more[at - 3] }
    }
}

const fn product(zero_a: bool, zero_b: bool) -> MulFlags {
    MulFlags { negate: false, zero_a, zero_b }
}

// Operations of the table that have flags.
const MUL: Opcode = Opcode::Mul(product(false, false));
const MUL_ZERO_A: Opcode = Opcode::Mul(product(true, false));
const MUL_ZERO: Opcode = Opcode::Mul(product(true, true));
const MAD: Opcode = Opcode::Mad(product(false, false), AddSign::Plus);
const MAD_MINUS: Opcode = Opcode::Mad(product(false, false), AddSign::Minus);
const MAD_ZERO_A: Opcode = Opcode::Mad(product(true, false), AddSign::Plus);
const MAD_ZERO: Opcode = Opcode::Mad(product(true, true), AddSign::Plus);
const MIN: Opcode = Opcode::Min(DenormalMode::Excluded);
const MAX: Opcode = Opcode::Max(DenormalMode::Excluded);

/// The kind of an operand in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FusedOperandKind {
    /// The other operation's result.
    Result,
    Slot,
    Constant,
    /// No operand.
    Nothing,
}

/// Returns an operation with its factors in the order of the table: a zero rule for one factor applies to the first.
fn ordered(inst: &Inst) -> Inst {
    let mut inst = *inst;
    let (Opcode::Mul(product) | Opcode::Mad(product, _)) = &mut inst.opcode else { return inst };
    if !product.zero_a && product.zero_b {
        (product.zero_a, product.zero_b) = (true, false);
        inst.args.swap(0, 1);
    }
    inst
}

/// Returns the fused kernel of two operations and its operands, if the table has it. `result`, the result of `first`, is an operand of
/// `second`.
pub(crate) fn select_fused<L: SimdLevel>(
    level: L,
    first: &Inst,
    second: &Inst,
    result: Operand,
) -> Option<(Kernel, Vec<Operand>)> {
    let (first, mut second) = (ordered(first), ordered(second));
    // In the table, the result is the second operand of sums and the first one of products.
    let swaps = match second.opcode {
        Opcode::Add => second.args[0] == result,
        MUL | MUL_ZERO | MAD | MAD_MINUS | MAD_ZERO => second.args[1] == result,
        _ => false,
    };
    if swaps {
        second.args.swap(0, 1);
    }
    let kind_of = |operand: Operand| match operand {
        operand if operand == result => FusedOperandKind::Result,
        Operand::Const(_) => FusedOperandKind::Constant,
        Operand::Value(_) => FusedOperandKind::Slot,
    };
    let [of_first, of_second] = [&first, &second].map(|inst| &inst.args[..inst.opcode.arity()]);
    let [first_kinds, second_kinds] = [of_first, of_second].map(|operands| {
        let mut kinds = [FusedOperandKind::Nothing; 3];
        kinds.iter_mut().zip(operands).for_each(|(to, operand)| *to = kind_of(*operand));
        kinds
    });
    let kernel = select_pair(level, (first.opcode, first_kinds, second.opcode, second_kinds))?;
    let others = of_second.iter().filter(|operand| **operand != result);
    Some((kernel, of_first.iter().chain(others).copied().collect()))
}

/// Returns the kernel of a pair, if the table has it.
fn select_pair<L: SimdLevel>(
    level: L,
    pair: (Opcode, [FusedOperandKind; 3], Opcode, [FusedOperandKind; 3]),
) -> Option<Kernel> {
    use FusedOperandKind::{Constant as K, Nothing as N, Result as X, Slot as S};
    use Opcode::{
        Abs, Add, AndNot, Clamp01, Cos, Ex2, Frc, Ge, Ln2, Lt, Rcp, Rsq, Select, Sin, Sub,
    };
    type MadP = arith::Mad<PlusC>;
    type MadM = arith::Mad<MinusC>;
    type MulA = arith::MulZero<ZeroA>;
    type MulZ = arith::MulZero<ZeroBoth>;
    type MadA = arith::MadZero<ZeroA, PlusC>;
    type MadZ = arith::MadZero<ZeroBoth, PlusC>;
    type AddP = arith::Add<PlusC>;
    type AddM = arith::Add<MinusC>;
    type Greater = select::Compare<select::Ge>;
    type Less = select::Compare<select::Lt>;

    if !L::FUSES {
        return None;
    }
    macro_rules! kind {
        (S) => {
            InSlot
        };
        (K) => {
            Broadcast
        };
    }
    macro_rules! table {
        ($(($first:pat, $a:pat, $second:pat, $b:pat): $f:ty, $g:ty, $nf:literal $ng:literal $at:literal, $n:literal $($kind:ident)*;)*) => {
            match pair {
                $(($first, $a, $second, $b) => level.entry::<RegFile, [KernelArgs], Fused<
                    FusedPair<$f, $g, $nf, $ng, $at>,
                    ($(kind!($kind),)*),
                    $n,
                >>(),)*
                _ => return None,
            }
        };
    }
    #[rustfmt::skip]
    let kernel = table! {
        (MUL, [S, K, N], MAD, [S, K, X]): arith::Mul, MadP, 2 3 2, 4 S K S K;
        (MUL, [S, S, N], MAD, [S, S, X]): arith::Mul, MadP, 2 3 2, 4 S S S S;
        (MUL, [S, K, N], MAD_MINUS, [S, S, X]): arith::Mul, MadM, 2 3 2, 4 S K S S;
        (MAD, [S, K, S], MAD, [S, K, X]): MadP, MadP, 3 3 2, 5 S K S S K;
        (MAD, [S, K, K], MAD, [S, K, X]): MadP, MadP, 3 3 2, 5 S K K S K;
        (MAD, [S, S, S], MAD, [S, S, X]): MadP, MadP, 3 3 2, 5 S S S S S;
        (MUL, [S, K, N], Frc, [X, N, N]): arith::Mul, functions::Frc, 2 1 0, 2 S K;
        (MAD, [S, K, K], Frc, [X, N, N]): MadP, functions::Frc, 3 1 0, 3 S K K;
        (Frc, [S, N, N], Sin, [X, N, N]): functions::Frc, functions::Sin, 1 1 0, 1 S;
        (Frc, [S, N, N], Cos, [X, N, N]): functions::Frc, functions::Cos, 1 1 0, 1 S;
        (Frc, [S, N, N], Sub, [S, X, N]): functions::Frc, AddM, 1 2 1, 2 S S;
        (Sin, [S, N, N], MAD, [X, K, S]): functions::Sin, MadP, 1 3 0, 3 S K S;
        (Sin, [S, N, N], MUL, [X, K, N]): functions::Sin, arith::Mul, 1 2 0, 2 S K;
        (Add, [S, S, N], MUL, [X, K, N]): AddP, arith::Mul, 2 2 0, 3 S S K;
        (Add, [S, K, N], MUL, [X, K, N]): AddP, arith::Mul, 2 2 0, 3 S K K;
        (MAD, [S, K, S], MUL, [X, K, N]): MadP, arith::Mul, 3 2 0, 4 S K S K;
        (MAD, [S, K, K], MUL, [X, S, N]): MadP, arith::Mul, 3 2 0, 4 S K K S;
        (MUL, [S, K, N], Add, [K, X, N]): arith::Mul, AddP, 2 2 1, 3 S K K;
        (MUL, [S, K, N], Add, [S, X, N]): arith::Mul, AddP, 2 2 1, 3 S K S;
        (Add, [S, S, N], Add, [S, X, N]): AddP, AddP, 2 2 1, 3 S S S;
        (Sub, [S, S, N], MAD, [X, K, S]): AddM, MadP, 2 3 0, 4 S S K S;
        (Add, [S, K, N], Sub, [X, S, N]): AddP, AddM, 2 2 0, 3 S K S;
        (Add, [S, K, N], Rsq, [X, N, N]): AddP, arith::Rsq, 2 1 0, 2 S K;
        (Add, [S, K, N], Ln2, [X, N, N]): AddP, functions::Ln2, 2 1 0, 2 S K;
        (MAD, [S, K, K], Ex2, [X, N, N]): MadP, functions::Ex2, 3 1 0, 3 S K K;
        (Rsq, [S, N, N], Rcp, [X, N, N]): arith::Rsq, arith::Rcp, 1 1 0, 1 S;
        (Abs, [S, N, N], MAD_MINUS, [X, K, S]): bits::Abs, MadM, 1 3 0, 3 S K S;
        (MUL, [S, S, N], MUL, [X, K, N]): arith::Mul, arith::Mul, 2 2 0, 3 S S K;
        (MAD, [S, S, K], MUL, [X, K, N]): MadP, arith::Mul, 3 2 0, 4 S S K K;
        (MAD, [S, S, S], MUL, [X, K, N]): MadP, arith::Mul, 3 2 0, 4 S S S K;
        (MAD_MINUS, [S, K, S], MUL, [X, K, N]): MadM, arith::Mul, 3 2 0, 4 S K S K;
        (MAX, [S, S, N], MUL, [X, K, N]): select::Pick<select::Ge>, arith::Mul, 2 2 0, 3 S S K;
        (MUL, [S, K, N], Clamp01, [X, N, N]): arith::Mul, functions::Clamp01, 2 1 0, 2 S K;
        (MAD, [S, K, S], Clamp01, [X, N, N]): MadP, functions::Clamp01, 3 1 0, 3 S K S;
        (MAD, [S, S, S], Clamp01, [X, N, N]): MadP, functions::Clamp01, 3 1 0, 3 S S S;
        (Add, [S, S, N], Clamp01, [X, N, N]): AddP, functions::Clamp01, 2 1 0, 2 S S;
        (MAD, [S, S, K], MAD, [X, S, K]): MadP, MadP, 3 3 0, 5 S S K S K;
        (MAD, [S, K, K], MAD, [X, S, K]): MadP, MadP, 3 3 0, 5 S K K S K;
        (MAD, [S, K, S], MAD, [X, K, K]): MadP, MadP, 3 3 0, 5 S K S K K;
        (MAD, [S, K, K], Add, [S, X, N]): MadP, AddP, 3 2 1, 4 S K K S;
        (Add, [S, S, N], MAD, [X, K, S]): AddP, MadP, 2 3 0, 4 S S K S;
        (Add, [S, K, N], MAD, [X, K, S]): AddP, MadP, 2 3 0, 4 S K K S;
        (Add, [S, K, N], Add, [S, X, N]): AddP, AddP, 2 2 1, 3 S K S;
        (Sin, [S, N, N], Add, [S, X, N]): functions::Sin, AddP, 1 2 1, 2 S S;
        (Abs, [S, N, N], Sub, [X, S, N]): bits::Abs, AddM, 1 2 0, 2 S S;
        (Frc, [S, N, N], Ge, [X, K, N]): functions::Frc, Greater, 1 2 0, 2 S K;
        (Lt, [K, S, N], AndNot, [S, X, N]): Less, select::AndNot, 2 2 1, 3 K S S;
        (Ge, [K, S, N], AndNot, [K, X, N]): Greater, select::AndNot, 2 2 1, 3 K S K;
        (MAX, [S, K, N], MIN, [X, K, N]): select::Pick<select::Ge>, select::Pick<select::Lt>, 2 2 0, 3 S K K;
        (Sub, [S, S, N], Ge, [X, K, N]): AddM, Greater, 2 2 0, 3 S S K;
        (Ge, [S, K, N], AndNot, [S, X, N]): Greater, select::AndNot, 2 2 1, 3 S K S;
        (Lt, [S, K, N], AndNot, [S, X, N]): Less, select::AndNot, 2 2 1, 3 S K S;
        (Ge, [S, K, N], Select, [X, K, K]): Greater, select::Select, 2 3 0, 4 S K K K;
        (Ge, [K, S, N], Select, [X, K, K]): Greater, select::Select, 2 3 0, 4 K S K K;
        (MAD, [S, K, S], Select, [S, X, S]): MadP, select::Select, 3 3 1, 5 S K S S S;
        (MUL, [S, K, N], Select, [S, X, S]): arith::Mul, select::Select, 2 3 1, 4 S K S S;
        (Add, [S, K, N], Select, [S, X, S]): AddP, select::Select, 2 3 1, 4 S K S S;
        (Select, [S, S, S], Select, [S, X, S]): select::Select, select::Select, 3 3 1, 5 S S S S S;
        (MAD_ZERO, [S, S, S], MAD_ZERO, [S, S, X]): MadZ, MadZ, 3 3 2, 5 S S S S S;
        (Sub, [S, S, N], MAD_ZERO_A, [X, S, S]): AddM, MadA, 2 3 0, 4 S S S S;
        (MUL, [S, K, N], MAD_ZERO, [X, S, S]): arith::Mul, MadZ, 2 3 0, 4 S K S S;
        (MAD_ZERO, [S, S, S], MAD_ZERO_A, [S, S, X]): MadZ, MadA, 3 3 2, 5 S S S S S;
        (MAD, [S, S, S], MAD_ZERO, [S, S, X]): MadP, MadZ, 3 3 2, 5 S S S S S;
        (MAD_ZERO_A, [S, S, S], MAD_ZERO, [S, S, X]): MadA, MadZ, 3 3 2, 5 S S S S S;
        (MUL_ZERO, [S, S, N], MAD_ZERO, [S, S, X]): MulZ, MadZ, 2 3 2, 4 S S S S;
        (MUL_ZERO_A, [S, S, N], MAD_ZERO_A, [S, S, X]): MulA, MadA, 2 3 2, 4 S S S S;
        (Add, [S, K, N], MAD_ZERO, [X, S, S]): AddP, MadZ, 2 3 0, 4 S K S S;
        (MAD_ZERO, [S, S, K], MAX, [X, K, N]): MadZ, select::Pick<select::Ge>, 3 2 0, 4 S S K K;
        (Abs, [S, N, N], MAD_ZERO, [X, S, K]): bits::Abs, MadZ, 1 3 0, 3 S S K;
        (Sub, [S, S, N], Abs, [X, N, N]): AddM, bits::Abs, 2 1 0, 2 S S;
        (Sub, [K, S, N], Abs, [X, N, N]): AddM, bits::Abs, 2 1 0, 2 K S;
        (Sub, [S, S, N], Add, [S, X, N]): AddM, AddP, 2 2 1, 3 S S S;
        (Sub, [S, S, N], MAD, [X, S, S]): AddM, MadP, 2 3 0, 4 S S S S;
        (Sub, [K, S, N], Select, [S, X, S]): AddM, select::Select, 2 3 1, 4 K S S S;
        (Abs, [S, N, N], Add, [S, X, N]): bits::Abs, AddP, 1 2 1, 2 S S;
        (Abs, [S, N, N], Rsq, [X, N, N]): bits::Abs, arith::Rsq, 1 1 0, 1 S;
        (Abs, [S, N, N], Ge, [K, X, N]): bits::Abs, Greater, 1 2 1, 2 S K;
        (Frc, [S, N, N], Add, [S, X, N]): functions::Frc, AddP, 1 2 1, 2 S S;
        (Frc, [S, N, N], Select, [S, X, S]): functions::Frc, select::Select, 1 3 1, 3 S S S;
        (Add, [S, S, N], Select, [S, X, S]): AddP, select::Select, 2 3 1, 4 S S S S;
        (Add, [S, K, N], Select, [S, S, X]): AddP, select::Select, 2 3 2, 4 S K S S;
        (MUL, [S, S, N], Select, [S, X, S]): arith::Mul, select::Select, 2 3 1, 4 S S S S;
        (MUL, [S, S, N], MUL, [X, S, N]): arith::Mul, arith::Mul, 2 2 0, 3 S S S;
        (MUL, [S, S, N], MAD_MINUS, [S, S, X]): arith::Mul, MadM, 2 3 2, 4 S S S S;
        (MUL, [S, K, N], MUL, [X, S, N]): arith::Mul, arith::Mul, 2 2 0, 3 S K S;
        (MUL, [S, K, N], MAD, [X, S, S]): arith::Mul, MadP, 2 3 0, 4 S K S S;
        (MAD, [S, S, S], Select, [S, X, S]): MadP, select::Select, 3 3 1, 5 S S S S S;
        (MAD, [S, K, S], Frc, [X, N, N]): MadP, functions::Frc, 3 1 0, 3 S K S;
        (MAD, [S, K, K], MAD, [S, S, X]): MadP, MadP, 3 3 2, 5 S K K S S;
        (MAD, [S, K, K], MAD, [X, S, S]): MadP, MadP, 3 3 0, 5 S K K S S;
        (MAD, [S, S, K], MAD, [S, S, X]): MadP, MadP, 3 3 2, 5 S S K S S;
        (MAD, [S, S, S], MAD, [S, K, X]): MadP, MadP, 3 3 2, 5 S S S S K;
        (Select, [S, S, S], MIN, [X, S, N]): select::Select, select::Pick<select::Lt>, 3 2 0, 4 S S S S;
        (MIN, [S, S, N], Select, [S, X, S]): select::Pick<select::Lt>, select::Select, 2 3 1, 4 S S S S;
        (MIN, [S, S, N], MIN, [X, S, N]): select::Pick<select::Lt>, select::Pick<select::Lt>, 2 2 0, 3 S S S;
        (MAX, [S, K, N], MIN, [S, X, N]): select::Pick<select::Ge>, select::Pick<select::Lt>, 2 2 1, 3 S K S;
        (MAX, [S, K, N], Rcp, [X, N, N]): select::Pick<select::Ge>, arith::Rcp, 2 1 0, 2 S K;
        (Rcp, [S, N, N], MUL, [X, S, N]): arith::Rcp, arith::Mul, 1 2 0, 2 S S;
        (Rcp, [S, N, N], MUL, [X, K, N]): arith::Rcp, arith::Mul, 1 2 0, 2 S K;
        (Ge, [K, S, N], Select, [X, S, S]): Greater, select::Select, 2 3 0, 4 K S S S;
    };
    Some(kernel)
}

#[cfg(test)]
mod tests;
