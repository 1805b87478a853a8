//! R500 command streams: what a program submits to the card, and captures of it.
//!
//! A [`Submission`] is an indirect buffer of PM4 dwords with the [`Buffer`] objects that it names. [`packets`] splits it,
//! [`StreamWriter`] makes one, and a [`CommandProcessor`] keeps the registers and programs that packets set.
//! A [`capture`] keeps the submissions of a run of a program with the contents of their buffers, so
//! that they can be read and executed again.
//!
//! Nothing is drawn here.
#![forbid(unsafe_code)]

mod buffer;
pub mod capture;
mod chip;
mod counted;
mod draw_summary;
mod error;
mod frame;
mod memories;
mod packet;
mod port_draw;
mod processor;
mod registers;
mod statistics;
mod submission;
pub mod text;
mod vertex_program;

pub use buffer::{Buffer, BufferId, Memory};
pub use chip::{Chip, UnknownChip};
pub use counted::counted;
pub use draw_summary::{DrawSummary, TargetSummary, TextureSummary};
pub use error::{RelocationTarget, StreamError, StreamErrorKind};
pub use frame::{PixelFormat, frame_rgb};
pub use memories::{PvsMemory, UsMemory};
pub use packet::{Packet, Packets, StreamWriter, Truncated, packets};
pub use processor::{Binding, BoundArray, CommandProcessor, DrawCall, Effect, Indices, State};
pub use registers::RegisterFile;
pub use statistics::{Draws, Statistics};
pub use submission::{Relocation, Submission, Tiling};
pub use vertex_program::{Flow, VertexFinding, VertexFindingKind, VertexProgram};
