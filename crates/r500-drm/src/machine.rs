//! What executes submissions.

use std::fmt;

use r500_stream::Submission;

/// Executes submissions, in order, on one thread.
pub trait Machine: fmt::Debug + Send {
    /// Executes one, to its end.
    fn submit(&mut self, submission: &Submission) -> Result<(), Fault>;

    /// Lines for the person who runs the program, at its end: what was not implemented, and with
    /// `stats` counts.
    fn report(&self, stats: bool) -> Vec<String>;
}

/// A submission that was given up: the kernel would reset the card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);
