//! Machine description for register allocation.

use crate::{Access, Class, Opcode};

/// The registers of a processor and the memory operands of its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Allocatable vector registers.
    pub vectors: usize,
    /// Allocatable mask registers; 0 if masks are vectors.
    pub masks: usize,
    /// Which arguments may be memory.
    pub operands: MemoryOperands,
}

/// Which arguments of operations may be memory operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryOperands {
    /// Those of [`Opcode::memory_operand`].
    Usual,
    /// None: a load is an instruction of its own. Comparisons with zero have instructions.
    Zero,
}

impl Machine {
    /// Returns the number of allocatable registers of a class.
    pub fn registers(self, class: Class) -> usize {
        match class {
            Class::Vector => self.vectors,
            Class::Mask => self.masks,
        }
    }

    /// Returns the class of masks.
    pub fn mask(self) -> Class {
        match self.masks {
            0 => Class::Vector,
            _ => Class::Mask,
        }
    }

    /// Returns the argument of an operation that may be a memory operand, and how it is accessed.
    pub fn memory_operand(self, opcode: Opcode) -> Option<(usize, Access)> {
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
    pub fn overwritten(self, opcode: Opcode) -> &'static [usize] {
        match (opcode, self.operands) {
            (Opcode::FixUp, _) => &[0],
            (Opcode::MulAdd | Opcode::NegMulAdd, _) => &[2, 0, 1],
            (Opcode::Blend, MemoryOperands::Zero) => &[0, 1, 2],
            _ => &[],
        }
    }
}
