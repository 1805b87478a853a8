//! The capture container, `.r5cs`: the submissions of a program, with the contents of their buffers.
//!
//! ```text
//! file    magic (8 bytes) · version u16 · 0 u16 · record …
//! record  tag u8 · encoding u8 (0 plain, 1 deflate) · 0 u16 · stored bytes u32 · bytes u32 ·
//!         CRC-32 of the stored bytes u32 · stored bytes
//! ```
//!
//! All numbers are little-endian. [`Record`] lists the records. Records of an unknown tag are preserved. A file that
//! ends inside a record keeps all records before it, so captures of programs that crash are complete up to the crash.
//!
//! [`Recorder`] writes captures: of the buffers of a submission, only blocks of [`BLOCK_BYTES`] that changed since they
//! were last written. [`Reader`] returns the records, and [`Player`] converts them to submissions, whose results
//! [`Record::Hashes`] checks.

mod error;
mod hash;
mod player;
mod reader;
mod record;
mod recorder;
mod replacement;
mod writer;

pub use error::{CaptureError, CaptureErrorKind};
pub use hash::{BLOCK_BYTES, buffer_hash};
pub use player::{Event, Limits, PlayError, Player};
pub use reader::Reader;
pub use record::{Info, NamedRelocation, Picture, Record};
pub use recorder::Recorder;
pub use replacement::{ReplaceError, Replaced, replace_submission};
pub use writer::Writer;

/// The magic number of a capture. As in PNG, a transfer as text damages it.
pub const MAGIC: [u8; 8] = *b"\x89R5CS\r\n\x1a";

/// The version that [`Writer`] writes; [`Reader`] reads it and all earlier ones.
pub const VERSION: u16 = 1;

/// Returns whether a file begins as a capture does.
pub fn is_capture(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

#[cfg(test)]
mod tests;
