//! Reading of jobs from any input format.
//!
//! Every command and library reads programs through this module, so a format that is added here is supported
//! everywhere.

pub mod assembly;

use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::str::FromStr;

use r500_asm::Assembly;
use r500_formats::{DwordOptions, Format, Limits};
use r500_program::Job;

use crate::files::{self, NamedFiles};
use crate::texture::{TextureMemory, TextureTooLarge};

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// A format of programs.
    Format(Format),
    /// The assembly language.
    Assembly,
    /// GLSL: a fragment shader, or a program of `ARB_fragment_program`. The feature `glsl` compiles it.
    Glsl,
}

/// Returns whether a text is a scene, which the crate `r500-scene` reads: its first word after comments is `SCENE`.
#[must_use]
pub fn is_scene(text: &str) -> bool {
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    while rest.starts_with("--") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    rest[..end].eq_ignore_ascii_case("SCENE")
}

/// Why an input cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// An error in an input of a known format.
    #[error("{error}{}", help(error))]
    Format {
        /// The error.
        #[from]
        error: r500_formats::ReadError,
    },
    /// Assembly with errors.
    #[error("{text}")]
    Assembly {
        /// All diagnostics, with their source lines.
        text: String,
        /// Number of diagnostics.
        count: usize,
    },
    /// GLSL that has errors or does not fit the chip.
    #[error("{text}")]
    Glsl {
        /// All errors, with their places and what to do, one to a line.
        text: String,
        /// Number of errors.
        count: usize,
    },
    /// GLSL, in a library without its compiler (the feature `glsl`).
    #[error("this is GLSL, and the compiler is not part of this library")]
    NoCompiler,
    /// A texture file that cannot be loaded.
    #[error("{place}: {message}")]
    Texture {
        /// Where the source names it.
        place: String,
        /// The problem.
        message: String,
    },
    /// Textures above [`Limits::textures`].
    #[error("{}{error}", if place.is_empty() { String::new() } else { format!("{place}: ") })]
    TextureMemory {
        /// Where the source names the texture; empty if the input contains it.
        place: String,
        /// The texture and the limit.
        #[source]
        error: TextureTooLarge,
    },
    /// The input failed before its format was recognised.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A source above the size limit.
    #[error("the source is longer than {limit} bytes: this is the limit")]
    TooLong {
        /// The limit in bytes: [`Limits::document`].
        limit: u64,
    },
    /// Bytes to skip, or a byte order, for a text in a language.
    #[error("{} has no bytes to skip and no byte order: these are for raw dwords, hex text, C arrays and dumps", language.name())]
    NotDwords {
        /// The language.
        language: Language,
    },
    /// An unknown format.
    #[error("the format is unknown ({}); if it is one of these, name it", names())]
    Unrecognised,
}

impl ReadError {
    /// Returns whether the input is invalid, as opposed to a limit or an error of its medium.
    #[must_use]
    pub fn blames_input(&self) -> bool {
        match self {
            Self::Format { error } => error.blames_input(),
            Self::Io(_) | Self::TooLong { .. } | Self::TextureMemory { .. } | Self::NoCompiler => {
                false
            }
            Self::Unrecognised
            | Self::NotDwords { .. }
            | Self::Assembly { .. }
            | Self::Glsl { .. }
            | Self::Texture { .. } => true,
        }
    }
}

/// An iterator over the jobs of an input. A broken job is an error; the jobs after it follow if the format allows the
/// reader to find them.
pub struct Jobs<'a> {
    jobs: Box<dyn Iterator<Item = Result<Job, ReadError>> + 'a>,
    assembly: Option<Box<Assembly>>,
}

impl Jobs<'_> {
    /// Returns an iterator over one job that was read in another way.
    #[must_use]
    pub fn of(job: Job) -> Self {
        Self { jobs: Box::new(std::iter::once(Ok(job))), assembly: None }
    }

    /// Returns the assembly of the job, if that is the format of the input: its warnings, and the files that it names.
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

/// Returns an iterator over the jobs of an input. All formats except assembly may be gzipped. `name` is the file name,
/// which helps to recognise the format if the content is ambiguous; `language` overrides both.
///
/// No other file is opened: assembly that includes a file or names a texture file is an error. [`open`] reads these
/// files.
///
/// [`ReadError`] if the format is unknown. Errors in a program are items of the iterator.
/// [`ReadError`] if the format is unknown. What is wrong with a program comes where its job
/// would.
pub fn jobs<'a>(
    input: impl BufRead + 'a,
    name: Option<&str>,
    language: Option<Language>,
    limits: &Limits,
) -> Result<Jobs<'a>, ReadError> {
    begin(input, name, language, limits, None, DwordOptions::default())
}

