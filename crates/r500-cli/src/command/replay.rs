//! `r500 replay`: execution of a capture.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use r500::exec::EngineName;
use r500::fast::Simd;
use r500::jit::{Effort, Settings, When, engine, vertex_engine};
use r500::picture::{Picture, encode_png};
use r500_card::{Card, CardError};
use r500_stream::capture::{
    CaptureError, CaptureErrorKind, Event, Limits, PlayError, Player, Reader,
};
use r500_stream::{BufferId, FrameError, OutOfTime, Submission, capture, counted, frame_rgb};

use super::capture_args::{deadline, limit_time, out_of_range, set_readings};
use super::exit::{Failure, Outcome, Status};
use super::file_kind::{self, FileKind};
use super::output_file::{create_folder, put};
use super::syntax::{self, seconds};
use super::{overwrite, terminal};

/// Execute a capture again.
///
/// The virtual card executes every submission of a capture on the buffers that it holds. After each the buffers are compared
/// with the hashes in the capture, if it was made with drawing: every engine must leave the same bits. Frames that went to the
/// screen are written as PNG files.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Replay {
    /// The capture
    #[arg(value_name = "CAPTURE")]
    file: PathBuf,
    /// Write the frames into this directory, as frame-00000.png and so on; with --draw also the name of a PNG file
    #[arg(short, long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
    /// What runs fragment programs; all give the same bits. jit compiles each program before its first draw
    #[arg(long, value_name = "ENGINE", default_value = Card::USUAL_ENGINE.name(), value_parser = syntax::engine())]
    engine: EngineName,
    /// Choose a rule that the documents leave open; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    reading: Vec<String>,
    /// Compare with the hashes of another capture of the same program instead of its own
    #[arg(long, value_name = "CAPTURE")]
    compare: Option<PathBuf>,
    /// Stop after this draw, as `r500 stream --list` counts them, and write what render target A then holds into the directory
    /// of --output, as draw-00017.png, or to the PNG file that it names
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        requires = "output",
        conflicts_with = "submissions"
    )]
    draw: Option<u64>,
    /// Stop after this many submissions
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    submissions: Option<u64>,
    /// Take every pixel through the rules of each block, without the faster paths for common states, which leave the same bits
    #[arg(long)]
    rules: bool,
    /// Print what was drawn, and how many draws ran on which engine, and why not on the selected one
    #[arg(long)]
    stats: bool,
    /// Seconds that the replay may take; 0 for no limit. Frames written until then stay
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    limit_time: Duration,
    /// Bytes that the buffers of the capture may take together
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().bytes)]
    limit_memory: u64,
}

const AFTER: &str = "\
Exit status: 0 executed, with the buffers that the capture says; 1 a buffer differs, a submission cannot be executed, or the
capture is damaged; 2 wrong usage; 3 a file cannot be read or written, or the time limit was reached.

Examples:
  r500 replay demo.r5cs -o frames
  r500 replay demo.r5cs --engine reference
  r500 replay demo.r5cs --engine jit --stats     how many draws ran on which engine
  r500 replay demo.r5cs --rules --stats          the same without the paths for common states
  r500 replay demo.r5cs -o now.png --draw 17     what the picture is after draw 17
  r500 replay demo.r5cs --compare other.r5cs     where two runs of a program part";

/// Hashes of buffers after a submission.
type Hashes = Vec<(BufferId, u64)>;

