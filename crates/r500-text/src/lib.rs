//! Text that the languages share: fragment programs, vertex programs and scenes; and what their messages share.
//!
//! | module | job |
//! | --- | --- |
//! | [`counted()`] | counts with their nouns |
//! | [`expression`] | constant expressions: the grammar and the evaluator |
//! | [`macros`] | bodies and arguments of macros and repetitions |
//! | [`raw_tokens`] | words, marks, strings and comments of a source |
#![forbid(unsafe_code)]

mod counted;
pub mod expression;
pub mod macros;
pub mod raw_tokens;

pub use counted::counted;
