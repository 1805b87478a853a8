//! Rendering of frame sequences, to separate files or an animation.

use std::io::BufWriter;
use std::num::NonZero;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use r500::exec::RuntimeWarnings;
use r500::exec::live_textures::{PreviousPicture, previous_targets};
use r500::files::OutputWriter;
use r500::picture::{ApngWriter, GifWriter, Picture};

use super::feedback;
use super::output::{FileFormat, Plane, Sink, cannot_encode};
use super::strips::{self, Streamed};
use super::{Drawn, Moment, Render, Target, planes};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::output_file::OutputFile;
use crate::command::{engine_args, input_args, terminal};

impl Render {
    /// Draws a range of frames.
    pub(super) fn sequence(&self, frames: Range<u32>) -> Outcome {
        let Some(path) = &self.output else {
            return Err(Failure::usage("--frames needs -o: out.gif, out.apng or frame-####.png"));
        };
        if self.compare.reference.is_some() {
            return Err(Failure::usage("--compare takes one picture; leave --frames away"));
        }
        let sink = Sink::new(path, true)?;
        let animation = sink.kind.is_animation();
        if animation && (self.target == Target::All || self.shard.is_some()) {
            return Err(Failure::usage(
                "an animation is one file of one target; write frames (frame-####.png) instead",
            ));
        }
        if input_args::is_stdin(path) {
            return Err(Failure::usage("frames go to files; -o - takes one picture"));
        }
        let Some(job) = self.job()? else { return input_args::LISTED };
        let feeds_back = previous_targets(&job).next().is_some();
        let begin = self.state.start_time(&job)?;
        let mut probe = job.clone();
        if !self.state.apply_time(&mut probe, begin)? && !feeds_back {
            return Err(Failure::usage(
                "all frames would be equal: no constant takes the time; say which does with \
                 --time-to (such as --time-to 3.r)",
            ));
        }
        let digits = frames.end.to_string().len().max(4);
        let sink = sink.compressed(self.compress.into());
        let names = frames.clone().map(|frame| sink.renamed(numbered(path, frame, digits)));
        let outputs = names.flat_map(|sink| sink.paths(self.target == Target::All));
        self.refuse_inputs(&outputs.chain([path.clone()]).collect::<Vec<_>>())?;
        let bar = terminal::progress(u64::from(frames.end - frames.start), "frames");
        let count = frames.end - frames.start;
        let mut moving = None;
        let Range { start: first, end } = frames;
        let mut previous = PreviousPicture::default();
        feedback::warn_absent(&job);
        // Each frame follows from the one before.
        let frames = if feeds_back { 0..end } else { frames };
        // Frames are drawn one after the other, on all threads; encoding takes a thread a frame.
        writing(|writer| {
            for frame in frames {
                let own = sink.renamed(numbered(path, frame, digits));
                let wanted = frame >= first
                    && self.shard.is_none_or(|shard| shard.takes(u64::from(frame)))
                    && !(self.shard.is_some() && self.target != Target::All && own.path().exists());
                if frame >= first {
                    bar.inc(1);
                }
                if !wanted && !feeds_back {
                    continue;
                }
                let time = f64::from(begin) + f64::from(frame) / f64::from(self.fps);
                let failed =
                    |error| Err(engine_args::not_run(error).context(format_args!("frame {frame}")));
                let moment = Moment { frame, time: time as f32 };
                let ready = self.ready(job.clone(), Some(moment), &previous)?;
                if !animation && !feeds_back && strips::pays(&ready) {
                    let Streamed { summary, written, stopped } = self.stream(&ready, &own)?;
                    stopped.map_or(Ok(()), failed)?;
                    self.report_frame(frame, &summary.warnings)?;
                    note_written(&written, self.verbose);
                    continue;
                }
                let mut drawn = self.draw(ready)?;
                drawn.stopped.take().map_or(Ok(()), failed)?;
                previous = PreviousPicture::of(&job, &drawn.frame);
                if !wanted {
                    continue;
                }
                self.report_frame(frame, &drawn.frame.warnings)?;
                if animation {
                    let planes = self.planes(&drawn.frame)?;
                    let Some(picture) = planes.first().map(Plane::picture) else { continue };
                    let file = match &mut moving {
                        Some(file) => file,
                        none => none.insert(Animation::new(&sink, &picture, count, self.fps)?),
                    };
                    file.frame(&picture)?;
                    if self.verbose {
                        terminal::note(&format!("drew frame {frame} of {first}..{end}"));
                    }
                } else {
                    let (target, verbose) = (self.target, self.verbose);
                    writer.put(FrameFile { sink: own, drawn, target, verbose })?;
                }
            }
            Ok(())
        })?;
        bar.finish_and_clear();
        moving.map_or(Ok(()), Animation::finish)?;
        Ok(Status::Fine)
    }

