//! The libraries for a page in the browser.
//!
//! A [`Session`] takes a [`Request`] (JSON) with attached bytes, and gives an answer (JSON), which may
//! point to bytes that the session keeps until the next request. Compiled to WebAssembly, `abi` is what
//! the page's workers call; everything else is plain Rust, and is tested as such.
//!
//! | module | what it answers |
//! | --- | --- |
//! | [`request`] | the requests themselves |
//! | [`document`] | a source with the files it names, assembled; places in it as the page counts them |
//! | [`open`] | any format to sources |
//! | [`expect`] | whether the picture is as `EXPECT` directives say |
//! | [`compare`] | two programs, their pictures and where they part |
//! | [`look`] | how values become the picture that is shown |
//! | [`analysis`] | diagnostics, instructions, constants, numbers about a program |
//! | [`language`] | what a word means, and what may stand at a place |
//! | [`encoding`] | an instruction bit by bit, and what changing a field makes of its source |
//! | `optimize` | a shorter program, its cost and the evidence for it |
//! | [`edit`] | changing a constant or a texture in the source |
//! | [`picture`] | rows of the picture, their raw values, what their pixels do |
//! | [`step`] | a pixel's recorded run, in either direction |
//! | [`area`] | what the pixels of areas do |

#[cfg(target_arch = "wasm32")]
mod abi;
pub mod analysis;
pub mod area;
pub mod bytes;
pub mod compare;
pub mod document;
pub mod edit;
pub mod encoding;
pub mod expect;
pub mod language;
pub mod look;
pub mod open;
#[cfg(feature = "optimizer")]
pub mod optimize;
pub mod picture;
pub mod request;
pub mod step;
#[cfg(all(test, feature = "optimizer"))]
mod typescript;

pub use request::{Request, Session};
