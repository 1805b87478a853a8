//! `r500 stream`: command streams and captures as text, lists and statistics.

mod draws;
mod kernel;
mod replace;
mod scene;
mod search;
mod source;
mod state;
mod statistics;

use std::io::{BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use r500::asm::PrintOptions;
use r500::formats;
use r500::isa::Instruction;
use r500::reader::Language;
use r500::writer;
use r500_card::DrawJob;
use r500_stream::capture::Limits;
use r500_stream::counted;
use r500_stream::text::Printer;

use self::draws::{print_vertex_program, vertex_program};
use self::source::{Content, ReadLimits, Source};
use crate::command::capture_args::{deadline, out_of_range};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::format::Format;
use crate::command::output_args::not_written;
use crate::command::output_file::{OutputFile, put};
use crate::command::syntax::seconds;
use crate::command::{overwrite, terminal};

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
    /// Print the state at a draw: the registers that streams have written, vertex arrays, programs, constants that are not zero
    #[arg(long, value_name = "DRAW", allow_negative_numbers = true, conflicts_with_all = ["list", "stats", "vertex", "draw", "assemble", "submission"])]
    state: Option<u64>,
    /// With --state: only what differs at this draw
    #[arg(long, value_name = "DRAW", allow_negative_numbers = true, requires = "state")]
    against: Option<u64>,
    /// Print the lines of the text in which this is, with the draw that follows in the submission, submission and dword: writes of a
    /// register (RB3D_BLENDCNTL, 0x4e04, of one value: RB3D_BLENDCNTL=0x1), or any text, such as a field, a command, an operation
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["list", "stats", "vertex", "draw", "state", "assemble"])]
    find: Option<String>,
    /// Write the capture with the stream of --with in place of this submission, from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires_all = ["with", "output"], conflicts_with_all = ["list", "stats", "vertex", "draw", "state", "find", "check", "assemble", "submission"])]
    replace: Option<u64>,
    /// The changed submission for --replace, as text or dwords
    #[arg(long, value_name = "STREAM", requires = "replace")]
    with: Option<PathBuf>,
    /// Seconds that reading, executing and printing may take; 0 for no limit
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    limit_time: Duration,
    /// Bytes that the buffers of a capture may take together
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().bytes)]
    limit_memory: u64,
    /// Check each submission as the kernel's radeon driver does, which answers EINVAL to what it refuses: registers that programs may not
    /// write, relocations, commands, the sizes of targets, textures and vertex arrays
    #[arg(long, conflicts_with_all = ["list", "stats", "vertex", "draw", "state", "find", "assemble"])]
    check: bool,
    /// Write the dwords, little-endian
    #[arg(long)]
    assemble: bool,
    /// Only this submission of a capture, from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "vertex")]
    submission: Option<u64>,
    /// How to answer --list, --stats, --check, --state and --find
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
  r500 stream demo.r5cs --replace 0 --with first.txt -o changed.r5cs
  r500 stream demo.r5cs --state 17              the registers, programs and constants at draw 17
  r500 stream demo.r5cs --state 17 --against 20 what differs between two draws
  r500 stream demo.r5cs --find RB3D_BLENDCNTL   where it is written
  r500 stream demo.r5cs --find 'SRC_ALPHA'      lines with a value's name

Exit status: 0 written; 1 the stream is in error, or the kernel would refuse it, or there is no such draw or line, or the vertex program has mistakes; 2 wrong usage;
3 a file cannot be read or written, or a limit was reached.";

impl Stream {
    /// Prints, lists, counts or assembles.
    pub(super) fn run(self) -> Outcome {
        let inputs: Vec<PathBuf> = [&self.file].into_iter().chain(&self.with).cloned().collect();
        overwrite::refuse(self.output.as_deref(), &inputs)?;
        let limits = ReadLimits {
            time: self.limit_time,
            end: deadline(self.limit_time),
            memory: self.limit_memory,
        };
        let source = Source::read(&self.file, limits)?;
        if let Some(draw) = self.draw {
            return self.job(&source, draw);
        }
        if let (Some(number), Some(with)) = (self.replace, &self.with) {
            return self.replace(&source, number, with);
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
        } else if let Some(draw) = self.state {
            self.state(&source, draw, &mut out)?
        } else if let Some(text) = &self.find {
            self.find(&source, text, &mut out)?
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
}

fn instruction(instruction: Instruction) -> String {
    let text = r500::asm::print_instruction(instruction);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
