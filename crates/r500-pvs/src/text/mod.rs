//! The text of instructions: one line each, which parses back to the same dwords.

mod names;
mod parse;
mod print;

pub use parse::ParseError;
