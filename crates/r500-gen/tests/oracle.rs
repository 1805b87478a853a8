//! The reference engine against the oracle: a structured program gives the results of its syntax tree.
//!
//! The default is a few hundred programs. `R500_PROGRAMS=100000 cargo test --release -p r500-gen --test oracle` tries
//! more; `R500_SEED` sets the first seed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use r500_exec::reference::Reference;
use r500_exec::{Bindings, Options, Readings, Shader, draw};
use r500_gen::{Case, Rng, Shape, oracle, shrink};

#[test]
fn machine_and_oracle_agree() {
    each(seeds(400), |seed| {
        let shape = shape(seed);
        report(seed, &shape, &options(groups(&shape)[seed as usize / 10 % 4]))
    });
}

#[test]
fn group_size_never_changes_the_result() {
    each(seeds(100), |seed| {
        let shape = shape(seed);
        groups(&shape).into_iter().find_map(|group| report(seed, &shape, &options(group)))
    });
}

/// The test above can fail: for each of these rules, some program detects an engine with another rule.
#[test]
fn other_rules_are_noticed() {
    for (name, value) in [
        ("break", "literal"),
        ("break", "flat"),
        ("idle-loop", "literal"),
        ("alu-result-after-fc", "clear"),
        ("alu-result-predicate", "gated"),
        ("fc-pred-none", "zero"),
        ("fc-pred-rgba", "alpha"),
        ("kill-rgba", "each"),
        ("al-outside", "last"),
    ] {
        let mut readings = Readings::default();
        readings.set(name, value).unwrap();
        let options = Options { readings, ..options([4, 4]) };
        let noticed = (0..2000).any(|seed| wrong(&case(seed, &shape(seed)), &options).is_some());
        assert!(noticed, "{name}={value} goes unnoticed");
    }
}

#[test]
fn shrinking_keeps_the_failure_and_little_else() {
    // By the literal reading, a BREAK also removes the pixels that stay in the loop: the classic error.
    let mut readings = Readings::default();
    readings.set("break", "literal").unwrap();
    let options = Options { readings, ..options([4, 4]) };
    let fails = |case: &Case| wrong(case, &options).is_some();
    let large = (0..).map(|seed| case(seed, &Shape::default())).find(fails).unwrap();
    let small = shrink(&large, fails);
    assert!(fails(&small));
    // A loop with a BREAK that some of the pixels take, and an observable effect.
    let code = small.tree.lower().code;
    assert!(code.len() <= 8, "{small}");
    assert!(small.picture.size[0] * small.picture.size[1] <= 4, "{small}");
    assert_eq!(small.to_string(), shrink(&large, fails).to_string());
    assert_eq!(small.to_string(), shrink(&small, fails).to_string());
}

/// Returns the seeds to try: those of the environment, or `few`.
fn seeds(few: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let first = number("R500_SEED").unwrap_or(0);
    first..first + number("R500_PROGRAMS").unwrap_or(few)
}

/// Returns mostly the default shape; also odd sizes, and flat, deep and long programs.
fn shape(seed: u64) -> Shape {
    let usual = Shape::default();
    match seed % 10 {
        0 => Shape { size: [7, 5], ..usual },
        1 => Shape { specials: false, ..usual },
        2 => Shape { depth: 2, instructions: 40, ..usual },
        3 => Shape { depth: 20, instructions: 250, size: [4, 4], ..usual },
        4 => Shape { depth: 10, instructions: 480, work: 10_000, size: [6, 2], ..usual },
        _ => usual,
    }
}

/// Returns group sizes: a quad to the full frame, and a tall one.
fn groups(shape: &Shape) -> [[u32; 2]; 4] {
    [[2, 2], [4, 4], shape.size.map(|n| n.next_multiple_of(2)), [2, 6]]
}

fn case(seed: u64, shape: &Shape) -> Case {
    Case::generate(&mut Rng::new(seed), shape)
}

fn options(group: [u32; 2]) -> Options<'static> {
    Options { group, threads: 1, ..Options::default() }
}

/// Runs `test` for every seed, on all cores; panics with the first failure.
fn each(seeds: Range<u64>, test: impl Fn(u64) -> Option<String> + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let stop = AtomicBool::new(false);
    let reports: Vec<String> = std::thread::scope(|scope| {
        let work = |thread: usize| {
            let (seeds, test, stop) = (seeds.clone(), &test, &stop);
            move || {
                let mut mine = seeds.skip(thread).step_by(threads);
                let report = mine.find_map(|seed| {
                    if stop.load(Ordering::Relaxed) { Some(String::new()) } else { test(seed) }
                });
                stop.fetch_or(report.is_some(), Ordering::Relaxed);
                report
            }
        };
        let all: Vec<_> = (0..threads).map(|thread| scope.spawn(work(thread))).collect();
        all.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    if let Some(report) = reports.iter().find(|report| !report.is_empty()) {
        panic!("{report}");
    }
}

/// Returns the failure of a seed's program, shrunk.
fn report(seed: u64, shape: &Shape, options: &Options<'_>) -> Option<String> {
    let case = case(seed, shape);
    wrong(&case, options)?;
    let small = shrink(&case, |case| wrong(case, options).is_some());
    let mut text = format!("seed {seed}, groups of {:?} pixels, {shape:?}\n{small}", options.group);
    write!(text, "{}", wrong(&small, options)?).unwrap();
    Some(text)
}

/// Returns the first pixel in which the engine differs from the oracle.
fn wrong(case: &Case, options: &Options<'_>) -> Option<String> {
    let job = case.bare_job("generated");
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(&job, case.picture.size).unwrap();
    let frame = match draw(&Reference, &shader, &bindings, options) {
        Ok(frame) => frame,
        Err(error) => return Some(error.to_string()),
    };
    for (n, pixel) in oracle::run(case).into_iter().enumerate() {
        let [x, y] = [n as u32 % case.picture.size[0], n as u32 / case.picture.size[0]];
        let place = |what: &str| format!("pixel {x},{y}: {what}");
        if frame.coverage()[n] != pixel.covered {
            return Some(place(&format!("covered: wanted {}", pixel.covered)));
        }
        for (target, wanted) in pixel.color.into_iter().enumerate() {
            let got = frame.color(target, x, y);
            if !got.into_iter().zip(wanted).all(|(got, wanted)| same(got, wanted)) {
                return Some(place(&format!("target {target}: wanted {wanted:?}, got {got:?}")));
            }
        }
        let (got, wanted) = (frame.depth().map_or(0.0, |d| d[n]), pixel.depth.unwrap_or(0.0));
        if !same(got, wanted) {
            return Some(place(&format!("depth: wanted {wanted}, got {got}")));
        }
    }
    None
}

/// Returns whether two floats are equal bit for bit; all NaNs are equal.
fn same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}
