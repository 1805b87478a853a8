//! Errors of readers and writers: the problem, its position and a remedy.

use std::borrow::Cow;
use std::fmt;
use std::io;

use crate::Format;
use crate::excerpt::beginning;

/// Why an input, or one of its programs, cannot be read.
///
/// Its text is the position and the problem; [`help`](Self::help) gives a remedy.
#[derive(Debug)]
pub struct ReadError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    place: InputLocation,
    kind: ReadErrorKind,
    help: Option<Cow<'static, str>>,
}

/// The problem.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The input itself failed.
    #[error("cannot continue reading: {0}")]
    Io(io::Error),
    /// The input is gzipped, and that is damaged.
    #[error("the gzip data is damaged or cut off: {0}")]
    Gzip(io::Error),
    /// An unknown format.
    #[error("the format is unknown")]
    Unrecognised,
    /// Another kind of file: its description.
    #[error("this is {0}, not a fragment program")]
    NotAProgram(&'static str),
    /// A program in a language that is not read: its description.
    #[error("this is {0}, not an R500 program")]
    OtherLanguage(&'static str),
    /// Raw bytes that decode as nonsense.
    #[error(
        "this is hardly a fragment program: {reserved} of {of} instructions use reserved encodings"
    )]
    MostlyReserved {
        /// Instructions with reserved encodings.
        reserved: usize,
        /// All instructions.
        of: usize,
    },
    /// An input without a program.
    #[error("there is no R500 fragment program in this {0}")]
    NoProgram(Format),
    /// Bytes to skip, or a byte order, for a format that does not consist of plain dwords.
    #[error(
        "a {0} has no bytes to skip and no byte order: these are for raw dwords, hex text, C arrays and dumps"
    )]
    NotDwords(Format),
    /// The input ends too early.
    #[error("{0}")]
    Truncated(String),
    /// Text that is not of this format.
    #[error("{0}")]
    Syntax(String),
    /// A value that is invalid for its key.
    #[error("{0}")]
    Value(String),
    /// A wrong number of items.
    #[error("{0}")]
    Count(String),
    /// A required item is missing.
    #[error("`{0}` is missing")]
    Missing(String),
    /// A [limit](crate::Limits) is exceeded.
    #[error("more than {most} {what}: this is the limit")]
    Limit {
        /// The limited quantity.
        what: &'static str,
        /// The limit.
        most: u64,
    },
}

/// A location in the input. Parts that are unknown or do not apply are `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputLocation {
    /// Byte from the start (of what was compressed, if it was), from 0.
    pub offset: Option<u64>,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Column in bytes, from 1.
    pub column: Option<u64>,
    /// JSON keys from the top of the value, such as `bound_textures[0].levels[2].bytes`.
    pub path: String,
}

/// Characters of a path that a message shows: a key may be as long as the document.
const MOST_OF_PATH: usize = 200;

impl ReadError {
    pub(crate) fn new(kind: ReadErrorKind) -> Self {
        Self(Box::new(Inner { place: InputLocation::default(), kind, help: None }))
    }

    pub(crate) fn truncated(message: impl Into<String>) -> Self {
        Self::new(ReadErrorKind::Truncated(message.into()))
    }

    pub(crate) fn syntax(message: impl Into<String>) -> Self {
        Self::new(ReadErrorKind::Syntax(message.into()))
    }

    pub(crate) fn value(message: impl Into<String>) -> Self {
        Self::new(ReadErrorKind::Value(message.into()))
    }

    pub(crate) fn missing(key: &str) -> Self {
        Self::new(ReadErrorKind::Missing(key.to_owned()))
    }

    pub(crate) fn count(message: impl Into<String>) -> Self {
        Self::new(ReadErrorKind::Count(message.into()))
    }

    pub(crate) fn limit(what: &'static str, most: u64) -> Self {
        Self::new(ReadErrorKind::Limit { what, most })
            .with_help("the limits of reading are options")
    }

    /// Converts an error of the input; [`crate::read`] passes its own errors through readers this way.
    pub(crate) fn io(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(own) => own,
            Err(error) => Self::new(ReadErrorKind::Io(error)),
        }
    }

    pub(crate) fn with_help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    pub(crate) fn at_offset(mut self, offset: u64) -> Self {
        self.0.place.offset = Some(offset);
        self
    }

    pub(crate) fn at_line(mut self, line: u64) -> Self {
        self.0.place.line = Some(line);
        self
    }

    pub(crate) fn at_column(mut self, column: u64) -> Self {
        self.0.place.column = Some(column);
        self
    }

    pub(crate) fn at_path(mut self, path: impl Into<String>) -> Self {
        self.0.place.path = beginning(&path.into(), MOST_OF_PATH);
        self
    }

    /// Returns the same with its path below `prefix`.
    pub(crate) fn below(mut self, prefix: &str) -> Self {
        let path = &mut self.0.place.path;
        if !prefix.is_empty() {
            let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
            *path = beginning(&format!("{prefix}{dot}{path}"), MOST_OF_PATH);
        }
        self
    }

    /// Returns the problem.
    #[must_use]
    pub fn kind(&self) -> &ReadErrorKind {
        &self.0.kind
    }

    /// Returns the position.
    #[must_use]
    pub fn place(&self) -> &InputLocation {
        &self.0.place
    }

    /// Returns a remedy, if one is known.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Returns whether the input is malformed, as opposed to a limit or an unreadable input.
    #[must_use]
    pub fn blames_input(&self) -> bool {
        !matches!(self.0.kind, ReadErrorKind::Io(_) | ReadErrorKind::Limit { .. })
    }
}

/// Returns a number of things: `1 dword`, `2 dwords`.
pub(crate) fn number_of(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { place, kind, .. } = &*self.0;
        if *place != InputLocation::default() {
            write!(f, "{place}: ")?;
        }
        kind.fmt(f)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ReadErrorKind::Io(error) | ReadErrorKind::Gzip(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for InputLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for (what, number) in [("byte", self.offset), ("line", self.line), ("column", self.column)]
        {
            if let Some(number) = number {
                write!(f, "{gap}{what} {number}")?;
                gap = ", ";
            }
        }
        if !self.path.is_empty() {
            write!(f, "{gap}at {}", self.path)?;
        }
        Ok(())
    }
}

/// Why a job cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The output failed.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// A format without a writer.
    #[error("a {0} is something to read, not to write")]
    ReadOnly(Format),
    /// Several programs for a format that holds one.
    #[error("{1} programs for a {0}, which holds one")]
    OneOnly(Format, usize),
}
