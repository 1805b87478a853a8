//! How deep the machine's stacks are.
//!
//! The documents at hand do not say (open). These are the numbers of the reference engine; a test
//! ties them to it.

/// Levels of a branch counter in full flow control (open; drivers allow as many).
pub const BRANCH_LEVELS: u8 = 32;
/// Levels of a branch counter in partial flow control (open; documented as small).
pub const PARTIAL_BRANCH_LEVELS: u8 = 4;
/// Loops that can run inside each other (open).
pub const LOOP_LEVELS: usize = 32;
/// Addresses that the address stack holds (open).
pub const CALL_LEVELS: usize = 32;
/// States of a group (program counter and stacks) that are followed before giving up, beside one for
/// each instruction.
pub const STATES: usize = 16_384;
