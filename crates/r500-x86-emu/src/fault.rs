//! Errors: undecodable instructions, and faults of code that runs.

use crate::memory::AccessError;

/// An instruction that the emulator does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {offset:#x}: the emulator has no '{instruction}' ({code})")]
pub struct DecodeError {
    /// Bytes from the start of the code.
    pub offset: usize,
    /// The instruction as text.
    pub instruction: String,
    /// The name of its encoding.
    pub code: String,
}

/// Why execution stopped, and at which instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {offset:#x}, '{instruction}': {kind}")]
pub struct Fault {
    /// Bytes from the start of the code.
    pub offset: usize,
    /// The instruction as text.
    pub instruction: String,
    /// What went wrong.
    pub kind: FaultKind,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// A load or a store that no region allows.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// An aligned move from or to an address that is not aligned.
    #[error("{address:#x} is not a multiple of {alignment}")]
    Misaligned {
        /// The address.
        address: u64,
        /// What it must be a multiple of.
        alignment: u32,
    },
    /// A jump, call or return to an address where no instruction begins, and which is not the host's.
    #[error("control goes to {0:#x}, where there is no instruction")]
    Target(u64),
    /// Padding between instructions and constants is executed.
    #[error("padding is executed")]
    Padding,
    /// MXCSR is loaded with reserved bits, an unmasked exception or a rounding mode other than to the nearest even.
    #[error("MXCSR is set to {0:#x}")]
    Mxcsr(u32),
    /// A register that a function must preserve has another value when it returns.
    #[error("{register} is {found:#x} on return, {expected:#x} on entry")]
    NotPreserved {
        /// The register.
        register: &'static str,
        /// Its value on entry.
        expected: u64,
        /// Its value on return.
        found: u64,
    },
    /// The stack pointer is not 16 bytes aligned at a call.
    #[error("the stack pointer is {0:#x} at a call")]
    StackAlignment(u64),
    /// More instructions than allowed were executed.
    #[error("more than {0} instructions were executed")]
    Steps(u64),
}
