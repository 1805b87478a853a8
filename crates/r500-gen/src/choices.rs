//! Sources of random choices: a seed, or a fuzzer's bytes.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// A source of choices.
///
/// Generators put the simplest alternative first. A source that returns only 0, such as a fuzzer's input after its last
/// byte, therefore generates small programs.
pub trait Choices {
    /// Returns a number below `n`; 0 if `n` is 0 or 1, without consuming input.
    fn below(&mut self, n: u32) -> u32;

    /// Returns 32 random bits.
    fn bits(&mut self) -> u32 {
        self.below(1 << 16) << 16 | self.below(1 << 16)
    }

    /// Returns `true` with a probability of `times` in `out_of`.
    fn chance(&mut self, times: u32, out_of: u32) -> bool {
        // The greatest numbers are `true`, so that 0 is `false`.
        times != 0 && self.below(out_of) >= out_of.saturating_sub(times)
    }

    /// Returns a number from `first` to `last`, both included; `first` if the range is empty.
    fn between(&mut self, first: i32, last: i32) -> i32 {
        let span = u32::try_from(i64::from(last) - i64::from(first) + 1).unwrap_or(1);
        first.wrapping_add_unsigned(self.below(span))
    }

    /// Returns one of `first` and `more`.
    fn pick<T: Copy>(&mut self, first: T, more: &[T]) -> T
    where
        Self: Sized,
    {
        let n = self.below(u32::try_from(more.len() + 1).unwrap_or(u32::MAX)) as usize;
        n.checked_sub(1).and_then(|n| more.get(n)).copied().unwrap_or(first)
    }

    /// Returns an index, with a probability in proportion to its weight.
    fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut n = self.below(weights.iter().sum());
        for (place, &weight) in weights.iter().enumerate() {
            if n < weight {
                return place;
            }
            n -= weight;
        }
        0
    }
}

/// The pseudo-random sequence of a seed: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", 2014). A seed gives the same sequence on every platform.
///
/// ```
/// use r500_gen::{Choices, Rng};
/// let (mut a, mut b) = (Rng::new(7), Rng::new(7));
/// assert!((0..100).all(|_| a.below(1000) == b.below(1000)));
/// ```
#[derive(Clone, Debug)]
pub struct Rng(SplitMix64);

impl Rng {
    /// Returns the sequence of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

impl Choices for Rng {
    fn below(&mut self, n: u32) -> u32 {
        if n <= 1 {
            return 0;
        }
        // The upper half of a 32 by 32 bit product. Its bias is below 2^-32 * n, too small for any test.
        let upper = self.next_u64() >> 32;
        ((upper * u64::from(n)) >> 32) as u32
    }

    fn bits(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }
}

/// Choices read from as few bytes as possible; all 0 after the last byte.
///
/// A choice among up to 256 takes one byte, so that a fuzzer that changes a byte changes a choice.
#[derive(Clone, Debug)]
pub struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    /// Returns the choices of these bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns the number of remaining bytes.
    #[must_use]
    pub const fn left(&self) -> usize {
        self.rest.len()
    }
}

impl Choices for Bytes<'_> {
    fn below(&mut self, n: u32) -> u32 {
        let Some(last) = n.checked_sub(1).filter(|&last| last != 0) else { return 0 };
        let (mut number, mut covered) = (0, 0);
        while covered < last {
            let Some((&byte, rest)) = self.rest.split_first() else { break };
            self.rest = rest;
            number = number << 8 | u32::from(byte);
            covered = covered << 8 | 0xff;
        }
        number % n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_splitmix64() {
        // The first three numbers of the reference implementation for seed 1234567.
        let mut rng = Rng::new(1_234_567);
        let wanted =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([rng.next_u64(), rng.next_u64(), rng.next_u64()], wanted);
    }

    #[test]
    fn every_number_below_comes_up() {
        let mut rng = Rng::new(0);
        let mut seen = [0; 7];
        for _ in 0..7000 {
            seen[rng.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (800..1200).contains(&count)), "{seen:?}");
    }

    #[test]
    fn bytes_run_out_into_zeros() {
        let mut bytes = Bytes::new(&[200, 1, 2, 3]);
        assert_eq!(bytes.below(100), 0);
        assert_eq!((bytes.below(1), bytes.left()), (0, 3));
        assert_eq!(bytes.below(257), 258 % 257);
        assert_eq!((bytes.below(1 << 16), bytes.left()), (3, 0));
        assert!(
            !bytes.chance(1, 2) && bytes.between(-3, 5) == -3 && bytes.pick('a', &['b']) == 'a'
        );
    }

    #[test]
    fn weights_of_zero_are_never_taken() {
        let mut rng = Rng::new(1);
        let mut seen = [0; 4];
        for _ in 0..4000 {
            seen[rng.weighted(&[1, 0, 3, 0])] += 1;
        }
        assert!(seen[1] + seen[3] == 0 && (2700..3300).contains(&seen[2]), "{seen:?}");
    }
}
