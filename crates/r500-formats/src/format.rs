//! The file formats.

use std::fmt;
use std::str::FromStr;

/// A file format of programs. Each may be gzipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Little-endian dwords, six an instruction, without a header (`.bin`).
    Raw,
    /// Dwords as C source: `0x00001800,` (`.inc`, `.h`, `.c`).
    CArray,
    /// Dwords as hex digits separated by white space (`.hex`).
    Hex,
    /// The log of Mesa's r300 driver under `RADEON_DEBUG=fp` (`.log`). Read only.
    MesaLog,
    /// JSON: a capture, a case, a draw, a list of them, or programs by name (`.json`).
    Json,
    /// JSON lines: any of these a line (`.jsonl`, `.ndjson`).
    JsonLines,
}

/// Bytes of an input that format detection reads.
pub(crate) const HEAD: usize = 256 << 10;

impl Format {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Raw, Self::CArray, Self::Hex, Self::MesaLog, Self::Json, Self::JsonLines];

    /// Returns what it is called: `raw`, `c-array`, `hex`, `mesa-log`, `json`, `json-lines`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::CArray => "c-array",
            Self::Hex => "hex",
            Self::MesaLog => "mesa-log",
            Self::Json => "json",
            Self::JsonLines => "json-lines",
        }
    }

    /// Returns its file name extensions, the most common first.
    #[must_use]
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Raw => &["bin", "raw"],
            Self::CArray => &["inc", "h", "c"],
            Self::Hex => &["hex"],
            Self::MesaLog => &["log"],
            Self::Json => &["json"],
            Self::JsonLines => &["jsonl", "ndjson"],
        }
    }

    /// Returns the format of a file name; a final `.gz` is ignored.
    #[must_use]
    pub fn from_file_name(name: &str) -> Option<Self> {
        let extension = |name: &str| Some(name.rsplit_once('.')?.1.to_ascii_lowercase());
        let mut ext = extension(name)?;
        if ext == "gz" {
            ext = extension(&name[..name.len() - 3])?;
        }
        Self::ALL.into_iter().find(|f| f.extensions().contains(&ext.as_str()))
    }

    /// Returns whether it stores all of a [job](r500_program::Job), not only its instructions.
    #[must_use]
    pub const fn holds_jobs(self) -> bool {
        matches!(self, Self::Json | Self::JsonLines)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Raw => "raw program",
            Self::CArray => "C array",
            Self::Hex => "hex text",
            Self::MesaLog => "log of Mesa's r300 driver",
            Self::Json => "JSON file",
            Self::JsonLines => "file of JSON lines",
        })
    }
}

/// From [`Format::name`] or an extension.
impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(s: &str) -> Result<Self, UnknownFormat> {
        Self::ALL
            .into_iter()
            .find(|f| f.name() == s || f.extensions().contains(&s))
            .ok_or(UnknownFormat)
    }
}

/// An unknown format name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such format; there are raw, c-array, hex, mesa-log, json, json-lines")]
pub struct UnknownFormat;
