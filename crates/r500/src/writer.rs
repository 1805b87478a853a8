//! Jobs to files: the one place that picks the writer.

use std::path::Path;

use r500_asm::{PrintOptions, TextureFile};
use r500_formats::Format;
use r500_program::Job;

use crate::reader::Language;

/// A job, written.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The program.
    pub bytes: Vec<u8>,
    /// Files that it refers to, to be put next to it.
    pub files: Vec<TextureFile>,
    /// Whether the format holds the program alone, and the job has more.
    pub lost: bool,
}

/// Why jobs cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// One of the formats, and what it does not take.
    #[error(transparent)]
    Format(#[from] r500_formats::WriteError),
    /// Several programs for a source.
    #[error("{0} programs for an assembly source, which holds one")]
    OneSource(usize),
}

/// Returns the language that a file's name stands for; `None` if its extension stands for none.
#[must_use]
pub fn language_of(path: &Path) -> Option<Language> {
    let extension = path.extension()?.to_str()?;
    extension.parse().ok()
}

/// Writes a job. Assembly follows `options`; its texture files are named after their prefix.
///
/// # Errors
/// [`WriteError`] where nothing writes the format.
pub fn write(job: &Job, language: Language, options: &PrintOptions) -> Result<Written, WriteError> {
    write_all(std::slice::from_ref(job), language, options)
}

/// Writes jobs. Several go into JSON (a list) and JSON lines only.
///
/// # Errors
/// As [`write()`], and where the format does not hold so many.
pub fn write_all(
    jobs: &[Job],
    language: Language,
    options: &PrintOptions,
) -> Result<Written, WriteError> {
    match language {
        Language::Assembly => {
            let [job] = jobs else {
                return Err(WriteError::OneSource(jobs.len()));
            };
            let printed = r500_asm::print(job, options);
            Ok(Written { bytes: printed.text.into_bytes(), files: printed.files, lost: false })
        }
        Language::Format(format) => {
            let mut bytes = Vec::new();
            r500_formats::write_all(jobs, format, &mut bytes)?;
            let lost = !format.holds_jobs() && jobs.iter().any(has_more);
            Ok(Written { bytes, files: Vec::new(), lost })
        }
    }
}

/// Returns whether a language is text that a terminal can take.
#[must_use]
pub fn is_text(language: Language) -> bool {
    language != Language::Format(Format::Raw)
}

/// Returns whether a job holds more than instructions.
fn has_more(job: &Job) -> bool {
    let alone = Job::from_program(r500_program::Program::from_code(job.program.code.clone()));
    let named = Job { name: job.name.clone(), origin: job.origin.clone(), ..alone };
    *job != named
}
