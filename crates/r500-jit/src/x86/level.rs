//! Which instructions of x86-64 code is made of.

use r500_fast::Simd;

use crate::lir::Class;
use crate::machine::{Machine, MemoryOperands};

/// The vector instructions that code is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// AVX2: 16 registers of 8 pixels.
    Avx2,
    /// AVX-512 (F, DQ, BW, VL): 32 registers of 16 pixels, and mask registers.
    Avx512,
}

impl Level {
    /// The level of the fast engine's vector instructions; `None` where there is no code for them.
    #[must_use]
    pub fn of(simd: Simd) -> Option<Self> {
        match simd {
            Simd::Avx512 => Some(Self::Avx512),
            Simd::Avx2 => Some(Self::Avx2),
            _ => None,
        }
    }

    /// Whether this processor has it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Avx2 => Simd::Avx2.is_available(),
            Self::Avx512 => Simd::Avx512.is_available(),
        }
    }

    /// Bytes in a vector.
    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::Avx2 => 32,
            Self::Avx512 => 64,
        }
    }

    /// What register allocation asks. (The last one of AVX-512 is what [`emit`](super::emit) needs at times.)
    pub(crate) fn machine(self) -> Machine {
        match self {
            Self::Avx2 => Machine { vectors: 16, masks: 0, operands: MemoryOperands::Usual },
            // The first mask register cannot select lanes.
            Self::Avx512 => Machine { vectors: 31, masks: 7, operands: MemoryOperands::Usual },
        }
    }

    /// Registers of a class.
    pub(crate) fn registers(self, class: Class) -> usize {
        self.machine().registers(class)
    }

    /// The class of masks.
    pub(crate) fn mask(self) -> Class {
        self.machine().mask()
    }
}
