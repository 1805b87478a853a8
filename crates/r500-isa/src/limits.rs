//! Depths of the flow-control stacks.
//!
//! The documents at hand do not give these numbers (open). The checker, the reference engine and the compilers use the
//! ones defined here.

/// Levels that a branch counter holds with full flow control (open; drivers allow as many).
pub const BRANCH_LEVELS: u8 = 32;
/// Levels that a branch counter holds with partial flow control (open; documented as small).
pub const PARTIAL_BRANCH_LEVELS: u8 = 4;
/// Entries of the loop stack: the nesting depth of loops at run time (open).
pub const LOOP_LEVELS: usize = 32;
/// Entries of the address stack: the nesting depth of calls at run time (open).
pub const CALL_LEVELS: usize = 32;
