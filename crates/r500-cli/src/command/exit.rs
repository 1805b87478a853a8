//! Exit statuses and failures.

use std::fmt::Display;
use std::process::ExitCode;

/// Exit status, the same for every subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Success; equal; passed.
    Fine = 0,
    /// The input has errors; different; failed.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// The command could not complete: an unreadable or unwritable file, a limit.
    CouldNot = 3,
}

/// A failure of the command.
#[derive(Debug)]
pub(crate) struct Failure {
    status: Status,
    error: anyhow::Error,
    /// Whether the message is complete: diagnostics with their own labels.
    complete: bool,
    /// The first of several errors, on one line.
    first: Option<String>,
}

/// The result of a subcommand.
pub(crate) type Outcome<T = Status> = Result<T, Failure>;

impl Failure {
    /// Returns a failure for an input with errors.
    pub(crate) fn input(error: impl Into<anyhow::Error>) -> Self {
        Self { status: Status::Failed, error: error.into(), complete: false, first: None }
    }

    /// Returns a failure for an input with errors, with the complete message.
    pub(crate) fn diagnosed(text: String) -> Self {
        Self { status: Status::Failed, error: anyhow::anyhow!(text), complete: true, first: None }
    }

    /// Returns a failure for wrong usage.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self {
            status: Status::Usage,
            error: anyhow::anyhow!("{message}"),
            complete: false,
            first: None,
        }
    }

    /// Returns a failure for a command that could not complete.
    pub(crate) fn could_not(error: impl Into<anyhow::Error>) -> Self {
        Self { status: Status::CouldNot, error: error.into(), complete: false, first: None }
    }

    /// Adds the first of several errors, on one line, for [`Self::summary`].
    pub(crate) fn with_first(self, first: String) -> Self {
        Self { first: Some(first), ..self }
    }

    /// Returns the first of several errors, else the message.
    pub(crate) fn summary(&self) -> String {
        self.first.clone().unwrap_or_else(|| self.message())
    }

    /// Converts to a failure to complete: whatever the cause, there is no verdict.
    pub(crate) fn without_verdict(mut self) -> Self {
        if self.status == Status::Failed {
            self.status = Status::CouldNot;
        }
        self
    }

    /// Adds context to the message.
    pub(crate) fn context(mut self, context: impl Display) -> Self {
        self.error = self.error.context(context.to_string());
        self
    }

    /// Returns whether the input is in error.
    pub(crate) fn blames_input(&self) -> bool {
        self.status == Status::Failed
    }

    /// Returns whether the reader of the output closed its pipe, which is not an error.
    fn is_broken_pipe(&self) -> bool {
        self.error.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        })
    }

    /// Prints the failure to stderr.
    pub(crate) fn report(&self) {
        if self.complete {
            super::terminal::plain(&self.message());
        } else {
            super::terminal::error(&self.message());
        }
    }

    /// Returns the message with all causes, outermost first.
    pub(crate) fn message(&self) -> String {
        // Errors that quote their cause would repeat it.
        let mut message = String::new();
        for cause in self.error.chain() {
            let text = cause.to_string();
            if !message.ends_with(&text) {
                if !message.is_empty() {
                    message.push_str(": ");
                }
                message.push_str(&text);
            }
        }
        message
    }
}

/// A failure to write to stdout or stderr.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::could_not(error).context("cannot write the output")
    }
}

/// Returns the failure for a window, or its contents.
#[cfg(feature = "window")]
pub(crate) fn no_window(error: impl Display) -> Failure {
    Failure::could_not(anyhow::anyhow!("cannot show a window: {error}"))
}

/// Returns the failure for a build without windows.
#[cfg(not(feature = "window"))]
pub(crate) fn no_windows() -> Failure {
    Failure::could_not(anyhow::anyhow!(
        "this r500 was built without windows; build it with the feature `window`, in a checkout: \
         cargo build --release --features r500-cli/window"
    ))
}

/// Prints the failure, if any, and returns the exit status.
pub(crate) fn finish(outcome: Outcome) -> ExitCode {
    let status = match outcome {
        Ok(status) => status,
        Err(failure) if failure.is_broken_pipe() => Status::Fine,
        Err(failure) => {
            failure.report();
            failure.status
        }
    };
    ExitCode::from(status as u8)
}
