//! Compiler of GLSL, and of the assembly languages of OpenGL, to programs of the R500: fragment programs and vertex programs.
//!
//! [`compile`] takes a fragment shader (see [`r500_glsl`] and [`r500_arb`] for the languages) and gives a [`Job`](r500_program::Job): the program,
//! optimised, with the names of its uniforms and inputs; or all errors of the source, or the limit of the chip that it exceeds.
//! [`vertex::compile`] does the same for vertex shaders.
//!
//! # What the results are
//!
//! Operations are computed as written, in order, by the chip's arithmetic: `a / b` is a product with RCP, comparisons are those of a
//! difference with 0 (so that one with NaN is not less), a product that is a term of a sum is one MAD with it, `int` is a float without
//! fraction, exact below 2^24. A product of matrices with a vector begins at the vector. The sign of a zero is open. [`evaluate`] runs the typed tree by the same rules, without any of the
//! compiler's steps.
//!
//! ```text
//! text ─r500_glsl▶ typed tree ─lower▶ operations ─live▶ ─┬─fragment▶ Job
//!                      │                                 └─vertex▶ r500_pvs::Source
//!                      └─────evaluate▶ values, with which both are compared
//! ```
//!
//! | module | textbook name |
//! | --- | --- |
//! | [`language`](self) | which front end reads a source |
//! | [`lower`](self), [`functions`](self), [`matrices`](self) | translation to three-address code; built-in functions as formulas |
//! | [`builder`](self), [`code`](self) | value numbering, constant folding; the code |
//! | [`live`](self) | dead-code elimination |
//! | [`products`](self) | strength reduction of products with numbers |
//! | [`coordinates`](self) | superword-level parallelism: coordinates of two fetches at once |
//! | [`coalesce`](self) | copy coalescing, by interference of components |
//! | [`hoist`](self) | speculation of short branches |
//! | [`fragment`] | back end of the fragment processor |
//! | [`vertex`] | back end of the vertex processor |
#![forbid(unsafe_code)]

mod arithmetic;
mod builder;
mod coalesce;
mod code;
mod comparison;
mod coordinates;
pub mod evaluate;
pub mod fragment;
mod functions;
mod hoist;
mod interface;
mod language;
mod lines;
mod live;
mod lower;
mod matrices;
mod points;
mod products;
pub mod variables;
pub mod vertex;

pub use fragment::{Compiled, compile, compile_draft, compile_tree, verify};
pub use interface::{InputVector, OutputVector, SamplerUnit, UniformVector};
pub use language::{is_assembly, parse, stage_of};
pub use lines::{instructions_of, lines_of};
pub use points::{DebugInfo, PassCounter};
pub use r500_glsl::format::format;
pub use r500_glsl::types::Base;
pub use r500_glsl::{Diagnostic, Fix, Severity, Span, Stage, tree};
