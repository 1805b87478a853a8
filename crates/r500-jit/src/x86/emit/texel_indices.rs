//! Registers that hold offsets of texels: the four texels of a footprint lie at the same ones.

use iced_x86::Register::{self, R9, R10, R11, RAX, RCX, RDI, RDX, RSI};

use crate::lir::Opcode;
use crate::mach_inst::{MachInst, Mem};
use crate::x86::level::Level;

/// What sets of registers hold: the offsets in a vector in memory, of one pixel of each quad.
#[derive(Default)]
pub(super) struct TexelIndices {
    held: [Option<(Mem, u8)>; 2],
    /// The set that is used next: two groups that go together take turns.
    next: usize,
}

impl TexelIndices {
    /// Returns the sets of registers, one for each quad, where so many units have tables and so many chunks go together.
    pub(super) fn sets(
        level: Level,
        tables: usize,
        chunks: usize,
    ) -> &'static [&'static [Register]] {
        match level {
            Level::Avx2 => &[&[RCX, RDX], &[RSI, RDI]],
            // Registers of tables and chunks that there are not.
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

    /// Returns the set, of so many, that is to be loaded with the offsets of a pixel.
    pub(super) fn replace(&mut self, at: Mem, pixel: u8, sets: usize) -> usize {
        let set = self.next % sets;
        self.next = set + 1;
        self.held[set] = Some((at, pixel));
        set
    }

    /// Forgets what an instruction changes: registers, or the memory that they were loaded from.
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
