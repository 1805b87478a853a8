//! Machine code as a kernel of the fast engine.
//!
//! The speculative form runs first. If it flushed a result, the exact form recomputes its chunks (deoptimisation), from the previous
//! contents of slots and coverage. After repeated failures the exact form runs alone for a while.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use r500_exec::RunError;
use r500_exec::output::color::PixelEncoding;
use r500_fast::Simd;
use r500_fast::codegen::{Batch, Chunk, CompileUnit, Kernel};
use r500_ir::Stmt;

use super::compile::compile;
use super::emit::FpMode;
use super::exec_memory::{ExecMemory, Outcome};
use crate::memory_bounds::MemoryBounds;
use crate::{Effort, Groups, Settings, Unavailable};

/// The back end: compiles units.
#[derive(Debug)]
pub(crate) struct Backend {
    groups: Groups,
}

impl Backend {
    /// # Errors
    /// If there is no machine code for these instructions.
    pub(crate) fn new(simd: Simd, settings: Settings) -> Result<Self, Unavailable> {
        match simd {
            Simd::Portable => Ok(Self { groups: settings.groups }),
            _ => Err(Unavailable::Level),
        }
    }

    /// Returns false: the fast engine encodes and stores pixels of surfaces.
    pub(crate) fn supports_encoding(&self, _: &PixelEncoding, _: bool) -> bool {
        false
    }

    /// Compiles a unit; `None` if it has no machine code.
    ///
    /// # Errors
    /// The system's error if it refuses executable memory.
    pub(crate) fn make(
        &self,
        unit: &CompileUnit<'_>,
        effort: Effort,
    ) -> io::Result<Option<CompiledKernel>> {
        let Ok(assembly) = compile(unit, effort, self.groups) else { return Ok(None) };
        let pages = ExecMemory::new(&assembly, MemoryBounds::of(unit))?;
        Ok(Some(CompiledKernel {
            pages,
            changed: Changed::of(unit),
            fuel_checked: unit.fuel_checked,
            speculation: Speculation::default(),
        }))
    }
}

/// The machine code of a unit.
#[derive(Debug)]
pub(crate) struct CompiledKernel {
    pages: ExecMemory,
    changed: Changed,
    fuel_checked: bool,
    speculation: Speculation,
}

impl CompiledKernel {
    /// Returns the size of the code in bytes.
    pub(crate) fn size(&self) -> usize {
        self.pages.code().len()
    }

    /// Runs over chunks, in either form. Returns the number of counted instructions and the address of the last of them.
    fn call(&self, batch: &mut Batch<'_, '_>, run: (usize, usize)) -> Result<(u64, u32), RunError> {
        if self.speculation.is_profitable() {
            let before = self.changed.save(batch, run);
            let outcome = self.pages.call(FpMode::Speculative, batch, run, self.fuel_checked);
            self.speculation.note(matches!(outcome, Outcome::Done(_)));
            match outcome {
                Outcome::Done(result) => return result,
                Outcome::Underflow => self.changed.restore(batch, run, before),
            }
        }
        match self.pages.call(FpMode::Exact, batch, run, self.fuel_checked) {
            Outcome::Done(result) => result,
            Outcome::Underflow => unreachable!("the exact form is exact"),
        }
    }
}

impl Kernel for CompiledKernel {
    fn run(&self, batch: &mut Batch<'_, '_>, run: (usize, usize)) -> Result<(), RunError> {
        let (instructions, address) = self.call(batch, run)?;
        if self.fuel_checked {
            // A batch is charged for the group that executed most.
            batch.fuel.consume(instructions, address)?;
        }
        Ok(())
    }
}

/// The state that a unit changes and that code reads: it is restored when speculation fails. (Colours are not read, and the exact form
/// stores all of them again.)
#[derive(Debug)]
struct Changed {
    /// Chunks per slot.
    stride: usize,
    slots: Vec<usize>,
    coverage: bool,
}

impl Changed {
    fn of(unit: &CompileUnit<'_>) -> Self {
        let written = unit.writes.iter().map(|(_, slot)| *slot);
        let mut slots: Vec<usize> = written
            .chain(unit.moves.iter().map(|moved| moved.slot))
            .map(|at| at as usize)
            .collect();
        slots.sort_unstable();
        slots.dedup();
        let mut is_discard = |stmt: &Stmt| matches!(stmt, Stmt::Discard(_));
        Self {
            stride: unit.stride as usize / size_of::<Chunk>(),
            slots,
            coverage: unit.body.iter().any(|stmt| stmt.any(&mut is_discard)),
        }
    }

    /// Returns the indices of a run's chunks in a slot.
    fn range(&self, slot: usize, (first, end): (usize, usize)) -> std::ops::Range<usize> {
        slot * self.stride + first..slot * self.stride + end
    }

    /// Returns a copy of the state of a run's chunks.
    fn save(&self, batch: &Batch<'_, '_>, run: (usize, usize)) -> Vec<Chunk> {
        let mut before = Vec::new();
        for slot in &self.slots {
            before.extend_from_slice(&batch.slots[self.range(*slot, run)]);
        }
        if self.coverage {
            before.extend_from_slice(&batch.covered[run.0..run.1]);
        }
        before
    }

    /// Restores the state that [`save`](Self::save) returned.
    fn restore(&self, batch: &mut Batch<'_, '_>, run: (usize, usize), before: Vec<Chunk>) {
        let mut rest = before.as_slice();
        let mut next = |to: &mut [Chunk]| {
            let (chunks, after) = rest.split_at(to.len());
            to.copy_from_slice(chunks);
            rest = after;
        };
        for slot in &self.slots {
            next(&mut batch.slots[self.range(*slot, run)]);
        }
        if self.coverage {
            next(&mut batch.covered[run.0..run.1]);
        }
    }
}

/// Exponential backoff: after each failure in a row, twice as many runs are not speculative.
#[derive(Debug, Default)]
struct Speculation {
    /// Remaining runs without speculation.
    skip: AtomicU32,
    /// Length of the last such sequence of runs.
    skipped: AtomicU32,
}

impl Speculation {
    /// Maximum number of runs without speculation.
    const MOST: u32 = 31;

    /// Returns whether the next run is speculative. A race of threads may count a run twice, which affects time only.
    fn is_profitable(&self) -> bool {
        let skip = self.skip.load(Ordering::Relaxed);
        if skip > 0 {
            self.skip.store(skip - 1, Ordering::Relaxed);
        }
        skip == 0
    }

    fn note(&self, succeeded: bool) {
        let skipped = self.skipped.load(Ordering::Relaxed);
        if succeeded {
            if skipped > 0 {
                self.skipped.store(0, Ordering::Relaxed);
            }
            return;
        }
        self.skip.store(skipped, Ordering::Relaxed);
        self.skipped.store((2 * skipped + 1).min(Self::MOST), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
