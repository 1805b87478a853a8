//! Pairs that differ are reduced to few instructions, and still differ in the same way with the values in the reduced files.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use r500::asm::{Options as Assemble, PrintOptions, assemble, print};
use r500::check::{LintCode, Severity, check_job};
use r500::equivalence::reduce::{Irreducible, Reduced, Reduction, Signature};
use r500::equivalence::{InterfaceMatch, Pair, Search, SearchEnd, WORK};
use r500::exec::Options;
use r500::exec::reference::Reference;
use r500::fast::Fast;
use r500::formats::Limits;
use r500::isa::Slot;
use r500::isa::values::{InstType, Mod};
use r500::program::Job;

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn job(path: &Path) -> Job {
    let bytes = std::fs::read(path).unwrap();
    let jobs = r500::reader::read(&bytes, path.to_str(), None, &Limits::default());
    jobs.unwrap_or_else(|error| panic!("{}: {error}", path.display())).remove(0)
}

fn source(text: &str) -> Job {
    let assembly = assemble(text.as_bytes(), Assemble::default());
    assert!(assembly.is_ok(), "{:?}", assembly.diagnostics);
    assembly.job
}

fn reduce(jobs: &[Job; 2], size: [u32; 2]) -> Result<Reduced, Irreducible> {
    let reduction = Reduction {
        options: Options::default(),
        tolerance: None,
        deadline: None,
        progress: &|_, _| {},
    };
    reduction.run(jobs, size)
}

/// Returns the errors and warnings of a job.
fn codes(job: &Job) -> BTreeSet<LintCode> {
    let lints = check_job(job).lints.into_iter();
    lints.filter(|lint| lint.severity() != Severity::Note).map(|lint| lint.code).collect()
}

/// Asserts that a reduced pair differs as the original, as it is printed, and that the checker finds nothing new.
fn assert_same_way(name: &str, before: &[Job; 2], size: [u32; 2], reduced: &Reduced) {
    let [a, b] = before.clone();
    let pair = Pair::new(a, b, Some(size)).unwrap();
    let first = pair.compare(before, &Reference, &Options::default(), None).unwrap().first.unwrap();
    let signature = Signature::of(&first);
    assert!(signature.matches(&reduced.difference), "{name}");
    let options = PrintOptions { embed: 1 << 20, ..PrintOptions::default() };
    let jobs = reduced.jobs.each_ref().map(|job| source(&print(job, &options).text));
    let [a, b] = jobs.clone();
    let pair = Pair::new(a, b, None).unwrap();
    let found = pair.compare(&jobs, &Reference, &Options::default(), None).unwrap();
    assert!(signature.matches(&found.first.unwrap()), "{name}, printed");
    for (job, before) in jobs.iter().zip(before) {
        let new: Vec<LintCode> = codes(job).difference(&codes(before)).copied().collect();
        assert_eq!(new, [], "{name}");
    }
    assert!(reduced.complete);
}

#[test]
fn equal_programs_are_not_reduced() {
    let job = source(
        "OUT LAST src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;",
    );
    assert_eq!(reduce(&[job.clone(), job], [4, 4]), Err(Irreducible::Equal));
}

/// Captures with an operand of other sign in the middle: what computes the operands and what is computed with the result
/// falls away.
#[test]
fn a_planted_mistake_remains_with_few_instructions() {
    let mut reduced_pairs = 0;
    for path in
        files("mesa").iter().filter(|path| path.extension().is_some_and(|e| e == "json")).step_by(9)
    {
        let good = job(path);
        let length = good.program.code.len();
        let planted = (0..length).map(|at| (at + length / 2) % length).find_map(|at| {
            let mut bad = good.clone();
            let inst = &mut bad.program.code[at];
            if !matches!(inst.ty(), InstType::ALU | InstType::OUT) {
                return None;
            }
            let mut operand = inst.rgb_operand(Slot::A);
            operand.modifier = match operand.modifier {
                Mod::NOP => Mod::NEG,
                Mod::NEG => Mod::NOP,
                Mod::ABS => Mod::NAB,
                _ => Mod::ABS,
            };
            *inst = inst.with_rgb_operand(Slot::A, operand);
            let jobs = [good.clone(), bad];
            reduce(&jobs, [8, 8]).ok().map(|reduced| (jobs, reduced))
        });
        let Some((jobs, reduced)) = planted else { continue };
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert_same_way(&name, &jobs, [8, 8], &reduced);
        let left = reduced.jobs.each_ref().map(|job| job.program.code.len());
        assert!(
            left[0] <= length.min(6) && left[1] <= length.min(6),
            "{name}: {length} -> {left:?}"
        );
        reduced_pairs += 1;
    }
    assert!(reduced_pairs >= 3, "{reduced_pairs}");
}

/// Some pairs of the corpus that differ in an edge, with the values that the search finds.
#[test]
fn pairs_that_differ_in_an_edge_are_reduced() {
    let mut reduced_pairs = 0;
    for a in
        files("edges").iter().filter(|path| path.to_string_lossy().ends_with(".a.r5")).step_by(2)
    {
        let b = PathBuf::from(a.to_string_lossy().replace(".a.r5", ".b.r5"));
        let jobs = [job(a), job(&b)];
        let engine = Fast::default();
        let interface = InterfaceMatch::of(&jobs[0], &jobs[1]);
        let search = Search {
            interface: &interface,
            engine: &engine,
            options: Options::default(),
            seed: 0,
            tolerance: None,
            frames: 16,
            random: 0,
            work: WORK,
            deadline: None,
            shard: [0, 1],
        };
        let Ok(found) = search.run(&jobs) else { continue };
        let SearchEnd::Different(found) = found.end else { continue };
        let (jobs, size) = (found.pair.jobs.clone(), found.pair.size());
        let reduced = reduce(&jobs, size).unwrap();
        assert_same_way(&a.to_string_lossy(), &jobs, size, &reduced);
        for (job, before) in reduced.jobs.iter().zip(&jobs) {
            assert!(job.program.code.len() <= before.program.code.len());
        }
        reduced_pairs += 1;
    }
    assert!(reduced_pairs >= 20, "{reduced_pairs}");
}
