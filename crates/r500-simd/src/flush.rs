//! Who takes care of denormals: the processor, or the kernel.

use crate::chunk::LANES;

/// How denormal operands and tiny results become zeros.
pub trait Flush {
    /// Whether the processor does it, inside [`fp_env::flushing`](crate::fp_env::flushing).
    const BY_PROCESSOR: bool;

    /// An operand that must not be denormal.
    #[inline(always)]
    fn operand(x: f32) -> f32 {
        if Self::BY_PROCESSOR { x } else { flushed(x) }
    }

    /// A rounded result, on its way.
    #[inline(always)]
    fn rounded(seen: &mut u32, x: f32) -> f32 {
        if !Self::BY_PROCESSOR {
            watch(seen, x);
        }
        x
    }

    /// An operand of an operation that answers for denormals afterwards.
    #[inline(always)]
    fn given(seen: &mut u32, x: f32) {
        if !Self::BY_PROCESSOR {
            watch(seen, x);
        }
    }

    /// Whether what was seen asks for the scalar law.
    #[inline(always)]
    fn met(seen: [u32; LANES]) -> bool {
        // By fours first: not every compiler finds the vectors in a sum of sixteen.
        let mut four = [NOTHING; 4];
        for (lane, seen) in seen.into_iter().enumerate() {
            four[lane % 4] |= seen;
        }
        !Self::BY_PROCESSOR && (four[0] | four[1] | four[2] | four[3]) != 0
    }
}

/// The processor does it; free.
pub struct HwFlush;

impl Flush for HwFlush {
    const BY_PROCESSOR: bool = true;
}

/// Nobody does it. Operands and rounded results are watched (four integer operations each), and
/// where one is denormal the chunk is done again by the scalar law.
pub struct SoftFlush;

impl Flush for SoftFlush {
    const BY_PROCESSOR: bool = false;
}

/// What was seen before anything was.
pub const NOTHING: u32 = 0;

/// Sets all bits for what is or may have been tiny: a denormal, or 2^-126, to which a product may
/// have been rounded up. Both ends are moved by 2^31 - 1 and compared with their signs, because SSE2
/// compares in no other way; zero comes out as the largest number.
#[inline(always)]
fn watch(seen: &mut u32, x: f32) {
    const MOVE: u32 = 0x7fff_ffff;
    const LAST: i32 = f32::MIN_POSITIVE.to_bits().wrapping_add(MOVE) as i32;
    let size = x.to_bits() & 0x7fff_ffff;
    *seen |= if size.wrapping_add(MOVE) as i32 <= LAST { u32::MAX } else { 0 };
}

/// A denormal made zero of its sign, in any environment.
#[inline(always)]
pub fn flushed(x: f32) -> f32 {
    let bits = x.to_bits();
    let sign = bits & 0x8000_0000;
    f32::from_bits(if bits & 0x7f80_0000 == 0 { sign } else { bits })
}
