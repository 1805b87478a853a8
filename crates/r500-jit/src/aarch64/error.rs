//! Errors of the compiler.

use super::assembler::TooLong;
use crate::lir::Opcode;

/// Why there is no machine code of a unit: the fast engine runs it operation by operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CompileError {
    /// It is longer than branches reach.
    #[error("the code is longer than branches reach")]
    TooLong,
    /// There is no code for an operation: a mistake of the lowering.
    #[error("there is no code for {0:?}")]
    Unsupported(Opcode),
}

impl From<TooLong> for CompileError {
    fn from(TooLong: TooLong) -> Self {
        Self::TooLong
    }
}
