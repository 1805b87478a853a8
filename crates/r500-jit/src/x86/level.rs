//! Which instructions of x86-64 code is made of.

use r500_fast::Simd;

use crate::lir::Class;

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

    /// Registers of a class. (The last one of AVX-512 is what [`emit`](super::emit) needs at times.)
    pub(crate) fn registers(self, class: Class) -> usize {
        match (self, class) {
            (Self::Avx2, Class::Vector) => 16,
            (Self::Avx512, Class::Vector) => 31,
            (Self::Avx2, Class::Mask) => 0,
            // The first one cannot select lanes.
            (Self::Avx512, Class::Mask) => 7,
        }
    }

    /// The class of masks.
    pub(crate) fn mask(self) -> Class {
        match self {
            Self::Avx2 => Class::Vector,
            Self::Avx512 => Class::Mask,
        }
    }
}
