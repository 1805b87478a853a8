//! Functions that the host compiles from modules, and calls to them: all `unsafe` of the WebAssembly back end.
//!
//! The host instantiates a module with this one's memory and table, as `r500.memory` and `r500.table`; its function `run` gets an index in
//! the table, by which it is called like any function of this module. It is removed when its [`Installed`] is dropped.

#![allow(unsafe_code, reason = "functions that were just made are called")]

use r500_exec::RunError;
use r500_fast::codegen::{Batch, BatchOffsets, Chunk, CompileUnit, LinearInterpolant, TARGETS};

use crate::fuel::{FuelMeter, grant};
use crate::memory_bounds::{MemoryBounds, UNITS};

// SAFETY: the host provides functions of these types (otherwise the module does not load). `install` reads bytes of the memory and writes
// none; both change no table entries except those that `install` added.
#[link(wasm_import_module = "r500")]
unsafe extern "C" {
    /// Instantiates a module of `length` bytes with this module's memory and table, and adds its function `run` to the table. Returns its
    /// index, or 0 on failure.
    safe fn install(bytes: *const u8, length: usize) -> usize;

    /// Removes a function from the table, by an index that `install` returned.
    safe fn remove(place: usize);
}

/// The context that a module receives. The offsets are the contract with [`emit`](super::emit).
#[repr(C)]
struct Context<'m> {
    /// 0: the first byte of slot 0.
    slots: *mut u8,
    /// 4: the offset in a slot of the first chunk of the run: a multiple of 64.
    begin: usize,
    /// 8: the offset after its last chunk: a multiple of 64.
    end: usize,
    /// 12: the initial fuel of each group of pixels.
    grant: i32,
    /// 16: the remaining fuel, below 0, when `refill` is called; the new fuel after it.
    fuel: i32,
    /// 20: address of the last counted instructions, when `refill` is called.
    address: u32,
    /// 24: fuel that `refill` added for the group.
    added: i64,
    /// 32: the maximum fuel that a group used beyond `grant`: `added` minus the remaining fuel.
    most: i64,
    /// 40: returns 0 to continue, with the fuel that there is then; otherwise the code stops.
    refill: extern "C" fn(&mut Context<'m>) -> u32,
    /// 44: distance from a byte of slot 0 to the same byte of the coverage.
    covered: usize,
    /// 48: the texels of each texture unit.
    cells: [*const u8; UNITS],
    /// 112: the interpolants of the batch.
    interpolants: *const LinearInterpolant,
    /// 116: distance from a byte of slot 0 to the interpolant offsets of its quad.
    offsets: usize,
    /// 120: the first pixel of the batch in each target.
    planes: [*mut u8; TARGETS],
    /// 136: distance to the offsets in each target's plane, likewise.
    rows: [usize; TARGETS],
    /// Not accessed by code.
    meter: FuelMeter<'m>,
}

