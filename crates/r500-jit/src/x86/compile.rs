//! Compilation of a unit.

use r500_fast::codegen::CompileUnit;

use super::contest::Variant;
use super::emit;
use crate::{Effort, Groups};
use r500_lir::TargetCaps;
use r500_lir::UnitLayout;
use r500_lir::regalloc;
use r500_lir::{Class, LirFunction, Opcode, Region};

pub use super::assembly::{Assembly, Line};
pub use super::level::Level;

/// The register pressure, divided by the number of registers, from which on interleaving is not the baseline form: it spills much.
const CROWDED: usize = 3;

/// The same, from which on interleaving is not measured either.
const OVERCROWDED: usize = 6;

/// The register pressure up to which four interleaved vectors may be faster: values without a register become memory operands.
const ROOMY: usize = 24;

/// The number of values from which on a second form takes too long to compile.
const LONG: usize = 3000;

/// Why a unit has no machine code. The fast engine then interprets its operations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// An instruction or its operands have no encoding: a bug of the compiler, which debug builds and tests stop at.
    #[error("an instruction cannot be encoded: {0}")]
    Encoding(String),
}

impl From<iced_x86::IcedError> for CompileError {
    fn from(error: iced_x86::IcedError) -> Self {
        Self::Encoding(error.to_string())
    }
}

/// The forms of a unit's code, which compute the same bits and count the same instructions.
#[derive(Debug)]
pub(super) struct CompiledForms {
    /// The form that is used unless another one is measured to be faster.
    pub(super) baseline: Assembly,
    /// Forms with other interleaving or with speculation that may be faster, in the order in which they are measured.
    pub(super) challengers: Vec<PendingForm>,
}

/// A form that is compiled on demand: most code draws little.
#[derive(Debug)]
pub(super) struct PendingForm {
    function: LirFunction,
    layout: UnitLayout,
    level: Level,
    effort: Effort,
    doublings: u32,
    /// The winner of the previous contest, if there was one, that makes this form worth measuring.
    pub(super) after: Variant,
}

impl PendingForm {
    /// Compiles the form.
    ///
    /// # Errors
    /// [`CompileError`] if the code cannot be encoded.
    pub(super) fn compile(self) -> Result<Assembly, CompileError> {
        let Self { function, layout, level, effort, doublings, .. } = self;
        finish(function, &layout, level, effort, doublings)
    }
}

/// Compiles a unit in the form that is used without measurement.
///
/// # Errors
/// [`CompileError`] if the code cannot be encoded.
pub fn compile(
    unit: &CompileUnit<'_>,
    level: Level,
    effort: Effort,
) -> Result<Assembly, CompileError> {
    compile_doubled(unit, level, effort, baseline_doublings)
}

/// Compiles a unit. Returns the baseline form, and the forms that are measured against it.
///
/// # Errors
/// [`CompileError`] if the code cannot be encoded.
pub(super) fn compile_forms(
    unit: &CompileUnit<'_>,
    level: Level,
    effort: Effort,
    groups: Groups,
) -> Result<CompiledForms, CompileError> {
    let function = lower_unit(unit, level);
    let layout = UnitLayout::of(unit);
    let form = |function, doublings, after| {
        let layout = layout.clone();
        PendingForm { function, layout, level, effort, doublings, after }
    };
    let (baseline, challengers) = match groups {
        Groups::One => (form(function, 0, Variant::Baseline), Vec::new()),
        Groups::Two | Groups::Four => {
            let is_four = groups == Groups::Four && r500_lir::fuel_is_uniform(&function.body);
            let function = lower_speculative(unit, level).unwrap_or(function);
            (form(function, if is_four { 2 } else { 1 }, Variant::Baseline), Vec::new())
        }
        Groups::Contest if effort == Effort::Full && function.classes.len() < LONG => {
            let doublings = baseline_doublings(&function, level);
            let mut challengers = challenger_doublings(&function, level);
            let speculative = lower_speculative(unit, level);
            if speculative.is_some() && challengers.is_empty() {
                challengers.push((doublings, Variant::Baseline));
            }
            let other = speculative.unwrap_or_else(|| function.clone());
            let challengers = challengers.into_iter();
            let challengers =
                challengers.map(|(doublings, after)| form(other.clone(), doublings, after));
            (form(function, doublings, Variant::Baseline), challengers.collect())
        }
        Groups::Contest => {
            let doublings = baseline_doublings(&function, level);
            (form(function, doublings, Variant::Baseline), Vec::new())
        }
    };
    Ok(CompiledForms { baseline: baseline.compile()?, challengers })
}

