//! Machine description: what register allocation asks of a processor.

use crate::lir::{Access, Class, Opcode};

/// The registers of a processor, and what its instructions take operands from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Vector registers that values may have.
    pub(crate) vectors: usize,
    /// Registers of masks that values may have; where there are none, masks are vectors.
    pub(crate) masks: usize,
}

impl Machine {
    /// Registers of a class that values may have.
    pub(crate) fn registers(self, class: Class) -> usize {
        match class {
            Class::Vector => self.vectors,
            Class::Mask => self.masks,
        }
    }

    /// The class of masks.
    pub(crate) fn mask(self) -> Class {
        match self.masks {
            0 => Class::Vector,
            _ => Class::Mask,
        }
    }

    /// The argument of an operation that may lie in memory, and how it is read there.
    pub(crate) fn memory_operand(self, opcode: Opcode) -> Option<(usize, Access)> {
        opcode.memory_operand(self.mask() == Class::Mask)
    }
}
