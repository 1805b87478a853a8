//! Fused operations: two in one loop, with the intermediate result in a register.

use core::marker::PhantomData;

use crate::{Flush, Lanewise};
use r500_simd::SimdLevel;

/// Operation G on NG operands, of which operand AT is the result of F on NF operands. The operands are those of F, then the others of G.
pub struct FusedPair<F, G, const NF: usize, const NG: usize, const AT: usize>(PhantomData<(F, G)>);

macro_rules! arities {
    ($($first:literal $second:literal $all:literal;)*) => {$(
        impl<F: Lanewise<$first>, G: Lanewise<$second>, const AT: usize> Lanewise<$all>
            for FusedPair<F, G, $first, $second, AT>
        {
            const CHECKS_DENORMALS: bool = F::CHECKS_DENORMALS || G::CHECKS_DENORMALS;

            #[inline(always)]
            fn lane<L: SimdLevel>(flags: &mut u32, operands: [f32; $all]) -> f32 {
                let intermediate = F::lane::<L>(flags, first_of(operands));
                if G::CHECKS_DENORMALS {
                    L::Flush::check_operand(flags, intermediate);
                }
                G::lane::<L>(flags, second_of::<$all, $first, $second, AT>(operands, intermediate))
            }

            #[inline(always)]
            fn reference(operands: [f32; $all]) -> f32 {
                let intermediate = F::reference(first_of(operands));
                G::reference(second_of::<$all, $first, $second, AT>(operands, intermediate))
            }
        }
    )*};
}

arities! {
    1 1 1;
    1 2 2;
    1 3 3;
    2 1 2;
    2 2 3;
    2 3 4;
    3 1 3;
    3 2 4;
    3 3 5;
}

/// Returns the operands of the first operation.
#[inline(always)]
fn first_of<const ALL: usize, const FIRST: usize>(operands: [f32; ALL]) -> [f32; FIRST] {
    let mut first = [0.0; FIRST];
    for i in 0..FIRST {
        first[i] = operands[i];
    }
    first
}

/// Returns the operands of the second operation.
#[inline(always)]
fn second_of<const ALL: usize, const FIRST: usize, const SECOND: usize, const AT: usize>(
    operands: [f32; ALL],
    intermediate: f32,
) -> [f32; SECOND] {
    let mut second = [0.0; SECOND];
    for i in 0..SECOND {
        second[i] = match i {
            i if i == AT => intermediate,
            i if i < AT => operands[FIRST + i],
            i => operands[FIRST + i - 1],
        };
    }
    second
}
