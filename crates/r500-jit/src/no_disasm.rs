//! Where there is no text of machine code.

use r500_fast::Simd;
use r500_fast::codegen::ResourceLayout;
use r500_ir::Function;

use crate::{Effort, Unavailable};

/// The machine code of a function as text.
///
/// # Errors
/// There is a disassembler for x86-64 alone.
pub fn listing(
    _: &Function,
    _: &ResourceLayout,
    _: Simd,
    _: Effort,
    _: &mut dyn FnMut(u32) -> Option<String>,
) -> Result<String, Unavailable> {
    Err(Unavailable::Listing)
}
