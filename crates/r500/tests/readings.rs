//! Engines with other readings: the fast and the jit engine draw what the reference engine draws with the same readings, themselves, unless a
//! reading affects the program that only the reference engine implements. So the table of what readings affect is right: an engine that
//! ignores a reading draws what the reading does not affect.
//!
//! `R500_PROGRAMS=10000 cargo test --release -p r500 --test readings generated` tries more programs than the default.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr
)]

#[path = "../../r500-gen/tests/engines/mod.rs"]
mod engines;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engines::{Outcome, compare_with, fast_and_jit};
use r500::exec::{Options, Readings};
use r500::formats::Limits;
use r500::program::Job;
use r500_gen::{Case, Rng, Shape, mutate};

/// Returns every reading with each value but the project's.
fn others() -> Vec<(&'static str, &'static str, Readings)> {
    let values = |info: &'static r500::exec::reading::ReadingInfo| {
        info.values[1..].iter().map(|(value, _)| {
            let mut readings = Readings::REFERENCE;
            readings.set(info.name, value).unwrap();
            (info.name, *value, readings)
        })
    };
    Readings::TABLE.iter().flat_map(values).collect()
}

/// How often the engines drew with a reading, and how often only the reference engine did.
type Counts = BTreeMap<&'static str, [usize; 2]>;

/// Compares the engines on a program with a reading. A fallback must name the reading, unless the program has it in any case.
fn compare(
    counts: &mut Counts,
    job: &Job,
    (name, value, readings): (&'static str, &str, Readings),
) {
    let options = |readings| Options { readings, threads: 1, ..Options::default() };
    let count = counts.entry(name).or_default();
    match compare_with(job, &options(readings), fast_and_jit()) {
        Outcome::Same(_) => count[0] += 1,
        Outcome::Different(what) => panic!("{} with {name}={value}: {what}", job.name),
        Outcome::Fallback(why) if why.contains(&format!("{name}={value},")) => count[1] += 1,
        Outcome::Fallback(why) => {
            let usual = compare_with(job, &options(Readings::REFERENCE), fast_and_jit());
            assert!(
                matches!(usual, Outcome::Fallback(_)),
                "{} with {name}={value}: {why}",
                job.name
            );
        }
    }
}

#[test]
fn readings_that_only_textures_depend_on_are_drawn_by_every_engine() {
    let textures = [
        "lod-bias",
        "lod-fraction",
        "magnification",
        "texel-weights",
        "cube-ties",
        "depth-stencil",
        "wide-border",
    ];
    let mut counts = Counts::new();
    for path in json_files(&tests("corpus/mesa")) {
        for job in small(&path) {
            for other in others().into_iter().filter(|(name, ..)| textures.contains(name)) {
                compare(&mut counts, &job, other);
            }
        }
    }
    for name in textures {
        assert!(counts[name][0] >= 50 && counts[name][1] == 0, "{name}: {counts:?}");
    }
}

#[test]
fn cases() {
    let mut counts = Counts::new();
    let files = [json_files(&tests("corpus/cases")), json_files(&tests("cases"))].concat();
    for (n, job) in files.iter().flat_map(|file| small(file)).enumerate() {
        // Each case with some readings, each reading with many cases.
        for other in others().into_iter().skip(n % 8).step_by(8) {
            compare(&mut counts, &job, other);
        }
    }
    assert_eq!(counts.len(), Readings::TABLE.len());
}

#[test]
fn generated_programs() {
    let mut counts = Counts::new();
    let others = others();
    let programs = std::env::var("R500_PROGRAMS").map_or(400, |text| text.parse().unwrap());
    for seed in 0..programs {
        let shape = Shape {
            size: [[7, 5], [8, 8], [16, 4]][seed as usize % 3],
            work: 400,
            ..Shape::default()
        };
        let mut job = Case::generate(&mut Rng::new(seed), &shape).bare_job("generated");
        if seed % 4 == 3 {
            mutate(&mut job, seed);
        }
        job.name = format!("seed {seed}");
        for other in others.iter().skip(seed as usize % 8).step_by(8) {
            compare(&mut counts, &job, *other);
        }
    }
    assert_eq!(counts.len(), Readings::TABLE.len());
    eprintln!("drawn by all engines, and by the reference engine only: {counts:#?}");
    // The engines implement these, so that no program needs the reference engine.
    for name in ["clamp-nan", "kill-rgba", "alu-result-predicate", "pred-reserved"] {
        assert!(counts[name][0] >= 10 && counts[name][1] == 0, "{name}: {counts:?}");
    }
    // These affect hardly any program, and must not exclude the engines from the others.
    for name in
        ["a-op-3", "b-op-3", "left-window", "stack-limits", "past-pixsize", "reserved-op", "omod-7"]
    {
        assert!(counts[name][0] >= 10 && counts[name][1] == 0, "{name}: {counts:?}");
    }
    // These affect nearly all of these programs.
    for name in ["denormals", "mad-rounding"] {
        assert!(counts[name][1] > 10, "{name}: {counts:?}");
    }
}

/// Returns the jobs of a file, as small pictures if their inputs allow that.
fn small(path: &Path) -> Vec<Job> {
    let bytes = std::fs::read(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let jobs = r500::reader::read(&bytes, Some(&name), None, &Limits::default()).unwrap();
    let flat = |job: &Job| {
        let mut inputs = job.inputs.iter().flatten();
        job.coverage.is_none()
            && inputs.all(|input| matches!(input.data, r500::program::InputData::Planes(_)))
    };
    let shrink = |job: Job| {
        let size = if flat(&job) { [18, 10] } else { job.size.unwrap_or([8, 8]) };
        Job { size: Some(size), ..job }
    };
    jobs.into_iter().map(shrink).collect()
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    files
}

fn tests(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(path)
}
