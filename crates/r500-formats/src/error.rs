//! What can be wrong with an input: what it is, where it is, and how to mend it.

use std::borrow::Cow;
use std::fmt;
use std::io;

use crate::Format;

/// Why an input, or one of its programs, cannot be read.
///
/// Its text is the place and what is wrong there; [`help`](Self::help) says how to mend it.
#[derive(Debug)]
pub struct ReadError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    place: Place,
    kind: ReadErrorKind,
    help: Option<Cow<'static, str>>,
}

/// What is wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The input itself failed.
    #[error("cannot read on: {0}")]
    Io(io::Error),
    /// The input is gzipped, and that is damaged.
    #[error("the gzip data is damaged or cut off: {0}")]
    Gzip(io::Error),
    /// Nothing that this crate reads.
    #[error("this is none of the formats known here")]
    Unrecognised,
    /// The input was read to its end, and there was no program in it.
    #[error("there is no R500 fragment program in this {0}")]
    NoProgram(Format),
    /// The input ends too early.
    #[error("{0}")]
    Truncated(String),
    /// It is text, but no text of the format.
    #[error("{0}")]
    Syntax(String),
    /// A value that cannot be what it stands for.
    #[error("{0}")]
    Value(String),
    /// Something is there too often or not often enough.
    #[error("{0}")]
    Count(String),
    /// Something is needed and not there.
    #[error("`{0}` is missing")]
    Missing(String),
    /// A [limit](crate::Limits) is exceeded.
    #[error("more than {most} {what}: this is the limit")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much may be.
        most: u64,
    },
}

/// Where in the input. What is not known, or means nothing there, is not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Byte from the start (of what was compressed, if it was), from 0.
    pub offset: Option<u64>,
    /// Line, from 1.
    pub line: Option<u64>,
    /// Column in bytes, from 1.
    pub column: Option<u64>,
    /// JSON keys from the top of the value, such as `bound_textures[0].levels[2].bytes`.
    pub path: String,
}

impl ReadError {
    pub(crate) fn new(kind: ReadErrorKind) -> Self {
        Self(Box::new(Inner { place: Place::default(), kind, help: None }))
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

    /// From an error of the input; [`crate::read`] smuggles its own errors through readers this way.
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
        self.0.place.path = path.into();
        self
    }

    /// The same with its path below `prefix`.
    pub(crate) fn below(mut self, prefix: &str) -> Self {
        let path = &mut self.0.place.path;
        if !prefix.is_empty() {
            let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
            *path = format!("{prefix}{dot}{path}");
        }
        self
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &ReadErrorKind {
        &self.0.kind
    }

    /// Where it is wrong.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// How to mend it, where there is something to say.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Whether the input is at fault, and not a limit or the medium that it comes from.
    #[must_use]
    pub fn blames_input(&self) -> bool {
        !matches!(self.0.kind, ReadErrorKind::Io(_) | ReadErrorKind::Limit { .. })
    }
}

/// A number of things: `1 dword`, `2 dwords`.
pub(crate) fn number_of(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { place, kind, .. } = &*self.0;
        if *place != Place::default() {
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

impl fmt::Display for Place {
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
    /// Only others write this.
    #[error("a {0} is something to read, not to write")]
    ReadOnly(Format),
    /// Several programs for a format that holds one.
    #[error("{1} programs for a {0}, which holds one")]
    OneOnly(Format, usize),
}
