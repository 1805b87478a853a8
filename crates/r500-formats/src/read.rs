//! Reading of jobs from any format.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use r500_program::Job;

use crate::dword_program::{DwordOptions, DwordReader, Unit};
use crate::error::ReadErrorKind;
use crate::foreign::DwordCheck;
use crate::format::HEAD;
use crate::{
    Format, Limits, ReadError, c_array, detect, dump, foreign, gzip, hex, json, mesa_log, raw,
};

/// Returns all jobs of an input, gzipped or not. Without a format, it is detected.
///
/// Stops at the first error; [`Jobs`] continues if possible, and has one job in memory at a time.
///
/// # Errors
///
/// If the input cannot be read, is of an unknown format, or has no program or an invalid one.
///
/// ```
/// use r500_formats::{Limits, read};
///
/// let text = b"00000005 08020080 08020080 00000000 00000000 00000000";
/// let jobs = read(text, None, &Limits::default())?;
/// assert_eq!(jobs[0].program.code.len(), 1);
///
/// let cut = read(&text[..20], None, &Limits::default()).unwrap_err();
/// assert_eq!(cut.to_string(), "line 1, column 19: `08` is not a dword in hex");
/// # Ok::<(), r500_formats::ReadError>(())
/// ```
pub fn read(bytes: &[u8], format: Option<Format>, limits: &Limits) -> Result<Vec<Job>, ReadError> {
    Jobs::new(bytes, format, limits)?.collect()
}

/// The jobs of an input, one at a time.
///
/// A broken job is an error; the jobs after it follow if the format shows where they begin: JSON lines and lists,
/// programs by name, logs. An input without any program is an error too.
pub struct Jobs<'a> {
    format: Format,
    jobs: Box<dyn Iterator<Item = Result<Job, ReadError>> + 'a>,
    most: u64,
    count: u64,
    failed: u64,
    done: bool,
}

/// Limit of programs with reported errors. A small compressed file can contain millions of broken lines.
const MOST_FAILED: u64 = 10_000;

impl<'a> Jobs<'a> {
    /// Starts to read an input, gzipped or not. Without a format, it is detected.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or is of an unknown format. Errors of its programs are items of the iterator.
    pub fn new(
        input: impl BufRead + 'a,
        format: Option<Format>,
        limits: &Limits,
    ) -> Result<Self, ReadError> {
        Self::with(input, format, limits, DwordOptions::default())
    }

    /// Starts to read an input as [`new`](Self::new), with options for formats of plain dwords.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and [`ReadErrorKind::NotDwords`] if an option says what another format does not have.
    pub fn with(
        input: impl BufRead + 'a,
        format: Option<Format>,
        limits: &Limits,
        options: DwordOptions,
    ) -> Result<Self, ReadError> {
        let input = plain(input, limits)?;
        match format {
            Some(format) => Self::of_format(input, format, limits, DwordCheck::None, options),
            None => Self::recognise(input, None, limits, options),
        }
    }

    /// Starts to read an input with a format from [`detect`]. In contrast to [`new`](Self::new), for formats named by
    /// the user, other kinds of files and vertex programs are rejected.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and [`ReadErrorKind::NotAProgram`] for files of other kinds.
    pub fn recognised(
        input: impl BufRead + 'a,
        format: Format,
        limits: &Limits,
        options: DwordOptions,
    ) -> Result<Self, ReadError> {
        Self::recognise(plain(input, limits)?, Some(format), limits, options)
    }

    fn recognise(
        input: impl BufRead + 'a,
        format: Option<Format>,
        limits: &Limits,
        options: DwordOptions,
    ) -> Result<Self, ReadError> {
        let (head, input) = peek(input, HEAD)?;
        // What is skipped may be the beginning of any file.
        if options.skip.is_none() {
            foreign::check_file(&head)?;
        }
        let Some(format) = format.or_else(|| detect(&head, None)) else {
            let names = Format::ALL.map(Format::name).join(", ");
            return Err(ReadError::new(ReadErrorKind::Unrecognised)
                .with_help(format!("say which it is: {names}")));
        };
        Self::of_format(input, format, limits, DwordCheck::VertexPrograms, options)
    }

