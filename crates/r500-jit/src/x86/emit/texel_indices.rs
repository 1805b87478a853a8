//! Cache of texel offsets in registers: the four texels of a footprint share them.

use iced_x86::Register::{self, R9, R10, R11, RAX, RCX, RDI, RDX, RSI};

use crate::x86::level::Level;
use r500_lir::Opcode;
use r500_lir::{MachInst, Mem};

/// The contents of sets of registers: the offsets, from a vector in memory, of one pixel of each quad.
#[derive(Default)]
pub(super) struct TexelIndices {
    held: [Option<(Mem, u8)>; 2],
    /// The set that is replaced next: two interleaved groups alternate.
    next: usize,
}

impl TexelIndices {
    /// Returns the sets of registers, one register for each quad, given the number of units with a register and of interleaved chunks.
    pub(super) fn sets(
        level: Level,
        tables: usize,
        chunks: usize,
    ) -> &'static [&'static [Register]] {
        match level {
            Level::Avx2 => &[&[RCX, RDX], &[RSI, RDI]],
            // Unused registers of textures and chunks.
            Level::Avx512 if tables == 1 && chunks <= 2 => {
                &[&[RCX, RDX, RSI, RDI], &[R9, R10, R11, RAX]]
            }
            Level::Avx512 => &[&[RCX, RDX, RSI, RDI]],
        }
    }

    /// Returns the set that holds the offsets of a pixel.
    pub(super) fn find(&self, at: Mem, pixel: u8) -> Option<usize> {
        self.held.iter().position(|held| *held == Some((at, pixel)))
    }

    /// Returns the set, one of `sets`, to load with the offsets of a pixel.
    pub(super) fn replace(&mut self, at: Mem, pixel: u8, sets: usize) -> usize {
        let set = self.next % sets;
        self.next = set + 1;
        self.held[set] = Some((at, pixel));
        set
    }

    /// Invalidates offsets whose registers, or whose memory, an instruction changes.
    pub(super) fn before(&mut self, inst: &MachInst) {
        let written = match *inst {
            MachInst::Op { opcode: Opcode::Store(slot, part), .. } => Mem::Slot(slot, part),
            MachInst::Store { to, .. } => to,
            MachInst::Op { opcode: Opcode::LoadTexel(_), .. } => return,
            // Inputs have addresses in these registers.
            MachInst::Op { opcode: Opcode::Interpolant(_), .. } => {
                self.held = [None; 2];
                return;
            }
            _ if inst.keeps_general_registers() => return,
            _ => {
                self.held = [None; 2];
                return;
            }
        };
        for held in &mut self.held {
            held.take_if(|(at, _)| *at == written);
        }
    }
}