/// Returns how often the number of interleaved groups is doubled without measurement.
pub(super) fn baseline_doublings(function: &LirFunction, level: Level) -> u32 {
    match level {
        // A vector is half a chunk.
        Level::Avx2 => u32::from(regalloc::pressure(function) < CROWDED * registers(level)),
        // The more pixels share control flow, the more of them run code that only others need.
        Level::Avx512 => 0,
    }
}

/// Returns how often it is doubled in forms that may be faster, and the winner of the previous contest that each requires.
fn challenger_doublings(function: &LirFunction, level: Level) -> Vec<(u32, Variant)> {
    let pressure = regalloc::pressure(function);
    // Four groups cannot count instructions separately.
    let is_roomy = pressure <= ROOMY
        && function.classes.len() < LONG / 2
        && r500_lir::fuel_is_uniform(&function.body);
    // Out-of-order execution overlaps groups, but neither iterations of a loop nor long latencies of texel loads.
    let mut waits = function.body.iter().any(|region| matches!(region, Region::Loop(_)));
    function.each_op(|op| waits |= matches!(op.opcode, Opcode::LoadTexel(_)));
    match level {
        _ if pressure >= OVERCROWDED * registers(level) => Vec::new(),
        // The baseline form is one group.
        Level::Avx2 if pressure >= CROWDED * registers(level) => vec![(1, Variant::Baseline)],
        Level::Avx512 if is_roomy && waits => {
            vec![(1, Variant::Baseline), (2, Variant::Challenger)]
        }
        Level::Avx512 => vec![(1, Variant::Baseline)],
        Level::Avx2 if is_roomy => vec![(2, Variant::Baseline), (0, Variant::Baseline)],
        Level::Avx2 => vec![(0, Variant::Baseline)],
    }
}

/// Returns the number of vector registers.
fn registers(level: Level) -> usize {
    level.registers(Class::Vector)
}

fn compile_doubled(
    unit: &CompileUnit<'_>,
    level: Level,
    effort: Effort,
    doublings: impl FnOnce(&LirFunction, Level) -> u32,
) -> Result<Assembly, CompileError> {
    let function = lower_unit(unit, level);
    let doublings = doublings(&function, level);
    finish(function, &UnitLayout::of(unit), level, effort, doublings)
}

/// Compiles a lowered unit.
fn finish(
    function: LirFunction,
    layout: &UnitLayout,
    level: Level,
    effort: Effort,
    doublings: u32,
) -> Result<Assembly, CompileError> {
    let function = schedule_groups(function, level, effort, doublings);
    let listing = regalloc::allocate(&function, level.machine());
    Ok(emit::emit(&listing, &function.tables, level, layout)?)
}

/// Returns the operations of a unit for one group.
pub(crate) fn lower_unit(unit: &CompileUnit<'_>, level: Level) -> LirFunction {
    r500_lir::lower(unit, caps(level))
}

/// Returns the operations with speculation on signs of zeros; `None` if that changes nothing.
fn lower_speculative(unit: &CompileUnit<'_>, level: Level) -> Option<LirFunction> {
    let caps = TargetCaps { speculative: true, ..caps(level) };
    r500_lir::is_speculative(unit).then(|| r500_lir::lower(unit, caps))
}

fn caps(level: Level) -> TargetCaps {
    let wide = level == Level::Avx512;
    // Gathers cost more than they save.
    TargetCaps {
        mask_class: level.mask(),
        numbers: false,
        rows: wide,
        floors: wide,
        fixups: wide,
        fused: fuses(level),
        tables: true,
        single_quad: false,
        speculative: false,
    }
}

/// Returns whether code may use fused multiply-add. Every processor with AVX2 has it, but a virtual machine may not; code that does not run
/// on this machine may use it.
fn fuses(level: Level) -> bool {
    level == Level::Avx512 || is_x86_feature_detected!("fma") || !level.is_available()
}

/// Returns the input of register allocation: the scheduled operations of all interleaved groups.
pub(crate) fn schedule_groups(
    mut function: LirFunction,
    level: Level,
    effort: Effort,
    doublings: u32,
) -> LirFunction {
    for _ in 0..doublings {
        function = r500_lir::interleave(function, level.mask(), doublings == 1);
    }
    if effort == Effort::Full {
        let registers = [Class::Vector, Class::Mask].map(|class| level.registers(class));
        r500_lir::schedule(&mut function, registers, true);
    }
    function
}

#[cfg(test)]
mod tests;
