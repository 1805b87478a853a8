//! Compiled code in an instruction-set emulator that checks each memory access, for tests.
//!
//! Code sees a separate address space. Only the memory of the contract of [`Kernel`](r500_fast::codegen::Kernel) is mapped, with its
//! permissions: the chunks of the call in the slots that the unit reads or writes and in the coverage, constants, texels of its textures,
//! its interpolants, pixel offsets of its chunks, the planes that it stores to, the fields of the context, a stack. Regions are aligned to
//! no more than the alignment of their types.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytemuck::cast_slice_mut;
use r500_exec::RunError;
use r500_fast::codegen::{
    Batch, Chunk, ColorTargets, CompileUnit, Footprint, LinearInterpolant, PixelOffsets,
    PlanePixels, TARGETS, TargetPlane, TexelView,
};
use r500_ir::Stmt;
use r500_x86_emu::{Environment, Host, Memory, Name, Program, ReadOnly, RegionBytes};

use super::compile::{Assembly, Line};
use crate::fuel::{FuelMeter, grant};
use crate::memory_bounds::MemoryBounds;
use crate::vm_context::offset as context;

/// Address of the code: a multiple of 64, but not of 128.
const CODE: u64 = Memory::FIRST + 64;
/// Size of the stack in bytes.
const STACK: usize = 1 << 20;
/// Address of the `refill` function.
const REFILL: u64 = 0x7e11;
/// Limit of machine instructions per call: more than any batch needs.
const STEPS: u64 = 1 << 36;
/// Size in bytes of the fields that code accesses.
const CONTEXT: usize = context::ROWS as usize + 8 * TARGETS;

/// Decoded code of a compile unit, and its permissions.
#[derive(Debug)]
pub(crate) struct EmulatedCode {
    program: Program,
    constants: Vec<u8>,
    constants_address: u64,
    lines: Vec<Line>,
    extent: MemoryBounds,
    /// The permission of each slot.
    slots: Vec<Option<Permission>>,
    /// Chunks per slot.
    chunks: usize,
    /// Whether code stores the coverage.
    discards: bool,
    /// Texture units, with the number of their texels or footprints.
    tables: Vec<(u8, usize)>,
    interpolants: usize,
    /// Planes that are stored to, and whether uncovered pixels of surfaces keep their contents.
    targets: Vec<(u8, bool)>,
    /// Machine instructions executed by all code of the back end.
    executed: Arc<AtomicU64>,
}

/// How a unit accesses a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permission {
    Load,
    Store,
    LoadStore,
}

impl EmulatedCode {
    /// Decodes code. `executed` counts the machine instructions that it executes.
    ///
    /// # Panics
    /// If the emulator does not support an instruction.
    #[allow(clippy::panic, reason = "for tests: the emulator has to follow the code generator")]
    pub(crate) fn new(
        assembly: &Assembly,
        unit: &CompileUnit<'_>,
        executed: Arc<AtomicU64>,
    ) -> Self {
        let (code, constants) = assembly.code.split_at(assembly.constants);
        let program = Program::decode(code, CODE).unwrap_or_else(|error| panic!("{error}"));
        let mut is_discard = |stmt: &Stmt| matches!(stmt, Stmt::Discard(_));
        Self {
            program,
            constants: constants.to_vec(),
            constants_address: CODE + assembly.constants as u64,
            lines: assembly.lines.clone(),
            extent: MemoryBounds::of(unit),
            slots: slot_permissions(unit),
            chunks: unit.stride as usize / size_of::<Chunk>(),
            discards: unit.body.iter().any(|stmt| stmt.any(&mut is_discard)),
            tables: unit.tables.iter().map(|(n, table)| (*n, table.cells as usize)).collect(),
            interpolants: unit.interpolants.len(),
            targets: (unit.colors.iter())
                .map(|color| (color.target, color.covered && color.encoding.is_some()))
                .collect(),
            executed,
        }
    }

    /// Returns the size of code and constants in bytes.
    pub(crate) fn size(&self) -> usize {
        (self.constants_address - CODE) as usize + self.constants.len()
    }

