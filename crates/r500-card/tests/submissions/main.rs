//! Hand-written submissions: from command streams to bytes in buffers.
#![allow(clippy::unwrap_used, clippy::panic, clippy::precedence)]

mod depth;
mod fog;
mod fragments;
mod limits;
mod paths;
mod raster;
mod stream;
mod unmodelled;
mod vertices;
