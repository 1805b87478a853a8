//! Vertices a second: the interpreter, one vertex after the other and in batches, bytecode and machine code. A transform with a light. Inputs are
//! stored and outputs read, as the card does it; "arrays" stores inputs component by component, from arrays of vertices.
#![allow(missing_docs)]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use r500_fast::{Fast, VertexBatch, VertexEngine};
use r500_jit::Jit;
use r500_lift::lift_vertex;
use r500_pvs::{BATCH, BatchMemory, INPUTS, Interpreter, OUTPUTS, Source};

const PROGRAM: &str = include_str!("../../r500-pvs/benches/transform.vs.asm");

/// The inputs that the program reads.
const NAMED: usize = 3;

type Inputs = [[f32; 4]; INPUTS];

fn vertices(criterion: &mut Criterion) {
    let source = Source::parse(PROGRAM, &mut |_| Err(String::new()));
    let Ok(source) = source else { unreachable!("the program parses: {source:?}") };
    let constants: Vec<[f32; 4]> =
        (0..10).map(|n| std::array::from_fn(|i| (n * 4 + i) as f32 * 0.03 - 0.5)).collect();
    let interpreter = Interpreter::new(&source.program, &constants);
    let function = lift_vertex(&source.program);
    let Ok(function) = function else { unreachable!("the program lifts: {function:?}") };
    let vertex = |v: usize| -> Inputs {
        std::array::from_fn(|n| std::array::from_fn(|i| (v + n + i) as f32 * 0.1 - 1.0))
    };
    let inputs: Vec<Inputs> = (0..BATCH).map(vertex).collect();
    let mut group = criterion.benchmark_group("vertices");
    group.throughput(Throughput::Elements(BATCH as u64));
    group.bench_function("interpreter, one after the other", |bencher| {
        bencher.iter(|| {
            for inputs in black_box(&inputs) {
                let mut outputs = [[0.0; 4]; OUTPUTS];
                let ended = interpreter.run::<()>(inputs, &mut outputs, || Ok(()));
                black_box((&outputs, ended.is_ok()));
            }
        });
    });
    group.bench_function("interpreter, batches", |bencher| {
        let mut memory = BatchMemory::default();
        bencher.iter(|| {
            for (n, inputs) in black_box(&inputs).iter().enumerate() {
                interpreter.load(&mut memory, n, inputs);
            }
            let ended = interpreter.run_batch::<()>(&mut memory, BATCH, |_| Ok(()));
            for n in 0..BATCH {
                black_box([0, 1, 2].map(|register| memory.output(n, register)));
            }
            black_box(ended.is_ok());
        });
    });
    let engines: [(&str, Box<dyn VertexEngine>); 2] =
        [("fast", Box::new(Fast::new())), ("jit", Box::new(Jit::new()))];
    for (name, engine) in &engines {
        assert_eq!(engine.vertex_engine(), *name, "the machine has this engine");
        let code = Arc::new(engine.compile_vertices(&function));
        let mut batch = VertexBatch::new(Arc::clone(&code));
        batch.set_constants(&constants);
        for count in [BATCH, code.batch_size()] {
            let inputs: Vec<Inputs> = (0..count).map(vertex).collect();
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(format!("{name}, batches of {count}"), |bencher| {
                bencher.iter(|| {
                    batch.load(black_box(&inputs));
                    let ended = batch.run(count, u64::MAX);
                    for n in 0..count {
                        black_box([0, 1, 2].map(|register| batch.output(n, register)));
                    }
                    black_box(ended.is_ok());
                });
            });
        }
        let count = code.batch_size();
        let columns: Vec<Vec<f32>> = (0..4 * NAMED)
            .map(|at| (0..count).map(|v| vertex(v)[at / 4][at % 4]).collect())
            .collect();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(format!("{name}, arrays of {count}"), |bencher| {
            bencher.iter(|| {
                for (at, column) in (0..).zip(black_box(&columns)) {
                    if let Some(lanes) = batch.input_mut(at / 4, at % 4) {
                        lanes.copy_from_slice(column);
                    }
                }
                let ended = batch.run(count, u64::MAX);
                black_box((ended.is_ok(), batch.output(count - 1, 0)));
            });
        });
        group.bench_function(format!("{name}, to compile"), |bencher| {
            // The code cache of a new engine is empty.
            bencher.iter(|| match *name {
                "jit" => Jit::new().compile_vertices(&function).batch_size(),
                _ => Fast::new().compile_vertices(&function).batch_size(),
            });
        });
    }
    group.finish();
}

criterion_group!(benches, vertices);
criterion_main!(benches);
