//! The machine's thread, and fences.

mod ring;

/// The synchronization of [`ring`]. `tools/loom` replaces it.
mod sync {
    pub(super) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
}

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

use r500_stream::Submission;

use crate::lock::locked;
use crate::profile::Profile;
use crate::{Errno, Machine, log};

pub(crate) use ring::Fence;
use ring::Ring;

/// Submissions in flight. They keep their buffers, so a program that never waits would take memory without bound.
const MOST_QUEUED: u64 = 256;

/// A queue of submissions to a machine on its own thread. Without a machine, submissions complete immediately.
#[derive(Debug)]
pub(crate) struct Worker {
    draws: bool,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    ring: Ring<Submission>,
    machine: Mutex<Option<Box<dyn Machine>>>,
    profile: Option<Arc<Profile>>,
}

impl Worker {
    /// Starts the thread, if there is a machine.
    pub(crate) fn new(
        machine: Option<Box<dyn Machine>>,
        profile: Option<Arc<Profile>>,
    ) -> Result<Self, Errno> {
        let draws = machine.is_some();
        let (ring, machine) = (Ring::new(MOST_QUEUED), Mutex::new(machine));
        let shared = Arc::new(Shared { ring, machine, profile });
        if draws {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("r500 card".to_owned()).spawn(move || {
                while let Some(submission) = shared.ring.next() {
                    shared.execute(&submission);
                }
            })?;
        }
        Ok(Self { draws, shared })
    }

    /// Queues a submission. Waits while [`MOST_QUEUED`] are in flight.
    pub(crate) fn submit(&self, submission: Submission) -> Fence {
        if self.draws { self.shared.ring.submit(submission) } else { self.shared.ring.pass() }
    }

    /// Returns whether a submission is complete.
    pub(crate) fn is_done(&self, fence: Fence) -> bool {
        self.shared.ring.completed() >= fence
    }

    /// Waits for a submission.
    pub(crate) fn wait(&self, fence: Fence) {
        self.shared.ring.wait(fence);
    }

    /// Waits for all submissions.
    pub(crate) fn wait_all(&self) -> Fence {
        let last = self.shared.ring.submitted();
        self.wait(last);
        last
    }

    /// Returns the number of aborted submissions.
    pub(crate) fn resets(&self) -> u64 {
        self.shared.ring.resets()
    }

    /// See [`Machine::report`].
    pub(crate) fn report(&self, stats: bool) -> Vec<String> {
        locked(&self.shared.machine).as_ref().map_or_else(Vec::new, |m| m.report(stats))
    }
}

impl Drop for Worker {
    /// The thread ends after the submissions in flight.
    fn drop(&mut self) {
        self.shared.ring.end();
    }
}

impl Shared {
    fn execute(&self, submission: &Submission) {
        let mut machine = locked(&self.machine);
        let begin = self.profile.as_ref().map(|_| Instant::now());
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            machine.as_mut().map_or(Ok(()), |machine| machine.submit(submission))
        }));
        if let (Some(profile), Some(begin), Some(machine)) =
            (&self.profile, begin, machine.as_mut())
        {
            let number = self.ring.completed() + 1;
            profile.submission(number, submission, begin, &machine.take_draw_times());
        }
        drop(machine);
        match &result {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => {
                let number = self.ring.completed() + 1;
                log::print(&format!("submission {number} was given up: {fault}"));
            }
            Err(_) => log::print_once(
                "a fault of the virtual card (its message is above): a submission was given up",
            ),
        }
        self.ring.complete(!matches!(result, Ok(Ok(()))));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Fault;

    #[derive(Debug, Default)]
    struct Counting(Vec<usize>);

    impl Machine for Counting {
        fn submit(&mut self, submission: &Submission) -> Result<(), Fault> {
            self.0.push(submission.words.len());
            match submission.words.len() {
                3 => Err(Fault("three".to_owned())),
                4 => unreachable!("four"),
                _ => Ok(()),
            }
        }

        fn report(&self, _: bool) -> Vec<String> {
            self.0.iter().map(usize::to_string).collect()
        }
    }

    fn of(dwords: usize) -> Submission {
        Submission { words: vec![0; dwords], ..Submission::default() }
    }

    #[test]
    fn submissions_run_in_order_and_faults_are_counted() {
        let worker = Worker::new(Some(Box::new(Counting::default())), None).unwrap();
        let fences: Vec<Fence> = [1, 3, 4, 5].map(|n| worker.submit(of(n))).to_vec();
        assert_eq!(fences, [1, 2, 3, 4]);
        assert_eq!(worker.wait_all(), 4);
        assert!(worker.is_done(4));
        assert!(!worker.is_done(5));
        assert_eq!(worker.resets(), 2);
        assert_eq!(worker.report(false), ["1", "3", "4", "5"]);
    }

    /// A machine that is slower than the program.
    #[derive(Debug)]
    struct Slow;

    impl Machine for Slow {
        fn submit(&mut self, _: &Submission) -> Result<(), Fault> {
            thread::sleep(std::time::Duration::from_micros(100));
            Ok(())
        }

        fn report(&self, _: bool) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn submissions_in_flight_are_bounded() {
        let worker = Worker::new(Some(Box::new(Slow)), None).unwrap();
        for n in 1..=3 * MOST_QUEUED {
            assert_eq!(worker.submit(of(1)), n);
            let done = worker.shared.ring.completed();
            assert!(n - done <= MOST_QUEUED, "{n} submitted, {done} done");
        }
        worker.wait_all();
    }

    #[test]
    fn without_a_machine_submissions_are_done_at_once() {
        let worker = Worker::new(None, None).unwrap();
        assert!(worker.is_done(0));
        let fence = worker.submit(of(1));
        assert!(worker.is_done(fence));
        worker.wait(fence);
        assert_eq!(worker.report(true), Vec::<String>::new());
    }
}
