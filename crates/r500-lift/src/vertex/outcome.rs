//! Results of operations.

use r500_ir::{ALL, NONE, Operand};

const ZERO: Operand = Operand::Const(0);

/// The result of an operation.
pub(super) struct Outcome {
    /// The components; 0 for those that are not wanted.
    pub(super) values: [Operand; 4],
    /// The lanes that write each component.
    pub(super) writes: [Operand; 4],
    /// The new predicate, if the operation sets it.
    pub(super) predicate: Option<Operand>,
}

impl Outcome {
    /// Returns a result that is written everywhere.
    pub(super) fn of(values: [Operand; 4]) -> Self {
        Self { values, writes: [ALL; 4], predicate: None }
    }

    /// Returns a result that is not written: that of an operation that does nothing.
    pub(super) fn nothing() -> Self {
        Self { values: [ZERO; 4], writes: [NONE; 4], predicate: None }
    }
}
