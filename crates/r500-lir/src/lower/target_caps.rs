//! Target capabilities, which guide instruction selection.

use crate::Class;
#[cfg(doc)]
use crate::Opcode;

/// What there is to compute with.
#[derive(Clone, Copy, Debug)]
pub struct TargetCaps {
    /// The register class of masks.
    pub mask_class: Class,
    /// Whether [`Opcode::GatherChannel`] is cheap.
    pub numbers: bool,
    /// Whether the target has [`Opcode::Permute2Lo`] and [`Opcode::Permute2Hi`].
    pub rows: bool,
    /// Whether the target has [`Opcode::FloorToInt`].
    pub floors: bool,
    /// Whether the target has [`Opcode::FixUp`], [`Opcode::Remainder`] and [`Opcode::Scale`].
    pub fixups: bool,
    /// Whether the target has [`Opcode::MulAdd`] and [`Opcode::NegMulAdd`].
    pub fused: bool,
    /// Whether the target has [`Opcode::Tabulated`] and [`Opcode::Lookup`].
    pub tables: bool,
    /// Whether a vector is one quad.
    pub single_quad: bool,
    /// Whether lowering speculates on signs of zeros, at the price of recomputing some groups.
    pub speculative: bool,
}

impl TargetCaps {
    /// Returns the capabilities of vectors of four lanes (WebAssembly, AArch64): single channels are cheap to gather.
    pub const fn quads(mask_class: Class) -> Self {
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
