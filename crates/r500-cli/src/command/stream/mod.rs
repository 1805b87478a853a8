//! `r500 stream`: command streams and captures as text, lists and statistics.

mod kernel;
mod scene;

use std::io::{BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use r500::asm::PrintOptions;
use r500::chip::pm4::{FILLER, Header, Opcode};
use r500::chip::values::PrimType;
use r500::formats;
use r500::isa::Instruction;
use r500::pvs::Program;
use r500::reader::Language;
use r500::writer;
use r500_card::{Card, CardError, DrawJob};
use r500_stream::capture::{self, Event, Limits, PlayError, Player, Reader};
use r500_stream::text::{Printer, TextError, parse};
use r500_stream::{
    CommandProcessor, DrawCall, DrawSummary, Effect, OutOfTime, State, Statistics, Submission,
    counted, packets,
};
use serde_json::{Value as Json, json};

use crate::command::capture_args::{deadline, limit_time, out_of_range, set_readings};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::file_kind::{self, FileKind};
use crate::command::format::Format;
use crate::command::output_args::not_written;
use crate::command::output_file::{OutputFile, put};
use crate::command::syntax::seconds;
use crate::command::{input_args, overwrite, terminal};

/// Read command streams: packets, registers, programs, draws.
///
/// STREAM is a capture (.r5cs), a stream as text, or dwords: raw, as hex text or a C array, or in a dump (xxd, hexdump, od, gdb, lines of the kernel's log); it is recognised from its content, as is the byte order. Without
/// further options the packets are printed as text: registers with the names of their fields, programs as assembly. The text
/// assembles back to the same dwords.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Stream {
    /// The capture, text or dwords; `-` is stdin
    #[arg(value_name = "STREAM")]
    file: PathBuf,
    /// List the draws, one line each, with their numbers
    #[arg(long, conflicts_with_all = ["stats", "vertex", "assemble"])]
    list: bool,
    /// Count packets, register writes, draws, vertices and primitives
    #[arg(long, conflicts_with_all = ["vertex", "assemble"])]
    stats: bool,
    /// Print and check the vertex program of a draw
    #[arg(long, value_name = "DRAW", allow_negative_numbers = true, conflicts_with = "assemble")]
    vertex: Option<u64>,
    /// Write a draw; what is before it is executed. As a scene (.r5): everything that it draws, as text for `render`, `check`, `asm`. As a
    /// job for `render`, `trace`, `debug`, `check` (.json, the default): fragment program, constants, textures, and the inputs of every
    /// pixel
    #[arg(long, value_name = "DRAW", allow_negative_numbers = true, conflicts_with_all = ["list", "stats", "vertex", "assemble", "submission"])]
    draw: Option<u64>,
    /// Seconds that reading, executing and printing may take; 0 for no limit
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    limit_time: Duration,
    /// Bytes that the buffers of a capture may take together
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().bytes)]
    limit_memory: u64,
    /// Check each submission as the kernel's radeon driver does, which answers EINVAL to what it refuses: registers that programs may not
    /// write, relocations, commands, the sizes of targets, textures and vertex arrays
    #[arg(long, conflicts_with_all = ["list", "stats", "vertex", "draw", "assemble"])]
    check: bool,
    /// Write the dwords, little-endian
    #[arg(long)]
    assemble: bool,
    /// Only this submission of a capture, from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "vertex")]
    submission: Option<u64>,
    /// How to answer --list and --stats
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Where the answer goes (default: stdout)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  r500 stream demo.r5cs                         every packet, with names
  r500 stream demo.r5cs --list                  the draws
  r500 stream demo.r5cs --stats                 counts; registers and commands without a name
  r500 stream demo.r5cs --check                 why the kernel would refuse a submission
  r500 stream demo.r5cs --vertex 17             the vertex program of draw 17
  r500 stream demo.r5cs --draw 17 -o draw.r5    draw 17 as a scene: r500 render draw.r5 -o draw.png
  r500 stream demo.r5cs --draw 17 -o draw.json  its pixels as a job
  r500 debug draw.json --pixel 12,34
  r500 stream demo.r5cs --submission 0 -o first.txt
  r500 stream first.txt --assemble -o first.bin

