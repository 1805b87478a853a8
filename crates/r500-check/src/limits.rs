//! Limits of the analyses.

/// States of a group (program counter and stacks) that the flow graph follows before it gives up, in
/// addition to one for each instruction.
pub const STATES: usize = 16_384;
