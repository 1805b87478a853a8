//! The number rules: what a rounded step, a comparison and a transcendental
//! function give, bit for bit.
//!
//! The R500's rounding is documented only in part, so most of what stands here
//! is a choice. The choices agree with everything documented and with every
//! picture known, are the same on every platform, and cost a SIMD engine next
//! to nothing. This module is the law in scalar Rust: other engines must equal
//! it in every bit.
//!
//! | rule | where | evidence |
//! | --- | --- | --- |
//! | binary32, round to nearest even | [`Arith`] | observed: pictures agree with an IEEE renderer; how the card rounds is open |
//! | multiply-add rounds twice, dot products go from left to right | [`Arith::mad`], [`Arith::dot4`] | observed to the accuracy of a picture, the last bit is open |
//! | quotients (`RCP`, `PROJ`) are correctly rounded, `RSQ` is 1 over the rounded root | [`Arith::div`], [`Arith::rcp`], [`Arith::rsq`] | open |
//! | `OMOD` 0..6 flushes denormals and leaves one NaN | [`finish`] | documented |
//! | comparisons see denormals as zero | [`compare`] | CTM guide |
//! | other arithmetic takes a denormal operand for zero and makes no tiny result | [`Denormals`] | open |
//! | `MIN`, `MAX`, `CND`, `CMP` hand on the bits of what they pick | [`compare`] | CTM guide (formulas), documented (`OMOD` 7 copies bits) |
//! | a zero factor makes a product zero, if `US_CONFIG` says so | [`Arith::product`] | documented; the sign of that zero is open ([`ZeroSign`]) |
//! | clamping takes NaN to 0 | [`Arith::clamp01`] | open ([`ClampNan`]) |
//! | `EX2`, `LN2`, `SIN`, `COS` are fixed polynomials | [`kernels`] | documented only in name; the accuracy of the card is open |
//! | planes of interpolants are evaluated in float32, nothing flushed | [`plane()`] | open |
//!
//! What is open and worth trying against a card is a field of [`Arith`]; the
//! project's own choice is [`Arith::LAW`]. What is documented is no field.
//!
//! **Tiny** is decided after rounding, as if the exponent had no lower end:
//! this is how x86 decides with flush-to-zero set, so an engine may simply set
//! that flag (and denormals-are-zero). It differs from "round to float, then
//! flush denormals" for products just below 2^-126; see [`Arith::mul`].
//!
//! **NaN.** Which NaN an operation makes is unspecified and nothing can depend
//! on it: [`finish`] and every write to a target make it [`CANONICAL_NAN`].

mod arith;
pub mod codec;
pub mod compare;
pub mod kernels;
mod plane;
mod special;

pub use arith::{Arith, ClampNan, Denormals, ZeroSign, finish};
pub use plane::{centre, plane};
pub use special::{CANONICAL_NAN, canonical_nan, flush};
