//! Vertices a second of the interpreter: one vertex after the other, and batches. A transform with a light, as a game has it.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use r500_pvs::{BATCH, BatchMemory, INPUTS, Interpreter, OUTPUTS, Source};

const PROGRAM: &str = include_str!("transform.vs.asm");

fn vertices(criterion: &mut Criterion) {
    let source = Source::parse(PROGRAM, &mut |_| Err(String::new()));
    let Ok(source) = source else { unreachable!("the program parses: {source:?}") };
    let constants: Vec<[f32; 4]> =
        (0..10).map(|n| std::array::from_fn(|i| (n * 4 + i) as f32 * 0.03 - 0.5)).collect();
    let interpreter = Interpreter::new(&source.program, &constants);
    let inputs: Vec<[[f32; 4]; INPUTS]> = (0..BATCH)
        .map(|v| std::array::from_fn(|n| std::array::from_fn(|i| (v + n + i) as f32 * 0.1 - 1.0)))
        .collect();
    let mut group = criterion.benchmark_group("vertices");
    group.throughput(Throughput::Elements(BATCH as u64));
    group.bench_function("one after the other", |bencher| {
        bencher.iter(|| {
            for inputs in black_box(&inputs) {
                let mut outputs = [[0.0; 4]; OUTPUTS];
                let ended = interpreter.run::<()>(inputs, &mut outputs, || Ok(()));
                black_box((&outputs, ended.is_ok()));
            }
        });
    });
    // Whole batches; and one that is not full, as of a draw of a rectangle. Inputs are stored and outputs read, as the card does.
    for count in [BATCH, 4] {
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(format!("batches of {count}"), |bencher| {
            let mut memory = BatchMemory::default();
            bencher.iter(|| {
                for (n, inputs) in black_box(&inputs[..count]).iter().enumerate() {
                    interpreter.load(&mut memory, n, inputs);
                }
                let ended = interpreter.run_batch::<()>(&mut memory, count, |_| Ok(()));
                for n in 0..count {
                    black_box([0, 1, 2].map(|register| memory.output(n, register)));
                }
                black_box(ended.is_ok());
            });
        });
    }
    group.finish();
}

criterion_group!(benches, vertices);
criterion_main!(benches);
