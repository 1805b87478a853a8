//! Limits of the analyses.

/// States of a group (program counter and stacks) that the flow graph follows before it gives up, in
/// addition to one for each instruction.
pub const STATES: usize = 16_384;

/// Errors that a report holds, and warnings and notes together. A program of millions of instructions, which no card
/// holds, may have one for each; the others are only counted ([`Report::omitted`](crate::Report::omitted)).
pub const LINTS: usize = 10_000;
