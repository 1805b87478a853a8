//! Number codecs: what a component of a texel, of a colour in memory or of a depth value means.
//!
//! Textures decode with these and render targets encode with these, so that what a target stores
//! reads back as the same number. Every function here is total (any bits, any float) and works in
//! integers or in steps that IEEE defines to the bit: the same on every platform, whatever its
//! mathematics library.
//!
//! | codec | numbers | evidence |
//! | --- | --- | --- |
//! | [`fixed`] | n bits for 0..1 or -1..1 | documented ranges; rounding: what D3D9 asks of hardware |
//! | [`half`] | float16, "S10E5" | documented |
//! | [`w24`] | 24-bit float that sorts like an integer | documented to exist; its layout is this project's choice |
//! | [`srgb`] | the sRGB curve | documented as "gamma"; that it is sRGB's is observed for textures, a choice for targets |
//!
//! Everywhere NaN has one form: what cannot hold it stores 0, and a float format stores or returns
//! its one [canonical NaN](crate::CANONICAL_NAN).

pub mod fixed;
pub mod half;
pub mod srgb;
pub mod w24;

mod minifloat;
mod round;
