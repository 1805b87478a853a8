//! Executable memory and the call into it: all of the back end's `unsafe`.
//!
//! Code is written to pages that can be written, which are then made executable and never writable again; no page is both at any
//! time. They go when the last user of the [`ExecMemory`] goes.

#![allow(unsafe_code, reason = "machine code that was just made is called")]

use std::arch::asm;
use std::io;

use memmap2::{Mmap, MmapMut};
use r500_exec::RunError;
use r500_fast::codegen::Batch;

use super::assembly::Assembly;
use super::emit::Form;
use crate::memory_bounds::MemoryBounds;
use crate::vm_context::VmContext;

/// Machine code in memory, ready to be called.
#[derive(Debug)]
pub(crate) struct ExecMemory {
    memory: Mmap,
    length: usize,
    /// Where the exact form is entered.
    exact: usize,
    extent: MemoryBounds,
}

/// The bit UFC of FPSR: a result was flushed to zero.
const UNDERFLOW: u64 = 1 << 3;

/// What comes of a call.
pub(super) enum Outcome {
    /// The instructions that were counted and the address of the last of them, or what the budget says.
    Done(Result<(u64, u32), RunError>),
    /// A result was flushed to zero, of which the exact form has to say whether that was right: nothing else counts.
    Underflow,
}

impl ExecMemory {
    /// Code made for a unit.
    ///
    /// # Errors
    /// What the system says if it has no memory, or forbids to execute it.
    pub(super) fn new(assembly: &Assembly, extent: MemoryBounds) -> io::Result<Self> {
        let code = &assembly.code;
        let mut memory = MmapMut::map_anon(code.len().max(1))?;
        memory[..code.len()].copy_from_slice(code);
        let memory = memory.make_exec()?;
        synchronize_instructions(&memory);
        Ok(Self { memory, length: code.len(), exact: assembly.exact, extent })
    }

    /// The code, as it lies in memory.
    pub(super) fn code(&self) -> &[u8] {
        &self.memory[..self.length]
    }

    /// Runs a form of the code over the chunks from one to before another. With a budget it has to stay within that.
    ///
    /// # Panics
    /// If slots, coverage, cells, interpolants or planes are not those of the unit: a mistake of the engine, not of any input.
    pub(super) fn call(
        &self,
        form: Form,
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
        self.enter(form, &mut context);
        if form == Form::Speculative && context.status & UNDERFLOW != 0 {
            return Outcome::Underflow;
        }
        Outcome::Done(context.finish())
    }

    /// Enters the code.
    fn enter(&self, form: Form, context: &mut VmContext<'_>) {
        let start = match form {
            Form::Speculative => 0,
            Form::Exact => self.exact,
        };
        // SAFETY: the code is in a mapping that stays while `self` does and that is never writable, and what this processor fetches
        // of it is what was written: `new` made data and instruction caches agree, and the barrier drops what was fetched before. Either
        // form begins where the assembly says. It was made by `compile` for the convention of `VmContext`: it saves what the procedure
        // call standard wants saved, restores FPCR, and keeps no pointer. It reads the unit's slots and writes those it lists, and what
        // is covered, each from `begin` to `end`: the extent was asked whether these lie in `slots` and `covered`, which are borrowed
        // mutably for the call. Of its tables it reads whole cells, the number of which it limits to what the unit's tables say and the
        // extent found there; of its interpolants, of which the extent found as many as the unit says, a column and a row where the
        // offsets of those chunks say, which is within an interpolant. To the planes of its colours it writes pixels where the offsets
        // of those chunks say, all of which lie within the number of bytes that `BatchOffsets` says and that the extent found in each
        // of these planes, whose pixels it found to have the size that the code was made for, and which are borrowed mutably, too. It
        // calls nothing but `refill`, with the pointer that it got. Contexts are made by `call` from a batch that is borrowed for as
        // long as they are used.
        let done = unsafe {
            asm!("isb", options(nostack, preserves_flags));
            let entry: extern "C" fn(*mut VmContext<'_>) -> u64 =
                std::mem::transmute(self.memory.as_ptr().add(start));
            entry(std::ptr::from_mut(context))
        };
        debug_assert_eq!(done != 0, context.has_stopped(), "code stopped by itself");
    }
}

/// Makes the instructions that processors fetch those that were written: data caches are cleaned to where instruction caches read,
/// and these forget what they have, line by line.
fn synchronize_instructions(code: &[u8]) {
    let types: u64;
    // SAFETY: the register tells sizes of lines, and systems let programs read it.
    unsafe {
        asm!("mrs {}, ctr_el0", out(reg) types, options(nomem, nostack, preserves_flags));
    }
    let (instructions, data) = (4_usize << (types & 15), 4_usize << (types >> 16 & 15));
    let (start, end) = (code.as_ptr().addr(), code.as_ptr().addr() + code.len());
    // SAFETY: each address is in a line that has a byte of `code`, which is mapped; the operations change no memory. Barriers wait until
    // all processors see what came before.
    unsafe {
        for line in (start / data * data..end).step_by(data) {
            asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", options(nostack, preserves_flags));
        for line in (start / instructions * instructions..end).step_by(instructions) {
            asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        asm!("dsb ish", "isb", options(nostack, preserves_flags));
    }
}

/// [`VmContext::refill`]. Does nothing that could panic: that would end the process.
///
/// # Safety
/// The context is that of the call in which the code runs.
unsafe extern "C" fn refill(context: *mut VmContext<'_>) -> u64 {
    // SAFETY: the pointer is that of `ExecMemory::call`, which does not touch the context while the code runs, and the code itself
    // waits for this function.
    let context = unsafe { &mut *context };
    u64::from(!context.refill())
}
