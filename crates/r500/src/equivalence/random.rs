//! Random numbers that a seed repeats.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// Numbers from a seed: the same everywhere (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// Returns the numbers of a round under a seed. Rounds do not depend on each other, so that any
    /// of them can be repeated alone.
    #[must_use]
    pub fn new(seed: u64, round: u64) -> Self {
        let seed = seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = SplitMix64::seed_from_u64(seed);
        let _ = random.next_u64();
        Self(SplitMix64::seed_from_u64(random.next_u64()))
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }

    /// 32 bits.
    pub(super) fn word(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    /// Between 0 and 1, 24 bits.
    fn unit(&mut self) -> f32 {
        (self.0.next_u64() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Between two numbers.
    pub(super) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Returns what shaders are given: mostly numbers around 1, often small whole ones (counts,
    /// switches), sometimes something large or tiny.
    pub(super) fn value(&mut self) -> f32 {
        match self.below(8) {
            0 | 1 => self.below(17) as f32,
            2 => {
                let exponent = self.between(-10.0, 10.0).round();
                self.between(-1.0, 1.0) * exponent.exp2()
            }
            _ => self.between(-2.0, 2.0),
        }
    }
}
