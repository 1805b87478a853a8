//! Assembled code, before it is in executable memory.

/// Position-independent machine code.
///
/// It has two functions `extern "C" fn(*mut VmContext) -> u64` that return 0 when done and 1 when `refill` stops them; `VmContext`
/// is all that they access. They set the flush bit (FPCR.FZ) themselves and restore the control register.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assembly {
    /// The code and its constants. It runs at any address that is a multiple of 64. The speculative form starts at byte 0.
    pub(crate) code: Vec<u8>,
    /// Offset of the exact form.
    pub(crate) exact: usize,
    /// Offset of the constants, after the instructions.
    #[cfg_attr(not(test), allow(dead_code, reason = "for tests and listings"))]
    pub(crate) constants: usize,
    /// Pixels that share control flow.
    #[cfg_attr(not(test), allow(dead_code, reason = "for tests and listings"))]
    pub(crate) lanes: u32,
}
