//! Options and limits of a run, and its cancellation.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{PixelRect, Readings};

/// The options of a run.
#[derive(Clone)]
pub struct Options<'a> {
    /// Named choices where the documents leave a rule open.
    pub readings: Readings,
    /// Initialise undefined state with a conspicuous pattern instead of 0.
    pub poison: bool,
    /// Collect run-time warnings.
    pub warnings: bool,
    /// Width and height of the group of pixels that share a program counter; even. Observable only with
    /// `WRITE_INACTIVE`, and with `IGNORE_UNCOVERED` together with quad differences.
    pub group: [u32; 2],
    /// Number of threads; 0 uses all cores.
    pub threads: usize,
    /// The part of the picture to draw; the whole picture by default.
    pub area: Option<PixelRect>,
    /// Limits, for untrusted programs.
    pub limits: Limits,
    /// Cancels the drawing from another thread.
    pub cancel: Option<&'a Cancel>,
    /// Called with the rows done and the total rows, from any thread.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

/// Default width and height of the group.
pub const GROUP: [u32; 2] = [4, 4];

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            readings: Readings::default(),
            poison: false,
            warnings: false,
            group: GROUP,
            threads: 0,
            area: None,
            limits: Limits::default(),
            cancel: None,
            progress: None,
        }
    }
}

/// Limits of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions that a group of pixels may execute.
    pub instructions: u64,
    /// Bytes that a frame may take, and each further allocation whose size depends on the request: a group, the
    /// coordinates of columns and rows, a recording.
    pub memory: u64,
    /// Time that a drawing may take.
    pub time: Option<Duration>,
}

impl Default for Limits {
    /// 4 million instructions a group, 4 GiB a frame, no time limit.
    fn default() -> Self {
        Self { instructions: 4_000_000, memory: 4 << 30, time: None }
    }
}

/// A cancellation flag: stops a drawing from another thread.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// Asks the drawing to stop; it ends with [`RunError::Cancelled`](crate::RunError::Cancelled).
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether [`cancel`](Self::cancel) was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
