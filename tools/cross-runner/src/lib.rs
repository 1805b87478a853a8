//! Digests of the drawings of engines, to compare two processors.
//!
//! The same code runs natively, under an emulator (both as the command `cross-runner`) and in WebAssembly (the
//! functions of `wasm`, called by `host.mjs`). It answers a [`request`] with lines of JSON, one
//! [`Digest`](digest::Digest) per drawing. If the lines are equal, the pictures are equal bit by bit.

pub mod digest;
pub mod request;

mod generated;
#[cfg(target_family = "wasm")]
mod wasm;
