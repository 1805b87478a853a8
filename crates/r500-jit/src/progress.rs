//! Execution counters for tier-up: how much work all drawings of a function have done.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What the drawings of a function, whatever its constants, have done together.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    /// Operations of pixels.
    work: AtomicU64,
    /// What was last compiled for them. It is compiled to the end even if each drawing is dropped before.
    task: Mutex<Option<Arc<dyn Any + Send + Sync>>>,
}

impl Progress {
    /// Returns the operations so far.
    pub(crate) fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed)
    }

    /// Adds operations. Returns whether the sum crosses a threshold.
    pub(crate) fn add(&self, more: u64, threshold: u64) -> bool {
        let before = self.work.fetch_add(more, Ordering::Relaxed);
        before < threshold && before.saturating_add(more) >= threshold
    }

    /// Keeps a task alive until the next one.
    pub(crate) fn keep(&self, task: Arc<dyn Any + Send + Sync>) {
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }
}
