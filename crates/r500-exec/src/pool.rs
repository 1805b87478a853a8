//! Thread pools by process: rayon's current pool, or a pool of its own for the child of a `fork`.
//!
//! Rayon's global pool belongs to the process that started it. In a child its threads do not exist, so a join from
//! another thread would wait for ever. A child gets a pool of its own at its first parallel draw, in which all its
//! draws share threads.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use rayon_core::{ThreadPool, ThreadPoolBuilder};

use crate::process::ProcessId;

/// The process in which rayon's global pool was first used; 0 before that.
static HOME: AtomicU32 = AtomicU32::new(0);

/// The pool of a child process.
static CHILD: Mutex<Option<(ProcessId, Arc<ThreadPool>)>> = Mutex::new(None);

/// Where a parallel draw can run.
pub(crate) enum Pool {
    /// In rayon's current pool.
    Current,
    /// In this pool.
    Own(Arc<ThreadPool>),
    /// On the calling thread alone.
    None,
}

/// Returns whether rayon's global pool belongs to this process, or can be started in it.
fn is_home() -> bool {
    let current = ProcessId::current().number();
    match HOME.compare_exchange(0, current, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => true,
        Err(home) => home == current,
    }
}

/// Returns the number of threads of the current pool.
pub(crate) fn threads() -> usize {
    // A call that starts the global pool makes this process its home. In a child the number is that of the parent's
    // pool, which is what the child's own pool has, too.
    is_home();
    rayon_core::current_num_threads()
}

/// Returns the pool for a parallel draw of this process.
pub(crate) fn of_process() -> Pool {
    // A thread of a pool executes the tasks that no other thread takes, so it never waits for threads that do not exist.
    if is_home() || rayon_core::current_thread_index().is_some() {
        return Pool::Current;
    }
    // A thread that does not exist in this process may hold the lock for ever.
    let mut child = match CHILD.try_lock() {
        Ok(child) => child,
        Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
        Err(TryLockError::WouldBlock) => return Pool::None,
    };
    if let Some((process, pool)) = &*child
        && process.is_current()
    {
        return Pool::Own(Arc::clone(pool));
    }
    let threads = rayon_core::current_num_threads();
    let Ok(pool) = ThreadPoolBuilder::new().num_threads(threads).build() else { return Pool::None };
    let pool = Arc::new(pool);
    // The pool of a parent is not dropped: that would wake threads that do not exist.
    std::mem::forget(child.replace((ProcessId::current(), Arc::clone(&pool))));
    Pool::Own(pool)
}
