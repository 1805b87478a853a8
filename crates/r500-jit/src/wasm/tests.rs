//! Random units: what modules of them compute, in an interpreter of WebAssembly.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_fast::codegen::{Chunk, CompileUnit, TexelView};
use wasm_encoder::Function;
use wasmi::{
    Caller, Engine, Extern, Func, Instance, Linker, Memory, MemoryType, Module, Ref, RefType,
    Store, Table, TableType,
};

use super::emit::{context, function};
use super::module::{functions, module, of_functions};
use crate::Effort;
use crate::random_units::{Numbers, check, count, with_unit};

/// Where things are in memory; slots begin last.
const CONTEXT: usize = 64;
const CELLS: usize = 1024;

/// Bytes of a kind of cell.
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

/// Runs a module over all chunks; whether it came to its end.
fn run(bytes: &[u8], slots: &mut [Chunk], covered: &mut [Chunk], cells: &[TexelView<'_>]) -> bool {
    let engine = Engine::default();
    let module = Module::new(&engine, bytes).expect("a module");
    let mut store = Store::new(&engine, ());
    let memory = Memory::new(&mut store, MemoryType::new(64, None)).unwrap();
    let table_type = TableType::new(RefType::Func, 2, None);
    let table = Table::new(&mut store, table_type, Ref::default_for_ty(RefType::Func)).unwrap();
    let refill = Func::wrap(&mut store, |_: Caller<'_, ()>, _: i32| -> i32 { 1 });
    table.set(&mut store, 1, Ref::Func(refill.into())).unwrap();
    let mut at = CELLS;
    let mut words = Vec::new();
    for cells in cells {
        let bytes = bytes_of(cells);
        memory.write(&mut store, at, &bytes).unwrap();
        words.push(at as u32);
        at = (at + bytes.len()).next_multiple_of(64);
    }
    let covered_at = at;
    let slots_at = covered_at + size_of_val(covered);
    memory.write(&mut store, covered_at, &bytes_of_chunks(covered)).unwrap();
    memory.write(&mut store, slots_at, &bytes_of_chunks(slots)).unwrap();
    let mut word = |offset: u64, word: u32| {
        memory.write(&mut store, CONTEXT + offset as usize, &word.to_le_bytes()).unwrap();
    };
    word(context::SLOTS, slots_at as u32);
    word(context::BEGIN, 0);
    word(context::END, size_of_val(covered) as u32);
    word(context::GRANT, i32::MAX as u32);
    word(context::REFILL, 1);
    word(context::COVERED, (covered_at as u32).wrapping_sub(slots_at as u32));
    for (unit, at) in words.into_iter().enumerate() {
        word(context::CELLS + 4 * unit as u64, at);
    }
    let mut linker = Linker::new(&engine);
    linker.define("r500", "memory", Extern::Memory(memory)).unwrap();
    linker.define("r500", "table", Extern::Table(table)).unwrap();
    let instance: Instance = linker.instantiate_and_start(&mut store, &module).unwrap();
    let run = instance.get_typed_func::<i32, i32>(&store, "run").unwrap();
    let Ok(stopped) = run.call(&mut store, CONTEXT as i32) else { return false };
    assert_eq!(stopped, 0);
    let data = memory.data(&store);
    chunks_of(&data[covered_at..], covered);
    chunks_of(&data[slots_at..], slots);
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
        check(seed, numbers, false, &effort, make, |bytes, slots, covered, cells, _, _| {
            assert!(run(&bytes, slots, covered, cells));
        });
    }
}

/// What the quick form does not leave to the careful one is right.
#[test]
fn nothing_tiny_escapes_the_quick_form() {
    let mut quick = 0;
    let all = count(1000);
    for seed in 0..all {
        let numbers = if seed % 8 == 0 { Numbers::Plain } else { Numbers::Edges };
        let make = |unit: &CompileUnit<'_>| {
            let all = functions(unit, Effort::Full).unwrap();
            let mut trap = Function::new([]);
            trap.instructions().unreachable().end();
            let mut quick = all.clone();
            quick.all[function::CAREFUL as usize].1 = trap;
            (all.lanes as usize, [of_functions(&quick), of_functions(&all)])
        };
        check(
            seed,
            numbers,
            false,
            &numbers,
            make,
            |[alone, both], slots, covered, cells, _, _| {
                if run(&alone, slots, covered, cells) {
                    quick += 1;
                } else {
                    assert!(run(&both, slots, covered, cells));
                }
            },
        );
    }
    assert!(quick > all / 10, "{quick} of {all} units were done by the quick form");
}

#[test]
fn every_unit_has_a_module() {
    for seed in 0..200 {
        with_unit(seed, |unit| {
            assert!(module(unit, Effort::Full).is_some(), "seed {seed}");
        });
    }
}
