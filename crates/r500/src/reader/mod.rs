//! Any input to jobs: the one place that picks the reader.
//!
//! Everything that takes a program takes it from here, so a format that is added here is understood
//! everywhere.

pub mod assembly;

use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::str::FromStr;

use r500_asm::Assembly;
use r500_formats::{Format, Limits};
use r500_program::Job;

use crate::files::{self, NamedFiles};
use crate::texture::{TextureMemory, TextureTooLarge};

/// What an input is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// One of the formats that programs travel in.
    Format(Format),
    /// The assembly language.
    Assembly,
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
    /// Assembly with errors.
    #[error("{text}")]
    Assembly {
        /// All of them, with the lines they concern.
        text: String,
        /// How many.
        count: usize,
    },
    /// A texture file that a source names.
    #[error("{place}: {message}")]
    Texture {
        /// Where it is named.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// Textures that take more than [`Limits::textures`].
    #[error("{}{error}", if place.is_empty() { String::new() } else { format!("{place}: ") })]
    TextureMemory {
        /// Where the source names the texture; empty for an input that holds it.
        place: String,
        /// Which, and the limit.
        #[source]
        error: TextureTooLarge,
    },
    /// The input failed before it was known what it is.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A source that is longer than the limit.
    #[error("the source is longer than {limit} bytes: this is the limit")]
    TooLong {
        /// [`Limits::document`].
        limit: u64,
    },
    /// No reader knows it.
    #[error("the format is unknown ({}); if it is one of these, name it", names())]
    Unrecognised,
}

impl ReadError {
    /// Returns whether the input is at fault, and not a limit or the medium that it comes from.
    #[must_use]
    pub fn blames_input(&self) -> bool {
        match self {
            Self::Format { error } => error.blames_input(),
            Self::Io(_) | Self::TooLong { .. } | Self::TextureMemory { .. } => false,
            Self::Unrecognised | Self::Assembly { .. } | Self::Texture { .. } => true,
        }
    }
}

/// The jobs of an input, one at a time. A broken one is an error, and those after it follow where
/// the format lets one tell where they begin.
pub struct Jobs<'a> {
    jobs: Box<dyn Iterator<Item = Result<Job, ReadError>> + 'a>,
    assembly: Option<Box<Assembly>>,
}

impl Jobs<'_> {
    /// Returns the assembly that the job comes from, if that is its language: its warnings, and the
    /// files that it names.
    #[must_use]
    pub fn assembly(&self) -> Option<&Assembly> {
        self.assembly.as_deref()
    }
}

impl Iterator for Jobs<'_> {
    type Item = Result<Job, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.jobs.next()
    }
}

/// Returns the jobs of an input, one at a time; all but assembly may be gzipped. `name` is its
/// file's name, which helps where content alone does not tell what it is; `language` overrides
/// both.
///
/// No other file is opened: assembly that includes one or names a texture file is refused. [`open`]
/// opens them.
///
/// # Errors
/// [`ReadError`] if the format is unknown. What is wrong with a program comes where its job
/// would.
pub fn jobs<'a>(
    input: impl BufRead + 'a,
    name: Option<&str>,
    language: Option<Language>,
    limits: &Limits,
) -> Result<Jobs<'a>, ReadError> {
    begin(input, name, language, limits, None)
}

/// Returns the same with the files that the input names: what assembly includes, and its textures,
/// are searched next to `name`, or in the working folder if there is none.
///
/// # Errors
/// As [`jobs`].
pub fn jobs_with_files<'a>(
    input: impl BufRead + 'a,
    name: Option<&str>,
    language: Option<Language>,
    limits: &Limits,
    files: &NamedFiles,
) -> Result<Jobs<'a>, ReadError> {
    begin(input, name, language, limits, Some(files))
}

/// Returns the jobs of a file, one at a time, with the files that it names, which must be in its folder or
/// below. See [`jobs`].
///
/// # Errors
/// As [`jobs`], and if the file cannot be opened.
pub fn open(
    path: &Path,
    language: Option<Language>,
    limits: &Limits,
) -> Result<Jobs<'static>, ReadError> {
    open_with_files(path, language, limits, &NamedFiles::next_to(path))
}

/// Returns the same with the files that it may name.
///
/// # Errors
/// As [`open`].
pub fn open_with_files(
    path: &Path,
    language: Option<Language>,
    limits: &Limits,
    files: &NamedFiles,
) -> Result<Jobs<'static>, ReadError> {
    let input = BufReader::with_capacity(1 << 16, files::open(path, limits.bytes)?);
    jobs_with_files(input, Some(&path.to_string_lossy()), language, limits, files)
}

