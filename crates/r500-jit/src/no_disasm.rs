//! Listings on targets without a disassembler.

use r500_fast::Simd;
use r500_fast::codegen::ResourceLayout;
use r500_ir::Function;

use crate::{Effort, Unavailable};

/// Returns the machine code of a function as text.
///
/// # Errors
/// Always: there is a disassembler for x86-64 only.
pub fn listing(
    _: &Function,
    _: &ResourceLayout,
    _: Simd,
    _: Effort,
    _: &mut dyn FnMut(u32) -> Option<String>,
) -> Result<String, Unavailable> {
    Err(Unavailable::Listing)
}