Exit status: 0 written; 1 the stream is in error, or the kernel would refuse it, or there is no such draw, or the vertex program has mistakes; 2 wrong usage;
3 a file cannot be read or written, or a limit was reached.";

impl Stream {
    /// Prints, lists, counts or assembles.
    pub(super) fn run(self) -> Outcome {
        overwrite::refuse(self.output.as_deref(), std::slice::from_ref(&self.file))?;
        let limits = ReadLimits {
            time: self.limit_time,
            end: deadline(self.limit_time),
            memory: self.limit_memory,
        };
        let source = Source::read(&self.file, limits)?;
        if let Some(draw) = self.draw {
            return self.job(&source, draw);
        }
        // Before the output is created.
        if let Some(number) = self.submission {
            let mut count = 0;
            source.submissions(|_, _| {
                count += 1;
                Ok(())
            })?;
            if number >= count {
                return Err(out_of_range("submission", number, count));
            }
        }
        let program = self.vertex.map(|draw| vertex_program(&source, draw)).transpose()?;
        let file = self.output.as_deref().map(OutputFile::create).transpose()?;
        let mut out: Box<dyn Write> = match &file {
            Some(file) => Box::new(file.writer()),
            // `out` escapes what is not printable text.
            None if self.assemble => {
                let out = std::io::stdout();
                if out.is_terminal() {
                    return Err(Failure::usage("dwords are not for a terminal; give -o FILE"));
                }
                Box::new(BufWriter::new(out))
            }
            None => Box::new(BufWriter::new(terminal::out())),
        };
        let status = if let Some(program) = program {
            print_vertex_program(program.as_ref(), &mut out)?
        } else if self.check {
            self.check_submissions(&source, &mut out)?
        } else if self.list {
            self.list(&source, &mut out)?
        } else if self.stats {
            self.stats(&source, &mut out)?
        } else {
            self.print(&source, &mut out)?
        };
        out.flush()?;
        drop(out);
        file.map_or(Ok(()), OutputFile::commit)?;
        Ok(status)
    }

    /// Writes a draw as a job.
    fn job(&self, source: &Source, number: u64) -> Outcome {
        let language = match &self.output {
            Some(path) => writer::language_of(path).ok_or_else(|| {
                let path = path.display();
                Failure::usage(format!(
                    "{path}: the extension stands for no format; take .json or .r5"
                ))
            })?,
            None => Language::Format(formats::Format::Json),
        };
        if language == Language::Assembly
            && let Some(path) = &self.output
        {
            return self.scene(source, number, path);
        }
        let mut card = source.card()?;
        card.record(number);
        source.execute_through(&mut card, number)?;
        let Some(DrawJob { mut job, origin: [x, y], size: [width, height], layers }) =
            card.take_recorded()
        else {
            return Err(Failure::input(anyhow::anyhow!("draw {number} shades no pixel")));
        };
        job.name = format!("draw {number}");
        job.origin = format!(
            "{}, draw {number}: {width}x{height} pixels from column {x}, row {y} of the render target, {}",
            self.file.display(),
            counted(layers, "layer")
        );
        for (note, count) in card.report().notes() {
            terminal::warn(&format!("{note} ({})", counted(count, "time")));
        }
        let options = PrintOptions { embed: usize::MAX, ..PrintOptions::default() };
        let written = writer::write(&job, language, &options).map_err(not_written)?;
        if written.lost {
            terminal::warn("the format does not hold all of the draw; .json does");
        }
        match &self.output {
            Some(path) => put(path, &written.bytes)?,
            None => terminal::out().write_all(&written.bytes)?,
        }
        Ok(Status::Fine)
    }

