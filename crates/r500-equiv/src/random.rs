//! Reproducible random numbers.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// Random numbers from a seed, the same on every platform (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(SplitMix64);

impl Random {
    /// Returns the generator for a round of a seed. Rounds are independent, so that any can be repeated alone.
    #[must_use]
    pub fn new(seed: u64, round: u64) -> Self {
        let seed = seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = SplitMix64::seed_from_u64(seed);
        let _ = random.next_u64();
        Self(SplitMix64::seed_from_u64(random.next_u64()))
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }

    /// Returns 32 random bits.
    pub(crate) fn word(&mut self) -> u32 {
        (self.0.next_u64() >> 32) as u32
    }

    /// Returns a number from 0 to 1, with 24 bits.
    fn unit(&mut self) -> f32 {
        (self.0.next_u64() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Returns a number between two bounds.
    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Returns a typical shader value: mostly numbers around 1, often small integers (counts, switches), sometimes
    /// something large or tiny.
    pub(crate) fn value(&mut self) -> f32 {
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