    /// Runs the code over a range of chunks, as `ExecMemory::call` does on the processor.
    ///
    /// # Errors
    /// The error of the fuel.
    ///
    /// # Panics
    /// If the code violates its contract.
    #[allow(clippy::panic, reason = "for tests: a fault of the code generator ends them")]
    pub(crate) fn call(
        &self,
        batch: &mut Batch<'_, '_>,
        (first, end): (usize, usize),
        fuel_checked: bool,
    ) -> Result<(u64, u32), RunError> {
        self.extent.check(batch, (first, end));
        if first == end {
            return Ok((0, 0));
        }
        let fuel = fuel_checked.then_some(&*batch.fuel);
        let grant = fuel.map_or(i64::MAX, |fuel| grant(fuel.remaining()));
        let mut fields = [0; CONTEXT];
        let bytes = |chunk: usize| (chunk * size_of::<Chunk>()) as u64;
        for (field, value) in [
            (context::BEGIN, bytes(first)),
            (context::END, bytes(end)),
            (context::FUEL, grant.cast_unsigned()),
            (context::REFILL, REFILL),
            (context::GRANT, grant.cast_unsigned()),
            (context::MOST, i64::MIN.cast_unsigned()),
            (context::OTHER_FUEL, i64::MAX.cast_unsigned()),
        ] {
            set(&mut fields, field, value);
        }
        let mut memory = Memory::new();
        let code = memory.reserve((CODE - Memory::FIRST) as u32);
        assert_eq!(code, CODE, "it is the first area");
        let constants = RegionBytes::Load(&self.constants);
        memory.map(self.constants_address, Name::of("the constants"), constants);
        let slots = self.map_slots(&mut memory, batch.slots, (first, end));
        set(&mut fields, context::SLOTS, slots);
        let coverage = cast_slice_mut(batch.covered[first..end].as_flattened_mut());
        let coverage = match self.discards {
            true => RegionBytes::LoadStore(coverage),
            false => RegionBytes::Load(coverage),
        };
        let base = memory.reserve(align_of::<Chunk>() as u32);
        memory.map(base + bytes(first), Name::of("coverage"), coverage);
        set(&mut fields, context::COVERED, base.wrapping_sub(slots));
        for (unit, length) in &self.tables {
            let table = texels(batch.texels[usize::from(*unit)], *length);
            let name = Name::numbered("texels of unit", u32::from(*unit));
            let base = memory.reserve(table.alignment());
            memory.map(base, name, RegionBytes::LoadFrom(table));
            set(&mut fields, context::CELLS + 8 * i32::from(*unit), base);
        }
        if self.interpolants > 0 {
            let interpolants = Box::new(Words(&batch.interpolants[..self.interpolants]));
            let base = memory.reserve(interpolants.alignment());
            memory.map(base, Name::of("interpolants"), RegionBytes::LoadFrom(interpolants));
            set(&mut fields, context::INTERPOLANTS, base);
        }
        let ColorTargets { planes, offsets } = &mut batch.targets;
        if self.interpolants > 0 || !self.targets.is_empty() {
            let chunks = Box::new(Words(offsets.chunks()[first..end].as_flattened()));
            let base = memory.reserve(chunks.alignment());
            let name = Name::of("pixel offsets");
            memory.map(base + bytes(first), name, RegionBytes::LoadFrom(chunks));
            set(&mut fields, context::PLACES, base.wrapping_sub(slots));
        }
        for (target, TargetPlane { pixels, offsets }) in (0..).zip(planes) {
            let stored = self.targets.iter().find(|(stored, _)| *stored == target);
            let Some(&(_, keeps)) = stored else { continue };
            let number = i32::from(target);
            let (plane, alignment): (&mut [u8], _) = match pixels {
                PlanePixels::Floats(pixels) => {
                    (cast_slice_mut(pixels.as_flattened_mut()), align_of::<f32>())
                }
                PlanePixels::Encoded(bytes, _) => (&mut bytes[..], 1),
            };
            let plane = &mut plane[..offsets.bytes()];
            let base = memory.reserve(alignment as u32);
            let name = Name::numbered("the plane of target", u32::from(target));
            let plane =
                if keeps { RegionBytes::LoadStore(plane) } else { RegionBytes::Store(plane) };
            memory.map(base, name, plane);
            set(&mut fields, context::PLANES + 8 * number, base);
            let chunks = Box::new(Words(offsets.chunks()[first..end].as_flattened()));
            let base = memory.reserve(chunks.alignment());
            let name = Name::numbered("pixel offsets of target", u32::from(target));
            memory.map(base + bytes(first), name, RegionBytes::LoadFrom(chunks));
            set(&mut fields, context::ROWS + 8 * number, base.wrapping_sub(slots));
        }
        let argument = map_context(&mut memory, &mut fields);
        let stack = memory.map_stack(STACK);
        let mut host = Refill { context: argument, meter: FuelMeter::new(fuel, grant) };
        let mut environment =
            Environment { memory: &mut memory, host: &mut host, stack, steps: STEPS };
        let done = self.program.run(argument, &mut environment).unwrap_or_else(|fault| {
            let line = self.lines.iter().rev().find(|line| line.offset as usize <= fault.offset);
            let address = line.map_or("none".to_owned(), |line| line.address.to_string());
            panic!("compiled code, R500 instruction {address}, chunks {first} to {end}: {fault}")
        });
        self.executed.fetch_add(STEPS - environment.steps, Ordering::Relaxed);
        drop(memory);
        let meter = host.meter;
        assert_eq!(done != 0, meter.has_stopped(), "code stopped by itself");
        let field = |at| get(&fields, at).cast_signed();
        let left = field(context::FUEL).min(field(context::OTHER_FUEL));
        let used = field(context::ADDED).saturating_sub(left);
        let used = meter.finish(field(context::MOST).max(used))?;
        let address = u32::try_from(field(context::ADDRESS));
        Ok((used, address.expect("code writes addresses of instructions")))
    }

