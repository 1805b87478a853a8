//! Readers and writers of the file formats of R500 programs: raw dwords, C arrays, hex text, JSON
//! captures and cases, and the log of the driver that compiled them.
//!
//! [`detect`] recognises the [`Format`] of an input from its content. [`read`] gives the
//! [jobs](r500_program::Job) that it holds, [`Jobs`] gives them one at a time, and [`write()`]
//! writes one. A format loses what it cannot hold: only JSON holds whole jobs
//! ([`Format::holds_jobs`]), and gives back exactly what was written.
//!
//! Inputs are not trusted: nothing in them panics, every length is checked, and [`Limits`] bound
//! what is read, decompressed or held. A [`ReadError`] states the problem, its position and a
//! remedy.
//!
//! Assembly is not read here: it is a language of its own, in a crate of its own.
#![forbid(unsafe_code)]

mod c_array;
mod cursor;
mod detect;
mod error;
mod excerpt;
mod foreign;
mod format;
mod gzip;
mod hex;
pub mod json;
mod limits;
mod lines;
mod mesa_log;
mod raw;
mod read;
mod write;

pub use detect::detect;
pub use error::{Place, ReadError, ReadErrorKind, WriteError};
pub use foreign::{file_kind, is_vertex_program};
pub use format::{Format, UnknownFormat};
pub use limits::Limits;
pub use read::{Jobs, read};
pub use write::{write, write_all};