const _: () = {
    use super::emit::context;
    assert!(std::mem::offset_of!(Context<'_>, begin) as u64 == context::BEGIN);
    assert!(std::mem::offset_of!(Context<'_>, end) as u64 == context::END);
    assert!(std::mem::offset_of!(Context<'_>, grant) as u64 == context::GRANT);
    assert!(std::mem::offset_of!(Context<'_>, fuel) as u64 == context::FUEL);
    assert!(std::mem::offset_of!(Context<'_>, address) as u64 == context::ADDRESS);
    assert!(std::mem::offset_of!(Context<'_>, added) as u64 == context::ADDED);
    assert!(std::mem::offset_of!(Context<'_>, most) as u64 == context::MOST);
    assert!(std::mem::offset_of!(Context<'_>, refill) as u64 == context::REFILL);
    assert!(std::mem::offset_of!(Context<'_>, covered) as u64 == context::COVERED);
    assert!(std::mem::offset_of!(Context<'_>, cells) as u64 == context::CELLS);
    assert!(std::mem::offset_of!(Context<'_>, interpolants) as u64 == context::INTERPOLANTS);
    assert!(std::mem::offset_of!(Context<'_>, offsets) as u64 == context::OFFSETS);
    assert!(std::mem::offset_of!(Context<'_>, planes) as u64 == context::PLANES);
    assert!(std::mem::offset_of!(Context<'_>, rows) as u64 == context::ROWS);
};

/// A function that the host compiled.
#[derive(Debug)]
pub(super) struct Installed {
    place: usize,
    extent: MemoryBounds,
}

impl Installed {
    /// Has the host compile a module, which [`module`](super::module::module) made for that unit; `None` on failure.
    pub(super) fn new(bytes: &[u8], unit: &CompileUnit<'_>) -> Option<Self> {
        let place = install(bytes.as_ptr(), bytes.len());
        (place != 0).then(|| Self { place, extent: MemoryBounds::of(unit) })
    }

    /// Runs the function over a range of chunks. If `fuel_checked`, the code counts instructions and stays within the fuel. Returns the
    /// number of counted instructions and the address of the last of them.
    ///
    /// # Errors
    /// The error of the fuel.
    ///
    /// # Panics
    /// If slots, coverage, texels, interpolants or planes do not match the unit: a bug of the engine, whatever the input.
    pub(super) fn call(
        &self,
        batch: &mut Batch<'_, '_>,
        (first, end): (usize, usize),
        fuel_checked: bool,
    ) -> Result<(u64, u32), RunError> {
        let cells = self.extent.check(batch, (first, end));
        let Batch { slots, covered, interpolants, targets, fuel, .. } = batch;
        let fuel = fuel_checked.then_some(&**fuel);
        let (slots, covered) = (slots.as_mut_ptr(), covered.as_mut_ptr());
        let from_slots = |offsets: &BatchOffsets| {
            offsets.chunks().as_ptr().expose_provenance().wrapping_sub(slots.addr())
        };
        let grant = fuel.map_or(i64::from(i32::MAX), |fuel| grant(fuel.remaining()));
        let mut context = Context {
            slots: slots.cast(),
            begin: first * size_of::<Chunk>(),
            end: end * size_of::<Chunk>(),
            grant: i32::try_from(grant).unwrap_or(i32::MAX),
            fuel: 0,
            refill,
            address: 0,
            added: 0,
            most: i64::MIN,
            covered: covered.expose_provenance().wrapping_sub(slots.addr()),
            cells,
            interpolants: interpolants.as_ptr(),
            offsets: from_slots(targets.offsets),
            planes: targets.planes.each_mut().map(|plane| plane.pixels.as_mut_ptr()),
            rows: targets.planes.each_ref().map(|plane| from_slots(plane.offsets)),
            meter: FuelMeter::new(fuel, grant),
        };
        // SAFETY: a function pointer is a table index here, and the host stored a function there that takes an address and returns a
        // number; a call through an entry of another type traps. `module` generated the code for the contract of `Context`. It reads the
        // unit's slots and writes those that the unit lists, and the coverage, each from `begin` to `end`: the extent checked that these
        // lie in `slots` and `covered`, which are borrowed mutably for the call. Of its textures it reads whole texels, whose index it
        // clamps to the size of the unit's texture, which the extent checked; of its interpolants, whose number the extent checked, one
        // column and one row at the offsets of those chunks, which are within an interpolant. To the planes of its colours it writes pixels
        // at the offsets of those chunks in that plane, all of which lie within the number of bytes of `BatchOffsets`, which the extent
        // checked for each of these planes; the extent also checked that their pixels have the size that the code was compiled for, and
        // they are borrowed mutably, too. The code keeps no pointer, and calls nothing but `refill`, with the pointer that it received.
        let done = unsafe {
            let run =
                std::mem::transmute::<usize, extern "C" fn(*mut Context<'_>) -> u32>(self.place);
            run(&raw mut context)
        };
        debug_assert!(context.meter.has_stopped() == (done != 0), "code stopped by itself");
        let Context { address, most, meter, .. } = context;
        Ok((meter.finish(most)?, address))
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        remove(self.place);
    }
}

/// Implements [`Context::refill`].
extern "C" fn refill(context: &mut Context<'_>) -> u32 {
    match context.meter.refill(i64::from(context.fuel), context.added, context.address) {
        Some(more) => {
            context.added = context.added.saturating_add(more);
            // Grants are small.
            let fuel = i64::from(context.fuel).saturating_add(more);
            context.fuel = i32::try_from(fuel).unwrap_or(i32::MAX);
            0
        }
        None => 1,
    }
}
