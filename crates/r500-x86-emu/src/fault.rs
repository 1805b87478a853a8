//! Errors: unsupported instructions, and faults at run time.

use crate::memory::AccessError;

/// An instruction that the emulator does not implement.
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

/// The reason why execution stopped, and the instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {offset:#x}, '{instruction}': {kind}")]
pub struct Fault {
    /// Bytes from the start of the code.
    pub offset: usize,
    /// The instruction as text.
    pub instruction: String,
    /// The kind of fault.
    pub kind: FaultKind,
}

/// The kind of a fault.
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
        /// The required alignment.
        alignment: u32,
    },
    /// A jump, call or return to an address that is neither the start of an instruction nor a host function.
    #[error("control goes to {0:#x}, where there is no instruction")]
    Target(u64),
    /// Padding between instructions and constants is executed.
    #[error("padding is executed")]
    Padding,
    /// MXCSR is loaded with reserved bits, an unmasked exception, or a rounding mode other than to nearest even.
    #[error("MXCSR is set to {0:#x}")]
    Mxcsr(u32),
    /// A register that a function must preserve has a different value on return.
    #[error("{register} is {found:#x} on return, {expected:#x} on entry")]
    NotPreserved {
        /// The register.
        register: &'static str,
        /// Its value on entry.
        expected: u64,
        /// Its value on return.
        found: u64,
    },
    /// The stack pointer is not aligned to 16 bytes at a call.
    #[error("the stack pointer is {0:#x} at a call")]
    StackAlignment(u64),
    /// More instructions than allowed were executed.
    #[error("more than {0} instructions were executed")]
    Steps(u64),
}
