//! What leaves the machine: colours and depth as the card would store them.
//!
//! A program ends with float colours for targets A to D and a float depth. `US_OUT_FMT` and
//! `US_W_FMT` say what becomes of them on the way to memory; [`color`] and [`depth`] do that, one
//! pixel at a time.
//!
//! Behind the processor the card has a blend unit and a depth unit with formats of their own
//! (`RB3D_COLORPITCH`, `ZB_FORMAT`), which are no part of a program's state. This module stores what
//! the processor hands them, as memory with room for exactly that would hold it, little-endian, and
//! models nothing that those units add: blending, dithering, tiling, reduced widths.

pub mod color;
pub mod depth;
