//! Deadlines of long work.

use std::time::Instant;

/// The time limit has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the time limit has passed")]
pub struct OutOfTime;

impl OutOfTime {
    /// Fails after the deadline. Called before work of some microseconds.
    pub fn check(deadline: Option<Instant>) -> Result<(), Self> {
        match deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Self),
            _ => Ok(()),
        }
    }
}
