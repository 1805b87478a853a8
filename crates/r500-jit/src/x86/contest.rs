//! Choice between two forms of a unit's code by measurement: one group of pixels at a time, or several interleaved.
//!
//! Both forms compute the same bits and count the same instructions (see [`counts_alike`](crate::fuel::counts_alike)), so
//! that any chunk may be drawn by either. In a round, a call's chunks are split in two; each form draws one half, and the times for a chunk are
//! compared. After [`ROUNDS`] of them the faster form draws everything. Code is shared through the cache, so that a contest
//! is decided once for a unit, by all threads and draws together.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Rounds that decide.
const ROUNDS: u32 = 16;
/// The first rounds, which do not count: code and the frame's memory come into the caches.
const WARM_UP: u32 = 2;
/// What a time counts at most, in times of the other one of its round: a thread that was suspended must not decide.
const LONGEST: u64 = 3;
/// Chunks of the smallest call that is a round.
const LEAST: usize = 4;

/// One of the two forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The one that is used without measuring.
    Usual = 0,
    /// One for more groups at a time, or for fewer.
    Rival = 1,
}

/// A contest between the forms of a unit's code.
#[derive(Debug, Default)]
pub(super) struct Contest {
    /// 0, or the winner plus 1.
    winner: AtomicU8,
    /// Rounds that have begun.
    begun: AtomicU32,
    tally: Mutex<Tally>,
}

impl Contest {
    /// Returns the winner; `None` as long as there is none.
    pub(super) fn winner(&self) -> Option<Form> {
        match self.winner.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Form::Usual),
            _ => Some(Form::Rival),
        }
    }

    /// Returns who draws the chunks of a call: each half with its form. `None` if there are too few for a round.
    pub(super) fn round(
        &self,
        (first, end): (usize, usize),
    ) -> Option<[(Form, (usize, usize)); 2]> {
        if end - first < LEAST {
            return None;
        }
        // Two groups of the widest vectors are two chunks.
        let middle = first + (end - first) / 4 * 2;
        let forms = match self.begun.fetch_add(1, Ordering::Relaxed) % 2 {
            0 => [Form::Usual, Form::Rival],
            _ => [Form::Rival, Form::Usual],
        };
        Some([(forms[0], (first, middle)), (forms[1], (middle, end))])
    }

    /// Adds the times of a round's halves, with the chunks that each drew.
    pub(super) fn add(&self, laps: [(Form, usize, Duration); 2]) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(winner) = tally.add(laps) {
            self.winner.store(winner as u8 + 1, Ordering::Relaxed);
        }
    }
}

/// What has been measured.
#[derive(Debug, Default)]
struct Tally {
    rounds: u32,
    /// By form: the sum of the times for a chunk, in picoseconds.
    sums: [u64; 2],
}

impl Tally {
    /// Adds a round. Returns the winner if that was the last one that counts.
    fn add(&mut self, laps: [(Form, usize, Duration); 2]) -> Option<Form> {
        self.rounds += 1;
        if self.rounds > WARM_UP {
            let times = laps.map(|(_, chunks, time)| time.as_nanos() as u64 * 1000 / chunks as u64);
            let most = times[0].min(times[1]).saturating_mul(LONGEST);
            for ((form, ..), time) in laps.into_iter().zip(times) {
                let sum = &mut self.sums[form as usize];
                *sum = sum.saturating_add(time.min(most));
            }
        }
        let [usual, rival] = self.sums;
        (self.rounds == WARM_UP + ROUNDS).then_some(if rival < usual {
            Form::Rival
        } else {
            Form::Usual
        })
    }
}

/// Returns what a call gives and how long it took. No other clock decides about code.
pub(super) fn timed<T>(call: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = call();
    (result, start.elapsed())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a contest whose times are given by form and round, in nanoseconds for a chunk; returns the winner and the
    /// number of rounds.
    fn run(times: impl Fn(Form, u32) -> u64) -> (Form, u32) {
        let contest = Contest::default();
        for round in 0.. {
            if let Some(winner) = contest.winner() {
                return (winner, round);
            }
            let halves = contest.round((8, 8 + 63)).expect("enough chunks");
            assert_eq!((halves[0].1.0, halves[1].1.1), (8, 71));
            contest.add(halves.map(|(form, (first, end))| {
                let nanos = times(form, round) * (end - first) as u64;
                (form, end - first, Duration::from_nanos(nanos))
            }));
        }
        unreachable!("contests end")
    }

    #[test]
    fn the_faster_form_wins_after_so_many_rounds() {
        let favour = |fast| run(move |form, _| if form == fast { 100 } else { 103 });
        assert_eq!(favour(Form::Usual), (Form::Usual, WARM_UP + ROUNDS));
        assert_eq!(favour(Form::Rival), (Form::Rival, WARM_UP + ROUNDS));
        // Of equal ones the usual one.
        assert_eq!(run(|_, _| 100).0, Form::Usual);
    }

    #[test]
    fn neither_the_first_rounds_nor_suspended_threads_decide() {
        let rival_is_faster = |form| if form == Form::Rival { 100 } else { 130 };
        let slow_start = |form, round| match form {
            Form::Rival if round < WARM_UP => 1_000_000,
            _ => rival_is_faster(form),
        };
        assert_eq!(run(slow_start).0, Form::Rival);
        let suspended = |form, round| match form {
            Form::Rival if round == WARM_UP + 3 => 1_000_000,
            _ => rival_is_faster(form),
        };
        assert_eq!(run(suspended).0, Form::Rival);
    }

    #[test]
    fn halves_begin_at_groups_of_two_chunks_and_the_forms_take_turns() {
        let contest = Contest::default();
        assert!(contest.round((5, 8)).is_none());
        let first = contest.round((4, 11)).expect("enough chunks");
        assert_eq!(first, [(Form::Usual, (4, 6)), (Form::Rival, (6, 11))]);
        let second = contest.round((4, 11)).expect("enough chunks");
        assert_eq!(second.map(|(form, _)| form), [Form::Rival, Form::Usual]);
    }
}
