//! Times of pictures: captures with the fast engine, prepared once; preparation; a capture with the reference engine.
//!
//! `cargo bench -p r500-fast -- --save-baseline NAME`, then `--baseline NAME`, compares two versions.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use r500_exec::reference::Reference;
use r500_exec::{Bindings, Draw, Engine, Frame, Options, Shader, draw_into};
use r500_fast::Fast;
use r500_formats::{Limits, read};
use r500_program::Job;

/// Straight-line arithmetic, functions, branches, a divergent loop, a long program, texture fetches.
const CAPTURES: [&str; 7] = [
    "alu_matrix",
    "scene_plasma",
    "if_nested6",
    "loop_mandelbrot",
    "big_straight",
    "tex_filters",
    "scene_voronoi",
];

const SIZE: u32 = 256;

fn capture(name: &str) -> Job {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa/");
    let bytes = std::fs::read(format!("{root}{name}.json")).unwrap();
    read(&bytes, None, &Limits::default()).unwrap().remove(0)
}

fn pictures(c: &mut Criterion, engine: &dyn Engine, size: u32, names: &[&str]) {
    let mut group = c.benchmark_group(engine.name());
    group.throughput(Throughput::Elements(u64::from(size) * u64::from(size)));
    for name in names {
        let job = capture(name);
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, [size, size]).unwrap();
        let options = Options { threads: 1, ..Options::default() };
        let draw = Draw::new(&shader, &bindings, &options).unwrap();
        let prepared = engine.prepare(draw);
        let mut frame = Frame::new(&shader, &bindings, &options).unwrap();
        group.bench_function(*name, |b| {
            b.iter(|| draw_into(&*prepared, &draw, black_box(&mut frame)).unwrap());
        });
    }
}

fn engines(c: &mut Criterion) {
    pictures(c, &Fast::new(), SIZE, &CAPTURES);
    pictures(c, &Reference, 32, &["scene_plasma"]);
}

fn prepare(c: &mut Criterion) {
    let mut group = c.benchmark_group("prepare");
    for name in CAPTURES {
        let job = capture(name);
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, [SIZE, SIZE]).unwrap();
        let options = Options::default();
        let draw = Draw::new(&shader, &bindings, &options).unwrap();
        group.bench_function(name, |b| {
            b.iter(|| black_box(Fast::new().prepare(draw)).run_info());
        });
    }
}

criterion_group!(benches, engines, prepare);
criterion_main!(benches);
