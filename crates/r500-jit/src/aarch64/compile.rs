//! Machine code of a unit.

use r500_fast::codegen::CompileUnit;

use super::assembly::Assembly;
use super::emit::{self, VECTORS};
use super::error::CompileError;
use super::inversion;
use crate::lir::{Class, LirFunction};
use crate::lower::TargetCaps;
use crate::mach_inst::UnitLayout;
use crate::machine::{Machine, MemoryOperands};
use crate::{Effort, Groups, lower, regalloc, schedule, unroll_and_jam};

/// What register allocation asks. The last two vector registers are what [`emit`] needs at times.
pub(crate) const MACHINE: Machine =
    Machine { vectors: VECTORS, masks: 0, operands: MemoryOperands::Zero };

/// Values that are live at once from which on a second group takes too many registers.
const CROWDED: usize = 2 * VECTORS;

/// Returns machine code of a unit.
///
/// # Errors
/// [`CompileError`] if this compiler cannot make it.
pub(crate) fn compile(
    unit: &CompileUnit<'_>,
    effort: Effort,
    groups: Groups,
) -> Result<Assembly, CompileError> {
    let function = scheduled(unit, effort, groups);
    let listing = regalloc::allocate(&function, MACHINE);
    emit::emit(&listing, &UnitLayout::of(unit))
}

/// Returns what registers are given to: the operations for all groups that go together, in their order.
pub(crate) fn scheduled(unit: &CompileUnit<'_>, effort: Effort, groups: Groups) -> LirFunction {
    let mut function = lower::lower(unit, TargetCaps::quads(Class::Vector));
    let two = match groups {
        Groups::One => false,
        Groups::Two | Groups::Four => true,
        Groups::Contest => regalloc::pressure(&function) < CROWDED,
    };
    if two {
        function = unroll_and_jam::interleave(function, Class::Vector, false);
    }
    inversion::invert(&mut function);
    if effort == Effort::Full {
        // The frame is not where offsets of texels are read from.
        schedule::schedule(&mut function, [VECTORS, 0], false);
    }
    function
}

#[cfg(test)]
mod tests;
