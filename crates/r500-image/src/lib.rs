//! Pictures and textures of R500 programs: files, formats, comparison.
//!
//! A [`Picture`](picture::Picture) is what a frame looks like, in 8 bits a channel; [`picture`] also writes PNG, EXR and GIF files. A
//! [`texture`] is a job's texture from a description: a file (PNG, DDS, KTX2), or a pattern. [`image_diff`] compares pictures with a tolerance.
#![forbid(unsafe_code)]

pub mod image_diff;
pub mod picture;
pub mod texture;
