//! What Mesa's r300 driver makes of GLSL, observed on the virtual card.
//!
//! The driver has no interface that answers this. So a process compiles and links a pair of shaders by OpenGL and draws with
//! them ([`client`]), on the virtual card, which records what is submitted. The driver prints the compilation (`RADEON_DEBUG=fp,vp`).
//! From both [`Compiled`] is read: the programs are the words of the draw; the log says what constants mean, and why a program is
//! missing.
//!
//! Names are found by experiment. Each component of a uniform has a number of its own, and other numbers in a second draw; a channel
//! of a constant that has the numbers of a component in both draws holds it. Textures of different sizes show which unit a sampler is.
//!
//! | module | content |
//! | --- | --- |
//! | [`shader`] | shaders as people have them; the stage that is missing |
//! | [`request`] | what the client is asked and answers |
//! | [`client`] | the client: OpenGL by EGL (Linux) |
//! | [`compiled`] | programs with names, from the capture, the log and the answer |
//! | [`messages`] | errors of Mesa's GLSL compiler, with their places |
#![deny(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod client;
pub mod compiled;
mod interface_names;
pub mod messages;
mod names;
pub mod request;
pub mod shader;

pub use compiled::Compiled;
pub use shader::{ShaderPair, Stage};
