//! Assembled code, before it is in executable memory.

/// Position-independent machine code.
///
/// It is a function `extern "sysv64" fn(*mut VmContext) -> u64` that returns 0 when done and 1 when `refill` stops it; `VmContext`
/// is all that it accesses. It sets the flush bits (MXCSR) itself and restores them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembly {
    /// The code and its constants. It runs at any address that is a multiple of 64; the entry is its first byte.
    pub code: Vec<u8>,
    /// Offset of the constants, after the instructions.
    pub constants: usize,
    /// Source lines of the code, ascending.
    pub lines: Vec<Line>,
    /// Pixels that share control flow.
    pub lanes: u32,
}

/// The code from here to the next line comes from one R500 instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Bytes from the start.
    pub offset: u32,
    /// Address of the R500 instruction.
    pub address: u32,
}
