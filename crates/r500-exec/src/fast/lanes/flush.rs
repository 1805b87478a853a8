//! Who takes care of denormals: the processor, or the kernel.

use super::LANES;

/// How denormal operands and tiny results become zeros.
pub(crate) trait Flush {
    /// Whether the processor does it, inside [`fp_env::flushing`](crate::fast::fp_env::flushing).
    const BY_PROCESSOR: bool;
    /// Whether operands may be denormal and the kernel has to mind.
    const MINDS_OPERANDS: bool;

    /// An operand that must not be denormal.
    #[inline(always)]
    fn operand(x: f32) -> f32 {
        if Self::MINDS_OPERANDS { flushed(x) } else { x }
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
        if Self::MINDS_OPERANDS {
            watch(seen, x);
        }
    }

    /// Whether what was seen asks for the scalar law.
    #[inline(always)]
    fn met(seen: [u32; LANES]) -> bool {
        !Self::BY_PROCESSOR && seen.into_iter().fold(NOTHING, u32::min) <= SUSPICIOUS
    }
}

/// The processor does it; free.
pub(crate) struct HwFlush;

impl Flush for HwFlush {
    const BY_PROCESSOR: bool = true;
    const MINDS_OPERANDS: bool = false;
}

/// Nobody does it. Operands and rounded results are watched (three integer operations each), and
/// where one is denormal the chunk is done again by the scalar law.
pub(crate) struct SoftFlush;

impl Flush for SoftFlush {
    const BY_PROCESSOR: bool = false;
    const MINDS_OPERANDS: bool = true;
}

/// [`SoftFlush`] where no operand is denormal, as no result of a kernel that computes is: only
/// rounded results are watched.
///
/// Bits that never went through arithmetic (inputs, texels, constants and what is copied from them)
/// have to be [flushed](flush()) first.
pub(crate) struct CleanFlush;

impl Flush for CleanFlush {
    const BY_PROCESSOR: bool = false;
    const MINDS_OPERANDS: bool = false;
}

/// What was seen before anything was.
pub(super) const NOTHING: u32 = u32::MAX;

/// One less than the bits of 2^-126. A product that is tiny and yet rounds to a float above zero is
/// a denormal or 2^-126 itself.
const SUSPICIOUS: u32 = f32::MIN_POSITIVE.to_bits() - 1;

/// Keeps the smallest magnitude above zero (its bits less one, so that zero is the largest).
#[inline(always)]
fn watch(seen: &mut u32, x: f32) {
    *seen = (*seen).min((x.to_bits() & 0x7fff_ffff).wrapping_sub(1));
}

/// A denormal made zero of its sign, in any environment.
#[inline(always)]
pub(super) fn flushed(x: f32) -> f32 {
    let bits = x.to_bits();
    let sign = bits & 0x8000_0000;
    f32::from_bits(if bits & 0x7f80_0000 == 0 { sign } else { bits })
}
