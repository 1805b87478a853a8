//! Number codecs: the formats of components of texels, of colours in memory and of depth values.
//!
//! Textures decode and render targets encode with the same codecs, so that a stored number reads back unchanged.
//! Every function is total (any bits, any float) and works in integers or in operations that IEEE defines to the
//! bit, so that results do not depend on the platform or its mathematics library.
//!
//! | codec | numbers | evidence |
//! | --- | --- | --- |
//! | [`fixed`] | n bits for 0..1 or -1..1 | documented ranges; rounding: as D3D9 requires of hardware |
//! | [`half`] | float16, "S10E5" | documented |
//! | [`w24`] | 24-bit float that sorts like an integer | documented to exist; its layout is this project's choice |
//! | [`srgb`] | the sRGB curve | documented as "gamma"; that it is sRGB's is observed for textures, a choice for targets |
//!
//! Every NaN is canonical: a format without NaN stores 0, a float format stores and returns its
//! [canonical NaN](crate::CANONICAL_NAN).

pub mod fixed;
pub mod half;
pub mod srgb;
pub mod w24;

mod minifloat;
mod round;
