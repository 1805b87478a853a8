//! Any input to jobs: the one place that picks the reader.
//!
//! Everything that takes a program takes it from here, so a format that is added here is understood
//! everywhere.

use std::io::{BufRead, Cursor, Read};
use std::str::FromStr;

use r500_formats::{Format, Limits};
use r500_program::Job;

/// What an input is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// One of the formats that programs travel in.
    Format(Format),
}

/// Why an input cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// One of the formats, with something wrong in it.
    #[error("{error}{}", help(error))]
    Format {
        /// What.
        #[from]
        error: r500_formats::ReadError,
    },
    /// The input failed before it was known what it is.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// No reader knows it.
    #[error(
        "this is none of the formats known here ({}); if it is one all the same, name it",
        names()
    )]
    Unrecognised,
}

impl ReadError {
    /// Whether the input is at fault, and not a limit or the medium that it comes from.
    #[must_use]
    pub fn blames_input(&self) -> bool {
        match self {
            Self::Format { error } => error.blames_input(),
            Self::Io(_) => false,
            Self::Unrecognised => true,
        }
    }
}

/// The jobs of an input, one at a time. A broken one is an error, and those behind it follow where
/// the format lets one tell where they begin.
pub type Jobs<'a> = Box<dyn Iterator<Item = Result<Job, ReadError>> + 'a>;

/// The jobs of an input, one at a time; it may be gzipped. `name` is its file's name, which helps
/// where content alone does not tell what it is; `language` overrides both.
///
/// # Errors
/// [`ReadError`] if nobody knows how to read it. What is wrong with a program comes where its job
/// would.
pub fn jobs<'a>(
    mut input: impl BufRead + 'a,
    name: Option<&str>,
    language: Option<Language>,
    limits: &Limits,
) -> Result<Jobs<'a>, ReadError> {
    let mut head = Vec::new();
    let language = match language {
        Some(language) => language,
        None => {
            input.by_ref().take(HEAD).read_to_end(&mut head)?;
            recognise(&head, name).ok_or(ReadError::Unrecognised)?
        }
    };
    let input = Cursor::new(head).chain(input);
    match language {
        Language::Format(format) => {
            let jobs = r500_formats::Jobs::new(input, Some(format), limits)?;
            Ok(Box::new(jobs.map(|job| job.map_err(ReadError::from))))
        }
    }
}

/// All jobs of an input that is in memory. See [`jobs`].
///
/// # Errors
/// [`ReadError`], the first there is.
pub fn read(
    bytes: &[u8],
    name: Option<&str>,
    language: Option<Language>,
    limits: &Limits,
) -> Result<Vec<Job>, ReadError> {
    jobs(bytes, name, language, limits)?.collect()
}

/// What an input is written in, from its beginning and its file's name.
#[must_use]
pub fn recognise(head: &[u8], name: Option<&str>) -> Option<Language> {
    r500_formats::detect(head, name).map(Language::Format)
}

/// How much of an input is looked at to recognise it.
const HEAD: u64 = 256 << 10;

impl Language {
    /// What it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Format(format) => format.name(),
        }
    }
}

/// From [`Language::name`] or a file name's extension.
impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let format = text.parse().map(Self::Format);
        format.map_err(|_| format!("there is no format `{text}`; there are {}", names()))
    }
}

fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

fn help(error: &r500_formats::ReadError) -> String {
    error.help().map(|help| format!("\n  {help}")).unwrap_or_default()
}
