//! Errors of capture files.

use std::io;

/// A capture that cannot be read, or only up to an offset.
#[derive(Debug, thiserror::Error)]
#[error("{kind}, at byte {offset}")]
pub struct CaptureError {
    /// Where the record (or the head of the file) begins.
    pub offset: u64,
    /// The problem.
    #[source]
    pub kind: CaptureErrorKind,
}

/// Kinds of capture errors.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureErrorKind {
    /// The file does not begin with [`MAGIC`](super::MAGIC).
    #[error("not a capture: it does not begin with \\x89R5CS")]
    NotACapture,
    /// A newer version.
    #[error("version {0} of the format; this program reads versions up to {max}", max = super::VERSION)]
    Version(u16),
    /// Stored bytes that do not match their checksum.
    #[error("damaged record with tag {tag}: the checksum is {found:#010x}, not {stored:#010x}")]
    Checksum {
        /// The record's tag.
        tag: u8,
        /// The checksum in the file.
        stored: u32,
        /// The checksum of the bytes in the file.
        found: u32,
    },
    /// A record with an invalid encoding or length.
    #[error("record with tag {tag} {what}")]
    Record {
        /// The record's tag.
        tag: u8,
        /// The problem, as the end of a sentence.
        what: &'static str,
    },
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
}
