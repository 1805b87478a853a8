//! Executable memory and the call into it: all of the back end's `unsafe`.
//!
//! Code is written to pages that can be written, which are then made executable and never writable again; no page is both at any
//! time. They go when the last user of the [`ExecMemory`] goes.

#![allow(unsafe_code, reason = "machine code that was just made is called")]

use std::arch::asm;
use std::io;

use memmap2::{Mmap, MmapMut};
use r500_exec::RunError;
use r500_fast::codegen::{Batch, LinearInterpolant, PixelOffsets, TARGETS};

use super::assembly::Assembly;
use super::emit::{Form, context};
use crate::fuel::{FuelMeter, grant};
use crate::memory_bounds::{MemoryBounds, UNITS};

/// Machine code in memory, ready to be called.
#[derive(Debug)]
pub(crate) struct ExecMemory {
    memory: Mmap,
    length: usize,
    /// Where the exact form is entered.
    exact: usize,
    extent: MemoryBounds,
}

/// What machine code knows of the world. Offsets are the convention with [`emit`](super::emit).
#[repr(C)]
struct VmContext<'m> {
    /// The first byte of slot 0.
    slots: *mut u8,
    /// The first byte, in a slot, of the chunks to work on: a multiple of 64.
    begin: u64,
    /// The first byte after them: a multiple of 64, greater than `begin`.
    end: u64,
    /// The first byte of coverage.
    covered: *mut u8,
    /// The pixel offsets of the first chunk.
    places: *const [PixelOffsets; 2],
    /// The interpolants of the batch.
    interpolants: *const LinearInterpolant,
    /// By target, the first pixel of the batch.
    planes: [*mut u8; TARGETS],
    /// By unit, its table.
    cells: [*const u8; UNITS],
    /// Instructions that may be executed before `refill`. Code that counts takes them off here, and calls `refill` where a loop
    /// goes back and this is below 0.
    fuel: i64,
    /// Returns 0 to continue, with the fuel that there is then; else the code is to stop.
    refill: unsafe extern "C" fn(*mut VmContext<'m>) -> u64,
    /// Address of the loop, written before `refill` is called.
    address: u64,
    /// The fuel that each group of pixels begins with: code that counts sets `fuel` to this and `added` to 0 before each.
    grant: i64,
    /// Fuel that `refill` added for the group.
    added: i64,
    /// The most that a group used beyond `grant`: `added - fuel` after it, if that is more.
    most: i64,
    /// FPSR after the speculative form.
    status: u64,
    /// Not for the code.
    meter: FuelMeter<'m>,
}

const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(VmContext<'_>, slots) as u32 == context::SLOTS);
    assert!(offset_of!(VmContext<'_>, begin) as u32 == context::BEGIN);
    assert!(offset_of!(VmContext<'_>, end) as u32 == context::END);
    assert!(offset_of!(VmContext<'_>, covered) as u32 == context::COVERED);
    assert!(offset_of!(VmContext<'_>, places) as u32 == context::PLACES);
    assert!(offset_of!(VmContext<'_>, interpolants) as u32 == context::INTERPOLANTS);
    assert!(offset_of!(VmContext<'_>, planes) as u32 == context::PLANES);
    assert!(offset_of!(VmContext<'_>, cells) as u32 == context::CELLS);
    assert!(offset_of!(VmContext<'_>, fuel) as u32 == context::FUEL);
    assert!(offset_of!(VmContext<'_>, refill) as u32 == context::REFILL);
    assert!(offset_of!(VmContext<'_>, address) as u32 == context::ADDRESS);
    assert!(offset_of!(VmContext<'_>, grant) as u32 == context::GRANT);
    assert!(offset_of!(VmContext<'_>, added) as u32 == context::ADDED);
    assert!(offset_of!(VmContext<'_>, most) as u32 == context::MOST);
    assert!(offset_of!(VmContext<'_>, status) as u32 == context::STATUS);
};

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
        let mut context = VmContext::new(batch, cells, (first, end), fuel_checked);
        let done = self.enter(form, &mut context);
        let VmContext { fuel, address, added, most, meter, status, .. } = context;
        debug_assert_eq!(done != 0, meter.has_stopped(), "code stopped by itself");
        if form == Form::Speculative && status & UNDERFLOW != 0 {
            return Outcome::Underflow;
        }
        let address = u32::try_from(address).expect("code writes addresses of instructions");
        let used = meter.finish(most.max(added.saturating_sub(fuel)));
        Outcome::Done(used.map(|used| (used, address)))
    }

    /// Enters the code. Its result is 0 unless it had to stop.
    fn enter(&self, form: Form, context: &mut VmContext<'_>) -> u64 {
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
        // calls nothing but `refill`, with the pointer that it got. Contexts are made by `VmContext::new` from a batch that is borrowed
        // for as long as they are used.
        unsafe {
            asm!("isb", options(nostack, preserves_flags));
            let entry: extern "C" fn(*mut VmContext<'_>) -> u64 =
                std::mem::transmute(self.memory.as_ptr().add(start));
            entry(std::ptr::from_mut(context))
        }
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

impl<'m> VmContext<'m> {
    /// What code knows that runs over some chunks of a batch, with the cells that the extent found.
    fn new(
        batch: &'m mut Batch<'_, '_>,
        cells: [*const u8; UNITS],
        (first, end): (usize, usize),
        fuel_checked: bool,
    ) -> Self {
        let Batch { slots, covered, interpolants, fuel, targets, .. } = batch;
        let fuel = fuel_checked.then_some(&**fuel);
        let grant = fuel.map_or(i64::MAX, |fuel| grant(fuel.left()));
        let bytes = |chunk: usize| (chunk * size_of::<r500_fast::codegen::Chunk>()) as u64;
        Self {
            slots: slots.as_mut_ptr().cast(),
            begin: bytes(first),
            end: bytes(end),
            covered: covered.as_mut_ptr().cast(),
            places: targets.offsets.chunks().as_ptr(),
            interpolants: interpolants.as_ptr(),
            planes: targets.planes.each_mut().map(|plane| plane.pixels.as_mut_ptr()),
            cells,
            fuel: grant,
            refill,
            address: 0,
            grant,
            added: 0,
            most: i64::MIN,
            status: 0,
            meter: FuelMeter::new(fuel, grant),
        }
    }

    /// More fuel; false if there is none.
    fn refill(&mut self) -> bool {
        // Of another number `call` says that the code is wrong.
        let address = u32::try_from(self.address).unwrap_or(u32::MAX);
        let Some(more) = self.meter.refill(self.fuel, self.added, address) else { return false };
        self.added = self.added.saturating_add(more);
        self.fuel = self.fuel.saturating_add(more);
        true
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
