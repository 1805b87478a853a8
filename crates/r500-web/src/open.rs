//! Any format to sources, and back.

use r500::asm::PrintOptions;
use r500::formats::Limits;
use r500::program::Job;
use r500::reader::{self, Language};
use serde::Serialize;

/// A program as a source.
#[derive(Debug, Serialize)]
pub struct Opened {
    /// What it is called.
    pub name: String,
    /// What the file was written in.
    pub format: &'static str,
    /// The text.
    pub text: String,
}

/// Limits of what a page reads: what a person can look at, not what fits a disk.
fn limits() -> Limits {
    Limits { bytes: 256 << 20, document: 64 << 20, jobs: 10_000, ..Limits::default() }
}

/// The programs of a file, as sources. Assembly stays as it is.
///
/// # Errors
/// Why it cannot be read.
pub fn open(bytes: &[u8], name: &str) -> Result<Vec<Opened>, String> {
    let language = reader::recognise(bytes.get(..256 << 10).unwrap_or(bytes), Some(name))
        .ok_or_else(|| reader::ReadError::Unrecognised.to_string())?;
    if language == Language::Assembly {
        let text = String::from_utf8_lossy(bytes).into_owned();
        return Ok(vec![Opened { name: stem(name), format: language.name(), text }]);
    }
    let jobs = reader::read(bytes, Some(name), Some(language), &limits());
    let jobs = jobs.map_err(|error| error.to_string())?;
    let opened = jobs.iter().map(|job| Opened {
        name: if job.name.is_empty() { stem(name) } else { job.name.clone() },
        format: language.name(),
        text: source(job),
    });
    Ok(opened.collect())
}

/// The program in another format; assembly is what the page has already.
///
/// # Errors
/// Why that cannot be.
pub fn write(job: &Job, format: &str) -> Result<Vec<u8>, String> {
    let language: Language = format.parse()?;
    let written = r500::writer::write(job, language, &PrintOptions::default());
    Ok(written.map_err(|error| error.to_string())?.bytes)
}

/// A job as a source that stands alone: texels are in it.
fn source(job: &Job) -> String {
    let options = PrintOptions { embed: usize::MAX, ..PrintOptions::default() };
    r500::asm::print(job, &options).text
}

fn stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.split('.').next().unwrap_or(name).to_owned()
}