    /// Maps the chunks of the slots that the unit accesses. Returns the address of slot 0.
    fn map_slots<'m>(
        &self,
        memory: &mut Memory<'m>,
        slots: &'m mut [Chunk],
        (first, end): (usize, usize),
    ) -> u64 {
        let base = memory.reserve(align_of::<Chunk>() as u32);
        let slots = slots.chunks_exact_mut(self.chunks).zip(&self.slots);
        for (slot, (chunks, permission)) in slots.enumerate() {
            let Some(permission) = permission else { continue };
            let bytes = cast_slice_mut(chunks[first..end].as_flattened_mut());
            let bytes = match permission {
                Permission::Load => RegionBytes::Load(bytes),
                Permission::Store => RegionBytes::Store(bytes),
                Permission::LoadStore => RegionBytes::LoadStore(bytes),
            };
            let at = (slot * self.chunks + first) * size_of::<Chunk>();
            memory.map(base + at as u64, Name::numbered("slot", slot as u32), bytes);
        }
        base
    }
}

/// Returns the permission of each slot.
fn slot_permissions(unit: &CompileUnit<'_>) -> Vec<Option<Permission>> {
    let reads = unit.reads.iter().map(|(_, slot)| (*slot, Permission::Load));
    let writes = unit.writes.iter().map(|(_, slot)| (*slot, Permission::Store));
    let moves = unit.moves.iter().map(|moved| (moved.slot, Permission::Store));
    let mut permissions = Vec::new();
    for (slot, permission) in reads.chain(writes).chain(moves) {
        let slot = slot as usize;
        permissions.resize(permissions.len().max(slot + 1), None);
        permissions[slot] = match permissions[slot] {
            Some(other) if other != permission => Some(Permission::LoadStore),
            _ => Some(permission),
        };
    }
    permissions
}

