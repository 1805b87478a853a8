//! Arithmetic of the R500 fragment processor: rounded operations, comparisons, transcendental functions and
//! number formats, bit for bit.
//!
//! The R500's rounding is documented only in part, so that most rules here are choices. They agree with
//! everything documented and with every known picture, are the same on every platform, and cost a SIMD engine
//! almost nothing. This crate defines the arithmetic in scalar Rust; every engine must equal it in every bit.
//! It uses no other crate.
//!
//! | rule | where | evidence |
//! | --- | --- | --- |
//! | binary32, round to nearest even | [`Arith`] | observed: pictures agree with an IEEE renderer; how the card rounds is open |
//! | multiply-add rounds twice, dot products are summed from left to right | [`Arith::mad`], [`Arith::dot4`] | observed to the accuracy of a picture, the last bit is open |
//! | quotients (`RCP`, `PROJ`) are correctly rounded, `RSQ` is 1 over the rounded root | [`Arith::div`], [`Arith::rcp`], [`Arith::rsq`] | open |
//! | `OMOD` 0..6 flushes denormals and makes every NaN canonical | [`finish`] | documented |
//! | comparisons treat denormals as zero | [`compare`] | CTM guide |
//! | other arithmetic treats a denormal operand as zero and flushes tiny results | [`Denormals`] | open |
//! | `MIN`, `MAX`, `CND`, `CMP` return the bits of the selected operand | [`compare`] | CTM guide (formulas), documented (`OMOD` 7 copies bits) |
//! | a zero factor makes a product zero, if `US_CONFIG` says so | [`Arith::product`] | documented; the sign of that zero is open ([`ZeroSign`]) |
//! | clamping NaN gives 0 | [`Arith::clamp01`] | open ([`ClampNan`]) |
//! | `EX2`, `LN2`, `SIN`, `COS` are fixed polynomials | [`kernels`] | documented only in name; the accuracy of the card is open |
//! | planes of interpolants are evaluated in float32, without flushing | [`plane()`] | open |
//!
//! Open rules worth testing on a card are fields of [`Arith`]; the project's choice is [`Arith::REFERENCE`].
//! Documented rules are not fields.
//!
//! **Tininess** is decided after rounding with an unbounded exponent, as x86 does with flush-to-zero set, so
//! that an engine may set that flag (and denormals-are-zero). It differs from "round to float, then flush
//! denormals" for products just below 2^-126; see [`Arith::mul`].
//!
//! **NaN.** Which NaN an operation returns is unspecified, and no result depends on it: [`finish`] and every
//! write to a target convert it to [`CANONICAL_NAN`].

mod arith;
#[doc(hidden)] // for engines and code generators of this project
pub mod branchless;
pub mod codec;
pub mod compare;
mod decimal;
pub mod kernels;
mod plane;
mod special;

pub use arith::{Arith, ClampNan, Denormals, ZeroSign, finish};
pub use decimal::{Decimal, Decimals};
pub use plane::{centre, plane};
pub use special::{CANONICAL_NAN, canonical_nan, flush};
