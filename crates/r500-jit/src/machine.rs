//! Machine description for register allocation.

use crate::lir::{Access, Class, Opcode};

/// The registers of a processor and the memory operands of its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Allocatable vector registers.
    pub(crate) vectors: usize,
    /// Allocatable mask registers; 0 if masks are vectors.
    pub(crate) masks: usize,
    pub(crate) operands: MemoryOperands,
}

/// Which arguments of operations may be memory operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryOperands {
    /// Those of [`Opcode::memory_operand`].
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 has them"))]
    Usual,
    /// None: a load is an instruction of its own. Comparisons with zero have instructions.
    #[cfg_attr(
        not(any(target_arch = "aarch64", test)),
        allow(dead_code, reason = "AArch64 has none")
    )]
    Zero,
}

impl Machine {
    /// Returns the number of allocatable registers of a class.
    pub(crate) fn registers(self, class: Class) -> usize {
        match class {
            Class::Vector => self.vectors,
            Class::Mask => self.masks,
        }
    }

    /// Returns the class of masks.
    pub(crate) fn mask(self) -> Class {
        match self.masks {
            0 => Class::Vector,
            _ => Class::Mask,
        }
    }

    /// Returns the argument of an operation that may be a memory operand, and how it is accessed.
    pub(crate) fn memory_operand(self, opcode: Opcode) -> Option<(usize, Access)> {
        match self.operands {
            MemoryOperands::Usual => opcode.memory_operand(self.mask() == Class::Mask),
            MemoryOperands::Zero => {
                let compares = matches!(opcode, Opcode::Cmp(_) | Opcode::Min | Opcode::Max);
                compares.then_some((1, Access::Zero))
            }
        }
    }

    /// Returns the arguments whose register the result prefers, in this order: the instruction overwrites one
    /// of them.
    pub(crate) fn overwritten(self, opcode: Opcode) -> &'static [usize] {
        match (opcode, self.operands) {
            (Opcode::FixUp, _) => &[0],
            (Opcode::MulAdd | Opcode::NegMulAdd, _) => &[2, 0, 1],
            (Opcode::Blend, MemoryOperands::Zero) => &[0, 1, 2],
            _ => &[],
        }
    }
}