    fn of_format(
        input: impl BufRead + 'a,
        format: Format,
        limits: &Limits,
        check: DwordCheck,
        options: DwordOptions,
    ) -> Result<Self, ReadError> {
        let is_dwords = matches!(format, Format::Raw | Format::CArray | Format::Hex);
        if options.need_dwords() && !is_dwords {
            return Err(ReadError::new(ReadErrorKind::NotDwords(format)));
        }
        let own = limits.clone();
        let jobs: Box<dyn Iterator<Item = _> + 'a> = match format {
            Format::Raw => {
                let unit = Unit::Bytes;
                Box::new(once(move || {
                    let reader = DwordReader { limits: &own, check, options, unit };
                    raw::read(input, reader).map(|job| vec![job])
                }))
            }
            Format::CArray | Format::Hex => Box::new(once(move || {
                let unit = Unit::Dwords;
                let reader = DwordReader { limits: &own, check, options, unit };
                let text = text(input, &own)?;
                match format {
                    Format::CArray => c_array::read(&text, reader),
                    _ if dump::is_dump(&text) => dump::read(&text, reader).map(|job| vec![job]),
                    _ => hex::read(&text, reader).map(|job| vec![job]),
                }
            })),
            Format::MesaLog => Box::new(mesa_log::Programs::new(input, &own)),
            Format::Json | Format::JsonLines => Box::new(json::Jobs::new(input, format, &own)),
        };
        Ok(Self { format, jobs, most: limits.jobs, count: 0, failed: 0, done: false })
    }

    /// Returns the format, given or recognised.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }
}

impl Iterator for Jobs<'_> {
    type Item = Result<Job, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = self.jobs.next();
        self.done = item.is_none() || self.count == self.most;
        if matches!(item, Some(Err(_))) {
            self.failed += 1;
            self.done |= self.failed > MOST_FAILED;
        }
        match item {
            Some(_) if self.failed > MOST_FAILED => {
                Some(Err(ReadError::limit("programs with errors", MOST_FAILED)))
            }
            Some(_) if self.done => Some(Err(ReadError::limit("programs", self.most))),
            None if self.count == 0 => {
                let error = ReadError::new(ReadErrorKind::NoProgram(self.format));
                Some(Err(match self.format {
                    Format::MesaLog => error
                        .with_help("RADEON_DEBUG=fp makes the driver print them, on R500 cards"),
                    _ => error,
                }))
            }
            item => {
                self.count += 1;
                item
            }
        }
    }
}

impl std::fmt::Debug for Jobs<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs").field("format", &self.format).finish_non_exhaustive()
    }
}

/// Returns the jobs of a reader that reads all at once, on first use.
fn once<F>(read: F) -> impl Iterator<Item = Result<Job, ReadError>>
where
    F: FnOnce() -> Result<Vec<Job>, ReadError>,
{
    std::iter::once_with(read).flat_map(|jobs| match jobs {
        Ok(jobs) => jobs.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })
}

/// Returns an input without the compression of gzip, if it has one, within [`Limits::bytes`].
///
/// # Errors
/// If the input cannot be read.
pub fn decompressed<'a>(
    input: impl BufRead + 'a,
    limits: &Limits,
) -> Result<Box<dyn BufRead + 'a>, ReadError> {
    Ok(Box::new(plain(input, limits)?))
}

/// Returns the decompressed input, within the limit.
fn plain<'a>(
    input: impl BufRead + 'a,
    limits: &Limits,
) -> Result<BufReader<Bounded<Box<dyn BufRead + 'a>>>, ReadError> {
    let (start, input) = peek(input, 4)?;
    let input: Box<dyn BufRead + 'a> =
        if gzip::is_gzip(&start) { Box::new(gzip::reader(input)) } else { Box::new(input) };
    let bounded = Bounded { input, left: limits.bytes, most: limits.bytes };
    Ok(BufReader::with_capacity(64 << 10, bounded))
}

/// Returns the input as text.
fn text(input: impl BufRead, limits: &Limits) -> Result<String, ReadError> {
    let mut bytes = Vec::new();
    let mut input = input.take(limits.document.saturating_add(1));
    input.read_to_end(&mut bytes).map_err(ReadError::io)?;
    if bytes.len() as u64 > limits.document {
        return Err(ReadError::limit("bytes of text", limits.document));
    }
    let mut text = String::from_utf8(bytes).map_err(|e| {
        ReadError::syntax("this is not UTF-8 text").at_offset(e.utf8_error().valid_up_to() as u64)
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// Returns the first bytes of an input, without consuming them.
fn peek<R: BufRead>(mut input: R, len: usize) -> Result<(Vec<u8>, impl BufRead), ReadError> {
    let mut head = Vec::new();
    input.by_ref().take(len as u64).read_to_end(&mut head).map_err(ReadError::io)?;
    Ok((head.clone(), Cursor::new(head).chain(input)))
}

/// An input with a length limit.
struct Bounded<R> {
    input: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(buffer)?;
        match self.left.checked_sub(n as u64) {
            Some(left) => {
                self.left = left;
                Ok(n)
            }
            None => Err(io::Error::other(ReadError::limit("bytes", self.most))),
        }
    }
}
