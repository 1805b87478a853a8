//! Functions that the host makes of modules, and the call: all that is `unsafe` in WebAssembly.
//!
//! A module is instantiated by the host with this one's memory and table, as `r500.memory` and
//! `r500.table`; its function `run` gets a place in the table, by which it is called like any
//! function of this module. It goes when the last user of [`Installed`] goes.

#![allow(unsafe_code, reason = "functions that were just made are called")]

use r500_exec::RunError;
use r500_fast::codegen::{Batch, BatchOffsets, Chunk, CompileUnit, LinearInterpolant, TARGETS};

use crate::fuel::{FuelMeter, grant};
use crate::memory_bounds::{MemoryBounds, UNITS};

// SAFETY: the host gives functions of these types (the module does not load otherwise). `install` reads
// bytes of the memory and writes none; both change no place in the table but such as `install` added.
#[link(wasm_import_module = "r500")]
unsafe extern "C" {
    /// Makes an instance of a module of so many bytes, with this module's memory and table, and puts its
    /// function `run` into the table: where, or 0 if it does not.
    safe fn install(bytes: *const u8, length: usize) -> usize;

    /// Takes a function out of the table again, of a place that `install` gave.
    safe fn remove(place: usize);
}

/// What a module knows of the world. Offsets are the convention with [`emit`](super::emit).
#[repr(C)]
struct Context<'m> {
    /// 0: the first byte of slot 0.
    slots: *mut u8,
    /// 4: the first byte, in a slot, of the chunks to work on: a multiple of 64.
    begin: usize,
    /// 8: the first byte after them: a multiple of 64.
    end: usize,
    /// 12: the fuel that each group of pixels begins with.
    grant: i32,
    /// 16: fuel that is left, below 0, when `refill` is called; after it, the new fuel.
    fuel: i32,
    /// 20: address of the instructions taken off last, when `refill` is called.
    address: u32,
    /// 24: fuel that `refill` added for the group.
    added: i64,
    /// 32: the most that a group used beyond `grant`: `added` less the fuel that was left.
    most: i64,
    /// 40: returns 0 to continue, with the fuel that there is then; else the code is to stop.
    refill: extern "C" fn(&mut Context<'m>) -> u32,
    /// 44: where coverage is from slot 0, as slots are from their chunks.
    covered: usize,
    /// 48: by unit, where its cells are.
    cells: [*const u8; UNITS],
    /// 112: the interpolants of the batch.
    interpolants: *const LinearInterpolant,
    /// 116: where the offsets in interpolants are from slot 0, as slots are from their chunks.
    offsets: usize,
    /// 120: by target, the first pixel of the batch.
    planes: [*mut u8; TARGETS],
    /// 136: by target, where the offsets in its plane are, likewise.
    rows: [usize; TARGETS],
    /// Not for the code.
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

/// A function that the host made.
#[derive(Debug)]
pub(super) struct Installed {
    place: usize,
    extent: MemoryBounds,
}

impl Installed {
    /// Has the host make a function of a module, made by [`module`](super::module::module) for that
    /// unit; `None` if it does not.
    pub(super) fn new(bytes: &[u8], unit: &CompileUnit<'_>) -> Option<Self> {
        let place = install(bytes.as_ptr(), bytes.len());
        (place != 0).then(|| Self { place, extent: MemoryBounds::of(unit) })
    }

    /// Runs the function over the chunks from one to before another. If it is metered
    /// it has to stay within the budget; the instructions that it counted come back, and the address of
    /// the last of them.
    ///
    /// # Errors
    /// What the budget says.
    ///
    /// # Panics
    /// If slots, coverage, cells, interpolants or planes are not those of the unit: a mistake of the engine, not of
    /// any input.
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
        let grant = fuel.map_or(i64::from(i32::MAX), |fuel| grant(fuel.left()));
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
        // SAFETY: a function pointer is a place in the table here, and the host put a function there that
        // takes an address and gives a number; a call through a place of another type traps. The code
        // was made by `module` for the convention of `Context`. It reads the unit's slots and writes
        // those it lists, and what is covered, each from `begin` to `end`: the extent was asked whether
        // these lie in `slots` and `covered`, which are borrowed mutably for the call. Of its tables it
        // reads whole cells, the number of which it limits to what the unit's tables say and the extent
        // found there; of its interpolants, of which the extent found as many as the unit says, a column and a row
        // where the offsets of those chunks say, which is within an interpolant. To the planes of its colours it
        // writes pixels where the offsets of those chunks in that plane say, all of which lie within the bytes that
        // `BatchOffsets` says and that the extent found in each of these planes, whose pixels it found to have the size
        // that the code was made for, and which are borrowed mutably, too. It keeps no pointer, and calls nothing but `refill`, with the pointer that it got.
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

/// [`Context::refill`].
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
