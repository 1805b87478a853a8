//! The ring: submissions in flight, in order, and their fences.

use std::collections::VecDeque;

use super::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A fence: the number of a submission, from 1.
pub(crate) type Fence = u64;

/// Submissions in flight: those that wait, and the one that is executed.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    /// How many submissions are in flight at most.
    most: u64,
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    submitted: Fence,
    completed: Fence,
    /// Number of aborted submissions.
    resets: u64,
    /// No more submissions arrive.
    ended: bool,
}

impl<T> Ring<T> {
    /// Returns an empty ring.
    pub(crate) fn new(most: u64) -> Self {
        let state =
            State { waiting: VecDeque::new(), submitted: 0, completed: 0, resets: 0, ended: false };
        Self { most, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Queues a submission. Waits while there is no room, as the kernel waits for space in its ring.
    pub(crate) fn submit(&self, submission: T) -> Fence {
        let mut state = self.wait_while(|state| state.submitted - state.completed >= self.most);
        state.waiting.push_back(submission);
        state.submitted += 1;
        self.changed.notify_all();
        state.submitted
    }

    /// Numbers a submission that is not executed.
    pub(crate) fn pass(&self) -> Fence {
        let mut state = self.locked();
        state.submitted += 1;
        state.completed = state.submitted;
        state.submitted
    }

    /// Takes the next submission, and waits for it; `None` at the end. [`complete`](Self::complete) follows before the next call.
    pub(crate) fn next(&self) -> Option<T> {
        self.wait_while(|state| state.waiting.is_empty() && !state.ended).waiting.pop_front()
    }

    /// Completes the submission that was taken.
    pub(crate) fn complete(&self, aborted: bool) {
        let mut state = self.locked();
        state.completed += 1;
        state.resets += u64::from(aborted);
        self.changed.notify_all();
    }

    /// Ends the ring: what waits is still executed.
    pub(crate) fn end(&self) {
        self.locked().ended = true;
        self.changed.notify_all();
    }

    /// Returns the last submission.
    pub(crate) fn submitted(&self) -> Fence {
        self.locked().submitted
    }

    /// Returns the last complete submission.
    pub(crate) fn completed(&self) -> Fence {
        self.locked().completed
    }

    /// Returns the number of aborted submissions.
    pub(crate) fn resets(&self) -> u64 {
        self.locked().resets
    }

    /// Waits for a submission.
    pub(crate) fn wait(&self, fence: Fence) {
        drop(self.wait_while(|state| state.completed < fence));
    }

    fn wait_while(&self, condition: impl Fn(&State<T>) -> bool) -> MutexGuard<'_, State<T>> {
        let mut state = self.locked();
        while condition(&state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Locks the state, ignoring poison: it is consistent between any two statements.
    fn locked(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
