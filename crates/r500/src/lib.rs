//! Read, check, run and see fragment programs of the Radeon R500 (X1000 series).
//!
//! This crate is the front door: it re-exports the crates that do the work, picks the [`reader`] for
//! any input, knows where the checker's findings stand in a source ([`lint`]), answers what editors ask ([`service`]), and holds what touches
//! files: [`picture`]s, [`texture`]s from outside, the
//! [comparison](compare) of pictures, their programs' [`flow`], the [`verdict`] over a frame, what debuggers ask as text
//! ([`expression`]), and whether two programs are
//! [`equal`] in what they compute. The `r500` command is built on
//! it and adds nothing but the terminal.
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
pub use r500_exec as exec;
pub use r500_fast as fast;
pub use r500_formats as formats;
pub use r500_ir as ir;
pub use r500_isa as isa;
pub use r500_jit as jit;
pub use r500_program as program;

pub mod cfg;
pub mod equivalence;
pub mod expectation;
pub mod explain;
pub mod expression;
pub mod image_diff;
pub mod lint;
pub mod picture;
pub mod reader;
pub mod service;
pub mod texture;
pub mod writer;
