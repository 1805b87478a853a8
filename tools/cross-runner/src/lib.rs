//! What an engine draws, as digests that two processors can compare.
//!
//! The same code runs natively, under an emulator (both as the command `cross-runner`) and in
//! WebAssembly (the functions of `wasm`, called by `host.mjs`): it answers a [`request`] with lines of
//! JSON, one [`Digest`](digest::Digest) a drawing. Where the lines agree, so do the pictures, bit for bit.

pub mod digest;
pub mod request;

mod generated;
#[cfg(target_family = "wasm")]
mod wasm;
