//! Machine description: what register allocation asks of a processor.

use crate::lir::{Access, Class, Opcode};

/// The registers of a processor, and what its instructions take operands from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Vector registers that values may have.
    pub(crate) vectors: usize,
    /// Registers of masks that values may have; where there are none, masks are vectors.
    pub(crate) masks: usize,
    pub(crate) operands: MemoryOperands,
}

/// Which arguments of operations may lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryOperands {
    /// Those that [`Opcode::memory_operand`] tells.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 has them"))]
    Usual,
    /// None: loads are instructions of their own. Comparisons with zero have instructions.
    #[cfg_attr(
        not(any(target_arch = "aarch64", test)),
        allow(dead_code, reason = "AArch64 has none")
    )]
    Zero,
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
        match self.operands {
            MemoryOperands::Usual => opcode.memory_operand(self.mask() == Class::Mask),
            MemoryOperands::Zero => {
                let compares = matches!(opcode, Opcode::Cmp(_) | Opcode::Min | Opcode::Max);
                compares.then_some((1, Access::Zero))
            }
        }
    }

    /// The arguments whose register the result had best have: an instruction overwrites one of them.
    pub(crate) fn overwritten(self, opcode: Opcode) -> &'static [usize] {
        match (opcode, self.operands) {
            (Opcode::FixUp, _) => &[0],
            (Opcode::MulAdd, _) => &[2, 0, 1],
            (Opcode::Blend, MemoryOperands::Zero) => &[0, 1, 2],
            _ => &[],
        }
    }
}
