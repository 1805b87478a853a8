//! A virtual R500: executes command streams by the rules of the chip.
//!
//! A [`Card`] takes [`Submission`](r500_stream::Submission)s and leaves in their buffers what a Radeon X1300 to X1950 would.
//! One module is one block of the chip, in the order of the pipeline:
//!
//! ```text
//! words ─cp▶ draw ─vap, pvs▶ vertices ─clip▶ polygons ─ga▶ shapes ─su▶ primitives ─sc▶ quads
//!                                        ─rs▶ inputs ─us▶ colours ─fg, zb, rb3d▶ surfaces
//! ```
//!
//! Each block reads its registers once a draw into a plain structure and knows no addresses afterwards. Modules depend on
//! earlier blocks only. Fragment programs run on any [`Engine`](r500_exec::Engine): the quads of a draw are packed into one
//! picture with inputs by pixel and a coverage mask.
//!
//! What documents leave open is a named choice in [`Readings`]. A register that no block implements and that holds a value
//! that would matter is counted in the [`Report`]; nothing is left out without notice. Every loop is bounded by [`Limits`];
//! no input makes the card panic or touch memory outside its buffers.
#![forbid(unsafe_code)]

mod card;
mod clip;
mod cp;
mod fg;
mod fog;
mod ga;
mod limits;
mod pvs;
mod rb3d;
mod reading;
mod recording;
mod report;
mod rs;
mod sc;
mod su;
mod surface;
mod target_picture;
mod tx;
mod us;
mod vap;
mod zb;

pub use card::Card;
pub use limits::{CardError, Limits};
pub use reading::{ReadingError, ReadingInfo, Readings};
pub use recording::DrawJob;
pub use report::{Note, Report, Statistics};
pub use target_picture::TargetPicture;
