//! Peak arithmetic rate of the processor, as the roofline for programs.

use std::hint::black_box;

use crate::level::{Simd, SimdLevel, SimdTask, inhibit_outer_vectorization};

impl Simd {
    /// Multiplies and adds at this level, in registers only, so that only the arithmetic units limit the rate:
    /// `rounds` rounds, each a product and a sum (not fused) in every lane of twelve independent vectors. Returns
    /// the number of products and sums; divided by the elapsed time it is the peak rate of the processor.
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

/// Number of independent vectors: products and sums have a latency of about four cycles and a throughput of two a
/// cycle, and twelve vectors and two constants fit sixteen registers.
const CHAINS: usize = 12;

/// Chains of products and sums, in vectors of `LANES` lanes.
struct Chains<const LANES: usize> {
    rounds: u32,
}

impl<const LANES: usize> SimdTask for Chains<LANES> {
    /// Number of lanes.
    type Output = u64;

    #[inline(always)]
    fn run<L: SimdLevel>(self, _: L) -> u64 {
        // 1 * 0.5 + 0.5 stays 1: no overflow, no denormals. `black_box` hides this from the compiler.
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

    /// 12 vectors, two operations per lane.
    #[test]
    fn operations_are_counted() {
        assert_eq!(Simd::Portable.multiply_add(5), 5 * 2 * 12 * 4);
        assert_eq!(Simd::Portable.multiply_add(0), 0);
        if Simd::Avx2.is_available() {
            assert_eq!(Simd::Avx2.multiply_add(1_000), 1_000 * 2 * 12 * 8);
        }
    }
}