fn begin<'a>(
    mut input: impl BufRead + 'a,
    name: Option<&str>,
    language: Option<Language>,
    limits: &Limits,
    files: Option<&NamedFiles>,
) -> Result<Jobs<'a>, ReadError> {
    let mut head = Vec::new();
    let named = language.is_some();
    let language = match language {
        Some(language) => language,
        None => {
            input.by_ref().take(HEAD).read_to_end(&mut head)?;
            // Without a format, the reader of formats says what kind of file it is, if that is known.
            let kind = r500_formats::file_kind(&head).map(|_| Language::Format(Format::Raw));
            kind.or_else(|| recognise(&head, name)).ok_or(ReadError::Unrecognised)?
        }
    };
    let input = Cursor::new(head).chain(input);
    match language {
        Language::Format(format) => {
            let jobs = match named {
                true => r500_formats::Jobs::new(input, Some(format), limits)?,
                false => r500_formats::Jobs::recognised(input, format, limits)?,
            };
            let memory = TextureMemory::new(limits.textures);
            let within = move |job: Job| match { memory }.take_job(&job) {
                Ok(()) => Ok(job),
                Err(error) => Err(ReadError::TextureMemory { place: String::new(), error }),
            };
            let jobs = jobs.map(move |job| job.map_err(ReadError::from).and_then(within));
            Ok(Jobs { jobs: Box::new(jobs), assembly: None })
        }
        Language::Assembly => {
            let mut source = Vec::new();
            input.take(limits.document.saturating_add(1)).read_to_end(&mut source)?;
            if source.len() as u64 > limits.document {
                return Err(ReadError::TooLong { limit: limits.document });
            }
            let memory = TextureMemory::new(limits.textures);
            let assembly = assembly::assembled(&source, name, files, &memory);
            let read = files.map(|files| move |path: &Path| files.read(path, files::MAX_PICTURE));
            let read = read.as_ref().map(|read| -> assembly::ReadFile<'_> { read });
            let job = assembly::job_with(&assembly, read, memory);
            let jobs = Box::new(std::iter::once(job));
            Ok(Jobs { jobs, assembly: Some(Box::new(assembly)) })
        }
    }
}

/// Returns all jobs of an input that is in memory. See [`jobs`].
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

/// Returns what an input is written in, from its file's name if that is one of assembly, else from
/// its beginning.
#[must_use]
pub fn recognise(head: &[u8], name: Option<&str>) -> Option<Language> {
    if assembly::is_named_assembly(head, name) {
        return Some(Language::Assembly);
    }
    let format = r500_formats::detect(head, name).map(Language::Format);
    format.or_else(|| assembly::is_assembly(head).then_some(Language::Assembly))
}

/// How much of an input is read to recognise it.
const HEAD: u64 = 256 << 10;

impl Language {
    /// Returns what it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Format(format) => format.name(),
            Self::Assembly => "assembly",
        }
    }
}

/// From [`Language::name`] or a file name's extension.
impl FromStr for Language {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.to_ascii_lowercase();
        if ["assembly", "asm", "r5"].contains(&name.as_str()) {
            return Ok(Self::Assembly);
        }
        let format = name.parse().map(Self::Format);
        format.map_err(|_| format!("there is no format `{text}`; there are {}", names()))
    }
}

fn names() -> String {
    let formats = Format::ALL.map(Format::name).join(", ");
    format!("{formats}, {}", Language::Assembly.name())
}

fn help(error: &r500_formats::ReadError) -> String {
    error.help().map(|help| format!("\n  {help}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const SOURCE: &[u8] = b"OUT src0.rgb = temp[0] : out[0].rgb = MAD src0.rgb src0.111 src0.000 ;";

    #[test]
    fn content_tells_assembly_from_prose() {
        let assembly = Some(Language::Assembly);
        assert_eq!(recognise(SOURCE, None), assembly);
        assert_eq!(recognise(b"-- nothing yet\n", Some("a/plasma.r5")), assembly);
        assert_eq!(recognise(b"This is prose; nothing else.", None), None);
        assert_eq!(recognise(b"Use temp[0] for that.", None), None);
        let c_array = Some(Language::Format(Format::CArray));
        assert_eq!(recognise(b"0x00001800,\n0x08000100,\n", Some("x.txt")), c_array);
    }

    #[test]
    fn comments_do_not_decide_the_format() {
        let c_array = Some(Language::Format(Format::CArray));
        let commented = b"-- static const uint32_t p[] = { 0x00001800, };\nOUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;";
        let in_c = b"/* OUT : out[0].rgb = src0.rgb ; */ const int p[] = { 0x00001800, };";
        assert_eq!(recognise(commented, None), Some(Language::Assembly));
        assert_eq!(recognise(in_c, None), c_array);
    }

    #[test]
    fn extensions_of_assembly_count_before_content() {
        let assembly = Some(Language::Assembly);
        let array = b"const int p[] = { 0x00001800, };";
        assert_eq!(recognise(array, Some("palette.fs.asm")), assembly);
        assert_eq!(recognise(array, Some("palette.R5")), assembly);
        // Dwords in the file of an assembler's output are not a source.
        let raw = Some(Language::Format(Format::Raw));
        assert_eq!(recognise(b"\x00\x18\x00\x00", Some("palette.r5")), raw);
    }

    #[test]
    fn assembly_becomes_a_job() {
        let jobs = read(SOURCE, None, None, &Limits::default()).unwrap();
        assert_eq!(jobs[0].program.code.len(), 1);
        let wrong = read(b"OUT src0.rgb = temp[128] : ;", Some("x.r5"), None, &Limits::default());
        let error = wrong.unwrap_err();
        assert!(matches!(&error, ReadError::Assembly { count: 1.., .. }), "{error}");
        assert!(error.blames_input() && error.to_string().contains("x.r5:1:"), "{error}");
    }

    #[test]
    fn bytes_alone_open_no_files() {
        let include = read(b"#include \"/etc/hosts\"", Some("x.r5"), None, &Limits::default());
        assert!(matches!(include, Err(ReadError::Assembly { .. })));
        let texture = b"TEXTURE tex[0] = file \"brick.png\" ;";
        let texture = read(texture, None, None, &Limits::default());
        assert!(matches!(texture, Err(ReadError::Texture { .. })));
    }
}
