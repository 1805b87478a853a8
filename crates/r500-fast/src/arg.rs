//! Operands of ops.

/// An argument of an op: a slot, or the same bits in every lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Arg {
    Slot(u32),
    Const(f32),
}
