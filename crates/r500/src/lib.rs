//! Reading, checking, running and displaying fragment programs of the Radeon R500 (X1000 series).
//!
//! The library re-exports the other crates, with modules of some of them by their own names: [`picture`]s and [`texture`]s from files
//! and [image comparison](image_diff), source spans of lints ([`lint`]), editor [`service`]s and explanations of words ([`mod@explain`]),
//! the [`equivalence`] of programs and [expectations](expectation) of a frame, values for [built-in uniforms](builtin_uniforms), debugger
//! [`expression`]s and [`breakpoints`] over the recorded runs of a pixel or [of a vertex](vertex_run).
//! It adds what needs several of them: the [`reader`] and [`writer`] of all formats, the [`optimizer`] with its evidence,
//! [control-flow graphs](mod@cfg) as pictures, values for [missing resources](stand_in), programs as functions of
//! [`rows`] of values, also [as text](row_text), and the [`trace`](mod@trace) of a pixel. The `r500` command (crate `r500-cli`) adds only the terminal.
//!
//! ```
//! use r500::exec::{Bindings, Options, Shader, draw, reference::Reference};
//! use r500::picture::{Picture, encode_png};
//!
//! // out[0] = (u, v, 0, 1), as C source.
//! let source = b"0x00078101, 0x00000000, 0x00000080, 0x00db0220, 0x00c18003, 0x00490000,";
//! let jobs = r500::reader::read(source, None, None, &r500::formats::Limits::default())?;
//!
//! let shader = Shader::new(&jobs[0].program)?;
//! let bindings = Bindings::new(&jobs[0], [64, 64])?;
//! let frame = draw(&Reference, &shader, &bindings, &Options::default())?;
//!
//! let picture = Picture::from_colors(frame.width(), frame.target(0).unwrap_or_default());
//! assert_eq!(picture.pixel(63, 0), [253, 253, 0, 255]);
//! let png = encode_png(&picture)?;
//! # assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub use r500_asm as asm;
pub use r500_check as check;
pub use r500_chip as chip;
#[cfg(feature = "glsl")]
pub mod shader_values;
#[cfg(feature = "glsl")]
pub use r500_compile as compile;
pub use r500_debug::{breakpoint, breakpoints, expression, vertex_run};
pub use r500_emit as emit;
pub use r500_equiv as equivalence;
pub use r500_equiv::expectation;
pub use r500_exec as exec;
pub use r500_exec::builtin_uniforms;
pub use r500_fast as fast;
pub use r500_files as files;
pub use r500_formats as formats;
pub use r500_image::{image_diff, picture, texture};
pub use r500_isa as isa;
pub use r500_jit as jit;
pub use r500_opt as opt;
pub use r500_program as program;
pub use r500_pvs as pvs;
pub use r500_service as service;
pub use r500_service::{explain, lint};
pub use r500_text as text;

// The intermediate representation, which the command prints. Not part of the public interface.
#[doc(hidden)]
pub use r500_ir as ir;
pub use r500_lift as lift;

pub mod cfg;
pub mod optimizer;
pub mod reader;
pub mod register_text;
pub mod row_text;
pub mod rows;
pub mod stand_in;
pub mod trace;
pub mod vertex_rows;
pub mod writer;
