//! Execution counters for tier-up: the work of all draws of a function.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The work of all draws of a function, for any constants.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Operations times pixels.
    work: AtomicU64,
    /// The last compilation. This reference keeps it running even if all its draws are dropped.
    task: Mutex<Option<Arc<dyn Any + Send + Sync>>>,
}

impl Progress {
    /// Returns the work so far.
    pub(crate) fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    /// Adds work. Returns whether the sum crosses a threshold.
    pub(crate) fn add(&self, more: u64, threshold: u64) -> bool {
        let before = self.work.fetch_add(more, Ordering::Relaxed);
        before < threshold && before.saturating_add(more) >= threshold
    }

    /// Keeps a task alive until the next one.
    pub(crate) fn keep(&self, task: Arc<dyn Any + Send + Sync>) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }
}
