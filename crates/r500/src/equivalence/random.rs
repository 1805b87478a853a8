//! Random numbers that a seed repeats.

/// Numbers from a seed: the same everywhere (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the numbers of a round under a seed. Rounds do not depend on each other, so that any
    /// of them can be repeated alone.
    #[must_use]
    pub fn new(seed: u64, round: u64) -> Self {
        let mut random = Self(seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let _ = random.bits();
        Self(random.bits())
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// 32 bits.
    pub(super) fn word(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// Between 0 and 1, 24 bits.
    fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1u32 << 24) as f32
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