    fn wants(&self, submission: u64) -> bool {
        self.submission.is_none_or(|wanted| wanted == submission)
    }

    fn print(&self, source: &Source, out: &mut dyn Write) -> Outcome {
        let printer = Printer::default().instructions(instruction);
        source.submissions(|number, submission| {
            if !self.wants(number) {
                return Ok(());
            }
            if self.assemble {
                for word in &submission.words {
                    out.write_all(&word.to_le_bytes())?;
                }
                return Ok(());
            }
            if let Content::Capture(_) = source.content {
                let count = submission.words.len();
                writeln!(out, "# submission {number}: {}", counted(count, "dword"))?;
                for (i, relocation) in submission.relocations.iter().enumerate() {
                    let (id, size) = (relocation.id().0, relocation.buffer.size());
                    writeln!(out, "# relocation {i}: buffer {id}, {size} bytes")?;
                }
            }
            printer.print_pieces(&submission.words, |piece| {
                source.limits.check()?;
                Ok(out.write_all(piece.as_bytes())?)
            })
        })
    }

    fn list(&self, source: &Source, out: &mut dyn Write) -> Outcome {
        let json = self.format == Format::Json;
        // Rows are written as they are read: a capture may have any number of draws.
        let mut rows = 0_u64;
        if json {
            write!(out, "{{\n  \"draws\": [")?;
        }
        let status = draws(source, |draw| {
            if !self.wants(draw.submission) {
                return Ok(());
            }
            let summary = DrawSummary::new(draw.state, draw.call);
            let Draw { number, submission, call, .. } = draw;
            match self.format {
                Format::Text => writeln!(out, "{number:>6}  {submission}:{}  {summary}", call.at)?,
                Format::Json => {
                    let mut row = draw_json(&summary);
                    row["draw"] = json!(number);
                    row["submission"] = json!(submission);
                    row["dword"] = json!(call.at);
                    let row = format!("{row:#}").replace('\n', "\n    ");
                    write!(out, "{}\n    {row}", if rows == 0 { "" } else { "," })?;
                    rows += 1;
                }
            }
            Ok(())
        })?;
        if json {
            let end = if rows == 0 { "]" } else { "\n  ]" };
            writeln!(out, "{end},\n  \"version\": 1\n}}")?;
        }
        Ok(status)
    }

    fn stats(&self, source: &Source, out: &mut dyn Write) -> Outcome {
        let mut statistics = Statistics::default();
        let mut state = State::default();
        let status = source.submissions(|number, submission| {
            if self.wants(number) {
                statistics.add(&mut state, submission);
            }
            Ok(())
        })?;
        match self.format {
            Format::Text => out.write_all(stats_text(&statistics).as_bytes())?,
            Format::Json => writeln!(out, "{:#}", stats_json(&statistics))?,
        }
        Ok(status)
    }
}

