//! What an R500 fragment program is, and what drawing a picture with it takes: data only.
//!
//! [`Program`] is the instructions, any dwords at all and any number of them, with the state that
//! travels with them ([`State`]). [`Job`] adds what a picture needs: inputs, textures, size, and
//! what the picture is expected to show. Readers make jobs, engines run them, writers print them;
//! nothing here decides anything.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod expect;
mod input;
mod job;
mod state;
mod texture;
mod window;

pub use expect::{Compare, Expect, PixelColor};
pub use input::{Component, Input, InputData, Plane};
pub use job::{Job, Uniform};
pub use state::{OUT_FMT_RGBA8, Program, State};
pub use texture::{Level, Texture};
pub use window::{CodeWindow, WindowError};
