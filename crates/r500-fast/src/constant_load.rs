//! Loads of program constants at an index that differs between lanes.

use super::arg::Arg;

/// A load of a constant: see [`LoadConstant`](r500_ir::Opcode::LoadConstant).
#[derive(Clone, Copy, Debug)]
pub(super) struct ConstantLoad {
    pub(super) dst: u32,
    pub(super) index: Arg,
    pub(super) base: u8,
    pub(super) channel: u8,
}
