//! The interface of engines, and how a shader becomes a frame: bands of rows over threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::frame::{Band, Counters, Frame, RunInfo};
use crate::{Bindings, Cancel, Options, RunError, RuntimeWarnings, Shader};

/// An engine: runs shaders over pixels.
///
/// The [`reference`](crate::reference) engine defines the semantics; every other engine gives the same
/// frame bit for bit.
pub trait Engine: Sync {
    /// Name, as `--engine` spells it.
    fn name(&self) -> &'static str;

    /// Prepares a drawing, which can then draw any number of frames.
    fn prepare<'a>(&self, draw: Draw<'a>) -> Box<dyn PreparedDraw + 'a>;
}

/// A drawing that an engine is ready for.
pub trait PreparedDraw: Sync {
    /// Returns the height of the bands that a frame is cut into: even, and a multiple of the group's height
    /// where the group size is visible.
    fn band_rows(&self) -> u32;

    /// Draws one band. Every pixel of it is overwritten.
    ///
    /// # Errors
    /// [`RunError`] if a limit is exceeded.
    fn draw_band(&self, band: &mut Band<'_>) -> Result<BandStats, RunError>;

    /// Returns which engine draws, and why if it is not the requested one.
    fn run_info(&self) -> RunInfo;
}

/// A drawing prepared by another engine than the requested one.
pub struct Fallback<'a> {
    /// The drawing.
    pub prepared: Box<dyn PreparedDraw + 'a>,
    /// Why the requested engine does not draw; if the other engine falls back, too, its reason is reported.
    pub reason: String,
}

impl PreparedDraw for Fallback<'_> {
    fn band_rows(&self) -> u32 {
        self.prepared.band_rows()
    }

    fn draw_band(&self, band: &mut Band<'_>) -> Result<BandStats, RunError> {
        self.prepared.draw_band(band)
    }

    fn run_info(&self) -> RunInfo {
        let run_info = self.prepared.run_info();
        let fallback_reason = run_info.fallback_reason.or(Some(self.reason.clone()));
        RunInfo { fallback_reason, ..run_info }
    }
}

/// One drawing: everything an engine reads.
#[derive(Clone, Copy)]
pub struct Draw<'a> {
    /// The program.
    pub shader: &'a Shader,
    /// The data that the program reads.
    pub bindings: &'a Bindings,
    /// How to run it.
    pub options: &'a Options<'a>,
    /// When to stop with [`RunError::Time`].
    pub deadline: Option<Instant>,
}

/// Results of a band other than its pixels.
#[derive(Debug, Default)]
pub struct BandStats {
    /// Run-time warnings, if [`Options::warnings`] is set.
    pub warnings: RuntimeWarnings,
    /// Counters.
    pub counters: Counters,
}

impl<'a> Draw<'a> {
    /// Starts a drawing; its time limit counts from here.
    ///
    /// # Errors
    /// [`RunError::OddGroup`].
    pub fn new(
        shader: &'a Shader,
        bindings: &'a Bindings,
        options: &'a Options<'a>,
    ) -> Result<Self, RunError> {
        let [width, height] = options.group;
        if width == 0 || height == 0 || (width | height) & 1 != 0 {
            return Err(RunError::OddGroup { width, height });
        }
        let deadline = options.limits.time.and_then(|limit| Instant::now().checked_add(limit));
        Ok(Self { shader, bindings, options, deadline })
    }

    /// Checks the time limit and the cancellation.
    ///
    /// # Errors
    /// [`RunError::Time`] and [`RunError::Cancelled`].
    pub fn check(&self) -> Result<(), RunError> {
        if self.options.cancel.is_some_and(Cancel::is_cancelled) {
            return Err(RunError::Cancelled);
        }
        match (self.deadline, self.options.limits.time) {
            (Some(deadline), Some(limit)) if Instant::now() > deadline => {
                Err(RunError::Time { limit })
            }
            _ => Ok(()),
        }
    }
}

/// Draws a picture with an engine.
///
/// The frame does not depend on the engine or the number of threads.
///
/// # Errors
/// [`RunError`] if the picture is empty or too large, or a limit is exceeded.
pub fn draw(
    engine: &dyn Engine,
    shader: &Shader,
    bindings: &Bindings,
    options: &Options<'_>,
) -> Result<Frame, RunError> {
    let draw = Draw::new(shader, bindings, options)?;
    let mut frame = Frame::new(shader, bindings, options)?;
    draw_into(&*engine.prepare(draw), &draw, &mut frame)?;
    Ok(frame)
}

/// Draws a prepared drawing into a frame that [`Frame::new`] returned for the same shader, bindings and
/// options, and overwrites it. For sequences of pictures.
///
/// # Errors
/// [`RunError`] if a limit is exceeded; the frame then holds parts of both pictures.
pub fn draw_into(
    prepared: &dyn PreparedDraw,
    draw: &Draw<'_>,
    frame: &mut Frame,
) -> Result<(), RunError> {
    let options = draw.options;
    let rows_in_all = u64::from(frame.area().height);
    let bands = frame.bands(prepared.band_rows().max(2));
    let threads = thread_count(options.threads).clamp(1, bands.len().max(1));

    let report = Mutex::new(BandStats::default());
    let failure = Mutex::new(None::<(u32, RunError)>);
    let queue = Mutex::new(bands.into_iter());
    let done = AtomicU64::new(0);
    let work = || {
        let mut mine = BandStats::default();
        loop {
            let Some(mut band) = lock(&queue).next() else { break };
            match prepared.draw_band(&mut band) {
                Ok(report) => {
                    mine.warnings.merge(&report.warnings);
                    mine.counters.merge(&report.counters);
                }
                Err(error) => {
                    // Report the error of the lowest band; start no new band.
                    let mut failure = lock(&failure);
                    if failure.as_ref().is_none_or(|(row, _)| band.first_row() < *row) {
                        *failure = Some((band.first_row(), error));
                    }
                    lock(&queue).by_ref().for_each(drop);
                    break;
                }
            }
            let rows = u64::from(band.rows());
            let rows_done = done.fetch_add(rows, Ordering::Relaxed) + rows;
            if let Some(progress) = options.progress {
                progress(rows_done, rows_in_all);
            }
        }
        let mut report = lock(&report);
        report.warnings.merge(&mine.warnings);
        report.counters.merge(&mine.counters);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    drop(queue);
    if let Some((_, error)) = take(failure) {
        return Err(error);
    }
    let report = take(report);
    frame.warnings = report.warnings;
    frame.counters = report.counters;
    frame.run_info = prepared.run_info();
    Ok(())
}

/// Returns the number of threads to use: all cores for 0.
pub(crate) fn thread_count(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

/// Locks, also after a panic of another thread.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn take<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
