//! Program memories, written through the index and data registers of `US` and `PVS`.

use r500_isa::state::GaUsVectorIndex;
use r500_isa::values::VectorType;
use r500_isa::{CONSTANTS, INSTRUCTION_SLOTS, Instruction};
use r500_pvs as pvs;

/// Instructions and constants of the fragment processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsMemory {
    instructions: Box<[Instruction]>,
    constants: Box<[[u32; 4]]>,
    index: GaUsVectorIndex,
    /// Number of dwords since the last write of the index.
    dwords: usize,
}

impl Default for UsMemory {
    fn default() -> Self {
        Self {
            instructions: vec![Instruction([0; 6]); INSTRUCTION_SLOTS].into(),
            constants: vec![[0; 4]; CONSTANTS].into(),
            index: GaUsVectorIndex(0),
            dwords: 0,
        }
    }
}

impl UsMemory {
    /// Returns the instruction memory, [`INSTRUCTION_SLOTS`] long.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Returns the constants, [`CONSTANTS`] long: the bits of R, G, B, A.
    #[must_use]
    pub fn constants(&self) -> &[[u32; 4]] {
        &self.constants
    }

    /// Handles a write of `GA_US_VECTOR_INDEX`.
    pub(crate) fn set_index(&mut self, index: GaUsVectorIndex) {
        self.index = index;
        self.dwords = 0;
    }

    /// Handles a write of `GA_US_VECTOR_DATA`. Dwords beyond the memory are dropped.
    pub(crate) fn push(&mut self, value: u32) {
        let start = usize::from(self.index.index());
        let dwords = self.dwords;
        self.dwords = dwords.saturating_add(1);
        if self.index.ty() == VectorType::CONST {
            if let Some(constant) = self.constants.get_mut(start.saturating_add(dwords / 4)) {
                constant[dwords % 4] = if self.index.clamp() { clamp(value) } else { value };
            }
        } else if let Some(inst) = self.instructions.get_mut(start.saturating_add(dwords / 6)) {
            inst.0[dwords % 6] = value;
        }
    }
}

/// Clamps a float to -1..1.
fn clamp(bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    if value > 1.0 {
        1.0f32.to_bits()
    } else if value < -1.0 {
        (-1.0f32).to_bits()
    } else {
        bits
    }
}

/// Vertex program memory: instructions, constants and user clip planes, vectors of four dwords.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PvsMemory {
    vectors: Box<[[u32; 4]]>,
    index: usize,
    /// Number of dwords since the last write of the index.
    dwords: usize,
}

/// Number of vectors that `VAP_PVS_VECTOR_INDX_REG` addresses.
const VECTORS: usize = 1 << 11;

impl Default for PvsMemory {
    fn default() -> Self {
        Self { vectors: vec![[0; 4]; VECTORS].into(), index: 0, dwords: 0 }
    }
}

impl PvsMemory {
    /// Returns all vectors in the order of `VAP_PVS_VECTOR_INDX_REG`.
    #[must_use]
    pub fn vectors(&self) -> &[[u32; 4]] {
        &self.vectors
    }

    /// Returns an instruction.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`pvs::INSTRUCTIONS`].
    #[must_use]
    pub fn instruction(&self, index: usize) -> pvs::Instruction {
        assert!(index < pvs::INSTRUCTIONS, "no such instruction slot");
        pvs::Instruction(self.vectors[index])
    }

    /// Returns the constants, [`pvs::CONSTANTS`] long, before `PVS_CONST_BASE_OFFSET`.
    #[must_use]
    pub fn constants(&self) -> &[[u32; 4]] {
        &self.vectors[pvs::CONSTANT_BASE..pvs::CONSTANT_BASE + pvs::CONSTANTS]
    }

    /// Returns the user clip planes.
    #[must_use]
    pub fn planes(&self) -> &[[u32; 4]] {
        &self.vectors[pvs::PLANE_BASE..pvs::PLANE_BASE + pvs::PLANES]
    }

    /// Handles a write of `VAP_PVS_VECTOR_INDX_REG`.
    pub(crate) fn set_index(&mut self, vector: usize) {
        self.index = vector;
        self.dwords = 0;
    }

    /// Handles a write of `VAP_PVS_VECTOR_DATA_REG`. Dwords beyond the memory are dropped.
    pub(crate) fn push(&mut self, value: u32) {
        let dwords = self.dwords;
        self.dwords = dwords.saturating_add(1);
        if let Some(vector) = self.vectors.get_mut(self.index.saturating_add(dwords / 4)) {
            vector[dwords % 4] = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_count_up_from_the_index() {
        let mut us = UsMemory::default();
        us.set_index(GaUsVectorIndex(510));
        (1..=18).for_each(|value| us.push(value));
        assert_eq!(us.instructions()[510].0, [1, 2, 3, 4, 5, 6]);
        assert_eq!(us.instructions()[511].0, [7, 8, 9, 10, 11, 12], "the rest is dropped");
        us.set_index(GaUsVectorIndex(1 << 16 | 3));
        [4.0f32, -7.0, 0.5, -0.25, 2.0].iter().for_each(|value| us.push(value.to_bits()));
        assert_eq!(us.constants()[3].map(f32::from_bits), [4.0, -7.0, 0.5, -0.25]);
        assert_eq!(us.constants()[4].map(f32::from_bits), [2.0, 0.0, 0.0, 0.0]);
        us.set_index(GaUsVectorIndex(3 << 16));
        [4.0f32, -7.0, 0.5, f32::NAN].iter().for_each(|value| us.push(value.to_bits()));
        assert_eq!(us.constants()[0][..3], [1.0f32, -1.0, 0.5].map(f32::to_bits), "clamped");

        let mut vertex = PvsMemory::default();
        vertex.set_index(1023);
        (1..=8).for_each(|value| vertex.push(value));
        assert_eq!(vertex.instruction(1023).0, [1, 2, 3, 4]);
        assert_eq!(vertex.constants()[0], [5, 6, 7, 8]);
        vertex.set_index(2047);
        (1..=8).for_each(|value| vertex.push(value));
        assert_eq!(vertex.vectors()[2047], [1, 2, 3, 4]);
    }
}
