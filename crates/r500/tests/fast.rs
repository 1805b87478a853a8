//! The fast engine against the reference engine on all that there is: cases, draws, captures,
//! examples, and programs for what is easily got wrong. The same frame bit for bit, at every level of
//! vector instructions that this machine has.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../r500-gen/tests/engines/mod.rs"]
mod engines;

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use engines::{Seen, compare};
use r500::exec::{Block, Options};
use r500::formats::Limits;
use r500::program::{InputData, Job};

#[test]
fn cases() {
    let files = [json_files(&tests("corpus/cases")), json_files(&tests("cases"))].concat();
    let jobs: Vec<Job> = files.iter().flat_map(|file| jobs(file)).collect();
    assert!(jobs.len() >= 408);
    // Others are about what has no structure, or about groups.
    same(jobs.into_iter().flat_map(pictures), 65);
}

#[test]
fn draws() {
    let jobs = jobs(&tests("corpus/piglit/probes.jsonl.gz"));
    // One in eight: they are many and alike. Which eighth does not matter.
    let every = if std::env::var_os("R500_ALL").is_some() { 1 } else { 8 };
    same(jobs.step_by(every).map(|job| (job, options(None, 1))), 95);
}

#[test]
fn captures() {
    let jobs = json_files(&tests("corpus/mesa")).into_iter().flat_map(|file| jobs(&file));
    same(jobs.flat_map(pictures), 85);
}

#[test]
fn examples() {
    let sources = files(&tests("../examples"), "r5");
    assert!(sources.len() >= 11);
    let jobs = sources.iter().map(|source| {
        let mut jobs = r500::reader::open(source, None, &Limits::default()).unwrap();
        let mut job = jobs.next().unwrap().unwrap();
        // Large enough for several batches and bands, and no multiple of anything.
        job.size = Some([75, 53]);
        job
    });
    same(jobs.flat_map(pictures), 100);
}

/// A job as it is, with an area that begins and ends anywhere and three threads, and at another
/// size where its inputs allow that.
fn pictures(job: Job) -> Vec<(Job, Options<'static>)> {
    let [width, height] = job.size.unwrap_or([64, 64]);
    let job = Job { size: Some([width, height]), ..job };
    let mut pictures = vec![(job.clone(), options(None, 1))];
    if width > 3 && height > 3 {
        let area = Block { x: 1, y: 3, width: width - 2, height: height - 3 };
        pictures.push((job.clone(), Options { poison: true, ..options(Some(area), 3) }));
    }
    let flat = |input: &r500::program::Input| matches!(input.data, InputData::Planes(_));
    if job.coverage.is_none() && job.inputs.iter().flatten().all(flat) {
        let holes = |n: u32| n % 7 != 3 && n % 31 < 29;
        let coverage = Some((0..33 * 18).map(holes).collect());
        pictures.push((Job { size: Some([33, 18]), coverage, ..job }, options(None, 3)));
    }
    pictures
}

fn options(area: Option<Block>, threads: usize) -> Options<'static> {
    Options { area, threads, ..Options::default() }
}

/// Compares them all. At least that many in a hundred must be drawn by the fast engine.
fn same(jobs: impl IntoIterator<Item = (Job, Options<'static>)>, percent: u64) {
    let mut seen = Seen::default();
    let mut found = Vec::new();
    for (job, options) in jobs {
        let Options { poison, area, threads, .. } = options;
        let difference = seen.add(compare(&job, &options));
        found.extend(
            difference.map(|what| {
                format!("{} ({poison}, {area:?}, {threads} threads): {what}", job.name)
            }),
        );
    }
    assert!(found.is_empty(), "{} differ:\n{}", found.len(), found.join("\n"));
    seen.demand(percent);
}

fn jobs(path: &Path) -> impl Iterator<Item = Job> + use<> {
    let input = BufReader::new(File::open(path).unwrap());
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let jobs = r500::reader::jobs(input, Some(&name), None, &Limits::default()).unwrap();
    jobs.map(Result::unwrap)
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, "json")
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == extension)).collect();
    files.sort();
    files
}

fn tests(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(path)
}
