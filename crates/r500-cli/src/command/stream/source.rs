//! What the command reads: a capture, a stream as text, or dwords.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use r500::chip::pm4::{FILLER, Header};
use r500::formats;
use r500_card::{Card, CardError};
use r500_stream::capture::{self, Event, Limits, PlayError, Player, Reader};
use r500_stream::text::{TextError, parse};
use r500_stream::{OutOfTime, Submission, packets};

use crate::command::capture_args::{limit_time, out_of_range, set_readings};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::file_kind::{self, FileKind};
use crate::command::{input_args, terminal};

/// The source of submissions.
pub(super) struct Source {
    pub(super) content: Content,
    pub(super) limits: ReadLimits,
}

pub(super) enum Content {
    Capture(Vec<u8>),
    Words(Submission),
}

/// Limits of time and memory.
#[derive(Clone, Copy)]
pub(super) struct ReadLimits {
    pub(super) time: Duration,
    pub(super) end: Option<Instant>,
    pub(super) memory: u64,
}

impl ReadLimits {
    /// Fails after the end of the time.
    pub(super) fn check(&self) -> Outcome<()> {
        OutOfTime::check(self.end).map_err(|_| self.out_of_time())
    }

    fn out_of_time(&self) -> Failure {
        Failure::could_not(anyhow::anyhow!("stopped after {:?}; see --limit-time", self.time))
    }
}

/// What the command reads.
const STREAM: &str = "a command stream";