fn set(fields: &mut [u8; CONTEXT], at: i32, value: u64) {
    let at = at as usize;
    fields[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

fn get(fields: &[u8; CONTEXT], at: i32) -> u64 {
    let at = at as usize;
    u64::from_le_bytes(std::array::from_fn(|i| fields[at + i]))
}

/// Maps the fields of a context with their permissions. Returns the address of the context.
fn map_context<'m>(memory: &mut Memory<'m>, fields: &'m mut [u8; CONTEXT]) -> u64 {
    let base = memory.reserve(8);
    let mut rest = &mut fields[..];
    let mut at = 0;
    for (end, written) in [
        (context::FUEL, false),
        (context::REFILL, true),
        (context::ADDRESS, false),
        (context::GRANT, true),
        (context::ADDED, false),
        (context::COVERED, true),
        (context::OTHER_FUEL, false),
        (CONTEXT as i32, true),
    ] {
        let (field, after) = rest.split_at_mut(end as usize - at);
        let bytes = if written { RegionBytes::LoadStore(field) } else { RegionBytes::Load(field) };
        memory.map(base + at as u64, Name::of("the context"), bytes);
        (rest, at) = (after, end as usize);
    }
    base
}

/// The `refill` function of the context, as in `exec_memory`.
struct Refill<'b> {
    context: u64,
    meter: FuelMeter<'b>,
}

impl Refill<'_> {
    /// Adds fuel; `None` if there is none, or if a field cannot be accessed.
    fn refill(&mut self, memory: &mut Memory<'_>) -> Option<()> {
        let context = self.context;
        let at = |field: i32| context + field as u64;
        let load = |memory: &Memory<'_>, field| memory.load_u64(at(field)).ok();
        let address = load(memory, context::ADDRESS)?;
        let fields = [context::FUEL, context::OTHER_FUEL, context::ADDED];
        let [fuel, other, added] = fields.map(|field| load(memory, field).map(u64::cast_signed));
        let (fuel, other, added) = (fuel?, other?, added?);
        let left = fuel.min(other);
        let address = u32::try_from(address).expect("code writes addresses of instructions");
        let more = self.meter.refill(left, added, address)?;
        for (field, value) in fields.into_iter().zip([fuel, other, added]) {
            memory.store(at(field), &value.saturating_add(more).to_le_bytes()).ok()?;
        }
        Some(())
    }
}

impl Host for Refill<'_> {
    fn call(&mut self, address: u64, argument: u64, memory: &mut Memory<'_>) -> Option<u64> {
        if address != REFILL || argument != self.context {
            return None;
        }
        Some(u64::from(self.refill(memory).is_none()))
    }
}

/// Memory with an alignment.
trait Aligned: ReadOnly {
    fn alignment(&self) -> u32;
}

/// Values of a fixed layout, as readable memory.
struct Words<'a, T>(&'a [T]);

impl<T: Layout> Aligned for Words<'_, T> {
    fn alignment(&self) -> u32 {
        align_of::<T>() as u32
    }
}

/// Returns the first texels or footprints of a texture.
fn texels(view: TexelView<'_>, length: usize) -> Box<dyn Aligned + '_> {
    match view {
        TexelView::Texels(texels) => Box::new(Words(&texels[..length])),
        TexelView::Footprints(footprints) => Box::new(Words(&footprints[..length])),
    }
}

/// A type that is laid out in 32-bit words.
trait Layout {
    /// Returns the word at an index; padding has a pattern.
    fn word(&self, at: usize) -> u32;
}

impl Layout for [f32; 4] {
    fn word(&self, at: usize) -> u32 {
        self[at].to_bits()
    }
}

impl Layout for Footprint {
    fn word(&self, at: usize) -> u32 {
        self.texels().as_flattened()[at].to_bits()
    }
}

impl Layout for LinearInterpolant {
    fn word(&self, at: usize) -> u32 {
        let (x, y) = (self.x_terms.as_flattened(), self.y_terms.as_flattened());
        x.get(at).unwrap_or_else(|| &y[at - x.len()]).to_bits()
    }
}

impl Layout for PixelOffsets {
    fn word(&self, at: usize) -> u32 {
        [self.rows, self.interpolants].as_flattened().get(at).copied().unwrap_or(0xa5a5_a5a5)
    }
}

impl<T: Layout> ReadOnly for Words<'_, T> {
    fn len(&self) -> usize {
        size_of_val(self.0)
    }

    fn read(&self, at: usize, to: &mut [u8]) {
        for (at, to) in (at..).zip(to) {
            let (value, at) = (&self.0[at / size_of::<T>()], at % size_of::<T>());
            *to = value.word(at / 4).to_le_bytes()[at % 4];
        }
    }
}
