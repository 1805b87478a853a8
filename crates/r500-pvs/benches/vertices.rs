//! Vertices a second of the interpreter: one vertex after the other, and batches. A transform with a light, as a game has it.
#![allow(missing_docs)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use r500_pvs::{BATCH, BatchMemory, INPUTS, Interpreter, OUTPUTS, Source};

const PROGRAM: &str = "
    temp[0].x   = VE_DOT  const[0].xyzw  input[0].xyzw ;
    temp[0].y   = VE_DOT  const[1].xyzw  input[0].xyzw ;
    temp[0].z   = VE_DOT  const[2].xyzw  input[0].xyzw ;
    temp[0].w   = VE_DOT  const[3].xyzw  input[0].xyzw ;
    out[0].xyzw = VE_ADD  temp[0].xyzw   temp[0].0000 ;
    temp[1].x   = VE_DOT  const[4].xyz0  input[1].xyz0 ;
    temp[1].y   = VE_DOT  const[5].xyz0  input[1].xyz0 ;
    temp[1].z   = VE_DOT  const[6].xyz0  input[1].xyz0 ;
    temp[2].x   = VE_DOT  temp[1].xyz0   temp[1].xyz0 ;
    temp[2].w   = ME_RSQ  temp[2].xxxx ;
    temp[1].xyz = VE_MUL  temp[1].xyz_   temp[2].www_ ;
    temp[3].x   = VE_DOT  temp[1].xyz0   const[7].xyz0 ;
    temp[3].x   = VE_MAX  temp[3].x___   temp[3].0___ ;
    temp[4].xyz = VE_MUL  const[8].xyz_  temp[3].xxx_ ;
    out[1].xyz  = VE_ADD  temp[4].xyz_   const[9].xyz_ ;
    out[1].w    = VE_ADD  temp[4].___1   temp[4].___0 ;
    out[2].xyzw = VE_ADD  input[2].xyzw  input[2].0000 ;
";

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