impl Replay {
    pub(super) fn run(&self) -> Outcome {
        if let Some(output) = &self.output {
            self.prepare(output)?;
        }
        let deadline = deadline(self.limit_time);
        let mut run = Run {
            card: self.card()?,
            player: Player::new(Limits { bytes: self.limit_memory }),
            other: self.compare.as_deref().map(OtherHashes::open).transpose()?,
            counts: Counts::default(),
            stats: self.stats,
            deadline,
        };
        limit_time(&mut run.card, deadline);
        let mut reader = open(&self.file)?;
        for record in reader.by_ref() {
            // Records without submissions take time, too.
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(self.out_of_time(&run));
            }
            let record = record.map_err(|error| damaged(&self.file, error))?;
            if let capture::Record::Info(info) = &record {
                self.set_readings(&mut run.card, &info.readings)?;
            }
            let event = run.player.apply(record).map_err(|error| not_played(&self.file, error))?;
            match event {
                Some(Event::Submission(submission)) => {
                    if self.submissions == Some(run.counts.submissions) {
                        break;
                    }
                    let arrived = match run.submit(&submission, self.draw) {
                        Err(CardError::Time) => return Err(self.out_of_time(&run)),
                        result => result.unwrap_or(false),
                    };
                    if let (true, Some(draw), Some(output)) = (arrived, self.draw, &self.output) {
                        let number = run.counts.submissions - 1;
                        self.write_target(output, draw, number, &run.card)?;
                        return Ok(run.status());
                    }
                }
                Some(Event::Hashes(hashes)) => match run.check(hashes)? {
                    Ok(()) => {}
                    Err(OutOfTime) => return Err(self.out_of_time(&run)),
                },
                Some(Event::Flip { buffer, picture, tiling }) => {
                    if let Some(directory) = &self.output
                        && !is_picture(directory)
                    {
                        let frame = match frame_rgb(&buffer, &picture, tiling, deadline) {
                            Err(FrameError::Time(_)) => return Err(self.out_of_time(&run)),
                            frame => frame.map_err(|error| self.not_a_frame(&run, error))?,
                        };
                        self.write_frame(directory, run.counts.frames, &frame, &picture)?;
                    }
                    run.counts.frames += 1;
                }
                _ => {}
            }
        }
        if reader.truncated() {
            terminal::note(&format!("{} ends inside a record", self.file.display()));
        }
        if let Some(draw) = self.draw {
            let draws = run.card.report().statistics.draws;
            return Err(out_of_range("draw", draw, draws).context(self.file.display()));
        }
        run.finish()
    }

    /// Creates the directory, if it is one.
    fn prepare(&self, output: &Path) -> Outcome<()> {
        if !is_picture(output) {
            return create_folder(output);
        }
        if self.draw.is_none() {
            let folder = output.with_extension("");
            return Err(Failure::usage(format!(
                "-o {}: frames are written into a directory, `-o {}`; one file is for --draw",
                output.display(),
                folder.display()
            )));
        }
        Ok(())
    }

    /// Reports that the time limit was reached, with what was done until then.
    fn out_of_time(&self, run: &Run) -> Failure {
        let Counts { submissions, frames, .. } = run.counts;
        Failure::could_not(anyhow::anyhow!(
            "{}: stopped after {:?} with {submissions} submissions and {frames} frames; see --limit-time",
            self.file.display(),
            self.limit_time
        ))
    }

    fn card(&self) -> Outcome<Card> {
        let simd = Simd::detect();
        // Engines are compared: machine code draws from the first picture of a program on.
        let settings = Settings { when: When::Before(Effort::Quick), ..Settings::default() };
        let mut card = Card::with_engine(engine(self.engine, simd, settings));
        card.set_vertex_engine(vertex_engine(self.engine, simd, Settings::default()));
        card.set_rules_only(self.rules);
        self.set_readings(&mut card, &[])?;
        Ok(card)
    }

    /// Sets the readings of the capture, then those of the command line.
    fn set_readings(&self, card: &mut Card, of_capture: &[String]) -> Outcome<()> {
        set_readings(card, of_capture).map_err(|error| damaged(&self.file, error))?;
        set_readings(card, &self.reading)
            .map_err(|error| Failure::usage(format!("--reading: {error}")))
    }

    /// Reports a frame buffer of the capture that is not a picture.
    fn not_a_frame(&self, run: &Run, error: FrameError) -> Failure {
        let failure = match error {
            FrameError::Size { .. } => Failure::input(error),
            error => Failure::could_not(error),
        };
        failure.context(format!("{}: frame {}", self.file.display(), run.counts.frames))
    }

    fn write_frame(
        &self,
        directory: &Path,
        number: u64,
        rgb: &[u8],
        picture: &capture::Picture,
    ) -> Outcome<()> {
        let path = directory.join(format!("frame-{number:05}.png"));
        let pixels = rgb.as_chunks().0.iter().map(|&[r, g, b]| [r, g, b, 255]).collect();
        self.write_png(&path, &Picture { width: picture.width, height: picture.height, pixels })
    }

    /// Writes what render target A holds after a draw, and reports where; row 0 is the first in memory.
    fn write_target(&self, output: &Path, draw: u64, submission: u64, card: &Card) -> Outcome<()> {
        let target = card.target(0).ok_or_else(|| {
            Failure::input(anyhow::anyhow!("draw {draw} has no render target A that can be read"))
        })?;
        let [width, height] = target.size;
        let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
        let pixels = target.colors.iter().map(|color| color.map(byte)).collect();
        let path = match is_picture(output) {
            true => output.to_owned(),
            false => output.join(format!("draw-{draw:05}.png")),
        };
        self.write_png(&path, &Picture { width, height, pixels })?;
        writeln!(
            terminal::out(),
            "{}: {width}x{height} pixels of render target A after draw {draw}, in submission {submission}",
            path.display()
        )?;
        Ok(())
    }

    /// Writes a picture, but not over a capture that is read.
    fn write_png(&self, path: &Path, picture: &Picture) -> Outcome<()> {
        let inputs: Vec<PathBuf> =
            [Some(&self.file), self.compare.as_ref()].into_iter().flatten().cloned().collect();
        overwrite::refuse([path], &inputs)?;
        let cannot = |error: anyhow::Error| {
            Failure::could_not(error).context(format!("cannot write {}", path.display()))
        };
        let bytes = encode_png(picture).map_err(|error| cannot(error.into()))?;
        put(path, &bytes)
    }
}

