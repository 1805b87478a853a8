//! Data types of R500 fragment programs and of the jobs that draw pictures with them.
//!
//! A [`Program`] holds instructions (any number of any dwords) and the [`State`] that belongs to
//! them. A [`Job`] adds inputs, textures, the picture size and expected results. Readers create
//! jobs, engines run them, printers write them. [`CodeWindow`] computes which instructions can run.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

/// Default limit of instructions that readers accept (65,536): 128 times the processor's
/// instruction memory, and the number of distinct 16-bit addresses.
pub const MAX_INSTRUCTIONS: usize = 1 << 16;

mod compilation;
mod executable;
mod expect;
mod input;
mod job;
mod live;
mod state;
mod texture;
mod window;

pub use compilation::{
    Channel, Compilation, DriverState, Failure, Limit, Outcome, Resource, Sampler, SamplerTarget,
    UnknownChannel,
};
pub use executable::Executable;
pub use expect::{Compare, Expect, PixelColor};
pub use input::{Component, Input, InputData, Plane};
pub use job::{Job, LeftOut, Uniform};
pub use live::{LiveSource, LiveTexture};
pub use state::{OUT_FMT_RGBA8, Program, State};
pub use texture::{Level, Texture};
pub use window::{CodeWindow, WindowError};
