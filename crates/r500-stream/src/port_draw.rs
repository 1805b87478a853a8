//! Draws through registers: `VAP_VF_CNTL` starts one, the port registers bring its vertices or indices.

use r500_chip::values::PrimWalk;
use r500_chip::vap::{VapPortData, VapPortDataIdx128, VapPortIdx, VapVfCntl};
use r500_chip::{Mapped, Mapping};

/// A draw that was started by a write of `VAP_VF_CNTL`, with what the ports have brought so far.
#[derive(Debug)]
pub(crate) struct PortDraw {
    /// Index of the packet in the stream.
    pub(crate) at: usize,
    pub(crate) vf_cntl: VapVfCntl,
    words: Vec<u32>,
    /// Dwords that it waits for.
    pub(crate) needs: usize,
}

impl PortDraw {
    /// Returns the draw that a write of `VAP_VF_CNTL` starts, of so many vertices (indices) with so many dwords each.
    pub(crate) fn new(at: usize, vf_cntl: VapVfCntl, count: u32, vertex_dwords: u8) -> Self {
        let count = count as usize;
        let needs = match vf_cntl.prim_walk() {
            PrimWalk::INDEXES if vf_cntl.index_size() => count,
            // Two indices of 16 bits share a dword.
            PrimWalk::INDEXES => count.div_ceil(2),
            PrimWalk::VERTEX_DATA => count * usize::from(vertex_dwords),
            _ => 0,
        };
        Self { at, vf_cntl, words: Vec::new(), needs }
    }

    /// Takes what is written to a port; other registers are none of the draw's.
    pub(crate) fn write(&mut self, register: &Mapping, value: u32) {
        let port = match self.vf_cntl.prim_walk() {
            PrimWalk::INDEXES => VapPortIdx::MAPPING,
            _ => VapPortData::MAPPING,
        };
        if register == port || register == VapPortDataIdx128::MAPPING {
            self.words.push(value);
        }
    }

    /// Returns how many dwords the ports have brought.
    pub(crate) fn has(&self) -> usize {
        self.words.len()
    }

    /// Returns whether all is there.
    pub(crate) fn is_complete(&self) -> bool {
        self.words.len() >= self.needs
    }

    /// Returns what the ports have brought.
    pub(crate) fn into_words(self) -> Vec<u32> {
        self.words
    }
}
