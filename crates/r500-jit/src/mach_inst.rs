//! Instructions whose operands have places: what [`regalloc`](crate::regalloc) makes of operations and
//! the encoders of bytes.

use r500_fast::codegen::CompileUnit;

use crate::lir::{Class, Opcode};

/// Where an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Register(u8),
    Memory(Mem),
}

/// A place in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Mem {
    /// In the frame, in vectors.
    Stack(u32),
    /// Bits that are the same for every pixel.
    Const(u32),
    /// A slot of the batch, and which vector of those that go together.
    Slot(u32, u32),
}

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Label(pub(crate) u32);

/// An instruction, or a few.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MachInst {
    /// An operation; arguments as it has them.
    Op {
        opcode: Opcode,
        dst: u8,
        args: [Option<Place>; 3],
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
    /// From memory to memory.
    MemMove {
        class: Class,
        to: Mem,
        from: Mem,
    },
    /// Remembers whether a mask has a pixel.
    Test {
        class: Class,
        mask: u8,
    },
    /// Goes to a label if the mask of the last test has none.
    BranchIfNone(Label),
    Label(Label),
    /// So many instructions are executed.
    Spend(u32),
    /// Sets a counter.
    LoopBegin {
        counter: u32,
        trips: u32,
    },
    /// Goes back to a label while trips are left, and, if there was a test, its mask has a pixel;
    /// stops the program instead when its time is up.
    LoopBack {
        counter: u32,
        to: Label,
        tested: bool,
        address: u32,
    },
    /// The next group of pixels, from the label on, till there is none.
    NextGroup(Label),
}

#[cfg(target_arch = "x86_64")]
impl MachInst {
    /// Whether it puts pixels into rows.
    pub(crate) fn permutes_rows(&self) -> bool {
        matches!(self, Self::Op { opcode: Opcode::Permute2Lo | Opcode::Permute2Hi, .. })
    }

    /// Whether what general registers hold for operations stays there.
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
            Self::Load { .. } | Self::Store { .. } | Self::Move { .. } | Self::Spend(_) => true,
            _ => false,
        }
    }
}

/// Instructions with registers, for one group after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct MachCode {
    pub(crate) insts: Vec<MachInst>,
    pub(crate) labels: u32,
    /// Vectors in the frame.
    pub(crate) stack: u32,
    /// Counters of loops.
    pub(crate) counters: u32,
    /// Groups of pixels that go together.
    pub(crate) groups: u32,
    /// Whether instructions are counted for each of two groups by itself.
    pub(crate) counts_apart: bool,
    /// Of which operation of the program each operation is, by number; for the checker, in debug builds.
    pub(crate) sources: Vec<u32>,
}

/// What the encoding of a unit depends on besides its instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitLayout {
    /// Bytes from one slot to the next.
    pub(crate) stride: u32,
    pub(crate) fuel_checked: bool,
    /// Planes of a frame that pixels go to.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 code prefetches"))]
    pub(crate) targets: Vec<u8>,
    /// Units that texels come from, ascending.
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

/// An operation on these places.
#[cfg(test)]
pub(crate) fn op(opcode: Opcode, dst: u8, args: &[Place]) -> MachInst {
    let mut places = [None; 3];
    for (place, arg) in places.iter_mut().zip(args) {
        *place = Some(*arg);
    }
    MachInst::Op { opcode, dst, args: places, origin: 0 }
}
