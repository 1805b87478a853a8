//! Proofs of equivalence: what is proved is equal, and what the optimiser does is mostly proved.
//!
//! `R500_MUTATIONS=1000 cargo test --release -p r500 --test prove` tries more changed programs than an ordinary run.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

use std::io::Write as _;
use std::path::Path;

use r500::equivalence::{Proof, Trial, prove};
use r500::formats::{Limits, read};
use r500::opt::{Options, optimize};
use r500::program::Job;
use r500_gen::Rng;

fn captures() -> Vec<Job> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    let jobs = files
        .iter()
        .flat_map(|file| read(&std::fs::read(file).unwrap(), None, &Limits::default()).unwrap());
    jobs.collect()
}

fn note(text: &str) {
    // Not by a macro of the standard library: that is shown of failed tests only.
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

#[test]
fn programs_are_equal_to_themselves() {
    let mut unknown = Vec::new();
    for job in captures() {
        if let Proof::Unknown(why) = prove(&job.program, &job.program) {
            unknown.push(format!("{}: {why}", job.name));
        }
    }
    // In these the size of a group of pixels may show.
    assert!(unknown.len() <= 5, "{unknown:#?}");
}

#[test]
fn optimized_captures_are_proved() {
    let (mut proved, mut unknown) = (0, Vec::new());
    for job in captures() {
        let optimized = optimize(&job.program, &Options::default());
        if optimized.changes.is_empty() {
            continue;
        }
        match prove(&job.program, &optimized.program) {
            Proof::Proved => proved += 1,
            Proof::Unknown(why) => unknown.push(format!("{}: {why}", job.name)),
        }
    }
    let all = proved + unknown.len();
    note(&format!("{proved} of {all} changed captures proved; else {unknown:#?}\n"));
    assert!(proved * 2 > all);
}

/// Soundness: a program with one bit changed is proved equal only where no run tells the two apart.
#[test]
fn changed_bits_are_not_proved() {
    let jobs = captures();
    let count = std::env::var("R500_MUTATIONS").map_or(200, |text| text.parse().unwrap());
    let (mut proved, mut differing) = (0, 0);
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let mut pick = |below: usize| (rng.next_u64() % below as u64) as usize;
        let job = &jobs[pick(jobs.len())];
        let mut changed = job.clone();
        let at = pick(changed.program.code.len());
        changed.program.code[at].0[pick(6)] ^= 1 << pick(32);
        if changed.program.code == job.program.code {
            continue;
        }
        let verdict = prove(&job.program, &changed.program);
        if verdict != Proof::Proved {
            differing += 1;
            continue;
        }
        proved += 1;
        if let Trial::Different { round, difference } = Trial::run(job, &changed, 16) {
            panic!("{} {at}, seed {seed}: proved, but round {round}: {difference:?}", job.name);
        }
    }
    note(&format!("{proved} of {count} changed programs proved, {differing} not\n"));
    assert!(proved > 0 && differing > 0);
}

/// Trials compare every channel.
#[test]
fn a_trial_sees_a_difference_in_one_channel() {
    for (n, letter) in ["r", "g", "b"].into_iter().enumerate() {
        let text = |factor: &str| {
            format!(
                "OUT src0.rgb = temp[0], src1.rgb = const[0] : out[0].rgb = MAD src0.rgb src1.{factor} src0.000, \
                 out[0].a = MAX src0.1 src0.1 ;"
            )
        };
        let mut swizzle = ["r", "g", "b"];
        swizzle[n] = if letter == "r" { "g" } else { "r" };
        let [a, b] = [text("rgb"), text(&swizzle.concat())].map(|text| {
            let jobs = r500::reader::read(text.as_bytes(), None, None, &Limits::default());
            jobs.unwrap().remove(0)
        });
        assert!(matches!(Trial::run(&a, &b, 8), Trial::Different { .. }), "{letter}");
    }
}
