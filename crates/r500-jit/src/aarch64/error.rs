//! Errors of the compiler.

use super::assembler::TooLong;
use r500_lir::Opcode;

/// Why a unit has no machine code. The fast engine then interprets its operations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CompileError {
    /// The code exceeds the reach of branches.
    #[error("the code is longer than branches reach")]
    TooLong,
    /// An operation has no encoding: a bug of the lowering.
    #[error("there is no code for {0:?}")]
    Unsupported(Opcode),
}

impl From<TooLong> for CompileError {
    fn from(TooLong: TooLong) -> Self {
        Self::TooLong
    }
}
