//! The r500 library for C: programs, checks and drawings as opaque handles.
//!
//! The functions have the names of `include/r500.h`, which cbindgen makes of this crate (`tests/header.rs` verifies it,
//! `BLESS=1` rewrites it). Rules that hold for all of them:
//!
//! - A function that fails returns `NULL`, `false` or 0, and [`r500_last_error`] says what is wrong, on the same thread.
//! - A null pointer is an error, except where a function says what it means.
//! - No panic leaves: `error::guarded` turns it into an error.
//! - A program or drawing may be used by one thread at a time.
//!
//! What C promises about pointers is written once, in `pointers.rs`; the functions in `program.rs` and `drawing.rs` state
//! which of their arguments it concerns.

#![allow(unsafe_code, reason = "functions for C programs, with C's pointers")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract is that of every function here: see `pointers`"
)]

mod drawing;
mod error;
mod pointers;
mod program;

pub use drawing::*;
pub use error::r500_last_error;
pub use program::*;
