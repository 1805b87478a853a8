//! The ring of the virtual card.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering::SeqCst};
use loom::thread;

use crate::ring::Ring;

/// A card that executes what arrives, in order, and aborts submissions of 0. Returns what it executed.
fn card(ring: Arc<Ring<u64>>, executed: Arc<AtomicU64>) -> Vec<u64> {
    let mut all = Vec::new();
    while let Some(submission) = ring.next() {
        all.push(submission);
        executed.fetch_add(1, SeqCst);
        ring.complete(submission == 0);
    }
    all
}

/// A program that never waits has at most so many submissions in flight; what it waits for was executed.
pub(crate) fn fences_complete_in_order() {
    loom::model(|| {
        let (ring, executed) = (Arc::new(Ring::new(1)), Arc::new(AtomicU64::new(0)));
        let other = (ring.clone(), executed.clone());
        let card = thread::spawn(move || card(other.0, other.1));
        for n in 1..=2 {
            assert_eq!(ring.submit(n - 1), n);
            assert!(executed.load(SeqCst) + 1 >= n, "more than one in flight");
        }
        ring.wait(1);
        assert!(executed.load(SeqCst) >= 1);
        ring.wait(2);
        assert_eq!((ring.completed(), executed.load(SeqCst), ring.resets()), (2, 2, 1));
        ring.end();
        assert_eq!(card.join().unwrap(), [0, 1]);
    });
}

/// Two threads of a program: each fence is given once, and each submission is executed.
pub(crate) fn two_threads_submit() {
    // Three threads have too many orders; two changes of thread where none had to be find what few steps need.
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.check(|| {
        let (ring, executed) = (Arc::new(Ring::new(1)), Arc::new(AtomicU64::new(0)));
        let other = (ring.clone(), executed.clone());
        let card = thread::spawn(move || card(other.0, other.1));
        let second = ring.clone();
        let second = thread::spawn(move || {
            let fence = second.submit(2);
            second.wait(fence);
            fence
        });
        let fence = ring.submit(1);
        ring.wait(fence);
        let mut fences = [fence, second.join().unwrap()];
        fences.sort();
        assert_eq!(fences, [1, 2]);
        ring.end();
        let mut all = card.join().unwrap();
        all.sort();
        assert_eq!(all, [1, 2]);
    });
}

/// What waits at the end is executed, and the thread ends.
pub(crate) fn the_end_waits_for_nothing() {
    loom::model(|| {
        let (ring, executed) = (Arc::new(Ring::new(2)), Arc::new(AtomicU64::new(0)));
        let other = (ring.clone(), executed.clone());
        let card = thread::spawn(move || card(other.0, other.1));
        ring.submit(1);
        ring.end();
        assert_eq!(card.join().unwrap(), [1]);
        assert!(ring.completed() == 1 && executed.load(SeqCst) == 1);
    });
}
