//! What the commands that execute captures share: numbers of draws and submissions, time limits, readings.

use std::time::{Duration, Instant};

use r500_card::Card;

use super::exit::Failure;

/// Returns the failure to find a draw or a submission by its number.
pub(super) fn out_of_range(what: &str, number: u64, count: u64) -> Failure {
    Failure::input(match count {
        0 => anyhow::anyhow!("there is no {what} {number}; there are none"),
        1 => anyhow::anyhow!("there is no {what} {number}; there is one, {what} 0"),
        _ => anyhow::anyhow!("there is no {what} {number}; there are {count}, 0 to {}", count - 1),
    })
}

/// Returns when a time limit that begins now ends; 0 is none.
pub(super) fn deadline(limit: Duration) -> Option<Instant> {
    if limit.is_zero() { None } else { Instant::now().checked_add(limit) }
}

/// Sets readings that are given as NAME=VALUE.
pub(super) fn set_readings(card: &mut Card, readings: &[String]) -> anyhow::Result<()> {
    for reading in readings {
        let (name, value) = reading
            .split_once('=')
            .ok_or_else(|| anyhow::anyhow!("`{reading}`: write NAME=VALUE"))?;
        card.set_reading(name, value)?;
    }
    Ok(())
}
