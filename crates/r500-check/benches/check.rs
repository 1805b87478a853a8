//! Programs checked per second on one core: the captures, the piglit programs, and one long
//! program.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use r500_check::graph::{Graph, Structure};
use r500_check::{Stats, check_job};
use r500_formats::{Limits, read};
use r500_program::Job;

fn corpus(folder: &str) -> Vec<Job> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/");
    let entries = std::fs::read_dir(format!("{root}{folder}")).unwrap();
    let files = entries.map(|entry| entry.unwrap().path());
    let json = files.filter(|path| path.extension().is_some_and(|e| e == "json"));
    json.flat_map(|path| read(&std::fs::read(path).unwrap(), None, &Limits::default()).unwrap())
        .collect()
}

fn check(c: &mut Criterion) {
    for folder in ["mesa", "piglit"] {
        let jobs = corpus(folder);
        let mut group = c.benchmark_group(folder);
        group.throughput(Throughput::Elements(jobs.len() as u64));
        group.bench_function("check", |b| {
            b.iter(|| jobs.iter().map(|job| check_job(black_box(job)).lints.len()).sum::<usize>());
        });
        group.bench_function("graph and structure", |b| {
            b.iter(|| {
                for job in &jobs {
                    let graph = Graph::new(black_box(&job.program)).unwrap();
                    black_box(Structure::recover(&graph).is_ok());
                }
            });
        });
        group.bench_function("stats", |b| {
            b.iter(|| jobs.iter().map(|job| Stats::of(&job.program).unwrap().cycles).sum::<u64>());
        });
        group.finish();
    }
}

criterion_group!(benches, check);
criterion_main!(benches);
