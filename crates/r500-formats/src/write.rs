//! Writing of jobs in any format with a writer.

use std::io::Write;

use r500_program::Job;

use crate::{Format, WriteError, c_array, hex, json, raw};

/// Writes a job. A format that does not [hold jobs](Format::holds_jobs) stores only its instructions.
///
/// # Errors
///
/// If the output fails, or the format has no writer.
///
/// ```
/// use r500_formats::{Format, Limits, read, write};
///
/// let job = &read(b"0x1, 0x2, 0x3, 0x4, 0x5, 0x6", None, &Limits::default())?[0];
/// let mut text = Vec::new();
/// write(job, Format::Hex, &mut text)?;
/// assert_eq!(text, b"00000001 00000002 00000003 00000004 00000005 00000006\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write(job: &Job, format: Format, mut out: impl Write) -> Result<(), WriteError> {
    let code = &job.program.code;
    let out = &mut out;
    match format {
        Format::Raw => raw::write(code, out)?,
        Format::CArray => c_array::write(code, out)?,
        Format::Hex => hex::write(code, out)?,
        Format::Json => json::write(job, out)?,
        Format::JsonLines => json::write_line(job, out)?,
        Format::MesaLog => return Err(WriteError::ReadOnly(format)),
    }
    Ok(())
}

/// Writes several jobs to one file: a JSON list, or JSON lines. Other formats hold one.
///
/// # Errors
///
/// As [`write()`]; and if there is not exactly one job for a format that holds one.
pub fn write_all(jobs: &[Job], format: Format, mut out: impl Write) -> Result<(), WriteError> {
    match (format, jobs) {
        (Format::JsonLines, _) => jobs.iter().try_for_each(|job| write(job, format, &mut out)),
        (_, [job]) => write(job, format, out),
        (Format::Json, _) => Ok(json::write_list(jobs, &mut out)?),
        _ => Err(WriteError::OneOnly(format, jobs.len())),
    }
}
