//! `r500 replay`: a capture executed again.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use r500::exec::Engine;
use r500::exec::reference::Reference;
use r500::fast::Fast;
use r500::jit::Jit;
use r500::picture::{Picture, encode_png};
use r500_card::Card;
use r500_stream::capture::{Event, Limits, Player, Reader};
use r500_stream::{Buffer, BufferId, capture, frame_rgb};

use super::exit::{Failure, Outcome, Status};
use super::terminal;

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
    /// Write the frames into this directory, as frame-00000.png and so on
    #[arg(short, long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
    /// What runs fragment programs; all give the same bits
    #[arg(long, value_enum, default_value = "fast")]
    engine: EngineName,
    /// Choose a rule that the documents leave open; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    reading: Vec<String>,
    /// Compare with the hashes of another capture of the same program instead of its own
    #[arg(long, value_name = "CAPTURE")]
    compare: Option<PathBuf>,
    /// Stop after this many submissions
    #[arg(long, value_name = "N")]
    submissions: Option<u64>,
}

/// The engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// Written to be read
    Reference,
    /// Many pixels at a time
    Fast,
    /// Machine code
    Jit,
}

const AFTER: &str = "\
Exit status: 0 executed, with the buffers that the capture says; 1 a buffer differs, a submission cannot be executed, or the
capture is damaged; 2 wrong usage; 3 a file cannot be read or written.

Examples:
  r500 replay demo.r5cs -o frames
  r500 replay demo.r5cs --engine reference
  r500 replay demo.r5cs --compare other.r5cs     where two runs of a program part";

/// Hashes of buffers after a submission.
type Hashes = Vec<(BufferId, u64)>;

impl Replay {
    pub(super) fn run(&self) -> Outcome {
        if let Some(directory) = &self.output {
            std::fs::create_dir_all(directory).map_err(|error| {
                Failure::could_not(error).context(format!("cannot create {}", directory.display()))
            })?;
        }
        let other = self.compare.as_deref().map(read_hashes).transpose()?;
        let mut run = Run {
            card: self.card()?,
            player: Player::new(Limits::default()),
            other: other.map(Vec::into_iter),
            counts: Counts::default(),
        };
        let mut reader = open(&self.file)?;
        for record in reader.by_ref() {
            let record = record.map_err(|error| damaged(&self.file, error))?;
            let event = run.player.apply(record).map_err(|error| damaged(&self.file, error))?;
            match event {
                Some(Event::Submission(submission)) => {
                    if self.submissions == Some(run.counts.submissions) {
                        break;
                    }
                    run.counts.submissions += 1;
                    if let Err(error) = run.card.submit(&submission) {
                        let number = run.counts.submissions - 1;
                        terminal::warn(&format!("submission {number} was given up: {error}"));
                        run.counts.failed += 1;
                    }
                }
                Some(Event::Hashes(hashes)) => run.check(hashes),
                Some(Event::Flip { buffer, picture, tiling }) => {
                    if let Some(directory) = &self.output {
                        self.write_frame(directory, run.counts.frames, &buffer, &picture, tiling)?;
                    }
                    run.counts.frames += 1;
                }
                _ => {}
            }
        }
        if reader.truncated() {
            terminal::note(&format!("{} ends inside a record", self.file.display()));
        }
        run.finish()
    }

    fn card(&self) -> Outcome<Card> {
        let engine: Box<dyn Engine + Send> = match self.engine {
            EngineName::Reference => Box::new(Reference),
            EngineName::Fast => Box::new(Fast::new()),
            EngineName::Jit => Box::new(Jit::new()),
        };
        let mut card = Card::with_engine(engine);
        for reading in &self.reading {
            let (name, value) = reading.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--reading: `{reading}`: write NAME=VALUE"))
            })?;
            card.set_reading(name, value)
                .map_err(|error| Failure::usage(format!("--reading: {error}")))?;
        }
        Ok(card)
    }

    fn write_frame(
        &self,
        directory: &Path,
        number: u64,
        buffer: &Buffer,
        picture: &capture::Picture,
        tiling: r500_stream::Tiling,
    ) -> Outcome<()> {
        let path = directory.join(format!("frame-{number:05}.png"));
        let cannot = |error: anyhow::Error| {
            Failure::could_not(error).context(format!("cannot write {}", path.display()))
        };
        let rgb = frame_rgb(buffer, picture, tiling)
            .ok_or_else(|| cannot(anyhow::anyhow!("a frame of an unknown pixel format")))?;
        let pixels = rgb.as_chunks().0.iter().map(|&[r, g, b]| [r, g, b, 255]).collect();
        let picture = Picture { width: picture.width, height: picture.height, pixels };
        let bytes = encode_png(&picture).map_err(|error| cannot(error.into()))?;
        std::fs::write(&path, bytes).map_err(|error| cannot(error.into()))
    }
}

/// The state of a replay.
struct Run {
    card: Card,
    player: Player,
    /// The hashes to compare with, in place of the capture's own.
    other: Option<std::vec::IntoIter<Hashes>>,
    counts: Counts,
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
    /// Compares the buffers after the last submission.
    fn check(&mut self, own: Hashes) {
        let hashes = match &mut self.other {
            None => own,
            Some(other) => match other.next() {
                Some(hashes) => hashes,
                None => {
                    let number = self.counts.submissions.saturating_sub(1);
                    terminal::warn(&format!("the other capture has no submission {number}"));
                    self.counts.different += 1;
                    return;
                }
            },
        };
        self.counts.compared += hashes.len() as u64;
        for (buffer, found) in self.player.mismatches(&hashes) {
            // The first ones locate the difference.
            if self.counts.different < 10 {
                let number = self.counts.submissions.saturating_sub(1);
                let what = if found.is_some() { "differs" } else { "does not exist" };
                terminal::warn(&format!("after submission {number} buffer {} {what}", buffer.0));
            }
            self.counts.different += 1;
        }
    }

    fn finish(self) -> Outcome {
        let Counts { submissions, failed, frames, compared, different } = self.counts;
        for (note, count) in self.card.report().notes() {
            terminal::note(&format!("not drawn as a card does: {note} ({count} times)"));
        }
        let mut out = std::io::stdout().lock();
        writeln!(out, "{submissions} submissions, {frames} frames")?;
        match compared {
            0 => writeln!(out, "the capture has no hashes to compare with")?,
            _ => writeln!(out, "{compared} buffers compared, {different} differ")?,
        }
        Ok(if different + failed == 0 { Status::Fine } else { Status::Failed })
    }
}

fn open(path: &Path) -> Outcome<Reader<BufReader<File>>> {
    let file = File::open(path).map_err(|error| {
        Failure::could_not(error).context(format!("cannot read {}", path.display()))
    })?;
    Reader::new(BufReader::new(file)).map_err(|error| damaged(path, error))
}

fn damaged(path: &Path, error: impl Into<anyhow::Error>) -> Failure {
    Failure::input(error).context(path.display())
}

/// The hashes of a capture, a list for each submission.
fn read_hashes(path: &Path) -> Outcome<Vec<Hashes>> {
    let mut all = Vec::new();
    for record in open(path)? {
        if let capture::Record::Hashes(hashes) = record.map_err(|error| damaged(path, error))? {
            all.push(hashes);
        }
    }
    Ok(all)
}
