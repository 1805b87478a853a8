//! R500 command streams: submissions to the card, and captures of them.
//!
//! A [`Submission`] is an indirect buffer of PM4 dwords with the [`Buffer`] objects that it uses. [`packets`] splits
//! it, [`StreamWriter`] builds one, and a [`CommandProcessor`] tracks the registers and programs that packets set. A
//! [`capture`] stores the submissions of a program run with the contents of their buffers, for inspection and replay.
//!
//! This crate draws nothing.
#![forbid(unsafe_code)]

mod buffer;
pub mod capture;
mod chip;
mod chunk;
mod deadline;
mod draw_summary;
mod error;
mod frame;
pub mod kernel;
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
pub use chunk::{ChunkError, ChunkKind};
pub use deadline::OutOfTime;
pub use draw_summary::{DrawSummary, TargetSummary, TextureSummary};
pub use error::{RelocationTarget, StreamError, StreamErrorKind};
pub use frame::{FrameError, MAX_SIDE, PixelFormat, frame_rgb};
pub use memories::{PvsMemory, UsMemory};
pub use packet::{Packet, Packets, StreamWriter, Truncated, packets};
pub use processor::{
    Binding, BoundArray, BufferUse, CommandProcessor, DrawCall, Effect, Indices, State,
    takes_buffer,
};
pub use r500_text::counted;
pub use registers::RegisterFile;
pub use statistics::{Draws, Statistics};
pub use submission::{Relocation, Submission, Tiling};
