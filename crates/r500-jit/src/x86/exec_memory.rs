//! Executable memory and the call into it: all of the crate's `unsafe`.
//!
//! Code is written to pages that can be written, which are then made executable and never writable
//! again; no page is both at any time. They go when the last user of the [`ExecMemory`] goes.

#![allow(unsafe_code, reason = "machine code that was just made is called")]

use std::io;

use memmap2::{Mmap, MmapMut};
use r500_exec::RunError;
use r500_fast::codegen::{AdjacentBatches, Batch};

use crate::memory_bounds::MemoryBounds;
use crate::vm_context::VmContext;
use crate::x86::compile::{Assembly, Level};

/// Machine code in memory, ready to be called.
#[derive(Debug)]
pub(crate) struct ExecMemory {
    memory: Mmap,
    length: usize,
    extent: MemoryBounds,
}

impl ExecMemory {
    /// Code made for a unit. The level must be one that this processor has.
    ///
    /// # Errors
    /// What the system says if it has no memory, or forbids to execute it.
    pub(crate) fn new(assembly: &Assembly, extent: MemoryBounds, level: Level) -> io::Result<Self> {
        if !level.is_available() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let code = &assembly.code;
        let mut memory = MmapMut::map_anon(code.len().max(1))?;
        memory[..code.len()].copy_from_slice(code);
        Ok(Self { memory: memory.make_exec()?, length: code.len(), extent })
    }

    /// The code, as it lies in memory.
    pub(crate) fn code(&self) -> &[u8] {
        &self.memory[..self.length]
    }

    /// Runs the code over the chunks from one to before another. With a budget it has to stay within
    /// that; the instructions that it counted come back, and the address of the last of them.
    ///
    /// # Errors
    /// What the budget says.
    ///
    /// # Panics
    /// If slots, coverage or cells are not those of the unit: a mistake of the engine, not of any
    /// input.
    pub(crate) fn call(
        &self,
        batch: &mut Batch<'_, '_>,
        (first, end): (usize, usize),
        fuel_checked: bool,
    ) -> Result<(u64, u32), RunError> {
        let cells = self.extent.check(batch, (first, end));
        if first == end {
            return Ok((0, 0));
        }
        let refill = refill as *const ();
        let mut context = VmContext::new(batch, cells, (first, end), fuel_checked, refill);
        self.enter(&mut context);
        context.finish()
    }

    /// Runs code that counts no instructions over all chunks of adjacent batches.
    ///
    /// # Panics
    /// As [`call`](Self::call), also if interpolants or planes are not those of so many batches.
    pub(crate) fn call_adjacent(&self, batch: &mut Batch<'_, '_>, adjacent: AdjacentBatches) {
        let AdjacentBatches { chunks, count, pixels, covered } = adjacent;
        if chunks == 0 || count == 0 {
            return;
        }
        let cells = self.extent.check_adjacent(batch, adjacent);
        let refill = refill as *const ();
        let mut context = VmContext::new(batch, cells, (0, chunks), false, refill);
        let (channels, steps) = (self.extent.interpolants(), self.extent.steps(pixels));
        for _ in 0..count {
            self.enter(&mut context);
            // The extent found so many of these.
            context.advance(channels, covered, steps);
        }
    }

    /// Enters the code.
    fn enter(&self, context: &mut VmContext<'_>) {
        // SAFETY: the code is at the start of a mapping that stays while `self` does and that is
        // never writable. It was made by `compile` (or, in tests, by hand) for the convention of `VmContext`
        // and for a level that this processor has, which `new` asked: it saves what the System V
        // convention wants saved, restores MXCSR, and keeps no pointer. It reads the unit's slots
        // and writes those it lists, and what is covered, each from `begin` to `end`: the extent was
        // asked whether these lie in `slots` and `covered`, which are borrowed mutably for the call. Of
        // its tables it reads whole cells, the number of which it limits to what the unit's tables
        // say and the extent found there; of its ramps, of which the extent found as many as the unit
        // says, a column and a row where the places of those chunks say, which is within a ramp. To the
        // planes of its colours it writes pixels (and reads them, where it keeps some) where the places of those chunks in that
        // plane say, all of which lie within the number of bytes that `BatchOffsets` says and that the extent found in each of
        // these planes, whose pixels it found to have the size that the code was made for, which are borrowed mutably too; for adjacent batches the extent found the ramps, coverage and pixels of all of
        // them. It calls nothing but `refill`, with the pointer that it got. Contexts are made by `call` and `call_adjacent` from a
        // batch that is borrowed for as long as they are used.
        let done = unsafe {
            let entry: extern "sysv64" fn(*mut VmContext<'_>) -> u64 =
                std::mem::transmute(self.memory.as_ptr());
            entry(std::ptr::from_mut(context))
        };
        debug_assert_eq!(done != 0, context.has_stopped(), "code stopped by itself");
    }
}

/// [`VmContext::refill`]. Does nothing that could panic: that would end the process.
///
/// # Safety
/// The context is that of the call in which the code runs.
unsafe extern "sysv64" fn refill(context: *mut VmContext<'_>) -> u64 {
    // SAFETY: the pointer is that of `ExecMemory::call`, which does not touch the context while the code
    // runs, and the code itself waits for this function.
    let context = unsafe { &mut *context };
    u64::from(!context.refill())
}

#[cfg(test)]
pub(crate) mod tests;
