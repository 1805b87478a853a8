//! R500 command streams: what a program submits to the card, and captures of it.
//!
//! A [`Submission`] is an indirect buffer of PM4 dwords with the [`Buffer`] objects that it names.
//! A [`capture`] keeps the submissions of a run of a program with the contents of their buffers, so
//! that they can be read and executed again.
//!
//! Nothing is executed here.
#![forbid(unsafe_code)]

mod buffer;
pub mod capture;
mod chip;
mod submission;

pub use buffer::{Buffer, BufferId, Memory};
pub use chip::{Chip, UnknownChip};
pub use submission::{Relocation, Submission, Tiling};