/// Returns the failure for a text with errors: all of them if some of it is a stream, else what it is.
fn not_a_stream(file: &Path, text: &str, errors: &[TextError]) -> Failure {
    match FileKind::of(text.as_bytes()) {
        Some(kind) if !kind.is_stream_text() => kind.failure(&input_args::show(file), STREAM),
        None if file_kind::is_no_stream(text, errors.len()) => Failure::input(anyhow::anyhow!(
            "{}: this is not {STREAM}: each of its lines is in error; the first: {}",
            input_args::show(file),
            errors.first().map_or(String::new(), ToString::to_string)
        )),
        _ => {
            let lines = errors.iter().map(|error| format!("{}: {error}", file.display()));
            Failure::diagnosed(lines.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// Returns the failure for a dump without a submission: it has too many dwords, or cannot be read.
fn not_a_dump(file: &Path, dwords: Option<Vec<u32>>) -> Failure {
    let problem = match dwords {
        Some(dwords) => {
            format!("{} dwords; a submission has at most {}", dwords.len(), MOST_BYTES / 4)
        }
        None => "this begins as a dump does, but not all of its lines are of one kind, or some are missing".to_owned(),
    };
    Failure::input(anyhow::anyhow!("{}: {problem}", input_args::show(file)))
}

/// Bytes of a submission in raw dwords: 64 times what Mesa's buffers for commands hold.
const MOST_BYTES: usize = 4 << 20;

/// Returns dwords in the order of the processor: those of a machine of the other order are swapped, if only then they are packets.
fn in_order(file: &Path, words: Vec<u32>) -> Vec<u32> {
    // A stream has packets of the types 0, 2 and 3, whose registers and commands are known and whose padding is of one kind.
    let is_stream = |words: &[u32]| {
        packets(words).all(|packet| {
            packet.is_ok_and(|packet| match packet.header {
                Header::Type0(header) => r500::chip::at(header.address(0)).is_some(),
                Header::Type1(_) => false,
                Header::Type2(bits) => bits == FILLER,
                Header::Type3(header) => header.it_opcode().is_named(),
            })
        })
    };
    if is_stream(&words) {
        return words;
    }
    let swapped: Vec<u32> = words.iter().map(|word| word.swap_bytes()).collect();
    if !is_stream(&swapped) {
        return words;
    }
    terminal::note(&format!("{}: the dwords are big-endian", input_args::show(file)));
    swapped
}

impl Source {
    pub(super) fn read(file: &Path, limits: ReadLimits) -> Outcome<Self> {
        let bytes = input_args::capture_or_document(file)?;
        if capture::is_capture(&bytes) {
            return Ok(Self { content: Content::Capture(bytes), limits });
        }
        let words = match std::str::from_utf8(&bytes) {
            Ok(text) if !text.contains('\0') => match parse(text) {
                Ok(words) => words,
                // Dwords as text have no statement of a stream.
                Err(errors) => match formats::dwords_of_text(text, MOST_BYTES / 4) {
                    Some(words) if !words.is_empty() => in_order(file, words),
                    _ if formats::is_dump(text) => {
                        return Err(not_a_dump(file, formats::dwords_of_text(text, usize::MAX)));
                    }
                    _ => return Err(not_a_stream(file, text, &errors)),
                },
            },
            _ => {
                if let Some(kind) = FileKind::of(&bytes) {
                    return Err(kind.failure(&input_args::show(file), STREAM));
                }
                if bytes.len() > MOST_BYTES {
                    return Err(Failure::input(anyhow::anyhow!(
                        "{}: {} bytes; a submission of raw dwords has at most {MOST_BYTES}",
                        file.display(),
                        bytes.len()
                    )));
                }
                let (words, rest) = bytes.as_chunks();
                if !rest.is_empty() {
                    let size = bytes.len();
                    return Err(Failure::input(anyhow::anyhow!(
                        "{}: neither a capture nor text, and {size} bytes are not whole dwords",
                        file.display()
                    )));
                }
                in_order(file, words.iter().map(|word| u32::from_le_bytes(*word)).collect())
            }
        };
        let content = Content::Words(Submission { words, ..Submission::default() });
        Ok(Self { content, limits })
    }

    /// Returns a card that executes the stream as it was captured.
    pub(super) fn card(&self) -> Outcome<Card> {
        let mut card = Card::new();
        limit_time(&mut card, self.limits.end);
        set_readings(&mut card, &self.readings()?).map_err(Failure::input)?;
        Ok(card)
    }

    /// Executes the stream up to and including a draw.
    ///
    /// # Errors
    /// If there is no such draw, or a limit was reached.
    pub(super) fn execute_through(&self, card: &mut Card, draw: u64) -> Outcome<()> {
        let mut reached = false;
        self.submissions_until(|number, submission| {
            reached = card.submit_through(submission, draw).map_err(|error| {
                let failure = match error {
                    CardError::Time => self.limits.out_of_time(),
                    error => Failure::could_not(error),
                };
                failure.context(format!("submission {number}"))
            })?;
            Ok(if reached { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if reached {
            return Ok(());
        }
        Err(out_of_range("draw", draw, card.report().statistics.draws))
    }

    /// Returns the readings with which the stream was captured.
    pub(super) fn readings(&self) -> Outcome<Vec<String>> {
        let Content::Capture(bytes) = &self.content else { return Ok(Vec::new()) };
        let mut reader = Reader::new(&bytes[..]).map_err(Failure::input)?;
        // The first record.
        Ok(match reader.next().transpose().map_err(Failure::input)? {
            Some(capture::Record::Info(info)) => info.readings,
            _ => Vec::new(),
        })
    }

    /// Calls `each` with every submission and its number. Failed: the capture is in error after some.
    pub(super) fn submissions(
        &self,
        mut each: impl FnMut(u64, &Submission) -> Outcome<()>,
    ) -> Outcome {
        self.submissions_until(|number, submission| {
            each(number, submission).map(|()| ControlFlow::Continue(()))
        })
    }

    /// Calls `each` with every submission and its number until it breaks. Buffers then have their contents of that moment.
    fn submissions_until(
        &self,
        mut each: impl FnMut(u64, &Submission) -> Outcome<ControlFlow<()>>,
    ) -> Outcome {
        let bytes = match &self.content {
            Content::Words(submission) => {
                return each(0, submission).map(|_| Status::Fine);
            }
            Content::Capture(bytes) => bytes,
        };
        let mut reader = Reader::new(&bytes[..]).map_err(Failure::input)?;
        let mut player = Player::new(Limits { bytes: self.limits.memory });
        let mut number = 0;
        for record in &mut reader {
            self.limits.check()?;
            let record = record.map_err(Failure::input)?;
            let event = player.apply(record).map_err(|error| match error {
                PlayError::TooLarge { .. } => {
                    Failure::could_not(anyhow::anyhow!("{error}; see --limit-memory"))
                }
                PlayError::Memory { .. } => Failure::could_not(error),
                error => Failure::input(error),
            })?;
            if let Some(Event::Submission(submission)) = event {
                if each(number, &submission)?.is_break() {
                    return Ok(Status::Fine);
                }
                number += 1;
            }
        }
        if reader.truncated() {
            terminal::warn("the capture ends inside a record; what is before it is whole");
        }
        Ok(Status::Fine)
    }
}
