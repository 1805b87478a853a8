//! Machine code of a segment.

use r500_fast::codegen::CompileUnit;

use super::{emit, latency_model, regalloc};
use crate::lir::{Class, LirFunction};
use crate::lower::TargetCaps;
use crate::{Effort, lower, schedule, unroll_and_jam};

pub use super::assembly::{Assembly, Line};
pub use super::level::Level;

/// Values to a register from which on a second group is too much.
const CROWDED: usize = 3;

/// Why there is no machine code of a unit: the fast engine runs it operation by operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// An instruction or its operands have no encoding: a mistake of the compiler, which debug builds and tests
    /// stop at.
    #[error("an instruction cannot be encoded: {0}")]
    Encoding(String),
}

impl From<iced_x86::IcedError> for CompileError {
    fn from(error: iced_x86::IcedError) -> Self {
        Self::Encoding(error.to_string())
    }
}

/// Returns machine code of a unit.
///
/// # Errors
/// [`CompileError`] if this compiler cannot make it.
pub fn compile(
    unit: &CompileUnit<'_>,
    level: Level,
    effort: Effort,
) -> Result<Assembly, CompileError> {
    compile_doubled(unit, level, effort, usual_doublings)
}

/// How often the groups that go together are doubled.
pub(super) fn usual_doublings(program: &LirFunction, level: Level) -> u32 {
    // Twice the groups take twice the registers: where even one has far more values than there are, there
    // is no waiting to be filled but for the frame.
    if regalloc::pressure(program) >= CROWDED * level.registers(Class::Vector) {
        return 0;
    }
    match level {
        // A vector is half a chunk.
        Level::Avx2 => 1,
        // The more pixels go together, the more of them go where only others want to.
        Level::Avx512 => u32::from(latency_model::is_latency_bound(program)),
    }
}

fn compile_doubled(
    unit: &CompileUnit<'_>,
    level: Level,
    effort: Effort,
    doublings: impl FnOnce(&LirFunction, Level) -> u32,
) -> Result<Assembly, CompileError> {
    let program = program_of(unit, level, effort, doublings);
    let listing = regalloc::allocate(&program, level);
    Ok(emit::emit(&listing, level, unit)?)
}

/// What registers are given to.
pub(super) fn program_of(
    unit: &CompileUnit<'_>,
    level: Level,
    effort: Effort,
    doublings: impl FnOnce(&LirFunction, Level) -> u32,
) -> LirFunction {
    // Gathering takes longer than what it saves.
    let caps =
        TargetCaps { mask_class: level.mask(), numbers: false, rows: level == Level::Avx512 };
    let mut program = lower::lower(unit, caps);
    for _ in 0..doublings(&program, level) {
        program = unroll_and_jam::interleave(program, level.mask());
    }
    if effort == Effort::Full {
        schedule::schedule(&mut program, level.registers(Class::Vector), true);
    }
    program
}

#[cfg(test)]
mod tests;
