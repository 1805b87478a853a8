//! The end of the command: exit status and error message.

use std::fmt::Display;
use std::process::ExitCode;

/// Exit status, the same for every subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done; equal; passed.
    Fine = 0,
    /// The input has errors; different; failed.
    Failed = 1,
    /// Wrong usage.
    Usage = 2,
    /// It could not be done: a file that cannot be read or written, a limit that struck.
    CouldNot = 3,
}

/// An end before the end.
#[derive(Debug)]
pub(crate) struct Failure {
    status: Status,
    error: anyhow::Error,
    /// The message is complete: diagnostics with their own labels.
    complete: bool,
}

/// The result of a subcommand.
pub(crate) type Outcome<T = Status> = Result<T, Failure>;

impl Failure {
    /// Returns the input has errors.
    pub(crate) fn input(error: impl Into<anyhow::Error>) -> Self {
        Self { status: Status::Failed, error: error.into(), complete: false }
    }

    /// Returns a failure for an input with errors, with the whole message.
    pub(crate) fn diagnosed(text: String) -> Self {
        Self { status: Status::Failed, error: anyhow::anyhow!(text), complete: true }
    }

    /// Returns the command was used wrongly.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self { status: Status::Usage, error: anyhow::anyhow!("{message}"), complete: false }
    }

    /// It could not be done.
    pub(crate) fn could_not(error: impl Into<anyhow::Error>) -> Self {
        Self { status: Status::CouldNot, error: error.into(), complete: false }
    }

    /// Returns the same, as something that could not be done: whatever the cause, there is no
    /// verdict.
    pub(crate) fn without_verdict(mut self) -> Self {
        if self.status == Status::Failed {
            self.status = Status::CouldNot;
        }
        self
    }

    /// Returns the same with what was being done.
    pub(crate) fn context(mut self, context: impl Display) -> Self {
        self.error = self.error.context(context.to_string());
        self
    }

    /// Returns whether the input is at fault.
    pub(crate) fn blames_input(&self) -> bool {
        self.status == Status::Failed
    }

    /// Returns whether a reader of our output went away, which is not a mistake of anybody.
    fn is_broken_pipe(&self) -> bool {
        self.error.chain().any(|cause| {
            cause
                .downcast_ref::<std::io::Error>()
                .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
        })
    }

    /// Says it on stderr.
    pub(crate) fn tell(&self) {
        if self.complete {
            super::terminal::plain(&self.message());
        } else {
            super::terminal::error(&self.message());
        }
    }

    /// Returns the whole story, outermost first.
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

/// Writing to stdout or stderr failed.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::could_not(error).context("cannot write the output")
    }
}

/// Returns the failure of opening a window, or of what it shows.
#[cfg(feature = "window")]
pub(crate) fn no_window(error: impl Display) -> Failure {
    Failure::could_not(anyhow::anyhow!("cannot show a window: {error}"))
}

/// Returns the failure of a build that has no windows.
#[cfg(not(feature = "window"))]
pub(crate) fn no_windows() -> Failure {
    Failure::could_not(anyhow::anyhow!(
        "this r500 was built without windows; build it with the feature `window`, in a checkout: \
         cargo build --release --features r500-cli/window"
    ))
}

/// Says what went wrong and gives the exit status.
pub(crate) fn finish(outcome: Outcome) -> ExitCode {
    let status = match outcome {
        Ok(status) => status,
        Err(failure) if failure.is_broken_pipe() => Status::Fine,
        Err(failure) => {
            failure.tell();
            failure.status
        }
    };
    ExitCode::from(status as u8)
}
