//! The interface for executing submissions.

use std::fmt;
use std::time::{Duration, Instant};

use r500_stream::Submission;

/// Executes submissions, in order, on one thread.
pub trait Machine: fmt::Debug + Send {
    /// Executes a submission to its end.
    fn submit(&mut self, submission: &Submission) -> Result<(), Fault>;

    /// Returns lines for the user at the end of the program: unimplemented features, and with `stats` counts.
    fn report(&self, stats: bool) -> Vec<String>;

    /// Returns the times of the draws since the last call, in order; empty if the machine does not measure them, as without
    /// [`Settings::measures`](crate::Settings::measures).
    fn take_draw_times(&mut self) -> Vec<DrawTime> {
        Vec::new()
    }
}

/// When a draw was executed, and where its time went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawTime {
    /// The draw. Draws count from 0 over all submissions.
    pub number: u64,
    /// The begin of its execution.
    pub begin: Instant,
    /// The end of its execution.
    pub end: Instant,
    /// Blocks of the machine, in pipeline order, and how long each ran.
    pub blocks: Vec<(&'static str, Duration)>,
    /// What was drawn, by name.
    pub counts: Vec<(&'static str, u64)>,
}

/// An aborted submission, after which the kernel would reset the card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);
