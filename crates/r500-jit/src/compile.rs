//! Machine code of a segment.

use r500_exec::fast::Simd;
use r500_exec::native::Segment;

use crate::Effort;

/// The vector instructions that code is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// AVX2: eight lanes.
    Avx2,
    /// AVX-512 (F, DQ, BW, VL): sixteen lanes.
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
}

/// Machine code on its way to memory.
///
/// It is a function `extern "sysv64" fn(*mut Context) -> u64` that gives 0 when done and 1 when
/// refilling said to stop, with `Context` (in `pages`) the only thing it knows of. It
/// sets the processor's flush bits (MXCSR) itself and leaves them as found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembly {
    /// The code, with its constants at the end: runs at any address that is a multiple of 64, entered
    /// at its first byte.
    pub code: Vec<u8>,
    /// Where the instructions end and the constants begin.
    pub constants: usize,
    /// Where instructions come from, ascending.
    pub lines: Vec<Line>,
    /// Chunks that are worked on together. Code that counts instructions is called for so many at a
    /// time, so that pixels are not charged for their neighbours; 0 is taken for 1.
    pub together: usize,
}

/// From here to the next line, code comes from one instruction of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Bytes from the start.
    pub offset: u32,
    /// Address of the R500 instruction.
    pub address: u32,
}

/// Machine code for a segment; `None` if this compiler cannot make it.
#[must_use]
pub fn compile(segment: &Segment<'_>, level: Level, effort: Effort) -> Option<Assembly> {
    let _ = (segment, level, effort);
    None
}
