//! The state at a draw as text: what streams have written, with names.

use r500_chip::Mapped;
use r500_chip::vap::VapPvsVectorIndxReg;
use r500_isa::Instruction;
use r500_isa::state::{GaUsVectorData, GaUsVectorIndex, UsCodeAddr, UsCodeOffset};

use super::print::{fields, floats, is_vector_data, name};
use crate::State;

/// A register, instruction, constant or vertex array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateEntry {
    /// What it is.
    pub part: StatePart,
    /// Its name within the part: of a register, or a number.
    pub name: String,
    /// Its value. States with equal values do the same.
    pub value: String,
    /// The fields of a register; else empty.
    pub comment: String,
}

/// A part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatePart {
    /// Registers that streams have written, in the order of addresses.
    Registers,
    /// Arrays of the last `3D_LOAD_VBPNTR`.
    VertexArrays,
    /// Instructions that `VAP_PVS_CODE_CNTL_0` names; none if vertices bypass programs.
    VertexProgram,
    /// Constants of the vertex processor that are not zero.
    VertexConstants,
    /// User clip planes that are not zero.
    ClipPlanes,
    /// Instructions that `US_CODE_ADDR` names.
    FragmentProgram,
    /// Constants of the fragment processor that are not zero.
    FragmentConstants,
}

impl StatePart {
    /// All parts, in the order of entries.
    pub const ALL: [Self; 7] = [
        Self::Registers,
        Self::VertexArrays,
        Self::VertexProgram,
        Self::VertexConstants,
        Self::ClipPlanes,
        Self::FragmentProgram,
        Self::FragmentConstants,
    ];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::VertexArrays => "vertex arrays",
            Self::VertexProgram => "vertex program",
            Self::VertexConstants => "vertex constants",
            Self::ClipPlanes => "clip planes",
            Self::FragmentProgram => "fragment program",
            Self::FragmentConstants => "fragment constants",
        }
    }
}

/// Returns what a state holds, part by part. `instruction` prints those of the fragment processor.
#[must_use]
pub fn state_entries(state: &State, instruction: fn(Instruction) -> String) -> Vec<StateEntry> {
    let mut entries = registers(state);
    entries.extend(arrays(state));
    if let Some(program) = state.vertex_program() {
        entries.extend(program.window().map(|(number, instruction)| {
            entry(StatePart::VertexProgram, number, instruction.to_string())
        }));
    }
    entries.extend(vectors(StatePart::VertexConstants, state.pvs.constants()));
    entries.extend(vectors(StatePart::ClipPlanes, state.pvs.planes()));
    let offset = state.registers.get::<UsCodeOffset>().offset_addr();
    let [first, last] = state.registers.get::<UsCodeAddr>().absolute(offset).map(usize::from);
    let code = state.us.instructions().iter().enumerate().take(last + 1).skip(first);
    entries.extend(
        code.map(|(number, inst)| entry(StatePart::FragmentProgram, number, instruction(*inst))),
    );
    entries.extend(vectors(StatePart::FragmentConstants, state.us.constants()));
    entries
}

fn entry(part: StatePart, number: usize, value: String) -> StateEntry {
    StateEntry { part, name: number.to_string(), value, comment: String::new() }
}

/// Returns whether a register is a way into a memory, and holds nothing itself.
fn is_port(address: u32) -> bool {
    let others = [GaUsVectorIndex::MAPPING, GaUsVectorData::MAPPING, VapPvsVectorIndxReg::MAPPING];
    is_vector_data(address) || others.iter().any(|port| port.address == address)
}

fn registers(state: &State) -> Vec<StateEntry> {
    let written = state.registers.written().filter(|(address, _)| !is_port(*address));
    let entries = written.map(|(address, bits)| {
        let (name, place) = name(address);
        let mut value = format!("{bits:#010x}");
        if let Some(binding) = state.binding_at(address) {
            value += &format!(", buffer {}", binding.buffer.id().0);
        }
        let comment = place.map_or(String::new(), |place| fields(place.mapping.register, bits));
        StateEntry { part: StatePart::Registers, name, value, comment }
    });
    entries.collect()
}

fn arrays(state: &State) -> Vec<StateEntry> {
    let arrays = state.arrays().iter().enumerate();
    let entries = arrays.map(|(number, bound)| {
        let array = bound.array;
        let buffer = bound
            .binding
            .as_ref()
            .map_or("no buffer".to_owned(), |binding| format!("buffer {}", binding.buffer.id().0));
        let (size, stride, offset) = (array.size, array.stride, array.offset);
        let value = format!("{size} of {stride} dwords at {offset:#x}, {buffer}");
        entry(StatePart::VertexArrays, number, value)
    });
    entries.collect()
}

fn vectors(part: StatePart, vectors: &[[u32; 4]]) -> Vec<StateEntry> {
    let written = vectors.iter().enumerate().filter(|(_, vector)| **vector != [0; 4]);
    written.map(|(number, vector)| entry(part, number, floats(vector))).collect()
}
