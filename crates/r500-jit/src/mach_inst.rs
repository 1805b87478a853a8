//! Machine IR: instructions with allocated registers and memory operands, between [`regalloc`](crate::regalloc) and the encoders.

use r500_fast::codegen::CompileUnit;

use crate::lir::{Class, Opcode};

/// An operand: a register or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RegMem {
    Register(u8),
    Memory(Mem),
}

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mem {
    /// A spill slot: index in the frame, in vectors.
    Stack(u32),
    /// A constant, equal in all lanes.
    Const(u32),
    /// A slot of the batch and the index of the interleaved group.
    Slot(u32, u32),
}

/// A branch target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(pub(crate) u32);

/// A machine instruction, or a short sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MachInst {
    /// An operation, with the arguments in the order of the low-level IR.
    Op {
        opcode: Opcode,
        dst: u8,
        args: [Option<RegMem>; 3],
        #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "for listings"))]
        origin: u32,
    },
    Load {
        class: Class,
        dst: u8,
        from: Mem,
    },
    Store {
        class: Class,
        to: Mem,
        from: u8,
    },
    Move {
        class: Class,
        dst: u8,
        from: u8,
    },
    /// A move from memory to memory.
    MemMove {
        class: Class,
        to: Mem,
        from: Mem,
    },
    /// Tests whether a mask has a lane, for the next branch.
    Test {
        class: Class,
        mask: u8,
    },
    /// Branches to a label if the mask of the last test has no lane.
    BranchIfNone(Label),
    Label(Label),
    /// Counts executed instructions.
    ConsumeFuel(u32),
    /// Initialises a loop counter with the trip count.
    LoopBegin {
        counter: u32,
        trips: u32,
    },
    /// Branches back to a label while trips remain and, if a mask was `tested`, it has a lane; asks for fuel when it
    /// is used up, and stops the program if a limit is exceeded.
    LoopBack {
        counter: u32,
        to: Label,
        tested: bool,
        address: u32,
    },
    /// Branches back to a label for the next group of pixels, until none remains.
    NextGroup(Label),
}

#[cfg(target_arch = "x86_64")]
impl MachInst {
    /// Returns whether the instruction permutes pixels into rows.
    pub(crate) fn permutes_rows(&self) -> bool {
        matches!(self, Self::Op { opcode: Opcode::Permute2Lo | Opcode::Permute2Hi, .. })
    }

    /// Returns whether the instruction preserves the general registers that cache values across operations.
    pub(crate) fn keeps_general_registers(&self) -> bool {
        match self {
            Self::Op { opcode, .. } => !matches!(
                opcode,
                Opcode::LoadTexel(_)
                    | Opcode::Tabulated(_)
                    | Opcode::LoadCoverage(_)
                    | Opcode::StoreCoverage(_)
                    | Opcode::StoreColor(_)
                    | Opcode::LoadPixels(_)
                    | Opcode::StorePixels(_)
                    | Opcode::CountFuel(_)
            ),
            Self::Load { .. } | Self::Store { .. } | Self::Move { .. } | Self::ConsumeFuel(_) => {
                true
            }
            _ => false,
        }
    }
}

/// Machine code of a unit, in a loop over groups of pixels.
#[derive(Clone, Debug, Default)]
pub(crate) struct MachCode {
    pub(crate) insts: Vec<MachInst>,
    pub(crate) labels: u32,
    /// Size of the frame, in vectors.
    pub(crate) stack: u32,
    /// Number of loop counters.
    pub(crate) counters: u32,
    /// Interleaved groups of pixels.
    pub(crate) groups: u32,
    /// Whether each of two groups counts its own instructions.
    pub(crate) separate_fuel_counts: bool,
    /// For each operation, the number of its operation in the low-level IR; for the checker, in debug builds.
    pub(crate) sources: Vec<u32>,
}

/// Parameters of the encoding other than the instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitLayout {
    /// Bytes between slots.
    pub(crate) stride: u32,
    pub(crate) fuel_checked: bool,
    /// Render targets whose pixels are stored to a frame.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 code prefetches"))]
    pub(crate) targets: Vec<u8>,
    /// Texture units that are read, ascending.
    pub(crate) units: Vec<u8>,
}

impl UnitLayout {
    pub(crate) fn of(unit: &CompileUnit<'_>) -> Self {
        let frames = unit.colors.iter().filter(|color| color.encoding.is_none());
        Self {
            stride: unit.stride,
            fuel_checked: unit.fuel_checked,
            targets: frames.map(|color| color.target).collect(),
            units: unit.tables.iter().map(|(unit, _)| *unit).collect(),
        }
    }
}

/// Returns an operation on these operands.
#[cfg(test)]
pub(crate) fn op(opcode: Opcode, dst: u8, args: &[RegMem]) -> MachInst {
    let mut places = [None; 3];
    for (place, arg) in places.iter_mut().zip(args) {
        *place = Some(*arg);
    }
    MachInst::Op { opcode, dst, args: places, origin: 0 }
}
