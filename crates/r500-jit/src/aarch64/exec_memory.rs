//! Machine code and calls into it. The pages that it is in are unmapped when the [`ExecMemory`] is dropped.

#![allow(unsafe_code, reason = "machine code that was just made is called")]

use std::arch::asm;
use std::io;

use r500_exec::RunError;
use r500_fast::codegen::Batch;

use super::assembly::Assembly;
use super::code_pages::CodePages;
use super::emit::FpMode;
use crate::memory_bounds::MemoryBounds;
use crate::vm_context::VmContext;

/// Machine code in executable memory.
#[derive(Debug)]
pub(crate) struct ExecMemory {
    pages: CodePages,
    length: usize,
    /// Offset of the exact form.
    exact: usize,
    extent: MemoryBounds,
}

/// FPSR.UFC: a result was flushed to zero.
const UNDERFLOW: u64 = 1 << 3;

/// The outcome of a call.
pub(super) enum Outcome {
    /// The number of counted instructions and the address of the last of them, or the error of the fuel.
    Done(Result<(u64, u32), RunError>),
    /// A result was flushed to zero, so all results are discarded: the exact form has to recompute them.
    Underflow,
}

impl ExecMemory {
    /// Copies code to executable memory.
    ///
    /// # Errors
    /// The system's error if it has no memory or forbids execution.
    pub(super) fn new(assembly: &Assembly, extent: MemoryBounds) -> io::Result<Self> {
        let pages = CodePages::new(&assembly.code)?;
        Ok(Self { pages, length: assembly.code.len(), exact: assembly.exact, extent })
    }

    /// Returns the bytes of the code.
    pub(super) fn code(&self) -> &[u8] {
        &self.pages[..self.length]
    }

    /// Runs a form of the code over a range of chunks. If `fuel_checked`, the code counts instructions and stays within the fuel.
    ///
    /// # Panics
    /// If slots, coverage, texels, interpolants or planes do not match the unit: a bug of the engine, whatever the input.
    pub(super) fn call(
        &self,
        mode: FpMode,
        batch: &mut Batch<'_, '_>,
        (first, end): (usize, usize),
        fuel_checked: bool,
    ) -> Outcome {
        let cells = self.extent.check(batch, (first, end));
        if first == end {
            return Outcome::Done(Ok((0, 0)));
        }
        let refill = refill as *const ();
        let mut context = VmContext::new(batch, cells, (first, end), fuel_checked, refill);
        self.enter(mode, &mut context);
        if mode == FpMode::Speculative && context.status & UNDERFLOW != 0 {
            return Outcome::Underflow;
        }
        Outcome::Done(context.finish())
    }

    /// Calls the code.
    fn enter(&self, mode: FpMode, context: &mut VmContext<'_>) {
        let start = match mode {
            FpMode::Speculative => 0,
            FpMode::Exact => self.exact,
        };
        // SAFETY: the code is in a mapping that lives as long as `self` and that nothing writes to. The processor fetches what was copied:
        // `CodePages` made data and instruction caches coherent, and the barrier discards earlier prefetched instructions. Either form starts at
        // its offset in the assembly. `compile` generated the code for the contract of `VmContext`: it preserves the registers of the
        // procedure call standard, restores FPCR, and keeps no pointer. It reads the unit's slots and writes those that the unit lists, and
        // the coverage, each from `begin` to `end`: the extent checked that these lie in `slots` and `covered`, which are borrowed mutably
        // for the call. Of its textures it reads whole texels, whose index it clamps to the size of the unit's texture, which the extent
        // checked; of its interpolants, whose number the extent checked, one column and one row at the offsets of those chunks, which are
        // within an interpolant. To the planes of its colours it writes pixels at the offsets of those chunks, all of which lie within the
        // number of bytes of `BatchOffsets`, which the extent checked for each of these planes; the extent also checked that their pixels
        // have the size that the code was compiled for, and they are borrowed mutably, too. The code calls nothing but `refill`, with the
        // pointer that it received. `call` makes the context from a batch that is borrowed for as long as the context is used.
        let done = unsafe {
            asm!("isb", options(nostack, preserves_flags));
            let entry: extern "C" fn(*mut VmContext<'_>) -> u64 =
                std::mem::transmute(self.pages.as_ptr().add(start));
            entry(std::ptr::from_mut(context))
        };
        debug_assert_eq!(done != 0, context.has_stopped(), "code stopped by itself");
    }
}

/// Calls [`VmContext::refill`]. Does not panic: a panic would abort the process.
///
/// # Safety
/// The context is that of the call in which the code runs.
unsafe extern "C" fn refill(context: *mut VmContext<'_>) -> u64 {
    // SAFETY: the pointer is that of `ExecMemory::call`, which does not access the context while the code runs, and the code itself waits
    // for this function.
    let context = unsafe { &mut *context };
    u64::from(!context.refill())
}
