//! Assembled code, before it is in executable memory.

/// Machine code on its way to memory.
///
/// It is a function `extern "sysv64" fn(*mut VmContext) -> u64` that gives 0 when done and 1 when
/// refilling said to stop, with `VmContext` the only thing it knows of. It
/// sets the processor's flush bits (MXCSR) itself and leaves them as found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembly {
    /// The code, with its constants at the end: runs at any address that is a multiple of 64, entered
    /// at its first byte.
    pub code: Vec<u8>,
    /// Where the instructions end and the constants begin.
    pub constants: usize,
    /// Where instructions come from, ascending.
    pub lines: Vec<Line>,
    /// Pixels that go through branches and loops together.
    pub lanes: u32,
}

/// From here to the next line, code comes from one instruction of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Bytes from the start.
    pub offset: u32,
    /// Address of the R500 instruction.
    pub address: u32,
}
