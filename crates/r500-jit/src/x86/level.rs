//! Instruction-set levels of x86-64.

use r500_fast::Simd;

use r500_lir::Class;
use r500_lir::{Machine, MemoryOperands};

/// The vector instructions that code uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// AVX2: 16 registers of 8 pixels.
    Avx2,
    /// AVX-512 (F, DQ, BW, VL): 32 registers of 16 pixels, and mask registers.
    Avx512,
}

impl Level {
    /// Returns the level for the fast engine's vector instructions; `None` if there is no code for them.
    #[must_use]
    pub fn of(simd: Simd) -> Option<Self> {
        match simd {
            Simd::Avx512 => Some(Self::Avx512),
            Simd::Avx2 => Some(Self::Avx2),
            _ => None,
        }
    }

    /// Returns whether this processor has the level.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Avx2 => Simd::Avx2.is_available(),
            Self::Avx512 => Simd::Avx512.is_available(),
        }
    }

    /// Returns the bytes per vector.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::Avx2 => 32,
            Self::Avx512 => 64,
        }
    }

    /// Returns the machine description for register allocation. ([`emit`](super::emit) reserves the last vector register of AVX-512.)
    pub(crate) fn machine(self) -> Machine {
        match self {
            Self::Avx2 => Machine { vectors: 16, masks: 0, operands: MemoryOperands::Usual },
            // `k0` cannot be a write mask.
            Self::Avx512 => Machine { vectors: 31, masks: 7, operands: MemoryOperands::Usual },
        }
    }

    /// Returns the number of allocatable registers of a class.
    pub(crate) fn registers(self, class: Class) -> usize {
        self.machine().registers(class)
    }

    /// Returns the class of masks.
    pub(crate) fn mask(self) -> Class {
        self.machine().mask()
    }
}
