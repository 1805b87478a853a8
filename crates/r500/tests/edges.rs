//! Pairs of programs that differ in one edge are never equal; programs with one changed field are equal only where an
//! independent dense search finds no difference.
//!
//! `R500_MUTATIONS=1000 cargo test -p r500 --test edges -- --nocapture` tries more changed programs than the default, and prints counts on the
//! way; `R500_SEED=500` begins with another seed than 0, so that several processes can share the work.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use r500::equivalence::{
    FRAMES, InterfaceMatch, Known, Literals, Pair, Proof, RANDOM, Search, SearchEnd, WORK,
    prove_with,
};
use r500::exec::reference::Reference;
use r500::exec::{Limits as RunLimits, Options};
use r500::fast::Fast;
use r500::formats::Limits;
use r500::program::{Input, InputData, Job};
use r500_gen::Rng;

fn corpus(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(folder)
}

fn note(text: &str) {
    // Not by a macro of the standard library, whose output is shown for failed tests only.
    std::io::stderr().write_all(text.as_bytes()).unwrap();
}

fn job(path: &Path) -> Job {
    let bytes = std::fs::read(path).unwrap();
    let jobs = r500::reader::read(&bytes, path.to_str(), None, &Limits::default());
    jobs.unwrap_or_else(|error| panic!("{}: {error}", path.display())).remove(0)
}

/// A verdict about two programs.
#[derive(Debug, PartialEq)]
enum Verdict {
    Proved,
    /// Not proved, and no difference found.
    Open,
    /// Undecided: a difference depends on constants that a file does not give.
    Depends,
    Different,
}

fn verdict(a: &Job, b: &Job, frames: u64) -> Verdict {
    let known = Known::of(a, b, InterfaceMatch::of(a, b), Literals::Bound);
    let engine = Fast::default();
    let search = Search {
        interface: known.interface().unwrap(),
        engine: &engine,
        options: Options::default(),
        seed: 0,
        tolerance: None,
        frames,
        random: RANDOM,
        work: WORK,
        deadline: None,
        shard: [0, 1],
    };
    let found = search.run(&[a.clone(), b.clone()]).unwrap();
    let proof = prove_with(&a.program, &b.program, &known);
    match found.end {
        SearchEnd::Different(_) => {
            assert_ne!(proof, Proof::Proved, "a proof, and a pixel that differs");
            Verdict::Different
        }
        _ if proof == Proof::Proved => Verdict::Proved,
        SearchEnd::Depends => {
            let lacks = known.interface().unwrap().unmatched.iter().any(|side| !side.is_empty());
            assert!(lacks, "undecided for constants that the files do not give, and they give all");
            Verdict::Depends
        }
        _ => Verdict::Open,
    }
}

/// Sets what the line `-- differs: …` of a pair says, in both jobs: the values for which they differ.
fn set_example(text: &str, job: &mut Job) {
    let float = |text: &str| {
        let text = text.trim();
        text.strip_prefix("0x").map_or_else(
            || text.parse::<f32>().unwrap(),
            |hex| f32::from_bits(u32::from_str_radix(hex, 16).unwrap()),
        )
    };
    job.size = Some([2, 2]);
    job.coverage = None;
    let mut vectors = vec![[0.5; 4]; 4];
    let mut rest = text.trim();
    while !rest.is_empty() {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(mask) = rest.strip_prefix("coverage ") {
            job.coverage = Some(mask.split_whitespace().map(|bit| bit == "1").collect());
            break;
        }
        let (name, values) = rest.split_once('=').unwrap();
        let (values, after) = values.trim().trim_start_matches('(').split_once(')').unwrap();
        rest = after;
        let values: Vec<f32> = values.split(',').map(float).collect();
        let value: [f32; 4] = values.try_into().unwrap();
        let name = name.trim();
        if let Some(number) = name.strip_prefix("const[") {
            let number: usize = number.trim_end_matches(']').parse().unwrap();
            for (channel, value) in value.into_iter().enumerate() {
                job.program.state.set_constant(number, channel, value.to_bits());
            }
        } else if let Some(pixel) = name.strip_prefix("temp[0]@") {
            vectors[pixel.parse::<usize>().unwrap()] = value;
        } else {
            assert_eq!(name, "temp[0]");
            vectors = vec![value; 4];
        }
    }
    job.inputs =
        Some(vec![Input { temp: 0, data: InputData::Values { width: 2, values: vectors } }]);
}