    /// Reports the run-time warnings of a frame, if that is wanted.
    fn report_frame(&self, frame: u32, warnings: &RuntimeWarnings) -> Outcome<()> {
        if self.findings && !warnings.is_empty() {
            terminal::note(&format!("frame {frame}:"));
            engine_args::print_findings(warnings)?;
        }
        Ok(())
    }
}

fn note_written(paths: &[PathBuf], verbose: bool) {
    for path in paths.iter().filter(|_| verbose) {
        terminal::note(&format!("wrote {}", path.display()));
    }
}

/// The file of an animation, written frame by frame. If it is not finished, there is no file: it is not a picture then.
pub(super) struct Animation {
    file: OutputFile,
    frames: AnimationWriter,
}

enum AnimationWriter {
    Gif(GifWriter<BufWriter<OutputWriter>>),
    Apng(ApngWriter<BufWriter<OutputWriter>>),
}

impl Animation {
    /// Begins a file of so many frames that are as large as this one.
    pub(super) fn new(sink: &Sink, picture: &Picture, frames: u32, fps: u16) -> Outcome<Self> {
        let file = OutputFile::create(sink.path())?;
        let (to, size) = (file.writer(), [picture.width, picture.height]);
        let frames = match sink.kind {
            FileFormat::Gif => AnimationWriter::Gif(GifWriter::new(to, fps)),
            _ => {
                let writer = ApngWriter::new(to, size, frames, fps);
                AnimationWriter::Apng(writer.map_err(|error| cannot_encode(file.path(), error))?)
            }
        };
        Ok(Self { file, frames })
    }

    pub(super) fn frame(&mut self, picture: &Picture) -> Outcome<()> {
        let written = match &mut self.frames {
            AnimationWriter::Gif(frames) => frames.frame(picture),
            AnimationWriter::Apng(frames) => frames.frame(picture),
        };
        written.map_err(|error| cannot_encode(self.file.path(), error))
    }

    pub(super) fn finish(self) -> Outcome<()> {
        let finished = match self.frames {
            AnimationWriter::Gif(frames) => frames.finish(),
            AnimationWriter::Apng(frames) => frames.finish(),
        };
        finished.map_err(|error| cannot_encode(self.file.path(), error))?;
        self.file.commit()
    }
}

/// A frame that is to be written.
struct FrameFile {
    sink: Sink,
    drawn: Drawn,
    target: Target,
    verbose: bool,
}

impl FrameFile {
    fn write(&self) -> Outcome<()> {
        let planes = planes(self.target, &self.drawn.frame)?;
        let written = self.sink.write(&planes, &self.drawn.job.program.state)?;
        note_written(&written, self.verbose);
        Ok(())
    }
}

/// Writes frames on other threads.
struct Writer<'a> {
    queue: SyncSender<FrameFile>,
    failure: &'a Mutex<Option<Failure>>,
}

impl Writer<'_> {
    /// Hands a frame over, and waits while as many are waiting as there are threads.
    fn put(&self, frame: FrameFile) -> Outcome<()> {
        let failed = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        match failed {
            Some(failure) => Err(failure),
            // The threads end when the queue does, so that they are there.
            None => self.queue.send(frame).map_err(Failure::could_not),
        }
    }
}

/// Calls `draw` with a writer, and returns when all its frames are written.
fn writing(draw: impl FnOnce(&Writer<'_>) -> Outcome<()>) -> Outcome<()> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let (queue, frames) = sync_channel(threads);
    let (frames, failure) = (Mutex::new(frames), Mutex::new(None));
    let drawn = std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| write_all(&frames, &failure));
        }
        let writer = Writer { queue, failure: &failure };
        // Dropping the writer ends the queue, and with it the threads.
        draw(&writer)
    });
    drawn?;
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Writes frames until there are no more; keeps the first failure.
fn write_all(frames: &Mutex<Receiver<FrameFile>>, failure: &Mutex<Option<Failure>>) {
    loop {
        let next = frames.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(frame) = next else { return };
        if let Err(error) = frame.write() {
            failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}

/// Returns the name of a frame's file: a run of `#` becomes the number, as long as the run at
/// least; without one, the number stands before the extension.
pub(super) fn numbered(path: &Path, frame: u32, digits: usize) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let numbered = match name.find('#') {
        Some(start) => {
            let run = name[start..].chars().take_while(|&c| c == '#').count();
            format!("{}{frame:0run$}{}", &name[..start], &name[start + run..])
        }
        None => {
            let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
            format!("{stem}-{frame:0digits$}.{extension}")
        }
    };
    path.with_file_name(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_names_of_their_own() {
        let name = |text: &str, frame| numbered(Path::new(text), frame, 4);
        assert_eq!(name("a/out.png", 7), Path::new("a/out-0007.png"));
        assert_eq!(name("a/f##_x.png", 7), Path::new("a/f07_x.png"));
        assert_eq!(name("f##.png", 1234), Path::new("f1234.png"));
    }
}
