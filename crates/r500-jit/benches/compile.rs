//! Compile times of random programs by length, and of the corpus (median and maximum), and times to the first picture. Run with `cargo
//! bench -p r500-jit`.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use r500_exec::{Bindings, Draw, Engine, Frame, Options, Shader, draw_into};
use r500_fast::Simd;
use r500_formats::{Limits, read};
use r500_gen::{Case, Rng, Shape};
use r500_jit::{Effort, Jit, Settings, When};
use r500_program::Job;

const EFFORTS: [(&str, Effort); 2] = [("quick", Effort::Quick), ("full", Effort::Full)];

/// Returns the time from a decoded program to a prepared draw, which compiles all of it.
fn ready(job: &Job, effort: Effort) -> Duration {
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(job, [64, 64]).unwrap();
    let options = Options::default();
    let draw = Draw::new(&shader, &bindings, &options).unwrap();
    let settings = Settings { when: When::Before(effort), ..Settings::default() };
    // A new engine with an empty cache.
    let jit = Jit::with(Simd::detect(), settings);
    let start = Instant::now();
    black_box(jit.prepare(draw)).run_info();
    start.elapsed()
}

/// Returns random programs of about `length` instructions, straight-line or with branches and loops nested up to `depth` deep.
fn programs(length: u32, depth: u32) -> Vec<Job> {
    // Straight-line programs are much shorter than their limit.
    let cases = (0..1200).map(|seed: u64| {
        let instructions = length * [1, 2, 3][seed as usize % 3];
        let shape = Shape { instructions, depth, ..Shape::default() };
        Case::generate(&mut Rng::new(seed), &shape).bare_job("generated")
    });
    let near = |job: &Job| job.program.code.len().abs_diff(length as usize);
    let mut cases: Vec<Job> = cases.collect();
    cases.sort_by_key(near);
    cases.truncate(16);
    cases
}

fn lengths(c: &mut Criterion) {
    // Longer straight-line programs are rare.
    let shapes: [(_, _, &[u32]); 2] =
        [("straight", 0, &[64, 128, 180]), ("nested", 4, &[64, 128, 256, 450])];
    for (shape, depth, lengths) in shapes {
        for (name, effort) in EFFORTS {
            let mut group = c.benchmark_group(format!("compile/{shape}/{name}"));
            group.sample_size(10);
            for &length in lengths {
                let jobs = programs(length, depth);
                let count: usize = jobs.iter().map(|job| job.program.code.len()).sum();
                group.throughput(Throughput::Elements(count as u64));
                group.bench_function(length.to_string(), |b| {
                    b.iter_custom(|times| {
                        let all = || jobs.iter().map(|job| ready(job, effort)).sum::<Duration>();
                        (0..times).map(|_| all()).sum()
                    });
                });
            }
        }
    }
}

/// Returns the captures of the corpus and their names.
fn captures() -> impl Iterator<Item = (Job, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa");
    let files = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|e| e == "json"));
    files.map(|file| {
        let jobs = read(&std::fs::read(&file).unwrap(), None, &Limits::default()).unwrap();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        (jobs.into_iter().next().unwrap(), name)
    })
}

fn corpus(_: &mut Criterion) {
    for (name, effort) in EFFORTS {
        let mut times: Vec<(Duration, String)> = captures()
            .map(|(job, name)| ((0..5).map(|_| ready(&job, effort)).min().unwrap(), name))
            .collect();
        times.sort();
        let (median, longest) = (&times[times.len() / 2].0, times.last().unwrap());
        eprintln!("corpus, {name}: median {median:?}, longest {:?} ({})", longest.0, longest.1);
    }
}

/// Returns the time from a decoded program to a first picture of 256x256: engine, shader, bindings, compilation and drawing.
fn first_picture(job: &Job, when: When) -> Duration {
    let start = Instant::now();
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(job, [256, 256]).unwrap();
    let options = Options::default();
    let draw = Draw::new(&shader, &bindings, &options).unwrap();
    let jit = Jit::with(Simd::detect(), Settings { when, ..Settings::default() });
    let prepared = jit.prepare(draw);
    let mut frame = Frame::new(&shader, &bindings, &options).unwrap();
    draw_into(&*prepared, &draw, black_box(&mut frame)).unwrap();
    start.elapsed()
}

/// Measures first pictures of the corpus, with default settings and with compilation before drawing.
fn first_pictures(_: &mut Criterion) {
    let ways = [
        ("compiled while it is drawn", When::Background),
        ("quick code first", When::Before(Effort::Quick)),
        ("full code first", When::Before(Effort::Full)),
    ];
    for (name, when) in ways {
        let mut times: Vec<Duration> = captures()
            .map(|(job, _)| (0..9).map(|_| first_picture(&job, when)).min().unwrap())
            .collect();
        times.sort();
        let [median, ninth, longest] =
            [times.len() / 2, times.len() * 9 / 10, times.len() - 1].map(|at| times[at]);
        eprintln!(
            "first picture, {name}: median {median:?}, nine of ten {ninth:?}, longest {longest:?}"
        );
    }
}

criterion_group!(benches, lengths, corpus, first_pictures);
criterion_main!(benches);
