//! Why a capture cannot be read.

use std::io;

/// A capture that cannot be read, or only up to an offset.
#[derive(Debug, thiserror::Error)]
#[error("{kind}, at byte {offset}")]
pub struct CaptureError {
    /// Where the record (or the head of the file) begins.
    pub offset: u64,
    /// What is wrong there.
    #[source]
    pub kind: CaptureErrorKind,
}

/// What is wrong with a capture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureErrorKind {
    /// The file does not begin with [`MAGIC`](super::MAGIC).
    #[error("not a capture: it does not begin with \\x89R5CS")]
    NotACapture,
    /// A version of the future.
    #[error("version {0} of the format; this program reads versions up to {max}", max = super::VERSION)]
    Version(u16),
    /// The stored bytes are not those that were written.
    #[error("damaged record with tag {tag}: the checksum is {found:#010x}, not {stored:#010x}")]
    Checksum {
        /// The record's tag.
        tag: u8,
        /// The checksum that stands in the file.
        stored: u32,
        /// That of the bytes in the file.
        found: u32,
    },
    /// A record of an encoding, or of a length, that no writer makes.
    #[error("record with tag {tag} {what}")]
    Record {
        /// The record's tag.
        tag: u8,
        /// What is wrong, as the end of a sentence.
        what: &'static str,
    },
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}
