//! What every engine has in common: options, limits, and the way from a shader to a frame.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::frame::Band;
use crate::{Bindings, Frame, Readings, RuntimeWarnings, Shader, frame::Counters};

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

/// Who drew a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// The engine.
    pub engine: &'static str,
    /// The vector instructions that it used, if it chose among some.
    pub simd: Option<&'static str>,
    /// Why it was not the engine that was asked.
    pub fallback_reason: Option<String>,
    /// Of an engine that compiles: operations of the program that were machine code, and all.
    pub compiled: Option<[usize; 2]>,
}

impl RunInfo {
    /// An engine, nothing else to say.
    #[must_use]
    pub fn of(engine: &'static str) -> Self {
        Self { engine, simd: None, fallback_reason: None, compiled: None }
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

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRect {
    /// Left column.
    pub x: u32,
    /// Lowest row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl PixelRect {
    /// How many pixels it has, if it lies in a picture and so many bytes each fit a limit.
    ///
    /// # Errors
    /// [`RunError::NoPixels`], [`RunError::AreaOutside`], [`RunError::TooLarge`].
    pub(crate) fn pixels_in(
        self,
        [width, height]: [u32; 2],
        bytes: u64,
        limit: u64,
    ) -> Result<usize, RunError> {
        if self.width == 0 || self.height == 0 {
            return Err(RunError::NoPixels { width: self.width, height: self.height });
        }
        let fits = |start: u32, length: u32, size: u32| {
            start.checked_add(length).is_some_and(|end| end <= size)
        };
        if !fits(self.x, self.width, width) || !fits(self.y, self.height, height) {
            return Err(RunError::AreaOutside { area: self, width, height });
        }
        let pixels = u64::from(self.width) * u64::from(self.height);
        let bytes = pixels.saturating_mul(bytes);
        usize::try_from(pixels).ok().filter(|_| bytes <= limit).ok_or(RunError::TooLarge {
            width: self.width,
            height: self.height,
            bytes,
            limit,
        })
    }

    /// Returns the index of a pixel in a plane stored row by row from the lowest; `None` if it lies outside.
    #[must_use]
    #[inline]
    pub fn index(self, x: u32, y: u32) -> Option<usize> {
        let (x, y) = (x.checked_sub(self.x)?, y.checked_sub(self.y)?);
        let inside = x < self.width && y < self.height;
        inside.then_some(y as usize * self.width as usize + x as usize)
    }
}

/// How to run.
#[derive(Clone)]
pub struct Options<'a> {
    /// Named choices where the documents leave a rule open.
    pub readings: Readings,
    /// Start undefined state with a pattern that stands out instead of 0.
    pub poison: bool,
    /// Collect warnings.
    pub warnings: bool,
    /// Width and height of the group of pixels that share a program counter; even. Visible only
    /// with `WRITE_INACTIVE` and with `IGNORE_UNCOVERED` beside quad differences.
    pub group: [u32; 2],
    /// Threads; 0 takes all cores.
    pub threads: usize,
    /// The part of the picture to draw, all of it if not given.
    pub area: Option<PixelRect>,
    /// Bounds, for programs from strangers.
    pub limits: Limits,
    /// Stops the drawing from outside.
    pub cancel: Option<&'a Cancel>,
    /// Called with the rows done and the rows in all, from any thread.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

/// Width and height of the group wherever its size could be seen.
pub const GROUP: [u32; 2] = [4, 4];

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            readings: Readings::default(),
            poison: false,
            warnings: false,
            group: GROUP,
            threads: 0,
            area: None,
            limits: Limits::default(),
            cancel: None,
            progress: None,
        }
    }
}

/// Bounds on a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions that a group of pixels may execute.
    pub instructions: u64,
    /// Bytes that a frame may take.
    pub memory: u64,
    /// Time that a drawing may take.
    pub time: Option<Duration>,
}

impl Default for Limits {
    /// 4 million instructions a group, 4 GiB a frame, no time limit.
    fn default() -> Self {
        Self { instructions: 4_000_000, memory: 4 << 30, time: None }
    }
}

/// Stops a drawing from another thread.
#[derive(Debug, Default)]
pub struct Cancel(AtomicBool);

impl Cancel {
    /// Asks the drawing to stop; it ends with [`RunError::Cancelled`].
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether that was asked.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Why a run ended without a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The picture has no pixels.
    #[error("a picture of {width}x{height} has no pixels")]
    NoPixels {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// The area to draw leaves the picture.
    #[error("the area {}x{} at {},{} is not inside the picture of {width}x{height}",
        area.width, area.height, area.x, area.y)]
    AreaOutside {
        /// The area.
        area: PixelRect,
        /// Width of the picture.
        width: u32,
        /// Height of the picture.
        height: u32,
    },
    /// The group of pixels cannot be made of quads.
    #[error("a group of {width}x{height} pixels is not made of whole quads: both must be even")]
    OddGroup {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
    },
    /// The frame would take too much memory.
    #[error("a frame of {width}x{height} takes {bytes} bytes, the limit is {limit}")]
    TooLarge {
        /// Its width.
        width: u32,
        /// Its height.
        height: u32,
        /// What it would take.
        bytes: u64,
        /// [`Limits::memory`].
        limit: u64,
    },
    /// The program ran for too long.
    #[error(
        "after {limit} instructions the group at pixel {},{} is still at address {address}: \
         the program seems endless (raise the instruction limit if it is not)", pixel[0], pixel[1]
    )]
    Instructions {
        /// Address of the next instruction.
        address: u32,
        /// Lower left pixel of the group.
        pixel: [u32; 2],
        /// [`Limits::instructions`].
        limit: u64,
    },
    /// The time is up.
    #[error("the drawing took longer than its limit of {limit:?}")]
    Time {
        /// [`Limits::time`].
        limit: Duration,
    },
    /// Somebody asked to stop.
    #[error("the drawing was cancelled")]
    Cancelled,
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
