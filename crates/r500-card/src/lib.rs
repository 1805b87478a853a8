//! A virtual R500: executes command streams as the chip does.
//!
//! A [`Card`] executes [`Submission`](r500_stream::Submission)s and changes their buffers as a Radeon X1300 to X1950
//! would. Each module is a block of the chip, in pipeline order:
//!
//! ```text
//! words ─cp▶ draw ─vap▶ vertices ─clip▶ polygons ─ga▶ shapes ─su▶ primitives ─sc▶ quads
//!                                   ─rs▶ inputs ─us▶ colours ─fg, zb, rb3d▶ surfaces
//! ```
//!
//! A [`Host`] is a card with buffers by name and the checks of the kernel's driver; [`Playback`] executes a capture on it.
//!
//! Each block reads its registers once for a draw into a plain structure and does not use addresses afterwards. Modules
//! depend on earlier blocks only. Vertex programs run on [`r500_pvs::Interpreter`]; fragment programs run on any [`Engine`](r500_exec::Engine): the quads of a draw are
//! packed into one picture with inputs by pixel and a coverage mask.
//!
//! Rules that the documents leave open are named choices in [`Readings`]. A register with a value that has an effect
//! but is not implemented is counted in the [`Report`], and so are draws by another engine than the card's: no omission is silent. Every loop is bounded by [`Limits`];
//! no input makes the card panic or access memory outside its buffers.
//!
//! # Example
//!
//! A red triangle, drawn into memory of the caller: an emulator passes its video memory, the mapping of a file, or
//! other atomic dwords. The stream is written as text here; [`StreamWriter`](r500_stream::StreamWriter) builds one from
//! typed registers, and an emulator passes the dwords that its guest wrote.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::AtomicU32;
//!
//! use r500_card::Card;
//! use r500_stream::{Buffer, BufferId, Memory, Relocation, Submission, Tiling};
//!
//! const STREAM: &str = "
//! ## Vertices are in the packet: position in the window and a colour, four floats each; no vertex program, no clipping.
//! VAP_CNTL_STATUS = { PVS_BYPASS }
//! VAP_CLIP_CNTL = { CLIP_DISABLE }
//! VAP_VTE_CNTL = { VTX_XY_FMT, VTX_Z_FMT }
//! VAP_PROG_STREAM_CNTL_0 = { DATA_TYPE_0 FLOAT_4, DATA_TYPE_1 FLOAT_4, DST_VEC_LOC_1 2, LAST_VEC_1 }
//! VAP_PROG_STREAM_CNTL_EXT_0 = 0xf688f688
//! VAP_VTX_SIZE = 8
//! VAP_OUT_VTX_FMT_0 = { VTX_POS_PRESENT, VTX_COLOR_0_PRESENT }
//! GA_COLOR_CONTROL = 0x3aaaa
//! SC_EDGERULE = 0x2da49525
//! SC_SCISSOR1 = { XS1 15, YS1 15 }
//! ## Colour 0 goes to temp[0] of the fragment program, which copies it.
//! RS_COUNT = { IC_COUNT 1 }
//! RS_INST_0 = { COL_CN 1 }
//! US_CODE_ADDR = 0
//! GA_US_VECTOR_INDEX = 0
//! GA_US_VECTOR_DATA <- 0x00078105 0x08020000 0x08020000 0x00440220 0x0060c003 0x00000005
//! ## The target: buffer 0 of the list, 16 pixels a row.
//! US_OUT_FMT_0 = { OUT_FMT C4_8, C0_SEL Blue, C1_SEL Green, C2_SEL Red, C3_SEL Alpha }
//! RB3D_COLOR_CHANNEL_MASK = 15
//! RB3D_COLOROFFSET0 = 0
//! NOP 0
//! RB3D_COLORPITCH0 = { COLORPITCH 8, COLORFORMAT ARGB8888 }
//! ## A triangle.
//! 3D_DRAW_IMMD_2 0x00030034 0.0 0.0 0.0 1.0 1.0 0.0 0.0 1.0
//! + 16.0 0.0 0.0 1.0 1.0 0.0 0.0 1.0
//! + 0.0 16.0 0.0 1.0 1.0 0.0 0.0 1.0
//! ";
//!
//! #[derive(Debug)]
//! struct VideoMemory(Box<[AtomicU32]>);
//!
//! impl Memory for VideoMemory {
//!     fn words(&self) -> &[AtomicU32] {
//!         &self.0
//!     }
//! }
//!
//! let memory = VideoMemory((0..16 * 16).map(|_| AtomicU32::new(0)).collect());
//! let target = Buffer::new(BufferId(0), Arc::new(memory));
//! // What the stream calls buffer 0. Domains are those of the kernel's driver: 4 is the card's own memory.
//! let relocation = Relocation {
//!     buffer: target.clone(),
//!     read_domains: 0,
//!     write_domain: 4,
//!     flags: 0,
//!     tiling: Tiling::default(),
//! };
//! let submission = Submission {
//!     words: r500_stream::text::parse(STREAM).map_err(|errors| errors[0].clone())?,
//!     // Tiles are as the stream says, not as the buffer's owner does.
//!     flags: Submission::KEEP_TILING_FLAGS,
//!     relocations: vec![relocation],
//! };
//!
//! let mut card = Card::new();
//! card.submit(&submission)?;
//! // What was asked and not done as a real card does it.
//! let notes: Vec<String> = card.report().notes().map(|(note, _)| note.to_string()).collect();
//! assert!(notes.is_empty(), "{notes:?}");
//! let pixel = |x: usize, y: usize| target.dword((y * 16 + x) * 4);
//! assert_eq!(pixel(2, 3), 0xffff_0000);
//! assert_eq!(pixel(12, 13), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod batch;
mod card;
mod clip;
mod cp;
mod draw_inputs;
mod draw_time;
mod fg;
mod fog;
mod ga;
mod host;
mod limits;
mod output;
mod playback;
mod quad;
mod rb3d;
mod reading;
mod recording;
mod report;
mod rs;
mod sc;
mod shading;
mod su;
mod surface;
mod target_picture;
mod texture_cache;
mod texture_store;
mod tx;
mod us;
mod vap;
mod varyings;
mod zb;

pub use card::Card;
pub use draw_inputs::DrawInputs;
pub use draw_time::{DrawTime, TimedBlock};
pub use host::{Host, HostError};
pub use limits::{CardError, Limits};
pub use playback::{Frame, Playback, PlaybackError, Played};
pub use reading::{ReadingError, ReadingInfo, Readings};
pub use recording::DrawJob;
pub use report::{EngineChoice, Note, Report, Statistics};
pub use target_picture::TargetPicture;
pub use texture_cache::StaleTexels;
