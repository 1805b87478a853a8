//! Jobs to files: the one place that picks the writer.

use std::path::Path;

use r500_asm::{PrintOptions, TextureFile};
use r500_formats::{Format, WriteError};
use r500_program::Job;

use crate::reader::Language;

/// A job, written.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The program.
    pub bytes: Vec<u8>,
    /// Files that it refers to, to be put beside it.
    pub files: Vec<TextureFile>,
    /// Whether the format holds the program alone, and the job has more.
    pub lost: bool,
}

/// The language that a file's name stands for; `None` if its extension stands for none.
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
    match language {
        Language::Assembly => {
            let printed = r500_asm::print(job, options);
            let lost = !options.state && has_more(job);
            Ok(Written { bytes: printed.text.into_bytes(), files: printed.files, lost })
        }
        Language::Format(format) => {
            let mut bytes = Vec::new();
            r500_formats::write(job, format, &mut bytes)?;
            let lost = !format.holds_jobs() && has_more(job);
            Ok(Written { bytes, files: Vec::new(), lost })
        }
    }
}

/// Whether a language is text that a terminal can take.
#[must_use]
pub fn is_text(language: Language) -> bool {
    language != Language::Format(Format::Raw)
}

/// Whether a job holds more than instructions.
fn has_more(job: &Job) -> bool {
    let alone = Job::from_program(r500_program::Program::from_code(job.program.code.clone()));
    let named = Job { name: job.name.clone(), origin: job.origin.clone(), ..alone };
    *job != named
}