/// Returns an iterator over the jobs of an input, as [`jobs`], with the files that it names: includes and textures are
/// searched in the folder of `name`, or in the working folder without a name. `dwords` are options for programs in plain dwords.
///
/// # Errors
/// As [`jobs`].
pub fn jobs_with_files<'a>(
    input: impl BufRead + 'a,
    name: Option<&str>,
    language: Option<Language>,
    limits: &Limits,
    files: &NamedFiles,
    dwords: DwordOptions,
) -> Result<Jobs<'a>, ReadError> {
    begin(input, name, language, limits, Some(files), dwords)
}

/// Returns an iterator over the jobs of a file, as [`jobs`], with the files that it names, which must be in its folder
/// or below.
///
/// # Errors
/// As [`jobs`], and if the file cannot be opened.
pub fn open(
    path: &Path,
    language: Option<Language>,
    limits: &Limits,
) -> Result<Jobs<'static>, ReadError> {
    open_with_files(path, language, limits, &NamedFiles::next_to(path), DwordOptions::default())
}

/// Returns an iterator over the jobs of a file, as [`open`], with the files that it may name, and options for programs in plain dwords.
///
/// # Errors
/// As [`open`].
pub fn open_with_files(
    path: &Path,
    language: Option<Language>,
    limits: &Limits,
    files: &NamedFiles,
    dwords: DwordOptions,
) -> Result<Jobs<'static>, ReadError> {
    let input = BufReader::with_capacity(1 << 16, files::open(path, limits.bytes)?);
    jobs_with_files(input, Some(&path.to_string_lossy()), language, limits, files, dwords)
}

