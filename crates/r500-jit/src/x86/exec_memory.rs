//! Executable memory and the call into it: all of the crate's `unsafe`.
//!
//! Code is written to pages that can be written, which are then made executable and never writable
//! again; no page is both at any time. They go when the last user of the [`ExecMemory`] goes.

#![allow(unsafe_code, reason = "machine code that was just made is called")]

use std::io;

use memmap2::{Mmap, MmapMut};
use r500_exec::RunError;
use r500_fast::codegen::{AdjacentBatches, Batch, BatchOffsets, Chunk, LinearInterpolant, TARGETS};

use crate::fuel::{FuelMeter, grant};
use crate::memory_bounds::{MemoryBounds, UNITS};
use crate::x86::compile::{Assembly, Level};

/// Machine code in memory, ready to be called.
#[derive(Debug)]
pub(crate) struct ExecMemory {
    memory: Mmap,
    length: usize,
    extent: MemoryBounds,
}

/// What machine code knows of the world. Offsets are the convention with
/// [`compile`](crate::x86::compile).
#[repr(C)]
pub(crate) struct VmContext<'m> {
    /// 0: the first byte of slot 0.
    slots: *mut u8,
    /// 8: the first byte, in a slot, of the chunks to work on: a multiple of 64.
    begin: u64,
    /// 16: the first byte after them: a multiple of 64, greater than `begin`.
    end: u64,
    /// 24: instructions that may be executed before `refill`. Code that counts takes them off here,
    /// and calls `refill` as soon as this is below 0.
    fuel: i64,
    /// 32: returns 0 to continue, with the fuel that there is then; else the code is to stop.
    refill: unsafe extern "sysv64" fn(*mut VmContext<'m>) -> u64,
    /// 40: address of the instructions taken off last; written before `refill` is called.
    address: u64,
    /// 48: the fuel that each group of pixels begins with: code that counts sets `fuel` to this and
    /// `added` to 0 before each.
    grant: i64,
    /// 56: fuel that `refill` added for the group.
    added: i64,
    /// 64: the most that a group used beyond `grant`: `added - fuel` after it, if that is more.
    most: i64,
    /// 72: from a byte of slot 0 to that of what is covered.
    covered: u64,
    /// 80: the tables of the units.
    cells: [*const u8; UNITS],
    /// 208: from a byte of slot 0 to the place of its quad.
    places: u64,
    /// 216: the planes of colours.
    planes: [*mut u8; TARGETS],
    /// 248: the ramps.
    interpolants: *const LinearInterpolant,
    /// 256: as `fuel`, of the second one of two groups that go together and are counted apart.
    other_fuel: i64,
    /// 264: by target, from a byte of slot 0 to the place of its quad in the plane of a surface.
    rows: [u64; TARGETS],
    /// Not for the code.
    meter: FuelMeter<'m>,
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
        let mut context = VmContext::new(batch, cells, (first, end), fuel_checked);
        let done = self.enter(&mut context);
        let VmContext { fuel, other_fuel, address, added, most, meter, .. } = context;
        debug_assert_eq!(done != 0, meter.has_stopped(), "code stopped by itself");
        let address = u32::try_from(address).expect("code writes addresses of instructions");
        let used = meter.finish(most.max(added.saturating_sub(fuel.min(other_fuel))))?;
        Ok((used, address))
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
        let mut context = VmContext::new(batch, cells, (0, chunks), false);
        let (channels, steps) = (self.extent.interpolants(), self.extent.steps(pixels));
        for _ in 0..count {
            let done = self.enter(&mut context);
            debug_assert_eq!(done, 0, "code that counts nothing does not stop");
            // The same as for the batch before, but for these, of which the extent found so many.
            context.interpolants = context.interpolants.wrapping_add(channels);
            context.covered = context.covered.wrapping_add((covered * size_of::<Chunk>()) as u64);
            for (plane, step) in context.planes.iter_mut().zip(steps) {
                *plane = plane.wrapping_add(step);
            }
        }
    }

    /// Enters the code. Its result is 0 unless it had to stop.
    fn enter(&self, context: &mut VmContext<'_>) -> u64 {
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
        // them. It calls nothing but `refill`, with the pointer that it got. Contexts are made by `VmContext::new` from a
        // batch that is borrowed for as long as they are used.
        unsafe {
            let entry: extern "sysv64" fn(*mut VmContext<'_>) -> u64 =
                std::mem::transmute(self.memory.as_ptr());
            entry(std::ptr::from_mut(context))
        }
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
        let bytes = |chunk: usize| (chunk * size_of::<Chunk>()) as u64;
        let (slots, covered) = (slots.as_mut_ptr(), covered.as_mut_ptr());
        let from_slots = |address: usize| (address as u64).wrapping_sub(slots.addr() as u64);
        let places =
            |offsets: &BatchOffsets| from_slots(offsets.chunks().as_ptr().expose_provenance());
        Self {
            slots: slots.cast(),
            begin: bytes(first),
            end: bytes(end),
            fuel: grant,
            refill,
            address: 0,
            grant,
            added: 0,
            most: i64::MIN,
            covered: from_slots(covered.expose_provenance()),
            cells,
            places: places(targets.offsets),
            planes: targets.planes.each_mut().map(|plane| plane.pixels.as_mut_ptr()),
            interpolants: interpolants.as_ptr(),
            other_fuel: i64::MAX,
            rows: targets.planes.each_ref().map(|plane| places(plane.offsets)),
            meter: FuelMeter::new(fuel, grant),
        }
    }
}

impl VmContext<'_> {
    /// More fuel; false if there is none.
    fn refill(&mut self) -> bool {
        // Of another number `call` says that the code is wrong.
        let address = u32::try_from(self.address).unwrap_or(u32::MAX);
        let left = self.fuel.min(self.other_fuel);
        let Some(more) = self.meter.refill(left, self.added, address) else { return false };
        self.added = self.added.saturating_add(more);
        self.fuel = self.fuel.saturating_add(more);
        self.other_fuel = self.other_fuel.saturating_add(more);
        true
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
