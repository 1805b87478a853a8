//! The interface of the libraries to a page in the browser.
//!
//! A [`Session`] takes a [`Request`] (JSON) with attached bytes and returns an answer (JSON), which may refer to bytes
//! that the session keeps until the next request. In WebAssembly, `abi` has the functions that the page's workers call;
//! all other modules are plain Rust with ordinary tests.
//!
//! | module | subject |
//! | --- | --- |
//! | [`request`] | the requests |
//! | [`document`] | a source, assembled with the files that it names; positions in UTF-16 units |
//! | [`open`] | conversion of other formats to sources |
//! | `text_kind` | what a text is that is not a program |
//! | [`expect`] | evaluation of `EXPECT` directives |
//! | [`compare`] | comparison of two programs and their pictures |
//! | [`look`] | the display transform of values |
//! | [`analysis`] | diagnostics, instructions, constants, statistics |
//! | [`language`] | editor services: meanings, completion, definitions, renaming, formatting |
//! | [`encoding`] | the fields of an instruction, and their changes in the source |
//! | `optimize` | the optimised program, its cost and the evidence |
//! | `capture` | captures of command streams: their draws |
//! | `scene` | scenes: their picture on the virtual card, and the runs of its pixels |
//! | `shader` | compilation of GLSL: the program, the lines that each instruction computes, costs, limits |
//! | `on_demand` | the session of the module that has the optimiser, the compiler of GLSL and the virtual card |
//! | [`edit`] | changes of constants and textures in the source |
//! | [`picture`] | rows of the picture and their raw values |
//! | [`gpu`] | the program as a shader for the browser's GPU |
//! | `operands` | the operands of an instruction in words |
//! | [`step`] | the recorded run of a pixel |
//! | [`area`] | queries over areas of pixels |

#[cfg(not(any(feature = "page", feature = "optimizer")))]
compile_error!("a module without the features `page` and `optimizer` would answer nothing");

#[cfg(target_arch = "wasm32")]
mod abi;
pub mod analysis;
pub mod area;
pub mod bytes;
#[cfg(feature = "optimizer")]
pub mod capture;
pub mod compare;
pub mod document;
pub mod edit;
pub mod encoding;
pub mod expect;
pub mod gpu;
pub mod language;
pub mod look;
pub mod message;
#[cfg(feature = "optimizer")]
pub mod on_demand;
pub mod open;
mod operands;
#[cfg(feature = "optimizer")]
pub mod optimize;
pub mod picture;
pub mod request;
#[cfg(feature = "optimizer")]
pub mod scene;
#[cfg(feature = "optimizer")]
pub mod shader;
pub mod step;
mod text_kind;
#[cfg(all(test, feature = "optimizer"))]
mod typescript;

pub use request::{Request, Session};
