//! Online auto-tuning: chooses between two forms of a unit's code by measurement, for example one group of pixels at a time or several
//! interleaved. With three forms, the winner of the first contest competes with the third.
//!
//! Both forms compute the same bits and count the same instructions (see [`fuel_is_uniform`](r500_lir::fuel_is_uniform)), so either may draw
//! any chunk. In a round, a call's chunks are split in two halves; each form draws one half, and the times per chunk are compared. After
//! [`ROUNDS`] rounds one form draws everything: the baseline, unless the other is faster by more than [`NOISE`]. Code is shared through
//! the cache, so a contest is decided once per unit, by all threads and draws together.
//!
//! The halves have different pixels, whose costs differ within a call and far more between calls, so neither sums nor minima of a form's
//! times say which form is faster. Instead, each round gives the ratio of its two times. The median ratio is taken separately over the
//! rounds in which one form draws the first half and over those in which the other one does: it is robust against threads that were
//! suspended. The product of the two medians does not depend on how the costs of the halves differ.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of measured rounds.
const ROUNDS: u32 = 24;
/// Number of unmeasured rounds before: they fill the caches with code and the frame's memory.
const WARM_UP: u32 = 2;
/// Gains up to this may be noise: the baseline form, which an estimate chose, stays.
const NOISE: f64 = 0.02;
/// Minimum number of chunks of a round.
const LEAST: usize = 8;

/// One of the two competing forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// The form that is used without measurement, or the winner of the previous contest.
    Baseline = 0,
    /// The form that is measured against it.
    Challenger = 1,
}

/// A contest between the forms of a unit's code.
#[derive(Debug, Default)]
pub(super) struct Contest {
    /// 0, or the winner plus 1.
    winner: AtomicU8,
    /// Rounds started.
    begun: AtomicU32,
    tally: Mutex<Tally>,
}

impl Contest {
    /// Returns the winner; `None` if the contest is undecided.
    pub(super) fn winner(&self) -> Option<Variant> {
        match self.winner.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Variant::Baseline),
            _ => Some(Variant::Challenger),
        }
    }

    /// Returns the form and the chunks of each half of a call; `None` if there are too few chunks for a round.
    pub(super) fn round(
        &self,
        (first, end): (usize, usize),
    ) -> Option<[(Variant, (usize, usize)); 2]> {
        if end - first < LEAST {
            return None;
        }
        // Four groups of the widest vectors are four chunks.
        let middle = first + (end - first) / 8 * 4;
        let forms = match self.begun.fetch_add(1, Ordering::Relaxed) % 2 {
            0 => [Variant::Baseline, Variant::Challenger],
            _ => [Variant::Challenger, Variant::Baseline],
        };
        Some([(forms[0], (first, middle)), (forms[1], (middle, end))])
    }

    /// Adds the times of a round's halves, with their numbers of chunks.
    pub(super) fn add(&self, laps: [(Variant, usize, Duration); 2]) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(winner) = tally.add(laps) {
            self.winner.store(winner as u8 + 1, Ordering::Relaxed);
        }
    }
}

/// The measurements.
#[derive(Debug, Default)]
struct Tally {
    rounds: u32,
    /// By the form that drew the first half: the baseline form's time per chunk divided by its challenger's.
    ratios: [Vec<f64>; 2],
}

impl Tally {
    /// Adds a round. Returns the winner after the last round.
    fn add(&mut self, laps: [(Variant, usize, Duration); 2]) -> Option<Variant> {
        self.rounds += 1;
        if self.rounds > WARM_UP {
            // The clock may be too coarse for a half.
            let [first, second] =
                laps.map(|(_, chunks, time)| time.as_nanos().max(1) as f64 / chunks as f64);
            let (form, ..) = laps[0];
            self.ratios[form as usize].push(match form {
                Variant::Baseline => first / second,
                Variant::Challenger => second / first,
            });
        }
        (self.rounds == WARM_UP + ROUNDS).then(|| self.winner())
    }

    fn winner(&mut self) -> Variant {
        let [a, b] = self.ratios.each_mut().map(|ratios| median(ratios));
        match a.zip(b) {
            Some((a, b)) if (a * b).sqrt() > 1.0 + NOISE => Variant::Challenger,
            _ => Variant::Baseline,
        }
    }
}

/// Returns the median; `None` if there are no numbers.
fn median(numbers: &mut [f64]) -> Option<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied()
}

