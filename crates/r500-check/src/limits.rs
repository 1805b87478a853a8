//! Limits of the analyses.

/// The number of states of a group (program counter and stacks) after which the flow graph gives up, in addition to one
/// per instruction.
pub const STATES: usize = 16_384;

/// The number of errors in a report, and of warnings and notes together. A program of millions of instructions, which
/// does not fit any card, may have one for each; the others are only counted
/// ([`Report::omitted`](crate::Report::omitted)).
pub const LINTS: usize = 10_000;
