//! The context of a call of native code: pointers, offsets and fuel.

use std::mem::offset_of;

use r500_exec::RunError;
use r500_fast::codegen::{Batch, BatchOffsets, Chunk, LinearInterpolant, TARGETS};

use crate::fuel::{FuelMeter, grant};
use crate::memory_bounds::UNITS;

/// What native code receives; it accesses the fields by their [offsets](offset).
#[repr(C)]
pub(crate) struct VmContext<'m> {
    /// The first byte of slot 0.
    slots: *mut u8,
    /// The first byte, in a slot, of the chunks to work on: a multiple of 64.
    begin: u64,
    /// The first byte after them: a multiple of 64, greater than `begin`.
    end: u64,
    /// Instructions that may be executed before `refill`. Code that counts subtracts from this, and calls `refill` at the back edge of a
    /// loop if this is below 0.
    fuel: i64,
    /// The function that adds fuel, a wrapper of [`refill`](Self::refill). It returns 0 to continue, with the fuel that there is then;
    /// otherwise the code stops.
    refill: *const (),
    /// Address of the loop, or of the last counted instructions, written before `refill` is called.
    address: u64,
    /// The initial fuel of each group of pixels: code that counts sets `fuel` to this and `added` to 0 before each group.
    grant: i64,
    /// Fuel that `refill` added for the group.
    added: i64,
    /// The maximum fuel that a group used beyond `grant`: the maximum of `added - fuel` after each group.
    most: i64,
    /// Distance from a byte of slot 0 to the same byte of the coverage.
    covered: u64,
    /// The texels of each texture unit.
    cells: [*const u8; UNITS],
    /// Distance from a byte of slot 0 to the offsets of its quad in the planes.
    places: u64,
    /// The first pixel of the batch in each target.
    planes: [*mut u8; TARGETS],
    /// The interpolants of the batch.
    interpolants: *const LinearInterpolant,
    /// As `fuel`, of the second of two interleaved groups that count separately.
    other_fuel: i64,
    /// By target, the distance from a byte of slot 0 to the offsets of its quad in the plane of a surface.
    rows: [u64; TARGETS],
    /// On AArch64, FPSR after the speculative form.
    pub(crate) status: u64,
    /// Not accessed by code.
    meter: FuelMeter<'m>,
}

/// Offsets of the fields.
#[allow(dead_code, reason = "no target needs all of them")]
pub(crate) mod offset {
    use super::{VmContext, offset_of};

    pub(crate) const SLOTS: i32 = offset_of!(VmContext<'_>, slots) as i32;
    pub(crate) const BEGIN: i32 = offset_of!(VmContext<'_>, begin) as i32;
    pub(crate) const END: i32 = offset_of!(VmContext<'_>, end) as i32;
    pub(crate) const FUEL: i32 = offset_of!(VmContext<'_>, fuel) as i32;
    pub(crate) const REFILL: i32 = offset_of!(VmContext<'_>, refill) as i32;
    pub(crate) const ADDRESS: i32 = offset_of!(VmContext<'_>, address) as i32;
    pub(crate) const GRANT: i32 = offset_of!(VmContext<'_>, grant) as i32;
    pub(crate) const ADDED: i32 = offset_of!(VmContext<'_>, added) as i32;
    pub(crate) const MOST: i32 = offset_of!(VmContext<'_>, most) as i32;
    pub(crate) const COVERED: i32 = offset_of!(VmContext<'_>, covered) as i32;
    pub(crate) const CELLS: i32 = offset_of!(VmContext<'_>, cells) as i32;
    pub(crate) const PLACES: i32 = offset_of!(VmContext<'_>, places) as i32;
    pub(crate) const PLANES: i32 = offset_of!(VmContext<'_>, planes) as i32;
    pub(crate) const INTERPOLANTS: i32 = offset_of!(VmContext<'_>, interpolants) as i32;
    pub(crate) const OTHER_FUEL: i32 = offset_of!(VmContext<'_>, other_fuel) as i32;
    pub(crate) const ROWS: i32 = offset_of!(VmContext<'_>, rows) as i32;
    pub(crate) const STATUS: i32 = offset_of!(VmContext<'_>, status) as i32;
}

impl<'m> VmContext<'m> {
    /// Returns the context of a run over some chunks of a batch, with the texels that [`MemoryBounds`] returned.
    ///
    /// [`MemoryBounds`]: crate::memory_bounds::MemoryBounds
    pub(crate) fn new(
        batch: &'m mut Batch<'_, '_>,
        cells: [*const u8; UNITS],
        (first, end): (usize, usize),
        fuel_checked: bool,
        refill: *const (),
    ) -> Self {
        let Batch { slots, covered, interpolants, fuel, targets, .. } = batch;
        let fuel = fuel_checked.then_some(&**fuel);
        let grant = fuel.map_or(i64::MAX, |fuel| grant(fuel.remaining()));
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
            status: 0,
            meter: FuelMeter::new(fuel, grant),
        }
    }

    /// Advances to the next of adjacent batches, which differs from this one in its interpolants, its coverage and its pixels only.
    #[cfg(x86_code)]
    pub(crate) fn advance(&mut self, interpolants: usize, covered: usize, steps: [usize; TARGETS]) {
        self.interpolants = self.interpolants.wrapping_add(interpolants);
        self.covered = self.covered.wrapping_add((covered * size_of::<Chunk>()) as u64);
        for (plane, step) in self.planes.iter_mut().zip(steps) {
            *plane = plane.wrapping_add(step);
        }
    }

    /// Adds fuel; returns false if there is none. Does not panic: a panic in a function called from code would abort the process.
    pub(crate) fn refill(&mut self) -> bool {
        // `finish` reports other values as a bug of the code.
        let address = u32::try_from(self.address).unwrap_or(u32::MAX);
        let left = self.fuel.min(self.other_fuel);
        let Some(more) = self.meter.refill(left, self.added, address) else { return false };
        self.added = self.added.saturating_add(more);
        self.fuel = self.fuel.saturating_add(more);
        self.other_fuel = self.other_fuel.saturating_add(more);
        true
    }

    /// Returns whether the code had to stop.
    pub(crate) fn has_stopped(&self) -> bool {
        self.meter.has_stopped()
    }

    /// Returns the number of counted instructions and the address of the last of them.
    ///
    /// # Errors
    /// The error of the fuel meter that stopped the code.
    pub(crate) fn finish(self) -> Result<(u64, u32), RunError> {
        let address = u32::try_from(self.address).expect("code writes addresses of instructions");
        let left = self.fuel.min(self.other_fuel);
        let used = self.meter.finish(self.most.max(self.added.saturating_sub(left)))?;
        Ok((used, address))
    }
}
