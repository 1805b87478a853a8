//! Streaming of large pictures: strips are written while others are drawn.
//!
//! Three strips rotate: one is drawn, on all threads, while another is written and the third waits.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::time::Instant;

use r500::exec::{Drawing, Frame, PixelRect, RunError, StripOrder};
use r500::picture::{PngWriter, write_exr};
use r500::program::State;

use super::output::{FileFormat, Plane, Sink, cannot_encode, cannot_write, with_part};
use super::{Ready, Render, Summary, Target, planes};
use crate::command::exit::Outcome;
use crate::command::output_file::OutputFile;
use crate::command::{engine_args, input_args, terminal};

/// Approximate size of a strip in bytes.
const STRIP: u64 = 8 << 20;
/// Number of strips in memory.
const STRIPS: usize = 3;

/// A streamed picture.
pub(super) struct Streamed {
    pub(super) summary: Summary,
    pub(super) written: Vec<PathBuf>,
    /// The time limit, if it was reached; nothing is written then.
    pub(super) stopped: Option<RunError>,
}

/// Returns whether a picture is streamed: if it needs more strips than are in memory.
pub(super) fn pays(ready: &Ready) -> bool {
    let PixelRect { width, height, .. } = ready.area();
    u64::from(width) * u64::from(height) * bytes_per_pixel(ready) > STRIPS as u64 * STRIP
}

/// Returns the approximate size of a pixel in a strip, in bytes.
fn bytes_per_pixel(ready: &Ready) -> u64 {
    let targets = ready.shader.targets().into_iter().filter(|on| *on).count().max(1);
    16 * targets as u64 + 4
}

