//! The interface of engines, and how a shader becomes a frame: bands of rows over threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::frame::{Band, Counters, Frame, RunInfo};
use crate::{Bindings, Cancel, Options, RunError, RuntimeWarnings, Shader};

/// Runs shaders over pixels. The [`reference`](crate::reference) engine is the law; every other one
/// gives the same frame bit for bit.
pub trait Engine: Sync {
    /// Name, as `--engine` spells it.
    fn name(&self) -> &'static str;

    /// Makes ready for a drawing. What was prepared can draw any number of frames.
    fn prepare<'a>(&self, draw: Draw<'a>) -> Box<dyn PreparedDraw + 'a>;
}

/// A drawing that an engine is ready for.
pub trait PreparedDraw: Sync {
    /// Height of the bands that a frame is cut into: even, and a multiple of the group's height
    /// where the group matters.
    fn band_rows(&self) -> u32;

    /// Draws one band. Every pixel of it is overwritten.
    ///
    /// # Errors
    /// [`RunError`] if a limit strikes.
    fn draw_band(&self, band: &mut Band<'_>) -> Result<BandStats, RunError>;

    /// Who draws, and why if it is not the engine that was asked.
    fn run_info(&self) -> RunInfo;
}

/// A drawing that another engine makes ready for the one that was asked, and why.
pub struct Fallback<'a> {
    /// What draws.
    pub prepared: Box<dyn PreparedDraw + 'a>,
    /// Why; if the other engine hands on, too, its reason is told.
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

/// One drawing: everything an engine looks at.
#[derive(Clone, Copy)]
pub struct Draw<'a> {
    /// The program.
    pub shader: &'a Shader,
    /// What it reads.
    pub bindings: &'a Bindings,
    /// How to run it.
    pub options: &'a Options<'a>,
    /// When to give up.
    pub deadline: Option<Instant>,
}

/// What a band leaves beside its pixels.
#[derive(Debug, Default)]
pub struct BandStats {
    /// RuntimeWarnings, if asked for.
    pub warnings: RuntimeWarnings,
    /// Counters.
    pub counters: Counters,
}

impl<'a> Draw<'a> {
    /// A drawing that begins now: its time runs from here.
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

    /// Whether it is time to give up.
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
/// [`RunError`] if the picture is empty or too large, or a limit strikes.
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

/// Draws what is prepared into a frame that [`Frame::new`] made for the same shader, bindings and
/// options; what it held is gone. For pictures one after another.
///
/// # Errors
/// [`RunError`] if a limit strikes; the frame then holds some of both pictures.
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
                    // The lowest band's error is told, and no new band begun.
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

/// Threads to use: all cores for 0.
pub(crate) fn thread_count(wanted: usize) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    }
}

/// The lock, whatever another thread did while it held it.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn take<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
