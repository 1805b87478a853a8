//! Flush-to-zero in hardware, or in software with checks and recomputation.

use crate::chunk::LANES;

/// The method that flushes denormal operands and subnormal results to zero.
pub trait Flush {
    /// Whether the processor flushes, inside [`fp_env::flushing`](crate::fp_env::flushing).
    const BY_PROCESSOR: bool;

    /// Returns an operand, flushed.
    #[inline(always)]
    fn operand(x: f32) -> f32 {
        if Self::BY_PROCESSOR { x } else { flushed(x) }
    }

    /// Returns a rounded intermediate result; flags it in `seen` if it may be subnormal and was not flushed.
    #[inline(always)]
    fn rounded(seen: &mut u32, x: f32) -> f32 {
        if !Self::BY_PROCESSOR {
            watch(seen, x);
        }
        x
    }

    /// Flags an operand in `seen` if it is subnormal and the processor does not flush it.
    #[inline(always)]
    fn given(seen: &mut u32, x: f32) {
        if !Self::BY_PROCESSOR {
            watch(seen, x);
        }
    }

    /// Returns whether a flag requires recomputing the chunk with the scalar reference arithmetic.
    #[inline(always)]
    fn met(seen: [u32; LANES]) -> bool {
        // Reduce to four first: not every compiler vectorises an OR of sixteen.
        let mut four = [NOTHING; 4];
        for (lane, seen) in seen.into_iter().enumerate() {
            four[lane % 4] |= seen;
        }
        !Self::BY_PROCESSOR && (four[0] | four[1] | four[2] | four[3]) != 0
    }
}

/// The processor flushes, at no cost.
pub struct HwFlush;

impl Flush for HwFlush {
    const BY_PROCESSOR: bool = true;
}

/// The processor does not flush. Operands and rounded results are checked (four integer operations each), and a
/// chunk with a subnormal one is recomputed with the scalar reference arithmetic.
pub struct SoftFlush;

impl Flush for SoftFlush {
    const BY_PROCESSOR: bool = false;
}

/// No flags.
pub const NOTHING: u32 = 0;

/// Sets all bits of `seen` for a number that is or may have been tiny: a denormal, or 2^-126, to which a product
/// may have been rounded up. The comparison is biased by 2^31 - 1 and signed, because SSE2 has only signed
/// comparisons; zero becomes the largest number.
#[inline(always)]
fn watch(seen: &mut u32, x: f32) {
    const MOVE: u32 = 0x7fff_ffff;
    const LAST: i32 = f32::MIN_POSITIVE.to_bits().wrapping_add(MOVE) as i32;
    let size = x.to_bits() & 0x7fff_ffff;
    *seen |= if size.wrapping_add(MOVE) as i32 <= LAST { u32::MAX } else { 0 };
}

/// Flushes a denormal to zero of its sign, in any environment.
#[inline(always)]
pub fn flushed(x: f32) -> f32 {
    let bits = x.to_bits();
    let sign = bits & 0x8000_0000;
    f32::from_bits(if bits & 0x7f80_0000 == 0 { sign } else { bits })
}
