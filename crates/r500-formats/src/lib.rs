//! Readers and writers of the file formats of R500 programs: raw dwords, C arrays, hex text, JSON
//! captures and cases, and the log of the driver that compiled them.
//!
//! [`detect`] recognises the [`Format`] of an input from its content. [`read`] returns its [jobs](r500_program::Job),
//! [`Jobs`] iterates over them, and [`write()`] writes one. Only JSON stores all of a job ([`Format::holds_jobs`]),
//! without loss.
//!
//! Inputs are untrusted: none causes a panic, every length is checked, and [`Limits`] bound the data that is read,
//! decompressed or stored. A [`ReadError`] states the problem, its position and a remedy.
//!
//! [`Finder`] finds programs in bytes of any kind.
//!
//! Assembly is a language of its own, in a separate crate.
#![forbid(unsafe_code)]

mod byte_order;
mod c_array;
mod cursor;
mod detect;
mod dump;
mod dword_program;
mod dwords;
mod error;
mod excerpt;
mod find;
mod foreign;
mod format;
mod gzip;
mod head_text;
mod hex;
pub mod json;
mod limits;
mod lines;
mod mesa_log;
mod raw;
mod read;
mod vertex;
mod write;

pub use detect::detect;
pub use dump::is_dump;
pub use dword_program::{ByteOrder, DwordOptions};
pub use dwords::dwords_of_text;
pub use error::{InputLocation, ReadError, ReadErrorKind, WriteError};
pub use find::{Alignment, FindOptions, Finder, Findings, Found, FoundKind};
pub use foreign::{CAPTURE, ForeignKind, VERTEX_PROGRAM, file_kind, is_vertex_program};
pub use format::{Format, UnknownFormat};
pub use limits::Limits;
pub use mesa_log::{LogEntries, LogEntry, VertexProgram};
pub use read::{Jobs, decompressed, read};
pub use vertex::{vertex_program, vertex_program_with, write_vertex_program};
pub use write::{write, write_all};
