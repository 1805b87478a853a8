//! Fork-join over the bands of a frame, on rayon's current pool.
//!
//! Rayon instead of threads of this crate: a draw spawns no thread (waking a thread of the pool takes a few microseconds,
//! spawning one some ten), draws of many threads share one pool, and the host chooses the pool (`ThreadPool::install`) or
//! reuses its own. Joins live on the stack: only the pool's queue occasionally allocates a block. In the child of a `fork`
//! the pool is another one (`pool.rs`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::frame::BandStats;
#[cfg(not(target_family = "wasm"))]
use crate::pool::Pool;
use crate::{Options, PixelRect, RunError};

/// Returns how many tasks may run at a time; 0 means the number of threads of the current pool.
pub fn task_count(wanted: usize) -> usize {
    match wanted {
        #[cfg(not(target_family = "wasm"))]
        0 => crate::pool::threads(),
        #[cfg(target_family = "wasm")]
        0 => 1,
        n => n,
    }
}

/// Calls `work` `tasks` times, in parallel as far as the pool has idle threads; a single task runs on the calling thread.
pub fn fan_out(tasks: usize, work: &(dyn Fn() + Sync)) {
    match tasks {
        0 => {}
        1 => work(),
        // The tasks share a queue, so that one task does all the work.
        #[cfg(target_family = "wasm")]
        _ => work(),
        #[cfg(not(target_family = "wasm"))]
        _ => match crate::pool::of_process() {
            Pool::Current => join_all(tasks, work),
            Pool::Own(pool) => pool.install(|| join_all(tasks, work)),
            Pool::None => work(),
        },
    }
}

#[cfg(not(target_family = "wasm"))]
fn join_all(tasks: usize, work: &(dyn Fn() + Sync)) {
    if tasks <= 1 {
        work();
    } else {
        let half = tasks / 2;
        rayon_core::join(|| join_all(half, work), || join_all(tasks - half, work));
    }
}

/// Draws bands in parallel and merges their statistics. The tasks take one band after the other.
///
/// # Errors
/// The error of the lowest band that failed.
pub(crate) fn for_each_band<B, T>(
    bands: impl Iterator<Item = B> + Send,
    rect: impl Fn(&B) -> PixelRect + Sync,
    tasks: usize,
    rows_in_all: u64,
    options: &Options<'_>,
    state: impl Fn() -> T + Sync,
    paint: impl Fn(&mut T, B) -> Result<BandStats, RunError> + Sync,
) -> Result<BandStats, RunError> {
    let report = Mutex::new(BandStats::default());
    let failure = Mutex::new(None::<(u32, RunError)>);
    let queue = Mutex::new(bands.fuse());
    let done = AtomicU64::new(0);
    fan_out(tasks, &|| {
        let mut own = None::<BandStats>;
        let mut task = None;
        loop {
            let Some(band) = lock(&queue).next() else { break };
            let PixelRect { y: first_row, height: rows, .. } = rect(&band);
            match paint(task.get_or_insert_with(&state), band) {
                Ok(stats) => match &mut own {
                    Some(own) => own.merge(&stats),
                    None => own = Some(stats),
                },
                Err(error) => {
                    // Report the error of the lowest band; start no new band.
                    let mut failure = lock(&failure);
                    if failure.as_ref().is_none_or(|(row, _)| first_row < *row) {
                        *failure = Some((first_row, error));
                    }
                    lock(&queue).by_ref().for_each(drop);
                    break;
                }
            }
            let rows_done = done.fetch_add(rows.into(), Ordering::Relaxed) + u64::from(rows);
            if let Some(progress) = options.progress {
                progress(rows_done, rows_in_all);
            }
        }
        if let Some(own) = own {
            lock(&report).merge(&own);
        }
    });
    drop(queue);
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(report.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}

/// Locks a mutex, also after a panic of another thread.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
