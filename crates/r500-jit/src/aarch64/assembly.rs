//! Assembled code, before it is in executable memory.

/// Machine code on its way to memory.
///
/// It is two functions `extern "C" fn(*mut VmContext) -> u64` that give 0 when done and 1 when refilling said to stop, with
/// `VmContext` the only thing they know of. They set the processor's flush bit (FPCR.FZ) themselves and
/// leave the control register as found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assembly {
    /// The code, with its constants at the end: runs at any address that is a multiple of 64. The speculative form is entered at its
    /// first byte.
    pub(crate) code: Vec<u8>,
    /// Where the exact form is entered.
    pub(crate) exact: usize,
    /// Where the instructions end and the constants begin.
    #[cfg_attr(not(test), allow(dead_code, reason = "for tests and listings"))]
    pub(crate) constants: usize,
    /// Pixels that go through branches and loops together.
    #[cfg_attr(not(test), allow(dead_code, reason = "for tests and listings"))]
    pub(crate) lanes: u32,
}
