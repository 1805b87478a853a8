//! `r500 find`: programs in any bytes.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use r500::formats::{Alignment, FindOptions, Finder, Findings, Found, FoundKind};
use r500_stream::counted;
use serde_json::json;

use super::exit::{Outcome, Status};
use super::format::Format;
use super::input_args::{cannot_read, is_stdin};
use super::output_file::{create_folder, put};
use super::{overwrite, terminal};

/// Find fragment and vertex programs in any bytes.
///
/// Reads files of any kind and size (a core file, a ROM, a driver, a texture, a dump of memory) and lists what looks like programs, in either
/// byte order, at offsets that are a multiple of 4 (or, with --align, of less): with the offset, the number of instructions and a score.
/// The score is the number of bits that describing the bytes as a program saves over describing them as ordinary data: among random bytes, an offset has a score of N
/// with a probability of 2^-N. Files are read in pieces; the memory does not grow with them.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Find {
    /// The files; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write each program into this directory, as raw dwords in the order of the chip: FILE-0x001a40.fp.bin or .vp.bin
    #[arg(short, long, value_name = "DIRECTORY")]
    output: Option<PathBuf>,
    /// Only fragment, or only vertex programs
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// The least score: below the default short programs are found, and more that is none
    #[arg(long, value_name = "BITS", default_value_t = FindOptions::LEAST_SCORE)]
    min_score: u32,
    /// Of what the offsets of programs are a multiple: 4, 2 or 1 byte. At every byte the search takes four times as long, and random bytes look
    /// like a program four times as often
    #[arg(long, value_name = "BYTES", value_enum, default_value_t = Align::Dword)]
    align: Align,
    /// How to answer
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Fragment,
    Vertex,
}

/// The alignments by their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Align {
    #[value(name = "4")]
    Dword,
    #[value(name = "2")]
    Word,
    #[value(name = "1")]
    Byte,
}

const AFTER: &str = "\
Exit status: 0 found, 1 there is none, 2 wrong usage, 3 a file cannot be read or written.

Examples:
  r500 find core.1234
  r500 find driver.so -o programs               each as a file, for disasm, check, render …
  r500 find rom.bin --min-score 60 --kind vertex
  r500 find packets.pcap --align 1              at any offset
  gzip -dc memory.gz | r500 find - --format json";

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

impl Find {
    pub(super) fn run(self) -> Outcome {
        if let Some(folder) = &self.output {
            create_folder(folder)?;
        }
        let mut reports = Vec::new();
        let mut count = 0;
        for file in &self.files {
            let found = self.search(file)?;
            count += found.programs.len();
            let written = self.write(file, &found)?;
            match self.format {
                Format::Text => self.print(file, &found, &written)?,
                Format::Json => reports.push(report(file, &found, &written)),
            }
        }
        if self.format == Format::Json {
            writeln!(terminal::out(), "{:#}", json!({ "version": 1, "files": reports }))?;
        }
        Ok(if count == 0 { Status::Failed } else { Status::Fine })
    }

    fn alignment(&self) -> Alignment {
        match self.align {
            Align::Dword => Alignment::Dword,
            Align::Word => Alignment::Word,
            Align::Byte => Alignment::Byte,
        }
    }

    /// Reads a file in pieces. Returns the programs of the wanted kind.
    fn search(&self, path: &Path) -> Outcome<Findings> {
        let mut finder =
            Finder::new(FindOptions { least_score: self.min_score, alignment: self.alignment() });
        if is_stdin(path) {
            feed(&mut finder, std::io::stdin().lock(), 0).map_err(|e| cannot_read(path, e))?;
        } else {
            let file = r500::files::open(path, u64::MAX).map_err(|e| cannot_read(path, e))?;
            let length = file.metadata().map_or(0, |metadata| metadata.len());
            feed::<File>(&mut finder, file, length).map_err(|e| cannot_read(path, e))?;
        }
        let mut found = finder.finish();
        let wanted = self.kind.map(|kind| match kind {
            Kind::Fragment => FoundKind::Fragment,
            Kind::Vertex => FoundKind::Vertex,
        });
        found.programs.retain(|program| wanted.is_none_or(|wanted| program.kind == wanted));
        Ok(found)
    }

    /// Writes the programs of a file. Returns their paths.
    fn write(&self, input: &Path, found: &Findings) -> Outcome<Vec<PathBuf>> {
        let Some(folder) = &self.output else { return Ok(Vec::new()) };
        let name = match is_stdin(input) {
            true => "stdin".into(),
            false => input.file_name().unwrap_or_default().to_string_lossy(),
        };
        let path = |program: &Found| {
            let kind = match program.kind {
                FoundKind::Fragment => "fp",
                FoundKind::Vertex => "vp",
            };
            folder.join(format!("{name}-{:#08x}.{kind}.bin", program.offset))
        };
        let paths: Vec<PathBuf> = found.programs.iter().map(path).collect();
        overwrite::refuse(paths.iter().map(PathBuf::as_path), &self.files)?;
        for (path, program) in paths.iter().zip(&found.programs) {
            let bytes: Vec<u8> =
                program.dwords.iter().flat_map(|word| word.to_le_bytes()).collect();
            put(path, &bytes)?;
        }
        Ok(paths)
    }

    fn print(&self, file: &Path, found: &Findings, written: &[PathBuf]) -> Outcome<()> {
        let mut out = terminal::out();
        let name = file.display();
        for (n, program) in found.programs.iter().enumerate() {
            let order = if program.is_big_endian { ", big-endian" } else { "" };
            let path = written.get(n).map(|path| format!(", {}", path.display()));
            writeln!(
                out,
                "{name}: {:#010x}  {} program, {}, score {}{order}{}",
                program.offset,
                program.kind.name(),
                counted(program.instructions() as u64, "instruction"),
                program.score,
                path.unwrap_or_default()
            )?;
        }
        if found.is_cut {
            terminal::warn(&format!(
                "{name}: more than {} programs; the others are not listed",
                Finder::MOST
            ));
        }
        if found.programs.is_empty() {
            let score = self.min_score;
            write!(out, "{name}: no program with a score of {score} or more")?;
            match self.alignment() {
                Alignment::Byte => writeln!(out)?,
                alignment => writeln!(
                    out,
                    " at a multiple of {} bytes; --align 1 searches at every byte",
                    alignment.bytes()
                )?,
            }
        }
        Ok(())
    }
}

/// Feeds a search, with a progress bar for a file of a known length.
fn feed<R: Read>(finder: &mut Finder, mut source: R, length: u64) -> std::io::Result<()> {
    let bar = terminal::progress(length >> 20, "MiB");
    let mut piece = vec![0; PIECE];
    let mut done = 0;
    loop {
        match source.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => {
                finder.feed(&piece[..count]);
                done += count as u64;
                bar.set_position(done >> 20);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bar.finish_and_clear();
    Ok(())
}

fn report(file: &Path, found: &Findings, written: &[PathBuf]) -> serde_json::Value {
    let programs = found.programs.iter().enumerate().map(|(n, program)| {
        let mut entry = json!({
            "offset": program.offset,
            "bytes": program.end() - program.offset,
            "kind": program.kind.name(),
            "byte_order": if program.is_big_endian { "big" } else { "little" },
            "instructions": program.instructions(),
            "score": program.score,
        });
        if let (Some(path), Some(entry)) = (written.get(n), entry.as_object_mut()) {
            entry.insert("file".to_owned(), path.to_string_lossy().into());
        }
        entry
    });
    json!({
        "file": file.to_string_lossy(),
        "programs": programs.collect::<Vec<_>>(),
        "is_cut": found.is_cut,
    })
}
