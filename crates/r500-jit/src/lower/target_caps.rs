//! Target capabilities, which guide instruction selection.

use crate::lir::Class;
#[cfg(doc)]
use crate::lir::Opcode;

/// What there is to compute with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TargetCaps {
    /// The register class of masks.
    pub(crate) mask_class: Class,
    /// Whether [`Opcode::GatherChannel`] is cheap.
    pub(crate) numbers: bool,
    /// Whether the target has [`Opcode::Permute2Lo`] and [`Opcode::Permute2Hi`].
    pub(crate) rows: bool,
    /// Whether the target has [`Opcode::FloorToInt`].
    pub(crate) floors: bool,
    /// Whether the target has [`Opcode::FixUp`], [`Opcode::Remainder`] and [`Opcode::Scale`].
    pub(crate) fixups: bool,
    /// Whether the target has [`Opcode::MulAdd`] and [`Opcode::NegMulAdd`].
    pub(crate) fused: bool,
    /// Whether the target has [`Opcode::Tabulated`] and [`Opcode::Lookup`].
    pub(crate) tables: bool,
    /// Whether a vector is one quad.
    pub(crate) single_quad: bool,
    /// Whether lowering [speculates](super::zero_signs) on signs of zeros, at the price of recomputing some groups.
    pub(crate) speculative: bool,
}

#[cfg(any(target_arch = "wasm32", target_arch = "aarch64", test))]
impl TargetCaps {
    /// Returns the capabilities of vectors of four lanes (WebAssembly, AArch64): single channels are cheap to gather.
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
