//! Modules of random units, run in a WebAssembly interpreter.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_fast::codegen::{
    BatchOffsets, Chunk, ColorTargets, CompileUnit, LinearInterpolant, PlanePixels, TargetPlane,
    TexelView,
};
use wasm_encoder::Function;
use wasmi::{
    Caller, Engine, Extern, Func, Instance, Linker, Memory, MemoryType, Module, Ref, RefType,
    Store, Table, TableType,
};

use super::emit::{context, function};
use super::module::{functions, module, of_functions};
use crate::Effort;
use crate::random_units::{Numbers, check, count, with_unit};

/// Address of the context, and of the first other data.
const CONTEXT: usize = 64;
const PLACED: usize = 1024;

/// Returns the bytes of texels or footprints.
fn bytes_of(cells: &TexelView<'_>) -> Vec<u8> {
    let texels: Vec<[f32; 4]> = match cells {
        TexelView::Texels(texels) => texels.to_vec(),
        TexelView::Footprints(fours) => fours.iter().flat_map(|four| *four.texels()).collect(),
    };
    texels.iter().flatten().flat_map(|x| x.to_le_bytes()).collect()
}

fn bytes_of_chunks(chunks: &[Chunk]) -> Vec<u8> {
    chunks.iter().flatten().flat_map(|x| x.to_le_bytes()).collect()
}

fn chunks_of(bytes: &[u8], chunks: &mut [Chunk]) {
    for (chunk, bytes) in chunks.iter_mut().zip(bytes.chunks(64)) {
        for (lane, bytes) in chunk.iter_mut().zip(bytes.as_chunks().0) {
            *lane = f32::from_le_bytes(*bytes);
        }
    }
}

fn bytes_of_interpolants(interpolants: &[LinearInterpolant]) -> Vec<u8> {
    let bytes = |LinearInterpolant { x_terms, y_terms }: &LinearInterpolant| {
        let terms = x_terms.as_flattened().iter().chain(y_terms.as_flattened());
        terms.flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>()
    };
    interpolants.iter().flat_map(bytes).collect()
}

/// Returns the pixels of a plane of floats.
fn floats_of<'t>(plane: &'t mut TargetPlane<'_>) -> &'t mut [[f32; 4]] {
    match &mut plane.pixels {
        PlanePixels::Floats(pixels) => pixels,
        PlanePixels::Encoded(..) => unreachable!("units of tests store floats"),
    }
}

/// Returns the bytes of offsets as they are in memory, 32 for each half of a chunk.
fn bytes_of_offsets(offsets: &BatchOffsets) -> Vec<u8> {
    let halves = offsets.chunks().as_flattened().iter();
    let words = halves.flat_map(|half| [half.rows, half.interpolants, [0; 2], [0; 2]]);
    words.flatten().flat_map(u32::to_le_bytes).collect()
}

/// Allocates byte strings in memory, each at a multiple of 64.
struct Layout<'m> {
    memory: Memory,
    store: &'m mut Store<()>,
    next: usize,
}

impl Layout<'_> {
    fn place(&mut self, bytes: &[u8]) -> u32 {
        let at = self.next;
        self.memory.write(&mut *self.store, at, bytes).unwrap();
        self.next = (at + bytes.len()).next_multiple_of(64);
        at as u32
    }
}

