//! A capture with other dwords in one of its submissions.

use std::io::{self, Read, Write};

use super::{CaptureError, Reader, Record, Writer};

/// What [`replace_submission`] copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced {
    /// Submissions of the capture.
    pub submissions: u64,
    /// Records of hashes that were left out.
    pub hashes: u64,
}

/// Why a capture was not copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceError {
    /// The capture is in error.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The copy cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Copies a capture; submission `number`, from 0, gets other dwords. Relocations are those of the old ones. Hashes from that submission on
/// are left out, as they are of what the old dwords drew. If there is no such submission, copies the capture as it is.
///
/// # Errors
/// The first error of the capture or of the sink.
pub fn replace_submission<R: Read, W: Write>(
    reader: &mut Reader<R>,
    writer: &mut Writer<W>,
    number: u64,
    words: &[u32],
) -> Result<Replaced, ReplaceError> {
    let mut done = Replaced { submissions: 0, hashes: 0 };
    for record in reader {
        let mut record = record?;
        match &mut record {
            Record::Submission { words: old, .. } => {
                if done.submissions == number {
                    *old = words.to_vec();
                }
                done.submissions += 1;
            }
            Record::Hashes(_) if done.submissions > number => {
                done.hashes += 1;
                continue;
            }
            _ => {}
        }
        writer.write(&record)?;
    }
    writer.flush()?;
    Ok(done)
}
