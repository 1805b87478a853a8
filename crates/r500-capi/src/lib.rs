//! The r500 library for C: programs, drawings, the virtual card and captures as opaque handles.
//!
//! The functions have the names in `include/r500.h`, which cbindgen generates from this crate (`tests/header.rs` verifies it, `BLESS=1`
//! rewrites it). Rules for all functions:
//!
//! - A function that fails returns `NULL`, `false` or 0, and [`r500_last_error`] and [`r500_last_error_code`] return the
//!   reason, on the same thread.
//! - A null pointer is an error, unless the function defines its meaning.
//! - No panic crosses the boundary: `error::guarded` turns it into an error.
//! - A program may be read by any number of threads. A drawing, a card and a capture belong to one thread at a time: a call
//!   fails while another uses it.
//! - What a function of this library returned is freed by the function of its type, once (`handle.rs`, `text.rs`).
//! - In the child of a `fork`, the objects of the parent can be used.
//!
//! The contract for pointers is stated once, in `pointers.rs`; the functions of all modules refer to it.

#![allow(unsafe_code, reason = "functions for C programs, with C's pointers")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract is that of every function here: see `pointers`"
)]

mod capture;
mod card;
mod compare;
mod drawing;
mod error;
mod handle;
mod pointers;
mod program;
mod shader;
mod text;
mod version;

pub use capture::*;
pub use card::*;
pub use compare::*;
pub use drawing::*;
pub use error::*;
pub use program::*;
pub use shader::*;
pub use version::*;
