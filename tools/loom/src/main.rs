//! The queues between threads under [loom](https://docs.rs/loom), which executes a model once for each order in which its threads can
//! lock, wait and notify. It finds lost notifications, deadlocks and broken bounds that runs on real threads rarely meet.
//!
//! The modules are those of the crates, compiled with loom's synchronization in the place of the standard library's. This is
//! a program and not a test, because the modules' own tests need real threads.
#![forbid(unsafe_code)]

#[path = "../../../crates/r500-cli/src/command/wire/queue.rs"]
#[allow(dead_code)]
mod queue;
mod queue_orders;
#[path = "../../../crates/r500-drm/src/worker/ring.rs"]
#[allow(dead_code)]
mod ring;
mod ring_orders;

/// What the modules import as `super::sync`.
mod sync {
    pub(super) use loom::sync::{Condvar, Mutex, MutexGuard};
    pub(super) use std::sync::PoisonError;
}

fn main() {
    let models: [(&str, fn()); 6] = [
        ("items of the queue arrive in order", queue_orders::items_arrive_in_order),
        ("an item of the queue is cancelled or taken", queue_orders::an_item_is_cancelled_or_taken),
        ("the end of the queue ends a push", queue_orders::closing_ends_a_push),
        ("fences complete in order", ring_orders::fences_complete_in_order),
        ("two threads submit", ring_orders::two_threads_submit),
        ("the end of the ring waits for nothing", ring_orders::the_end_waits_for_nothing),
    ];
    for (name, model) in models {
        let start = std::time::Instant::now();
        model();
        println!("{name}: {:.1} s", start.elapsed().as_secs_f64());
    }
}