/// Returns the result of a call and its duration. The contest uses no other clock.
pub(super) fn timed<T>(call: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = call();
    (result, start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a contest with times by form, round and half, in nanoseconds per chunk. Returns the winner and the number of rounds.
    fn run(times: impl Fn(Variant, u32, usize) -> u64) -> (Variant, u32) {
        let contest = Contest::default();
        for round in 0.. {
            if let Some(winner) = contest.winner() {
                return (winner, round);
            }
            let halves = contest.round((8, 8 + 63)).expect("enough chunks");
            assert_eq!((halves[0].1.0, halves[1].1.1), (8, 71));
            let mut half = 0;
            contest.add(halves.map(|(form, (first, end))| {
                let nanos = times(form, round, half) * (end - first) as u64;
                half += 1;
                (form, end - first, Duration::from_nanos(nanos))
            }));
        }
        unreachable!("contests end")
    }

    /// Runs a contest in which the challenger takes `hundredths` percent of the baseline form's time, which is given by round and half.
    fn challenger(hundredths: u64, baseline: impl Fn(u32, usize) -> u64) -> Variant {
        let (winner, _) = run(|form, round, half| match form {
            Variant::Baseline => baseline(round, half),
            Variant::Challenger => baseline(round, half) * hundredths / 100,
        });
        winner
    }

    #[test]
    fn a_clearly_faster_challenger_wins_after_so_many_rounds() {
        let times = |challenger| {
            run(move |form, _, _| match form {
                Variant::Baseline => 1000,
                Variant::Challenger => challenger,
            })
        };
        assert_eq!(times(950), (Variant::Challenger, WARM_UP + ROUNDS));
        assert_eq!(times(1050), (Variant::Baseline, WARM_UP + ROUNDS));
        // Within the noise the estimate decides.
        for challenger in [985, 1000, 1015] {
            assert_eq!(times(challenger).0, Variant::Baseline, "{challenger}");
        }
    }

    #[test]
    fn neither_the_first_rounds_nor_suspended_threads_decide() {
        assert_eq!(
            run(|form, round, _| match form {
                Variant::Challenger if round < WARM_UP => 1_000_000,
                Variant::Challenger => 100,
                Variant::Baseline => 105,
            }),
            (Variant::Challenger, WARM_UP + ROUNDS)
        );
        // One form is suspended in a third of its rounds.
        for unlucky in [Variant::Baseline, Variant::Challenger] {
            let winner = |baseline| {
                let (winner, _) = run(|form, round, _| {
                    let time = if form == Variant::Baseline { baseline } else { 1000 };
                    if form == unlucky && round % 3 == 0 { time * 100 } else { time }
                });
                winner
            };
            assert_eq!(winner(1060), Variant::Challenger, "{unlucky:?}");
            assert_eq!(winner(1000), Variant::Baseline, "{unlucky:?}");
            assert_eq!(winner(940), Variant::Baseline, "{unlucky:?}");
        }
    }

    #[test]
    fn costs_of_pixels_do_not_decide() {
        // Calls differ by a factor of up to a hundred, and the first half takes longer.
        let uneven = |round: u32, half: usize| {
            let call = 1000 * (1 + u64::from(round * 37 % 100));
            if half == 0 { call * 3 / 2 } else { call }
        };
        assert_eq!(challenger(94, uneven), Variant::Challenger);
        assert_eq!(challenger(100, uneven), Variant::Baseline);
        assert_eq!(challenger(106, uneven), Variant::Baseline);
    }

    #[test]
    fn noise_of_a_tenth_hides_no_gain_of_a_tenth() {
        for seed in 0..100_u64 {
            let noisy = |round: u32, half: usize| {
                let mut bits = seed * 1000 + u64::from(round) * 2 + half as u64;
                // SplitMix64's finaliser.
                bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                10_000 + (bits ^ bits >> 31) % 1000
            };
            assert_eq!(challenger(90, noisy), Variant::Challenger, "{seed}");
            assert_eq!(challenger(110, noisy), Variant::Baseline, "{seed}");
        }
    }

    #[test]
    fn halves_begin_at_groups_of_four_chunks_and_the_forms_take_turns() {
        let contest = Contest::default();
        assert!(contest.round((5, 12)).is_none());
        let first = contest.round((4, 15)).expect("enough chunks");
        assert_eq!(first, [(Variant::Baseline, (4, 8)), (Variant::Challenger, (8, 15))]);
        let second = contest.round((4, 15)).expect("enough chunks");
        assert_eq!(second.map(|(form, _)| form), [Variant::Challenger, Variant::Baseline]);
    }
}