impl Render {
    /// Draws and writes a picture.
    pub(super) fn stream(&self, ready: &Ready, sink: &Sink) -> Outcome<Streamed> {
        let row = u64::from(ready.area().width) * bytes_per_pixel(ready);
        let rows = u32::try_from(STRIP / row.max(1)).unwrap_or(u32::MAX);
        let bar = terminal::progress(ready.area().height.into(), "rows");
        let rows_before = AtomicU64::new(0);
        let progress = |done: u64, _: u64| {
            bar.set_position(rows_before.load(Ordering::Relaxed) + done);
        };
        let mut options = self.options()?;
        options.progress = Some(&progress);
        let start = Instant::now();
        let shader = Arc::clone(&ready.shader);
        let mut drawing = Drawing::new(self.machine.engine(), shader, &ready.bindings, options)
            .map_err(engine_args::not_run)?;
        let mut strips = drawing
            .strips(&ready.bindings, rows, sink.kind.order())
            .map_err(engine_args::not_run)?;
        let area = strips.area();
        let (mut stopped, mut failed) = (None, None);
        let written = std::thread::scope(|scope| {
            let (drawn, to_write) = sync_channel::<Frame>(1);
            let (empty, to_draw) = channel::<Frame>();
            let (target, state) = (self.target, &ready.job.program.state);
            let writer = scope.spawn(move || {
                let next = |used: Option<Frame>| {
                    // The drawing thread may have ended, and needs no more buffers.
                    used.map(|used| empty.send(used).ok());
                    to_write.recv().ok()
                };
                sink.write_strips(target, state, area, next)
            });
            for number in 0.. {
                // Without an answer the writer failed; its error is returned below.
                let memory = match number < STRIPS {
                    true => None,
                    false => match to_draw.recv() {
                        Ok(frame) => Some(frame),
                        Err(_) => break,
                    },
                };
                let Some((frame, result)) = strips.draw_next(memory) else { break };
                rows_before.fetch_add(frame.height().into(), Ordering::Relaxed);
                match result {
                    Ok(()) => {}
                    Err(error @ RunError::Time { .. }) => stopped = Some(error),
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                }
                if drawn.send(frame).is_err() {
                    break;
                }
            }
            drop(drawn);
            writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        bar.finish_and_clear();
        if let Some(error) = failed {
            return Err(engine_args::not_run(error));
        }
        // The writer fails because of the rows that the time limit left out: the limit is the cause.
        let files = match written {
            _ if stopped.is_some() => Vec::new(),
            files => files?,
        };
        let mut written = Vec::new();
        for (path, file) in files {
            file.map_or(Ok(()), OutputFile::commit)?;
            written.push(path);
        }
        let stats = strips.stats();
        let summary = Summary {
            area,
            warnings: stats.warnings.clone(),
            counters: stats.counters,
            run_info: strips.run_info(),
            took: start.elapsed(),
        };
        Ok(Streamed { summary, written, stopped })
    }
}

impl FileFormat {
    /// Returns the order of rows in a file.
    fn order(self) -> StripOrder {
        match self {
            Self::Floats | Self::Raw => StripOrder::FromBottom,
            Self::Png | Self::Exr | Self::Gif | Self::Apng => StripOrder::FromTop,
        }
    }
}

impl Sink {
    /// Writes the strips that `next` returns, until there are no more; `next` gets back the previous strip. Returns the
    /// files, which are to be committed; none if rows are missing.
    fn write_strips(
        &self,
        target: Target,
        state: &State,
        area: PixelRect,
        mut next: impl FnMut(Option<Frame>) -> Option<Frame>,
    ) -> Outcome<Vec<Written>> {
        let Some(first) = next(None) else { return Ok(Vec::new()) };
        let mut rows = first.height();
        let mut next = |used| {
            let frame: Option<Frame> = next(used);
            rows += frame.as_ref().map_or(0, Frame::height);
            frame
        };
        let written = match self.kind {
            FileFormat::Exr => self.write_exr(target, area, first, &mut next)?,
            _ => self.write_planes(target, state, area, first, &mut next)?,
        };
        // An incomplete picture is not an output.
        Ok(if rows == area.height { written } else { Vec::new() })
    }

    /// Writes each plane to a separate file.
    fn write_planes(
        &self,
        target: Target,
        state: &State,
        area: PixelRect,
        first: Frame,
        next: &mut impl FnMut(Option<Frame>) -> Option<Frame>,
    ) -> Outcome<Vec<Written>> {
        let mut files = Vec::new();
        let mut strip = Some(first);
        while let Some(frame) = strip {
            let planes = planes(target, &frame)?;
            if files.is_empty() {
                // Before files are created, because this may fail.
                if self.kind == FileFormat::Raw {
                    planes.iter().try_for_each(|plane| plane.check_stored(state))?;
                }
                for plane in &planes {
                    let several = planes.len() > 1;
                    let path = match several {
                        true => with_part(self.path(), plane.name),
                        false => self.path().to_owned(),
                    };
                    files.push(self.plane_file(&path, area)?);
                }
            }
            for (file, plane) in files.iter_mut().zip(&planes) {
                file.put(plane, state)?;
            }
            strip = next(Some(frame));
        }
        files.into_iter().map(PlaneFile::finish).collect()
    }

    fn plane_file(&self, path: &Path, area: PixelRect) -> Outcome<PlaneFile> {
        let file = match input_args::is_stdin(path) {
            true => None,
            false => Some(OutputFile::create(path)?),
        };
        let to: Output = match &file {
            Some(file) => Box::new(file.writer()),
            None => Box::new(BufWriter::with_capacity(1 << 16, std::io::stdout())),
        };
        let rows = match self.kind {
            FileFormat::Floats => Rows::Floats(to),
            FileFormat::Raw => Rows::Raw(to),
            _ => {
                let size = [area.width, area.height];
                let writer = PngWriter::new(to, size, self.compression());
                Rows::Png(Box::new(writer.map_err(|error| cannot_encode(path, error))?))
            }
        };
        Ok(PlaneFile { path: path.to_owned(), file, rows })
    }

    /// Writes all planes as layers of one OpenEXR file.
    fn write_exr(
        &self,
        target: Target,
        area: PixelRect,
        first: Frame,
        next: &mut impl FnMut(Option<Frame>) -> Option<Frame>,
    ) -> Outcome<Vec<Written>> {
        let path = self.path();
        planes(target, &first)?;
        let file = OutputFile::create(path)?;
        let (mut first, mut used) = (Some(first), None);
        let mut failed = None;
        let strips = || {
            let frame = first.take().or_else(|| next(used.take()))?;
            let layers = match planes(target, &frame) {
                Ok(planes) => Some(super::output::layers(&planes)),
                Err(failure) => {
                    failed = Some(failure);
                    None
                }
            };
            used = Some(frame);
            layers
        };
        let result = write_exr(file.writer(), [area.width, area.height], strips);
        failed.map_or(Ok(()), Err)?;
        result.map_err(|error| cannot_encode(path, error))?;
        Ok(vec![(path.to_owned(), Some(file))])
    }
}

type Output = Box<dyn Write>;

/// A complete file that is not committed; none for stdout.
type Written = (PathBuf, Option<OutputFile>);

/// The file of a plane.
struct PlaneFile {
    path: PathBuf,
    file: Option<OutputFile>,
    rows: Rows,
}

enum Rows {
    Floats(Output),
    Raw(Output),
    Png(Box<PngWriter<Output>>),
}

impl PlaneFile {
    fn put(&mut self, plane: &Plane<'_>, state: &State) -> Outcome<()> {
        let bytes = match &mut self.rows {
            Rows::Floats(to) => to.write_all(&plane.floats()),
            Rows::Raw(to) => to.write_all(&plane.stored(state)?),
            Rows::Png(to) => {
                let rows = to.rows(&plane.picture().pixels);
                return rows.map_err(|error| cannot_encode(&self.path, error));
            }
        };
        bytes.map_err(|error| cannot_write(&self.path, error))
    }

    fn finish(self) -> Outcome<Written> {
        match self.rows {
            Rows::Floats(mut to) | Rows::Raw(mut to) => {
                to.flush().map_err(|error| cannot_write(&self.path, error))?;
            }
            Rows::Png(to) => to.finish().map_err(|error| cannot_encode(&self.path, error))?,
        }
        Ok((self.path, self.file))
    }
}
