//! The vertical blank of the screen: counter and waits.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::Errno;
use crate::lock::locked;

/// Vertical blanks a second.
pub(crate) const RATE: u32 = 60;

/// Limit of a wait, after which the kernel times out.
const LONGEST: u64 = 3 * RATE as u64;

/// Counts vertical blanks: by the clock if the screen is displayed; otherwise each wait advances the counter, so that
/// programs run at full speed with reproducible counts.
#[derive(Debug)]
pub(crate) struct Vblank {
    /// Time of the first one, if the screen is displayed.
    begin: Option<Instant>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The counter without a clock.
    count: u64,
    /// The counter value of the last flip.
    flip: u64,
}

impl Vblank {
    pub(crate) fn new(paced: bool) -> Self {
        Self { begin: paced.then(Instant::now), state: Mutex::default() }
    }

    /// Returns the number of the last vertical blank.
    pub(crate) fn count(&self) -> u64 {
        match self.begin {
            Some(begin) => (begin.elapsed().as_nanos() * u128::from(RATE) / 1_000_000_000) as u64,
            None => locked(&self.state).count,
        }
    }

    /// Waits until the counter reaches a number.
    pub(crate) fn wait(&self, number: u64) -> Result<(), Errno> {
        let Some(begin) = self.begin else {
            let mut state = locked(&self.state);
            state.count = state.count.max(number);
            return Ok(());
        };
        while let missing @ 1.. = number.saturating_sub(self.count()) {
            if missing > LONGEST {
                std::thread::sleep(Duration::from_secs(LONGEST / u64::from(RATE)));
                return Err(Errno::BUSY);
            }
            let due = Duration::from_nanos((number * 1_000_000_000).div_ceil(RATE.into()));
            std::thread::sleep(due.saturating_sub(begin.elapsed()));
        }
        Ok(())
    }

    /// Waits for the vertical blank of the next flip: one a frame.
    pub(crate) fn wait_for_flip(&self) -> Result<u64, Errno> {
        let next = match self.begin {
            Some(_) => locked(&self.state).flip + 1,
            None => self.count() + 1,
        };
        self.wait(next)?;
        let count = self.count();
        locked(&self.state).flip = count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn without_a_clock_each_wait_is_one_vertical_blank() {
        let vblank = Vblank::new(false);
        assert_eq!(vblank.wait_for_flip(), Ok(1));
        assert_eq!(vblank.wait(1 << 40), Ok(()));
        assert_eq!(vblank.wait(5), Ok(()));
        assert_eq!(vblank.wait_for_flip(), Ok((1 << 40) + 1));
    }

    #[test]
    fn with_a_clock_flips_are_no_more_than_its_rate() {
        let vblank = Vblank::new(true);
        let begin = Instant::now();
        let counts = [(); 4].map(|()| vblank.wait_for_flip().unwrap());
        assert!(counts.windows(2).all(|pair| pair[0] < pair[1]), "{counts:?}");
        // Three periods lie between four vertical blanks.
        assert!(begin.elapsed() >= Duration::from_millis(3 * 1000 / u64::from(RATE)));
    }
}
