//! Output formats: colours and depth as the fragment processor passes them on.
//!
//! A program ends with float colours for targets A to D and a float depth. `US_OUT_FMT` and `US_W_FMT` define
//! the stored form; [`color`] and [`depth`] convert one pixel at a time.
//!
//! After the fragment processor the card has a blend unit and a depth unit with formats of their own
//! (`RB3D_COLORPITCH`, `ZB_FORMAT`), which are not part of a program's state. This module stores the
//! processor's output in memory of exactly that size, little-endian, without the effects of those units:
//! blending, dithering, tiling, reduced widths.

pub mod color;
pub mod depth;
