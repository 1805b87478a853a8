//! Machine code of a unit.

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
pub(super) fn usual_doublings(function: &LirFunction, level: Level) -> u32 {
    // Interleaving doubles the register pressure: where one group already spills, latency is not the limit.
    if regalloc::pressure(function) >= CROWDED * level.registers(Class::Vector) {
        return 0;
    }
    match level {
        // A vector is half a chunk.
        Level::Avx2 => 1,
        // The more pixels go together, the more of them go where only others want to.
        Level::Avx512 => u32::from(latency_model::is_latency_bound(function)),
    }
}

fn compile_doubled(
    unit: &CompileUnit<'_>,
    level: Level,
    effort: Effort,
    doublings: impl FnOnce(&LirFunction, Level) -> u32,
) -> Result<Assembly, CompileError> {
    let function = lower_unit(unit, level, effort, doublings);
    let listing = regalloc::allocate(&function, level);
    Ok(emit::emit(&listing, level, unit)?)
}

/// What registers are given to.
pub(super) fn lower_unit(
    unit: &CompileUnit<'_>,
    level: Level,
    effort: Effort,
    doublings: impl FnOnce(&LirFunction, Level) -> u32,
) -> LirFunction {
    // Gathering takes longer than what it saves.
    let caps =
        TargetCaps { mask_class: level.mask(), numbers: false, rows: level == Level::Avx512 };
    let mut function = lower::lower(unit, caps);
    for _ in 0..doublings(&function, level) {
        function = unroll_and_jam::interleave(function, level.mask());
    }
    if effort == Effort::Full {
        schedule::schedule(&mut function, level.registers(Class::Vector), true);
    }
    function
}

#[cfg(test)]
mod tests;
