//! Writing of jobs in any output format.

use std::path::Path;

use r500_asm::{PrintOptions, TextureFile};
use r500_formats::Format;
use r500_program::Job;

use crate::reader::Language;

/// A written job.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The program.
    pub bytes: Vec<u8>,
    /// Files that it refers to, to be stored in the same folder.
    pub files: Vec<TextureFile>,
    /// Whether the format contains the program only, and the job has more.
    pub lost: bool,
    /// Whether a job has textures that change from picture to picture, which the format does not hold: they are 0 in it.
    pub lost_live: bool,
}

/// Why jobs cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// GLSL, which [`crate::emit`] writes.
    #[error("GLSL is compiled, not written, in this place")]
    Glsl,
    /// A format and what it cannot store.
    #[error(transparent)]
    Format(#[from] r500_formats::WriteError),
    /// Several programs in one source.
    #[error("{0} programs for an assembly source, which holds one")]
    OneSource(usize),
}

/// Returns the format of a file name's extension; `None` if it is unknown.
#[must_use]
pub fn language_of(path: &Path) -> Option<Language> {
    let extension = path.extension()?.to_str()?;
    extension.parse().ok()
}

/// Writes a job. `options` applies to assembly; its texture files are named after their prefix.
///
/// # Errors
/// [`WriteError`] if there is no writer for the format.
pub fn write(job: &Job, language: Language, options: &PrintOptions) -> Result<Written, WriteError> {
    write_all(std::slice::from_ref(job), language, options)
}

/// Writes jobs. Only JSON (a list) and JSON lines hold several.
///
/// # Errors
/// As [`write()`], and if the format cannot hold several jobs.
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
            let bytes = printed.text.into_bytes();
            Ok(Written { bytes, files: printed.files, ..Written::default() })
        }
        Language::Glsl => Err(WriteError::Glsl),
        Language::Format(format) => {
            let mut bytes = Vec::new();
            r500_formats::write_all(jobs, format, &mut bytes)?;
            let lost = !format.holds_jobs() && jobs.iter().any(has_more);
            let lost_live = format.holds_jobs() && jobs.iter().any(|job| !job.live.is_empty());
            Ok(Written { bytes, files: Vec::new(), lost, lost_live })
        }
    }
}

/// Returns whether a format is text, for display in a terminal.
#[must_use]
pub fn is_text(language: Language) -> bool {
    language != Language::Format(Format::Raw)
}

/// Returns whether a job has more than instructions.
fn has_more(job: &Job) -> bool {
    let alone = Job::from_program(r500_program::Program::from_code(job.program.code.clone()));
    let named =
        Job { name: job.name.clone(), origin: job.origin.clone(), left_out: job.left_out, ..alone };
    *job != named
}