fn begin<'a>(
    mut input: impl BufRead + 'a,
    name: Option<&str>,
    language: Option<Language>,
    limits: &Limits,
    files: Option<&NamedFiles>,
    dwords: DwordOptions,
) -> Result<Jobs<'a>, ReadError> {
    let mut head = Vec::new();
    let named = language.is_some();
    let language = match language {
        Some(language) => language,
        None => {
            input.by_ref().take(HEAD).read_to_end(&mut head)?;
            // If the format is unknown, the format reader reports the kind of file, if it recognises one.
            let kind = r500_formats::file_kind(&head).map(|_| Language::Format(Format::Raw));
            kind.or_else(|| recognise(&head, name)).ok_or(ReadError::Unrecognised)?
        }
    };
    if dwords.need_dwords() && !matches!(language, Language::Format(_)) {
        return Err(ReadError::NotDwords { language });
    }
    let input = Cursor::new(head).chain(input);
    match language {
        Language::Format(format) => {
            let jobs = match named {
                true => r500_formats::Jobs::with(input, Some(format), limits, dwords)?,
                false => r500_formats::Jobs::recognised(input, format, limits, dwords)?,
            };
            let memory = TextureMemory::new(limits.textures);
            let within = move |job: Job| match { memory }.take_job(&job) {
                Ok(()) => Ok(job),
                Err(error) => Err(ReadError::TextureMemory { place: String::new(), error }),
            };
            let jobs = jobs.map(move |job| job.map_err(ReadError::from).and_then(within));
            Ok(Jobs { jobs: Box::new(jobs), assembly: None })
        }
        Language::Glsl => {
            let source = whole(input, limits)?;
            let job = compiled(&String::from_utf8_lossy(&source), name, files);
            Ok(Jobs { jobs: Box::new(std::iter::once(job)), assembly: None })
        }
        Language::Assembly => {
            let source = whole(input, limits)?;
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

/// Reads a source.
fn whole(input: impl Read, limits: &Limits) -> Result<Vec<u8>, ReadError> {
    let mut source = Vec::new();
    input.take(limits.document.saturating_add(1)).read_to_end(&mut source)?;
    match source.len() as u64 > limits.document {
        true => Err(ReadError::TooLong { limit: limits.document }),
        false => Ok(source),
    }
}

/// Compiles GLSL.
#[cfg(not(feature = "glsl"))]
fn compiled(_: &str, _: Option<&str>, _: Option<&NamedFiles>) -> Result<Job, ReadError> {
    Err(ReadError::NoCompiler)
}

/// Gives a compiled shader the values and textures of its comments, as [`shader_values::apply`](crate::shader_values::apply) does; `samplers` are the
/// names of its samplers by unit, and files are those that may be read. Comments about what it does not read have no effect.
///
/// # Errors
/// A value that does not fit, with its place, or a texture that cannot be loaded.
#[cfg(feature = "glsl")]
pub fn set_shader_values(
    text: &str,
    name: &str,
    files: Option<&NamedFiles>,
    job: &mut Job,
    samplers: &[(u8, String)],
) -> Result<(), ReadError> {
    let (textures, wrong) = crate::shader_values::apply(text, job, samplers);
    if let Some(wrong) = wrong.iter().find(|wrong| !wrong.is_unread) {
        let (line, column) = r500_compile::Diagnostic::warning(wrong.span, "").line_column(text);
        let text = format!("{name}:{line}:{column}: {}", wrong.message);
        return Err(ReadError::Glsl { text, count: 1 });
    }
    if textures.is_empty() { Ok(()) } else { assembly::bind_textures(&textures, name, files, job) }
}

/// Compiles GLSL, with the values that its comments give ([`shader_values`](crate::shader_values)).
#[cfg(feature = "glsl")]
fn compiled(
    source: &str,
    name: Option<&str>,
    files: Option<&NamedFiles>,
) -> Result<Job, ReadError> {
    let file = name.unwrap_or("shader");
    match r500_compile::compile(source) {
        Ok(mut compiled) => {
            let samplers = compiled.sampler_names();
            set_shader_values(source, file, files, &mut compiled.job, &samplers)?;
            let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let origin = format!("{file}, r500 {}", env!("CARGO_PKG_VERSION"));
            Ok(Job { name: stem.unwrap_or_default(), origin, ..compiled.job })
        }
        Err(errors) => {
            let line = |error: &r500_compile::Diagnostic| {
                let (line, column) = error.line_column(source);
                format!("{file}:{line}:{column}: {error}")
            };
            let all: Vec<String> =
                errors.iter().filter(|error| error.is_error()).map(line).collect();
            Err(ReadError::Glsl { count: all.len(), text: all.join("\n") })
        }
    }
}

/// The compilations of a driver's log.
pub type LogEntries = r500_formats::LogEntries<Box<dyn BufRead>>;

/// Returns the compilations of a driver's log in a file, with the vertex programs that [`open`] leaves out; `None` if the file is not a
/// log.
///
/// # Errors
/// If the file cannot be opened or read.
pub fn open_log(
    path: &Path,
    language: Option<Language>,
    limits: &Limits,
) -> Result<Option<LogEntries>, ReadError> {
    let mut input = BufReader::with_capacity(1 << 16, files::open(path, limits.bytes)?);
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    let language = language.or_else(|| recognise(&head, Some(&path.to_string_lossy())));
    if language != Some(Language::Format(Format::MesaLog)) {
        return Ok(None);
    }
    let input: Box<dyn BufRead> = Box::new(Cursor::new(head).chain(input));
    let plain = r500_formats::decompressed(input, limits)?;
    Ok(Some(r500_formats::LogEntries::new(plain, limits)))
}

/// Returns all jobs of an input in memory. See [`jobs`].
///
/// # Errors
/// The first [`ReadError`].
pub fn read(
    bytes: &[u8],
    name: Option<&str>,
    language: Option<Language>,
    limits: &Limits,
) -> Result<Vec<Job>, ReadError> {
    jobs(bytes, name, language, limits)?.collect()
}

/// Recognises the format of an input: from its file name if that is one of assembly or GLSL, else from its first bytes.
#[must_use]
pub fn recognise(head: &[u8], name: Option<&str>) -> Option<Language> {
    if assembly::is_named_assembly(head, name) {
        return Some(Language::Assembly);
    }
    let text = std::str::from_utf8(head).ok();
    let stage = |text| r500_arb::stage_of(text).or_else(|| r500_glsl::stage_of(text));
    let is_glsl = || text.and_then(stage) == Some(r500_glsl::Stage::Fragment);
    let ends =
        |ending: &&str| name.is_some_and(|name| name.to_ascii_lowercase().ends_with(*ending));
    if [".frag", ".fs", ".fsh", ".glsl", ".fp", ".arbfp"].iter().any(ends) && is_glsl() {
        return Some(Language::Glsl);
    }
    let format = r500_formats::detect(head, name).map(Language::Format);
    let format = format.or_else(|| assembly::is_assembly(head).then_some(Language::Assembly));
    format.or_else(|| is_glsl().then_some(Language::Glsl))
}

/// How many bytes of an input are read to recognise it.
const HEAD: u64 = 256 << 10;

impl Language {
    /// Returns the name of the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Format(format) => format.name(),
            Self::Assembly => "assembly",
            Self::Glsl => "GLSL",
        }
    }
}

/// Parses a [`Language::name`] or a file name extension.
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
        // Raw dwords with the file name of a source.
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
    #[cfg(feature = "glsl")]
    fn glsl_is_compiled() {
        let source = b"// a shader\nprecision highp float; uniform float k; varying vec2 uv;\nvoid main() { gl_FragColor = vec4(uv * k, 0.0, 1.0); }";
        assert_eq!(recognise(source, None), Some(Language::Glsl));
        assert_eq!(recognise(b"void main() { gl_Position = vec4(0.0); }", Some("x.vert")), None);
        let job = read(source, Some("ring.frag"), None, &Limits::default()).unwrap().remove(0);
        assert_eq!((job.name.as_str(), job.uniforms[0].name.as_str()), ("ring", "k"));
        let error = read(
            b"void main() { gl_FragColor = vec4(1); }\nfloat x = 1;",
            None,
            None,
            &Limits::default(),
        )
        .unwrap_err();
        assert!(
            matches!(error, ReadError::Glsl { count: 1, .. }) && error.blames_input(),
            "{error}"
        );
        assert!(error.to_string().starts_with("shader:2:11: the value is `int`"), "{error}");
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