/// Returns whether an output is the name of a PNG file, not of a directory.
fn is_picture(output: &Path) -> bool {
    let extension = output.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("png")) && !output.is_dir()
}

/// The state of a replay.
struct Run {
    card: Card,
    player: Player,
    /// The hashes to compare with, in place of the capture's own.
    other: Option<OtherHashes>,
    counts: Counts,
    stats: bool,
    deadline: Option<Instant>,
}

#[derive(Default)]
struct Counts {
    submissions: u64,
    failed: u64,
    frames: u64,
    /// Buffers that were compared, and those that differ.
    compared: u64,
    different: u64,
}

impl Run {
    /// Executes a submission, up to a draw if that is in it. Returns whether it is. One that is given up is counted and
    /// reported, but for the time limit.
    fn submit(&mut self, submission: &Submission, draw: Option<u64>) -> Result<bool, CardError> {
        let number = self.counts.submissions;
        let result = match draw {
            Some(draw) => self.card.submit_through(submission, draw),
            None => self.card.submit(submission).map(|()| false),
        };
        match &result {
            Err(CardError::Time) => return result,
            Err(error) => {
                terminal::warn(&format!("submission {number} was given up: {error}"));
                self.counts.failed += 1;
            }
            Ok(_) => {}
        }
        self.counts.submissions += 1;
        result
    }

    /// Compares the buffers after the last submission.
    fn check(&mut self, own: Hashes) -> Outcome<Result<(), OutOfTime>> {
        let hashes = match &mut self.other {
            None => own,
            Some(other) => match other.next(self.deadline)? {
                Ok(Some(hashes)) => hashes,
                Ok(None) => {
                    let number = self.counts.submissions.saturating_sub(1);
                    terminal::warn(&format!("the other capture has no submission {number}"));
                    self.counts.different += 1;
                    return Ok(Ok(()));
                }
                Err(late) => return Ok(Err(late)),
            },
        };
        let different = match self.player.mismatches(&hashes, self.deadline) {
            Ok(different) => different,
            Err(late) => return Ok(Err(late)),
        };
        self.counts.compared += hashes.len() as u64;
        for (buffer, found) in different {
            // The first ones locate the difference.
            if self.counts.different < 10 {
                let number = self.counts.submissions.saturating_sub(1);
                let what = if found.is_some() { "differs" } else { "does not exist" };
                terminal::warn(&format!("after submission {number} buffer {} {what}", buffer.0));
            }
            self.counts.different += 1;
        }
        Ok(Ok(()))
    }

