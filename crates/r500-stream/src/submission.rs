//! A submission: an indirect buffer with its relocation list, as `DRM_RADEON_CS` takes it.

use std::collections::HashSet;

use crate::{Buffer, BufferId};

/// One indirect buffer of PM4 dwords, and the buffers of its relocations.
#[derive(Debug, Clone, Default)]
pub struct Submission {
    /// The dwords, first to last.
    pub words: Vec<u32>,
    /// The first dword of the FLAGS chunk, 0 if there is none.
    pub flags: u32,
    /// The relocation list, in order: the dword of a relocation NOP is 4 times an index into it.
    pub relocations: Vec<Relocation>,
}

impl Submission {
    /// Bit of [`flags`](Self::flags): the stream's own tiling bits are valid. Without it, those of colour pitch, depth
    /// pitch and texture offset come from the relocation's buffer.
    pub const KEEP_TILING_FLAGS: u32 = 1;

    /// Returns whether the stream's own tiling bits are valid.
    pub fn keeps_tiling(&self) -> bool {
        self.flags & Self::KEEP_TILING_FLAGS != 0
    }

    /// Returns the relocation for the dword of a relocation NOP, whose unit is a quarter of an entry.
    pub fn relocation(&self, dword: u32) -> Option<&Relocation> {
        self.relocations.get(dword as usize / 4)
    }

    /// Returns each buffer once, in the order of first use.
    pub fn buffers(&self) -> Vec<&Buffer> {
        let mut seen = HashSet::new();
        self.relocations.iter().filter(|r| seen.insert(r.id())).map(|r| &r.buffer).collect()
    }
}

/// An entry of the relocation list.
#[derive(Debug, Clone)]
pub struct Relocation {
    /// The buffer that provides the address.
    pub buffer: Buffer,
    /// Memory domains in which the stream reads the buffer: 2 GTT, 4 VRAM.
    pub read_domains: u32,
    /// The domain in which the stream writes the buffer; 0 if it declares no writes.
    pub write_domain: u32,
    /// Priority and other hints to the kernel.
    pub flags: u32,
    /// The buffer's tiling when it was submitted.
    pub tiling: Tiling,
}

impl Relocation {
    /// The name of its buffer.
    pub fn id(&self) -> BufferId {
        self.buffer.id()
    }
}

/// The tiling of a buffer, as set by `DRM_RADEON_GEM_SET_TILING`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Tiling {
    /// Bits 0 macro, 1 micro, 2 swap 16 bits, 3 swap 32 bits, 4 surface, 5 micro square.
    pub flags: u32,
    /// Bytes from a row to the next.
    pub pitch: u32,
}

impl Tiling {
    /// Bit of [`flags`](Self::flags): macro tiles.
    pub const MACRO: u32 = 1;
    /// Bit of [`flags`](Self::flags): micro tiles.
    pub const MICRO: u32 = 2;
    /// Bit of [`flags`](Self::flags): square micro tiles.
    pub const MICRO_SQUARE: u32 = 0x20;
}
