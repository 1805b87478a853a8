//! Options for reading programs: their format, where they begin in plain dwords, and which files sources may name.

use std::path::Path;

use clap::{Args, ValueEnum};
use r500::files::NamedFiles;
use r500::formats::{ByteOrder, DwordOptions};
use r500::reader::Language;

use super::compiler::Compiler;

/// How files of programs are read.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct ReadArgs {
    /// Format of the programs (default: recognised from content): assembly, raw, c-array, hex,
    /// mesa-log, json, json-lines
    #[arg(long, value_name = "FORMAT")]
    pub(super) from: Option<Language>,
    /// Of raw dwords, hex text, C arrays and dumps: leave out the first N bytes (0x… is hex), in memory, not of a dump's text. Without it,
    /// a dump that begins within an instruction is read from the first whole one
    #[arg(long, value_name = "N", value_parser = bytes_to_skip)]
    skip: Option<u64>,
    /// Byte order of raw dwords, hex text, C arrays and dumps; auto: the order in which they are a program
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = Endian::Auto)]
    endian: Endian,
    /// Which compiler takes GLSL (default: what R500_COMPILER names, else mesa where Mesa's driver is, else r500)
    #[arg(long = "with", value_enum, value_name = "COMPILER")]
    pub(super) compiler: Option<Compiler>,
    #[command(flatten)]
    pub(super) paths: PathArgs,
    /// Bytes that the textures of a program may take, where the command has a limit.
    #[arg(skip)]
    pub(super) texture_memory: Option<u64>,
}

/// Byte orders of plain dwords.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Endian {
    Little,
    Big,
    #[default]
    Auto,
}

/// Parses a number of bytes, decimal or hex with `0x`.
fn bytes_to_skip(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "write a number of bytes, such as 16 or 0x10".to_owned())
}

impl ReadArgs {
    /// Returns the options without any but those of files.
    pub(super) fn of_paths(paths: PathArgs) -> Self {
        Self { paths, ..Self::default() }
    }

    /// Returns how programs are taken from plain dwords: what is not a whole instruction is left out, with a note.
    pub(super) fn dwords(self) -> DwordOptions {
        let order = match self.endian {
            Endian::Little => ByteOrder::Little,
            Endian::Big => ByteOrder::Big,
            Endian::Auto => ByteOrder::ByContent,
        };
        DwordOptions { skip: self.skip, order, leaves_out: true }
    }
}

/// Which files a source may name.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct PathArgs {
    /// Let sources include files and name textures outside of their own folder
    #[arg(long)]
    allow_paths: bool,
}

impl PathArgs {
    /// Returns the files that a source may name; for stdin, those below the working folder.
    pub(super) fn files(self, source: &Path) -> NamedFiles {
        match self.allow_paths {
            true => NamedFiles::anywhere(),
            false => NamedFiles::next_to(source).with_remedy("--allow-paths"),
        }
    }
}
