//! Executable memory and calls into it: all `unsafe` of the back end.
//!
//! Code is written to writable pages, which are then made executable and never become writable again (W^X). The pages are unmapped when the
//! [`ExecMemory`] is dropped.

#![allow(unsafe_code, reason = "machine code that was just made is called")]

use std::io;

use memmap2::{Mmap, MmapMut};
use r500_exec::RunError;
use r500_fast::codegen::{AdjacentBatches, Batch};

use crate::memory_bounds::MemoryBounds;
use crate::vm_context::VmContext;
use crate::x86::compile::{Assembly, Level};

/// Machine code in executable memory.
#[derive(Debug)]
pub(crate) struct ExecMemory {
    memory: Mmap,
    length: usize,
    extent: MemoryBounds,
}

impl ExecMemory {
    /// Copies code to executable memory.
    ///
    /// # Errors
    /// If this processor lacks the level; the system's error if it has no memory or forbids execution.
    pub(crate) fn new(assembly: &Assembly, extent: MemoryBounds, level: Level) -> io::Result<Self> {
        if !level.is_available() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let code = &assembly.code;
        let mut memory = MmapMut::map_anon(code.len().max(1))?;
        memory[..code.len()].copy_from_slice(code);
        Ok(Self { memory: memory.make_exec()?, length: code.len(), extent })
    }

    /// Returns the bytes of the code.
    pub(crate) fn code(&self) -> &[u8] {
        &self.memory[..self.length]
    }

    /// Runs the code over a range of chunks. If `fuel_checked`, the code counts instructions and stays within the fuel. Returns the number
    /// of counted instructions and the address of the last of them.
    ///
    /// # Errors
    /// The error of the fuel.
    ///
    /// # Panics
    /// If slots, coverage or texels do not match the unit: a bug of the engine, whatever the input.
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
    /// As [`call`](Self::call), also if interpolants or planes do not match that many batches.
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
            // The extent checked the memory of all these batches.
            context.advance(channels, covered, steps);
        }
    }

    /// Calls the code.
    fn enter(&self, context: &mut VmContext<'_>) {
        // SAFETY: the code is at the start of a mapping that lives as long as `self` and is never writable. `compile` generated it (or, in
        // tests, it was written by hand) for the contract of `VmContext` and for a level that this processor has, which `new` checked: it
        // preserves the registers of the System V convention, restores MXCSR, and keeps no pointer. It reads the unit's slots and writes
        // those that the unit lists, and the coverage, each from `begin` to `end`: the extent checked that these lie in `slots` and
        // `covered`, which are borrowed mutably for the call. Of its textures it reads whole texels, whose index it clamps to the size of
        // the unit's texture, which the extent checked; of its interpolants, whose number the extent checked, one column and one row at the
        // offsets of those chunks, which are within an interpolant. To the planes of its colours it writes pixels (and reads them, if it
        // keeps some) at the offsets of those chunks in that plane, all of which lie within the number of bytes of `BatchOffsets`, which
        // the extent checked for each of these planes; the extent also checked that their pixels have the size that the code was compiled
        // for, and they are borrowed mutably, too. For adjacent batches the extent checked the interpolants, coverage and pixels of all of
        // them. The code calls nothing but `refill`, with the pointer that it received. `call` and `call_adjacent` make the context from a
        // batch that is borrowed for as long as the context is used.
        let done = unsafe {
            let entry: extern "sysv64" fn(*mut VmContext<'_>) -> u64 =
                std::mem::transmute(self.memory.as_ptr());
            entry(std::ptr::from_mut(context))
        };
        debug_assert_eq!(done != 0, context.has_stopped(), "code stopped by itself");
    }
}

/// Calls [`VmContext::refill`]. Does not panic: a panic would abort the process.
///
/// # Safety
/// The context is that of the call in which the code runs.
unsafe extern "sysv64" fn refill(context: *mut VmContext<'_>) -> u64 {
    // SAFETY: the pointer is that of `ExecMemory::call`, which does not access the context while the code runs, and the code itself waits
    // for this function.
    let context = unsafe { &mut *context };
    u64::from(!context.refill())
}

#[cfg(test)]
pub(crate) mod tests;
