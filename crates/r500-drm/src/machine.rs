//! The interface for executing submissions.

use std::fmt;

use r500_stream::Submission;

/// Executes submissions, in order, on one thread.
pub trait Machine: fmt::Debug + Send {
    /// Executes a submission to its end.
    fn submit(&mut self, submission: &Submission) -> Result<(), Fault>;

    /// Returns lines for the user at the end of the program: unimplemented features, and with `stats` counts.
    fn report(&self, stats: bool) -> Vec<String>;
}

/// An aborted submission, after which the kernel would reset the card.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Fault(pub String);
