//! What a processor can do at most: the yardstick for programs.

use std::hint::black_box;

use crate::level::{Simd, SimdLevel, SimdTask, inhibit_outer_vectorization};

impl Simd {
    /// Multiplies and adds with these instructions, in registers only, so that nothing but the
    /// arithmetic units limits it: `rounds` rounds, each a product and a sum (not fused) in every
    /// lane of twelve vectors that do not wait for each other. Returns how many products and sums
    /// that were. Time it to know what the processor can do at most.
    #[must_use]
    pub fn multiply_add(self, rounds: u32) -> u64 {
        let lanes = match self {
            Self::Avx512 => self.run(Chains::<16> { rounds }),
            Self::Avx2 => self.run(Chains::<8> { rounds }),
            Self::Sse2 | Self::Portable => self.run(Chains::<4> { rounds }),
        };
        u64::from(rounds) * 2 * lanes
    }
}

/// Vectors at work: products and sums take some four cycles each, two of them begin in a cycle, and
/// with two constants they fit sixteen registers.
const CHAINS: usize = 12;

/// Chains of products and sums, in vectors of so many lanes.
struct Chains<const LANES: usize> {
    rounds: u32,
}

impl<const LANES: usize> SimdTask for Chains<LANES> {
    /// Lanes at work.
    type Output = u64;

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) -> u64 {
        // 1 / 2 + 1 / 2 stays 1: no overflow, no denormals. The compiler cannot know.
        let (factor, term) = (black_box(0.5f32), black_box(0.5f32));
        let mut vectors = [[1.0f32; LANES]; CHAINS];
        for _ in 0..self.rounds {
            for vector in &mut vectors {
                inhibit_outer_vectorization();
                for x in vector {
                    *x = *x * factor + term;
                }
            }
        }
        black_box(vectors);
        (CHAINS * LANES) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12 vectors of so many lanes, two operations each.
    #[test]
    fn operations_are_counted() {
        assert_eq!(Simd::Portable.multiply_add(5), 5 * 2 * 12 * 4);
        assert_eq!(Simd::Portable.multiply_add(0), 0);
        if Simd::Avx2.is_available() {
            assert_eq!(Simd::Avx2.multiply_add(1_000), 1_000 * 2 * 12 * 8);
        }
    }
}