    /// Prints what was not drawn as a card does; returns whether all went as the capture says.
    fn status(&self) -> Status {
        self.card.report().remarks().for_each(|remark| terminal::note(&remark));
        match self.counts.different + self.counts.failed {
            0 => Status::Fine,
            _ => Status::Failed,
        }
    }

    fn finish(self) -> Outcome {
        let status = self.status();
        let Counts { submissions, frames, compared, different, .. } = self.counts;
        let mut out = terminal::out();
        writeln!(out, "{}, {}", counted(submissions, "submission"), counted(frames, "frame"))?;
        match compared {
            0 => writeln!(out, "the capture has no hashes to compare with")?,
            _ => writeln!(out, "{} compared, {different} differ", counted(compared, "buffer"))?,
        }
        if self.stats {
            let report = self.card.report();
            writeln!(out, "{}", report.statistics)?;
            if let Some(programs) = report.programs() {
                writeln!(out, "{programs}")?;
            }
            for (choice, draws) in report.engines() {
                writeln!(out, "{} by {choice}", counted(draws, "draw"))?;
            }
            for (choice, vertices) in report.vertex_engines() {
                writeln!(out, "{} by {choice}", counted(vertices, "vertex"))?;
            }
        }
        Ok(status)
    }
}

fn open(path: &Path) -> Outcome<Reader<BufReader<File>>> {
    // Records are read one at a time, each with its own limit.
    let file = r500::files::open(path, u64::MAX)
        .map_err(|error| super::input_args::cannot_read(path, error))?;
    Reader::new(BufReader::new(file)).map_err(|error| match error.kind {
        CaptureErrorKind::NotACapture => not_a_capture(path, &error),
        _ => damaged(path, error),
    })
}

/// Returns the failure for a file of another kind.
fn not_a_capture(path: &Path, error: &CaptureError) -> Failure {
    match file_kind::head(path).ok().and_then(|head| FileKind::of(&head)) {
        Some(kind) => kind.failure(&path.to_string_lossy(), "a capture"),
        None => Failure::input(anyhow::anyhow!("{}", error.kind)).context(path.display()),
    }
}

fn damaged(path: &Path, error: impl Into<anyhow::Error>) -> Failure {
    Failure::input(error).context(path.display())
}

/// Returns a record that cannot be applied.
fn not_played(path: &Path, error: PlayError) -> Failure {
    match error {
        PlayError::TooLarge { .. } => {
            let error = anyhow::anyhow!("{error}; see --limit-memory");
            Failure::could_not(error).context(path.display())
        }
        PlayError::Memory { .. } => Failure::could_not(error).context(path.display()),
        error => damaged(path, error),
    }
}

/// The hashes of another capture, a list for each submission. They are read as they are compared.
struct OtherHashes {
    path: PathBuf,
    records: Reader<BufReader<File>>,
}

impl OtherHashes {
    fn open(path: &Path) -> Outcome<Self> {
        Ok(Self { path: path.to_owned(), records: open(path)? })
    }

    /// Returns the next list; `None` at the end of the capture.
    fn next(&mut self, deadline: Option<Instant>) -> Outcome<Result<Option<Hashes>, OutOfTime>> {
        for record in self.records.by_ref() {
            if let Err(late) = OutOfTime::check(deadline) {
                return Ok(Err(late));
            }
            let record = record.map_err(|error| damaged(&self.path, error))?;
            if let capture::Record::Hashes(hashes) = record {
                return Ok(Ok(Some(hashes)));
            }
        }
        Ok(Ok(None))
    }
}