/// Each pair of `tests/corpus/edges` differs for the values that its first file names, which is checked without a search;
/// no pair is proved equal, and a search finds a difference in nine of ten.
#[test]
fn pairs_that_differ_in_an_edge_are_not_equal() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(corpus("edges")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(".a.r5"));
    files.sort();
    let (mut found, mut open, mut wrong) = (0, Vec::new(), Vec::new());
    for file in &files {
        let other = PathBuf::from(file.to_string_lossy().replace(".a.r5", ".b.r5"));
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let (a, b) = (job(file), job(&other));
        let text = std::fs::read_to_string(file).unwrap();
        let example = text.lines().find_map(|line| line.strip_prefix("-- differs:")).unwrap();
        let mut jobs = [a.clone(), b.clone()];
        jobs.iter_mut().for_each(|job| set_example(example, job));
        let pair = Pair::new(jobs[0].clone(), jobs[1].clone(), Some([2, 2])).unwrap();
        let compared = pair.compare(&jobs, &Reference, &Options::default(), None).unwrap();
        if compared.differing == 0 {
            wrong.push(format!("{name}: equal for {example}"));
            continue;
        }
        match verdict(&a, &b, FRAMES) {
            Verdict::Proved => wrong.push(format!("{name}: proved")),
            Verdict::Open | Verdict::Depends => open.push(name),
            Verdict::Different => found += 1,
        }
    }
    note(&format!("{found} of {} edge pairs found; open: {open:?}\n", files.len()));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(files.len() >= 40);
    assert!(found * 10 >= files.len() * 9, "{found} of {}: {open:?}", files.len());
}

/// Numbers of the dense search, chosen apart from those of the library.
const NUMBERS: [u32; 16] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x0000_0001,
    0x807f_ffff,
    0x7f7f_ffff,
    0x4b80_0000,
    0x437f_0000,
    0x0080_0000,
    0x3eaa_aaab,
    0xc020_0000,
];

/// Returns a job with other numbers in all inputs that vary, as a picture of 32x32 pixels.
fn dense(job: &Job, seed: u64) -> Job {
    let mut rng = Rng::new(seed);
    let mut changed = job.clone();
    changed.size = Some([32, 32]);
    changed.coverage = None;
    let style = seed % 3;
    for input in changed.inputs.get_or_insert_with(|| vec![Input::uv()]) {
        let fixed: [Option<f32>; 4] = match &input.data {
            InputData::Planes(planes) => planes.each_ref().map(|component| {
                let plane = component.plane;
                (plane.du == 0.0 && plane.dv == 0.0 && component.name.is_empty()
                    || component.name.parse::<f32>().is_ok())
                .then_some(plane.c)
            }),
            InputData::Values { .. } => [None; 4],
        };
        let mut number = || {
            let bits = rng.next_u64();
            match (style, bits % 4) {
                (0, _) | (1, 0) => (bits >> 40) as f32 / (1 << 24) as f32 * 4.0 - 2.0,
                (2, 0) => f32::from_bits((bits >> 32) as u32),
                _ => f32::from_bits(NUMBERS[(bits >> 60) as usize]),
            }
        };
        let values = (0..1024).map(|_| fixed.map(|fixed| fixed.unwrap_or_else(&mut number)));
        input.data = InputData::Values { width: 32, values: values.collect() };
    }
    changed
}

/// Programs of the corpus with one changed field: what is proved, or equal after a search, has no difference in pictures that this
/// test draws itself.
#[test]
fn changed_fields_are_equal_only_where_a_dense_search_agrees() {
    let number = |name, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (count, begin): (u64, u64) = (number("R500_MUTATIONS", 12), number("R500_SEED", 0));
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(corpus("mesa")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let jobs: Vec<Job> = files.iter().map(|file| job(file)).collect();
    let limits = RunLimits { instructions: 20_000, ..RunLimits::default() };
    let options = Options { limits, ..Options::default() };
    let (mut proved, mut open, mut different, mut undecided) = (0, 0, 0, 0);
    let mut missed = Vec::new();
    for seed in begin..begin + count {
        if seed > begin && seed % 50 == 0 {
            note(&format!(
                "before seed {seed}: {different} different, {proved} proved, {open} open, {undecided} undecided; missed: {missed:?}\n"
            ));
        }
        let mut rng = Rng::new(seed ^ 0x0065_6467_6573);
        let mut pick = |below: usize| (rng.next_u64() % below as u64) as usize;
        let a = &jobs[pick(jobs.len())];
        let mut b = a.clone();
        let at = pick(b.program.code.len());
        b.program.code[at].0[pick(6)] ^= 1 << pick(32);
        let verdict = verdict(a, &b, 24);
        match verdict {
            Verdict::Different => {
                different += 1;
                continue;
            }
            // The dense search would bind what the file lacks to 0, which the verdict does not.
            Verdict::Depends => {
                undecided += 1;
                continue;
            }
            Verdict::Proved => proved += 1,
            Verdict::Open => open += 1,
        }
        for round in 0..9 {
            let jobs = [dense(a, seed * 16 + round), dense(&b, seed * 16 + round)];
            let pair = Pair::new(jobs[0].clone(), jobs[1].clone(), Some([32, 32])).unwrap();
            let Ok(compared) = pair.compare(&jobs, &Fast::default(), &options, None) else {
                continue;
            };
            if compared.differing > 0 {
                missed.push(format!("{} at {at}, seed {seed}: {verdict:?}", a.name));
                break;
            }
        }
    }
    note(&format!(
        "{count} changed programs: {different} different, {proved} proved, {open} equal but not proved, {undecided} undecided for a constant \
         that the file does not give; missed: {missed:?}\n"
    ));
    assert!(missed.is_empty(), "{missed:#?}");
}
