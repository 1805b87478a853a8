//! Draws through registers: `VAP_VF_CNTL` starts one, and the port registers receive its vertices or indices.

use r500_chip::values::PrimWalk;
use r500_chip::vap::{VapPortData, VapPortDataIdx128, VapPortIdx, VapVfCntl};
use r500_chip::{Mapped, Mapping};

/// A draw started by a write of `VAP_VF_CNTL`, with the data received so far.
#[derive(Debug)]
pub(crate) struct PortDraw {
    /// Index of the packet in the stream.
    pub(crate) at: usize,
    pub(crate) vf_cntl: VapVfCntl,
    words: Vec<u32>,
    /// Number of expected dwords.
    pub(crate) needs: usize,
}

impl PortDraw {
    /// Returns the draw that a write of `VAP_VF_CNTL` starts, of `count` vertices (indices) with `vertex_dwords` dwords
    /// each.
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

    /// Handles a write to a port; other registers are ignored.
    pub(crate) fn write(&mut self, register: &Mapping, value: u32) {
        let port = match self.vf_cntl.prim_walk() {
            PrimWalk::INDEXES => VapPortIdx::MAPPING,
            _ => VapPortData::MAPPING,
        };
        if register == port || register == VapPortDataIdx128::MAPPING {
            self.words.push(value);
        }
    }

    /// Returns the number of received dwords.
    pub(crate) fn has(&self) -> usize {
        self.words.len()
    }

    /// Returns whether all dwords are received.
    pub(crate) fn is_complete(&self) -> bool {
        self.words.len() >= self.needs
    }

    /// Returns the received dwords.
    pub(crate) fn into_words(self) -> Vec<u32> {
        self.words
    }
}
