//! Flush-to-zero in hardware, or in software with checks and recomputation.

use crate::chunk::LANES;

/// The method that flushes denormal operands and subnormal results to zero.
pub trait Flush {
    /// Whether the processor flushes, inside [`fp_env::flushing`](crate::fp_env::flushing).
    const IN_HARDWARE: bool;

    /// Returns an operand, flushed.
    #[inline(always)]
    fn flush_operand(x: f32) -> f32 {
        if Self::IN_HARDWARE { x } else { flush(x) }
    }

    /// Returns a rounded intermediate result; flags it if it may be subnormal and was not flushed.
    #[inline(always)]
    fn check_result(flags: &mut u32, x: f32) -> f32 {
        if !Self::IN_HARDWARE {
            flag_subnormal(flags, x);
        }
        x
    }

    /// Flags an operand if it is subnormal and the processor does not flush it.
    #[inline(always)]
    fn check_operand(flags: &mut u32, x: f32) {
        if !Self::IN_HARDWARE {
            flag_subnormal(flags, x);
        }
    }

    /// Returns whether a flag requires recomputing the chunk with the scalar reference arithmetic.
    #[inline(always)]
    fn needs_recompute(flags: [u32; LANES]) -> bool {
        // Reduce to four first: not every compiler vectorises an OR of sixteen.
        let mut four = [NO_FLAGS; 4];
        for (lane, lane_flags) in flags.into_iter().enumerate() {
            four[lane % 4] |= lane_flags;
        }
        !Self::IN_HARDWARE && (four[0] | four[1] | four[2] | four[3]) != 0
    }
}

/// The processor flushes, at no cost.
pub struct HwFlush;

impl Flush for HwFlush {
    const IN_HARDWARE: bool = true;
}

/// The processor does not flush. Operands and rounded results are checked (four integer operations each), and a
/// chunk with a subnormal one is recomputed with the scalar reference arithmetic.
pub struct SoftFlush;

impl Flush for SoftFlush {
    const IN_HARDWARE: bool = false;
}

/// No flags.
pub const NO_FLAGS: u32 = 0;

/// Sets all bits of `flags` for a number that is subnormal, or that rounding may have made 2^-126 from a subnormal product.
/// The comparison is biased by 2^31 - 1 and signed, because SSE2 has only signed comparisons; zero becomes the largest number.
#[inline(always)]
fn flag_subnormal(flags: &mut u32, x: f32) {
    const BIAS: u32 = 0x7fff_ffff;
    const GREATEST: i32 = f32::MIN_POSITIVE.to_bits().wrapping_add(BIAS) as i32;
    let size = x.to_bits() & 0x7fff_ffff;
    *flags |= if size.wrapping_add(BIAS) as i32 <= GREATEST { u32::MAX } else { 0 };
}

/// Flushes a denormal to zero of its sign, in any environment.
#[inline(always)]
pub fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    let sign = bits & 0x8000_0000;
    f32::from_bits(if bits & 0x7f80_0000 == 0 { sign } else { bits })
}
