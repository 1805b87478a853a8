//! What a target has, which decides how units are lowered.

use crate::lir::Class;
#[cfg(doc)]
use crate::lir::Opcode;

/// What there is to compute with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetCaps {
    /// Registers that hold masks.
    pub(crate) mask_class: Class,
    /// Whether [`Opcode::GatherChannel`] is cheap.
    pub(crate) numbers: bool,
    /// Whether there are [`Opcode::Permute2Lo`] and [`Opcode::Permute2Hi`].
    pub(crate) rows: bool,
    /// Whether there is [`Opcode::FloorToInt`].
    pub(crate) floors: bool,
    /// Whether there are [`Opcode::FixUp`], [`Opcode::Remainder`] and [`Opcode::Scale`].
    pub(crate) fixups: bool,
    /// Whether there is [`Opcode::MulAdd`].
    pub(crate) fused: bool,
    /// Whether there are [`Opcode::Tabulated`] and [`Opcode::Lookup`].
    pub(crate) tables: bool,
    /// Whether a vector is one quad.
    pub(crate) single_quad: bool,
    /// Whether signs of zeros are [speculated](super::zero_signs) on at the price of computing some groups again.
    pub(crate) speculative: bool,
}

#[cfg(any(target_arch = "wasm32", target_arch = "aarch64", test))]
impl TargetCaps {
    /// Vectors of four lanes, as WebAssembly and AArch64 have them: single channels are cheap to gather.
    pub(crate) const fn quads(mask_class: Class) -> Self {
        Self {
            mask_class,
            numbers: true,
            rows: false,
            floors: false,
            fixups: false,
            fused: false,
            tables: false,
            single_quad: true,
            speculative: false,
        }
    }
}
