//! Execution of R500 fragment programs: the interface of engines, and the reference engine.
//!
//! A [`Program`](r500_program::Program) is decoded once into a [`Shader`]; [`Bindings`] hold the data it reads
//! (constants, inputs, textures, coverage); an [`Engine`] runs the shader over the pixels of a [`Frame`]:
//! colours A to D, depth, coverage and counters, as the program wrote them. [`output`] converts these to the
//! bytes that the card would store.
//!
//! The [reference engine](mod@reference) defines the semantics: one place for each rule, each with its
//! evidence. Where the documents leave a rule open, the choice has a name in [`Readings`] and can be changed.
//! It steps one instruction at a time ([`reference::Group`]), so that a tracer or debugger can observe any
//! pixel; [`record`] stores such a run for stepping forward and backward.
//!
//! This crate uses the texture unit and the arithmetic; it depends on no other engine and no intermediate
//! representation, and handles neither text nor files.
//!
//! ```
//! use r500_exec::{Bindings, Options, Shader, draw, reference::Reference};
//! use r500_isa::Instruction;
//! use r500_program::{Job, Program};
//!
//! // OUT : out[0].rgb = MAD src0.rgb src0.111 src0.000, out[0].a = MAX src0.1 src0.1, LAST
//! let code = vec![Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000])];
//! let job = Job::from_program(Program::from_code(code));
//!
//! let shader = Shader::new(&job.program)?;
//! let bindings = Bindings::new(&job, [64, 64])?;
//! let frame = draw(&Reference, &shader, &bindings, &Options::default())?;
//!
//! // Without other inputs, temporary 0 holds (u, v, 0, 1): the first pixel is at (1/128, 1/128).
//! assert_eq!(frame.color(0, 0, 0), [1.0 / 128.0, 1.0 / 128.0, 0.0, 1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod builtin_uniforms;
pub mod live_textures;
pub mod output;
pub mod process;
pub mod reading;
pub mod record;
pub mod reference;

pub use r500_numerics as numerics;
pub use r500_texture as texture;

mod affecting;
mod available;
mod binding_kinds;
mod bindings;
mod draw;
mod draw_key;
mod drawing;
mod engine;
mod engine_name;
mod error;
mod frame;
mod options;
mod parallel;
#[cfg(not(target_family = "wasm"))]
mod pool;
mod quad_drawing;
mod quads;
mod rect;
mod shader;
mod strips;
mod surface;
mod warning;

pub use affecting::AffectedInstruction;
pub use bindings::{BindError, Bindings};
pub use drawing::{BandPainter, Drawing};
pub use engine::{Engine, Fallback, ProgramUse, draw, draw_into};
pub use engine_name::{EngineName, UnknownEngine};
pub use error::RunError;
pub use frame::{AnotherEngine, Band, BandStats, Bands, Counters, Frame, Pixel, PixelOut, RunInfo};
pub use options::{Cancel, Limits, Options};
pub use quad_drawing::QuadDrawing;
pub use quads::{GROUP_QUADS, Lanes, QuadPixels, QuadStream};
pub use reading::Readings;
pub use rect::PixelRect;
pub use shader::{Shader, ShaderError};
pub use strips::{StripOrder, Strips};
pub use surface::{ColorSurface, Plane, Surfaces};
pub use warning::{RuntimeWarning, RuntimeWarnings, WarningKind};

// Interfaces between this project's engines: not for embedders.
#[doc(hidden)]
pub use affecting::ControlFlow;
#[doc(hidden)]
pub use binding_kinds::{BindingKinds, GroupKind};
#[doc(hidden)]
pub use draw::Draw;
#[doc(hidden)]
pub use draw_key::DrawKey;
#[doc(hidden)]
pub use engine::{PreparedDraw, SurfacePainter};
#[doc(hidden)]
pub use options::GROUP;
#[doc(hidden)]
pub use parallel::{fan_out, task_count};
#[doc(hidden)]
pub use quads::{FallbackQuads, PreparedQuads, repeat_last};
#[doc(hidden)]
pub use reference::quads::{QuadGroup, ReferenceQuads};
#[doc(hidden)]
pub use shader::{Alu, AluHalf, Dest, Fc, Op, Predicate, ProgramKey, Tex, TexReg};