fn instruction(instruction: Instruction) -> String {
    let text = r500::asm::print_instruction(instruction);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The source of submissions.
struct Source {
    content: Content,
    limits: ReadLimits,
}

enum Content {
    Capture(Vec<u8>),
    Words(Submission),
}

/// Limits of time and memory.
#[derive(Clone, Copy)]
struct ReadLimits {
    time: Duration,
    end: Option<Instant>,
    memory: u64,
}

impl ReadLimits {
    /// Fails after the end of the time.
    fn check(&self) -> Outcome<()> {
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
    fn read(file: &Path, limits: ReadLimits) -> Outcome<Self> {
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
                        return Err(Failure::input(anyhow::anyhow!(
                            "{}: this begins as a dump does, but not all of its lines are of one kind, or some are missing",
                            input_args::show(file)
                        )));
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
    fn card(&self) -> Outcome<Card> {
        let mut card = Card::new();
        limit_time(&mut card, self.limits.end);
        set_readings(&mut card, &self.readings()?).map_err(Failure::input)?;
        Ok(card)
    }

    /// Executes the stream up to and including a draw.
    ///
    /// # Errors
    /// If there is no such draw, or a limit was reached.
    fn execute_through(&self, card: &mut Card, draw: u64) -> Outcome<()> {
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
    fn readings(&self) -> Outcome<Vec<String>> {
        let Content::Capture(bytes) = &self.content else { return Ok(Vec::new()) };
        let mut reader = Reader::new(&bytes[..]).map_err(Failure::input)?;
        // The first record.
        Ok(match reader.next().transpose().map_err(Failure::input)? {
            Some(capture::Record::Info(info)) => info.readings,
            _ => Vec::new(),
        })
    }

    /// Calls `each` with every submission and its number. Failed: the capture is in error after some.
    fn submissions(&self, mut each: impl FnMut(u64, &Submission) -> Outcome<()>) -> Outcome {
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

/// A draw of a capture.
struct Draw<'a> {
    number: u64,
    submission: u64,
    state: &'a State,
    call: &'a DrawCall<'a>,
}

/// Calls `each` with every draw. Failed: packets have errors, which are printed to stderr.
fn draws(source: &Source, mut each: impl FnMut(&Draw<'_>) -> Outcome<()>) -> Outcome {
    let mut state = State::default();
    let (mut number, mut errors) = (0, 0_u64);
    let status = source.submissions(|submission_number, submission| {
        let mut cp = CommandProcessor::new(&mut state, submission);
        while let Some(effect) = cp.next_effect() {
            match effect {
                Ok(Effect::Draw(call)) => {
                    source.limits.check()?;
                    let state = cp.state();
                    each(&Draw { number, submission: submission_number, state, call: &call })?;
                    number += 1;
                }
                Ok(_) => {}
                Err(error) => {
                    if errors < SHOWN_ERRORS {
                        terminal::warn(&format!("submission {submission_number}, {error}"));
                    }
                    errors += 1;
                }
            }
        }
        Ok(())
    })?;
    if errors > SHOWN_ERRORS {
        let more = counted(errors - SHOWN_ERRORS, "more packet");
        terminal::warn(&format!("{more} in error"));
    }
    Ok(if errors == 0 { status } else { Status::Failed })
}

/// Packets in error that are named.
const SHOWN_ERRORS: u64 = 8;

/// Returns the vertex program of a draw; `None` if the draw bypasses vertex programs.
fn vertex_program(source: &Source, wanted: u64) -> Outcome<Option<Program>> {
    let (mut program, mut count) = (None, 0);
    draws(source, |draw| {
        if draw.number == wanted {
            program = Some(draw.state.vertex_program());
        }
        count += 1;
        Ok(())
    })?;
    program.ok_or_else(|| out_of_range("draw", wanted, count))
}

/// Prints a vertex program and what is likely wrong with it.
fn print_vertex_program(program: Option<&Program>, out: &mut dyn Write) -> Outcome {
    let Some(program) = program else {
        writeln!(out, "# no vertex program: VAP_CNTL_STATUS.PVS_BYPASS is set")?;
        return Ok(Status::Fine);
    };
    write!(out, "{program}")?;
    let lints = program.check();
    for lint in &lints {
        match lint.instruction {
            Some(n) => writeln!(out, "# instruction {n}: {}", lint.kind)?,
            None => writeln!(out, "# {}", lint.kind)?,
        }
    }
    Ok(if lints.is_empty() { Status::Fine } else { Status::Failed })
}

fn draw_json(summary: &DrawSummary) -> Json {
    let textures: Vec<Json> = summary
        .textures
        .iter()
        .map(|texture| {
            json!({
                "unit": texture.unit, "size": texture.size, "levels": texture.levels,
                "format": texture.format, "buffer": texture.buffer.map(|id| id.0),
            })
        })
        .collect();
    let targets: Vec<Json> = summary
        .targets
        .iter()
        .map(|target| {
            json!({
                "target": target.target, "buffer": target.buffer.map(|id| id.0),
                "offset": target.offset, "pitch": target.pitch,
                "format": target.format.describe().map(|value| value.name),
            })
        })
        .collect();
    json!({
        "primitives": summary.prim_type.describe().map(|value| value.meaning),
        "vertices": summary.vertices, "vertex_program": summary.vertex_program,
        "fragment_program": summary.fragment_program, "textures": textures, "targets": targets,
        "depth": summary.depth.map(|id| id.0),
    })
}

fn register_name(address: u32) -> String {
    match r500::chip::at(address) {
        Some(place) => place.to_string(),
        None => format!("@{address:#06x}"),
    }
}

fn opcode_name(code: u8) -> String {
    match Opcode::new(code).describe() {
        Some(value) => value.name.to_owned(),
        None => format!("command {code:#04x}"),
    }
}

fn prim_name(prim_type: PrimType) -> &'static str {
    prim_type.describe().map_or("reserved primitive", |value| value.meaning)
}

fn stats_text(statistics: &Statistics) -> String {
    let total = statistics.total();
    let mut rows = vec![
        (statistics.submissions, "submissions".to_owned()),
        (statistics.dwords, "dwords".to_owned()),
        (statistics.register_packets, "packets that write registers".to_owned()),
        (statistics.fillers, "packets of type 2".to_owned()),
        (statistics.errors, "packets in error".to_owned()),
        (total.draws, "draws".to_owned()),
        (total.vertices, "vertices".to_owned()),
        (total.primitives, "primitives".to_owned()),
    ];
    let mut sections = vec![("", std::mem::take(&mut rows))];
    let draws = statistics.draws.iter();
    sections.push((
        "draws, vertices, primitives",
        draws
            .map(|(prim_type, draws)| {
                let text = format!(
                    "{}: {}, {}",
                    prim_name(*prim_type),
                    counted(draws.vertices, "vertex"),
                    counted(draws.primitives, "primitive")
                );
                (draws.draws, text)
            })
            .collect(),
    ));
    let commands = statistics.commands.iter();
    sections
        .push(("commands", commands.map(|(code, count)| (*count, opcode_name(*code))).collect()));
    let writes = statistics.writes.iter();
    sections.push((
        "register writes",
        writes.map(|(address, count)| (*count, register_name(*address))).collect(),
    ));
    let mut out = String::new();
    for (title, rows) in sections {
        if rows.is_empty() {
            continue;
        }
        if !title.is_empty() {
            out.push_str(&format!("\n{title}\n"));
        }
        for (count, text) in rows {
            out.push_str(&format!("{count:>10}  {text}\n"));
        }
    }
    let unknown = statistics.unknown_registers().count() + statistics.unknown_commands().count();
    out.push_str(&format!("\n{unknown:>10}  registers and commands without a name\n"));
    out
}

fn stats_json(statistics: &Statistics) -> Json {
    let named = |pairs: Vec<(String, u64)>| -> Json {
        Json::Object(pairs.into_iter().map(|(name, count)| (name, json!(count))).collect())
    };
    let draws: Vec<Json> = statistics
        .draws
        .iter()
        .map(|(prim_type, draws)| {
            json!({
                "primitives": prim_name(*prim_type), "draws": draws.draws,
                "vertices": draws.vertices, "count": draws.primitives,
            })
        })
        .collect();
    let commands = statistics.commands.iter().map(|(code, count)| (opcode_name(*code), *count));
    let writes = statistics.writes.iter();
    let writes = writes.map(|(address, count)| (register_name(*address), *count));
    json!({
        "version": 1, "submissions": statistics.submissions, "dwords": statistics.dwords,
        "register_packets": statistics.register_packets, "fillers": statistics.fillers,
        "errors": statistics.errors, "draws": draws, "commands": named(commands.collect()),
        "register_writes": named(writes.collect()),
        "unknown": statistics.unknown_registers().count() + statistics.unknown_commands().count(),
    })
}
