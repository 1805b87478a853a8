//! Compilation of a unit.

use r500_fast::codegen::CompileUnit;

use super::assembly::Assembly;
use super::emit::{self, VECTORS};
use super::error::CompileError;
use super::inversion;
use crate::{Effort, Groups};
use r500_lir::TargetCaps;
use r500_lir::UnitLayout;
use r500_lir::regalloc;
use r500_lir::{Class, LirFunction};
use r500_lir::{Machine, MemoryOperands};

/// The machine description for register allocation. [`emit`] reserves the last two vector registers.
pub(crate) const MACHINE: Machine =
    Machine { vectors: VECTORS, masks: 0, operands: MemoryOperands::Zero };

/// The register pressure from which on interleaving would spill too much.
const CROWDED: usize = 2 * VECTORS;

/// Compiles a unit.
///
/// # Errors
/// [`CompileError`] if the code cannot be encoded.
pub(crate) fn compile(
    unit: &CompileUnit<'_>,
    effort: Effort,
    groups: Groups,
) -> Result<Assembly, CompileError> {
    let function = scheduled(unit, effort, groups);
    let listing = regalloc::allocate(&function, MACHINE);
    emit::emit(&listing, &UnitLayout::of(unit))
}

/// Returns the input of register allocation: the scheduled operations of all interleaved groups.
pub(crate) fn scheduled(unit: &CompileUnit<'_>, effort: Effort, groups: Groups) -> LirFunction {
    let mut function = r500_lir::lower(unit, TargetCaps::quads(Class::Vector));
    let two = match groups {
        Groups::One => false,
        Groups::Two | Groups::Four => true,
        Groups::Contest => regalloc::pressure(&function) < CROWDED,
    };
    if two {
        function = r500_lir::interleave(function, Class::Vector, false);
    }
    inversion::invert(&mut function);
    if effort == Effort::Full {
        // Texel offsets are not read from the frame.
        r500_lir::schedule(&mut function, [VECTORS, 0], false);
    }
    function
}

#[cfg(test)]
mod tests;
