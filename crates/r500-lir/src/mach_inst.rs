//! Machine IR: instructions with allocated registers and memory operands, between [`regalloc`](crate::regalloc) and the encoders.

use r500_fast::codegen::CompileUnit;

use crate::{Class, Opcode};

/// An operand: a register or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegMem {
    /// A register of the class that the operation takes.
    Register(u8),
    /// Memory.
    Memory(Mem),
}

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mem {
    /// A spill slot: index in the frame, in vectors.
    Stack(u32),
    /// A constant, equal in all lanes.
    Const(u32),
    /// A slot of the batch and the index of the interleaved group.
    Slot(u32, u32),
}

/// A branch target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(pub u32);

/// A machine instruction, or a short sequence.
#[derive(Clone, Copy, Debug)]
pub enum MachInst {
    /// An operation, with the arguments in the order of the low-level IR.
    Op {
        /// What is computed.
        opcode: Opcode,
        /// The register of the result.
        dst: u8,
        /// The arguments.
        args: [Option<RegMem>; 3],
        /// Address of the R500 instruction that the operation comes from.
        origin: u32,
    },
    /// Loads a register.
    Load {
        /// The class of the register.
        class: Class,
        /// The register.
        dst: u8,
        /// The memory that is read.
        from: Mem,
    },
    /// Stores a register.
    Store {
        /// The class of the register.
        class: Class,
        /// The memory that is written.
        to: Mem,
        /// The register.
        from: u8,
    },
    /// Copies a register.
    Move {
        /// The class of both registers.
        class: Class,
        /// The register that is written.
        dst: u8,
        /// The register that is read.
        from: u8,
    },
    /// A move from memory to memory.
    MemMove {
        /// The class of the value.
        class: Class,
        /// The memory that is written.
        to: Mem,
        /// The memory that is read.
        from: Mem,
    },
    /// Tests whether a mask has a lane, for the next branch.
    Test {
        /// The class of the mask.
        class: Class,
        /// The register of the mask.
        mask: u8,
    },
    /// Branches to a label if the mask of the last test has no lane.
    BranchIfNone(Label),
    /// The target of branches.
    Label(Label),
    /// Counts executed instructions.
    ConsumeFuel(u32),
    /// Initialises a loop counter with the trip count.
    LoopBegin {
        /// The counter.
        counter: u32,
        /// The trip count.
        trips: u32,
    },
    /// Branches back to a label while trips remain and, if a mask was `tested`, it has a lane; asks for fuel when it
    /// is used up, and stops the program if a limit is exceeded.
    LoopBack {
        /// The counter.
        counter: u32,
        /// The start of the iteration.
        to: Label,
        /// Whether a mask decides, too.
        tested: bool,
        /// Address of the first R500 instruction of the loop.
        address: u32,
    },
    /// Branches back to a label for the next group of pixels, until none remains.
    NextGroup(Label),
}

impl MachInst {
    /// Returns an operation on these operands that comes from the R500 instruction at address 0.
    ///
    /// # Panics
    /// If there are more than three arguments.
    pub fn op(opcode: Opcode, dst: u8, args: &[RegMem]) -> Self {
        assert!(args.len() <= 3, "an operation has at most three arguments");
        let mut places = [None; 3];
        for (place, arg) in places.iter_mut().zip(args) {
            *place = Some(*arg);
        }
        Self::Op { opcode, dst, args: places, origin: 0 }
    }

    /// Returns whether the instruction permutes pixels into rows.
    pub fn permutes_rows(&self) -> bool {
        matches!(self, Self::Op { opcode: Opcode::Permute2Lo | Opcode::Permute2Hi, .. })
    }

    /// Returns whether the instruction preserves the general registers that cache values across operations.
    pub fn keeps_general_registers(&self) -> bool {
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
pub struct MachCode {
    /// The instructions, in order.
    pub insts: Vec<MachInst>,
    /// Number of labels.
    pub labels: u32,
    /// Size of the frame, in vectors.
    pub stack: u32,
    /// Number of loop counters.
    pub counters: u32,
    /// Interleaved groups of pixels.
    pub groups: u32,
    /// Whether each of two groups counts its own instructions.
    pub separate_fuel_counts: bool,
    /// For each operation, the number of its operation in the low-level IR; for the checker, in debug builds.
    pub sources: Vec<u32>,
}

/// Parameters of the encoding other than the instructions.
#[derive(Clone, Debug, Default)]
pub struct UnitLayout {
    /// Bytes between slots.
    pub stride: u32,
    /// Whether code stops when its fuel is used up.
    pub fuel_checked: bool,
    /// Render targets whose pixels are stored to a frame.
    pub targets: Vec<u8>,
    /// Texture units that are read, ascending.
    pub units: Vec<u8>,
}

impl UnitLayout {
    /// Returns the parameters of a unit.
    pub fn of(unit: &CompileUnit<'_>) -> Self {
        let frames = unit.colors.iter().filter(|color| color.encoding.is_none());
        Self {
            stride: unit.stride,
            fuel_checked: unit.fuel_checked,
            targets: frames.map(|color| color.target).collect(),
            units: unit.tables.iter().map(|(unit, _)| *unit).collect(),
        }
    }
}