/// Runs a module over all chunks. Returns whether it completed.
fn run(
    bytes: &[u8],
    slots: &mut [Chunk],
    covered: &mut [Chunk],
    cells: &[TexelView<'_>],
    interpolants: &[LinearInterpolant],
    targets: &mut ColorTargets<'_>,
) -> bool {
    let engine = Engine::default();
    let module = Module::new(&engine, bytes).expect("a module");
    let mut store = Store::new(&engine, ());
    let memory = Memory::new(&mut store, MemoryType::new(64, None)).unwrap();
    let table_type = TableType::new(RefType::Func, 2, None);
    let table = Table::new(&mut store, table_type, Ref::default_for_ty(RefType::Func)).unwrap();
    let refill = Func::wrap(&mut store, |_: Caller<'_, ()>, _: i32| -> i32 { 1 });
    table.set(&mut store, 1, Ref::Func(refill.into())).unwrap();
    let mut layout = Layout { memory, store: &mut store, next: PLACED };
    let words: Vec<u32> = cells.iter().map(|cells| layout.place(&bytes_of(cells))).collect();
    let interpolants_at = layout.place(&bytes_of_interpolants(interpolants));
    let offsets_at = layout.place(&bytes_of_offsets(targets.offsets));
    let rows_at =
        targets.planes.each_ref().map(|plane| layout.place(&bytes_of_offsets(plane.offsets)));
    let planes_at = targets.planes.each_mut().map(|plane| {
        let floats = floats_of(plane).as_flattened().iter();
        layout.place(&floats.flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
    });
    let covered_at = layout.place(&bytes_of_chunks(covered));
    let slots_at = layout.place(&bytes_of_chunks(slots));
    let mut word = |offset: u64, word: u32| {
        memory.write(&mut store, CONTEXT + offset as usize, &word.to_le_bytes()).unwrap();
    };
    word(context::SLOTS, slots_at);
    word(context::BEGIN, 0);
    word(context::END, size_of_val(covered) as u32);
    word(context::GRANT, i32::MAX as u32);
    word(context::REFILL, 1);
    word(context::COVERED, covered_at.wrapping_sub(slots_at));
    for (unit, at) in (0..).zip(words) {
        word(context::CELLS + 4 * unit, at);
    }
    word(context::INTERPOLANTS, interpolants_at);
    word(context::OFFSETS, offsets_at.wrapping_sub(slots_at));
    for (target, (plane, rows)) in (0..).zip(planes_at.into_iter().zip(rows_at)) {
        word(context::PLANES + 4 * target, plane);
        word(context::ROWS + 4 * target, rows.wrapping_sub(slots_at));
    }
    let mut linker = Linker::new(&engine);
    linker.define("r500", "memory", Extern::Memory(memory)).unwrap();
    linker.define("r500", "table", Extern::Table(table)).unwrap();
    let instance: Instance = linker.instantiate_and_start(&mut store, &module).unwrap();
    let run = instance.get_typed_func::<i32, i32>(&store, "run").unwrap();
    let Ok(stopped) = run.call(&mut store, CONTEXT as i32) else { return false };
    assert_eq!(stopped, 0);
    let data = memory.data(&store);
    chunks_of(&data[covered_at as usize..], covered);
    chunks_of(&data[slots_at as usize..], slots);
    for (plane, at) in targets.planes.iter_mut().zip(planes_at) {
        let floats = data[at as usize..].as_chunks().0;
        for (x, bytes) in floats_of(plane).as_flattened_mut().iter_mut().zip(floats) {
            *x = f32::from_le_bytes(*bytes);
        }
    }
    true
}

#[test]
fn random_units_compute_what_they_say() {
    for seed in 0..count(200) {
        let effort = [Effort::Quick, Effort::Full][seed as usize % 2];
        let numbers = [Numbers::Plain, Numbers::All, Numbers::Edges][seed as usize % 3];
        let make = |unit: &CompileUnit<'_>| {
            let functions = functions(unit, effort).expect("functions");
            (functions.lanes as usize, of_functions(&functions))
        };
        let placed = seed % 5 < 2;
        check(
            seed,
            numbers,
            placed,
            &effort,
            make,
            |bytes, slots, covered, cells, inputs, mut to| {
                assert!(run(&bytes, slots, covered, cells, inputs, &mut to));
            },
        );
    }
}

/// Where the speculative form does not deoptimise, its results are right.
#[test]
fn speculative_code_deoptimises_for_every_subnormal() {
    let mut quick = 0;
    let all = count(1000);
    for seed in 0..all {
        let numbers = if seed % 8 == 0 { Numbers::Plain } else { Numbers::Edges };
        let make = |unit: &CompileUnit<'_>| {
            let all = functions(unit, Effort::Full).unwrap();
            let mut trap = Function::new([]);
            trap.instructions().unreachable().end();
            let mut quick = all.clone();
            quick.all[function::EXACT as usize].1 = trap;
            (all.lanes as usize, [of_functions(&quick), of_functions(&all)])
        };
        check(
            seed,
            numbers,
            seed % 5 < 2,
            &numbers,
            make,
            |[alone, both], slots, covered, cells, inputs, mut to| {
                if run(&alone, slots, covered, cells, inputs, &mut to) {
                    quick += 1;
                } else {
                    assert!(run(&both, slots, covered, cells, inputs, &mut to));
                }
            },
        );
    }
    assert!(quick > all / 10, "{quick} of {all} units ran without the exact form");
}

#[test]
fn every_unit_has_a_module() {
    for seed in 0..200 {
        with_unit(seed, |unit| {
            assert!(module(unit, Effort::Full).is_some(), "seed {seed}");
        });
    }
}
