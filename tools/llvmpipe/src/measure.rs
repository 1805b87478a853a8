//! Paired timing of two renderers, and its statistics.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Seconds per frame of both renderers, timed directly one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    /// The engine's.
    pub(crate) ours: f64,
    /// llvmpipe's.
    pub(crate) theirs: f64,
}

/// Least number of pairs, regardless of time.
const FEWEST: usize = 7;
/// Greatest number of pairs.
const MOST: usize = 10_000;
/// Shortest turn; faster frames are timed several at a time.
const TURN: Duration = Duration::from_millis(4);
/// Warm-up frames of each renderer.
const WARM_UP: u32 = 2;

/// Times frames alternately until the time is up. Other load on the machine and its clock change
/// slowly compared with a pair, so they affect both alike.
///
/// # Errors
/// The error of a frame.
pub(crate) fn alternate(
    mut ours: impl FnMut() -> Result<()>,
    mut theirs: impl FnMut() -> Result<()>,
    time: Duration,
) -> Result<Vec<Pair>> {
    let our_frames = frames_a_turn(&mut ours)?;
    let their_frames = frames_a_turn(&mut theirs)?;
    let start = Instant::now();
    let mut pairs = Vec::new();
    while pairs.len() < FEWEST || (start.elapsed() < time && pairs.len() < MOST) {
        let ours = turn(&mut ours, our_frames)?;
        let theirs = turn(&mut theirs, their_frames)?;
        pairs.push(Pair { ours, theirs });
    }
    Ok(pairs)
}

/// Warms up. Returns how many frames make a turn long enough.
fn frames_a_turn(frame: &mut impl FnMut() -> Result<()>) -> Result<u32> {
    let mut shortest = f64::INFINITY;
    for _ in 0..WARM_UP {
        shortest = shortest.min(turn(frame, 1)?);
    }
    Ok((TURN.as_secs_f64() / shortest).ceil().clamp(1.0, 10_000.0) as u32)
}

/// Returns seconds per frame.
fn turn(frame: &mut impl FnMut() -> Result<()>, frames: u32) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..frames {
        frame()?;
    }
    Ok(start.elapsed().as_secs_f64() / f64::from(frames))
}

/// The statistics of a program's pairs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Timing {
    /// The engine's speed divided by llvmpipe's: the median over pairs.
    pub(crate) ratio: f64,
    /// The ratio's first and third quartile.
    pub(crate) quartiles: [f64; 2],
    /// Number of pairs.
    pub(crate) pairs: usize,
    /// Median seconds of the engine's frames.
    pub(crate) ours: f64,
    /// Median seconds of llvmpipe's frames.
    pub(crate) theirs: f64,
}

impl Timing {
    /// Computes the statistics; `None` if there are no pairs.
    pub(crate) fn of(pairs: &[Pair]) -> Option<Self> {
        let ratios = sorted(pairs.iter().map(|pair| pair.theirs / pair.ours));
        Some(Self {
            ratio: quantile(&ratios, 0.5)?,
            quartiles: [quantile(&ratios, 0.25)?, quantile(&ratios, 0.75)?],
            pairs: pairs.len(),
            ours: median(pairs.iter().map(|pair| pair.ours))?,
            theirs: median(pairs.iter().map(|pair| pair.theirs))?,
        })
    }
}

/// Returns the middle value, the mean of the two if their number is even; `None` if there are none.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Returns the quantile of sorted values, linear between neighbours.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let below = sorted.get(place.floor() as usize)?;
    let above = sorted.get(place.ceil() as usize)?;
    Some(below + (above - below) * place.fract())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::cell::RefCell;

    use super::*;

    #[test]
    fn quantiles() {
        assert_eq!(median([].into_iter()), None);
        assert_eq!(median([3.0].into_iter()), Some(3.0));
        assert_eq!(median([9.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 9.0].into_iter()), Some(3.0));
        let values = [0.0, 10.0, 20.0, 30.0, 40.0];
        assert_eq!(quantile(&values, 0.25), Some(10.0));
        assert_eq!(quantile(&values, 0.75), Some(30.0));
        assert_eq!(quantile(&values[..4], 0.25), Some(7.5));
    }

    #[test]
    fn the_ratio_is_speed_over_speed_pair_by_pair() {
        // The machine is slower by a factor of ten in the last pair, which affects both and leaves
        // the ratio unchanged.
        let pairs = [(1.0, 2.0), (1.0, 2.2), (1.0, 1.8), (2.0, 4.0), (10.0, 20.0)];
        let pairs = pairs.map(|(ours, theirs)| Pair { ours, theirs });
        let timing = Timing::of(&pairs).unwrap();
        assert_eq!((timing.ratio, timing.pairs), (2.0, 5));
        assert_eq!(timing.quartiles, [2.0, 2.0]);
        assert_eq!((timing.ours, timing.theirs), (1.0, 2.2));
        assert_eq!(Timing::of(&[]), None);
    }

    #[test]
    fn frames_alternate() {
        let order = RefCell::new(String::new());
        let frame = |letter: char, time: u64| {
            let order = &order;
            move || {
                std::thread::sleep(Duration::from_millis(time));
                order.borrow_mut().push(letter);
                Ok(())
            }
        };
        let pairs = alternate(frame('a', 5), frame('b', 10), Duration::ZERO).unwrap();
        assert_eq!(pairs.len(), FEWEST);
        assert_eq!(*order.borrow(), "aabb".to_owned() + &"ab".repeat(FEWEST));
        assert!(pairs.iter().all(|pair| pair.ours >= 5e-3 && pair.theirs >= 10e-3));
    }

    #[test]
    fn short_frames_are_timed_several_at_once() {
        let count = RefCell::new(0);
        let short = || {
            *count.borrow_mut() += 1;
            Ok(())
        };
        let long = || {
            std::thread::sleep(Duration::from_millis(5));
            Ok(())
        };
        alternate(short, long, Duration::ZERO).unwrap();
        assert!(*count.borrow() > 2 * FEWEST, "{} frames", count.borrow());
    }
}
