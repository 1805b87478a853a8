//! Random R500 programs for tests, fuzz targets and benchmarks.
//!
//! | | content | use |
//! | --- | --- | --- |
//! | [`Case::generate`] | a structured program ([`Tree`]) and its input pixels | tests with known results |
//! | [`Tree::lower`] | the instructions of a tree | |
//! | [`oracle`] | the expected result of each pixel, from the tree alone | |
//! | [`shrink()`] | the smallest case that still fails | failure messages |
//! | [`mutate()`] | a job with textures, planes and changed fields added | comparing two engines |
//! | [`raw_programs`] | dwords, uniform or near-valid, with random state | properties of all programs |
//! | [`glsl`] | GLSL without errors | comparing a compiler with an evaluator |
//! | [`vertex_programs`] | vertex programs | comparing programs before and after a change |
//! | [`packets`] | dwords of command streams, near-valid | properties of all streams |
//! | [`number`] | floats with edge cases | any test |
//!
//! All choices come from a [`Choices`]: a seed ([`Rng`]) or a fuzzer's bytes ([`Bytes`]). Equal choices give equal
//! results.
//!
//! ```
//! use r500_gen::{Case, Rng, Shape, shrink};
//!
//! # fn agrees(_: &r500_program::Job) -> bool { true }
//! for seed in 0..10 {
//!     let case = Case::generate(&mut Rng::new(seed), &Shape::default());
//!     // The job carries the oracle's results; `agrees` runs an engine and compares.
//!     if !agrees(&case.job("generated")) {
//!         let small = shrink(&case, |case| !agrees(&case.job("generated")));
//!         panic!("seed {seed}:\n{small}");
//!     }
//! }
//! ```
#![forbid(unsafe_code)]

pub mod glsl;
pub mod oracle;
pub mod packets;
pub mod raw_programs;
pub mod tree;
pub mod vertex_programs;

mod case;
mod choices;
mod generate;
mod job;
mod mutate;
mod shrink;

pub use case::{Case, Picture, PixelInput};
pub use choices::{Bytes, Choices, Rng};
pub use generate::{Shape, number};
pub use mutate::{forget_waits, mutate};
pub use shrink::shrink;
pub use tree::Tree;
