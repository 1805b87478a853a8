//! Options and helpers of the commands that execute captures: numbers of draws and submissions, time limits, readings.

use std::time::{Duration, Instant};

use r500_card::{Card, Limits};

use super::exit::Failure;

/// Returns the failure for a draw or submission number that does not exist.
pub(super) fn out_of_range(what: &str, number: u64, count: u64) -> Failure {
    Failure::input(match count {
        0 => anyhow::anyhow!("there is no {what} {number}; there are none"),
        1 => anyhow::anyhow!("there is no {what} {number}; there is one, {what} 0"),
        _ => anyhow::anyhow!("there is no {what} {number}; there are {count}, 0 to {}", count - 1),
    })
}

/// Returns the end of a time limit that begins now; `None` for 0, no limit.
pub(super) fn deadline(limit: Duration) -> Option<Instant> {
    if limit.is_zero() { None } else { Instant::now().checked_add(limit) }
}

/// Limits the time of a card's submissions together, and nothing else of them.
pub(super) fn limit_time(card: &mut Card, end: Option<Instant>) {
    card.set_deadline(end);
    card.set_limits(Limits { time: None, ..Limits::default() });
}

/// Sets readings of the form NAME=VALUE.
pub(super) fn set_readings(card: &mut Card, readings: &[String]) -> anyhow::Result<()> {
    for reading in readings {
        let (name, value) = reading
            .split_once('=')
            .ok_or_else(|| anyhow::anyhow!("`{reading}`: write NAME=VALUE"))?;
        card.set_reading(name, value)?;
    }
    Ok(())
}
