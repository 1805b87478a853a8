//! Random programs: the optimised program draws the same picture, and the optimiser is idempotent.
//!
//! The default is some hundred programs. `R500_PROGRAMS=100000 cargo test --release -p r500-opt --test generated` tries
//! more; `R500_SEED` sets the first seed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)]
mod support;

use r500_exec::reference::Reference;
use r500_exec::{Bindings, Frame, Options as RunOptions, Shader, draw};
use r500_gen::{Case, Rng, Shape, mutate, shrink};
use r500_opt::{Cost, Options, optimize};
use r500_program::{Job, Program};
use support::difference;

fn run(job: &Job, program: &Program) -> Option<Frame> {
    let mut job = job.clone();
    job.program = program.clone();
    let shader = Shader::new(&job.program).ok()?;
    let bindings = Bindings::new(&job, job.size?).ok()?;
    let mut options = RunOptions::default();
    options.limits.instructions = 400_000;
    draw(&Reference, &shader, &bindings, &options).ok()
}

/// Returns a failure of the optimised program of a job.
fn wrong(job: &Job) -> Option<String> {
    let options = Options::default();
    let optimized = optimize(&job.program, &options);
    if optimized.changes.is_empty() {
        return (optimized.program != job.program).then(|| "changed without a change".to_owned());
    }
    let [before, after] = optimized.cost;
    if !after.improves(&before) || Cost::of(&optimized.program) != Ok(after) {
        return Some(format!("costs {before:?}, {after:?}"));
    }
    if optimize(&job.program, &options).program != optimized.program {
        return Some("not deterministic".to_owned());
    }
    if optimize(&optimized.program, &options).program != optimized.program {
        return Some("not idempotent".to_owned());
    }
    let frames = [&job.program, &optimized.program].map(|program| run(job, program));
    match frames {
        [Some(a), Some(b)] => difference(&a, &b),
        [None, _] => None,
        [Some(_), None] => Some("only the original runs".to_owned()),
    }
}

fn shape(seed: u64) -> Shape {
    let shape = Shape { calls: seed.is_multiple_of(8), ..Shape::default() };
    match seed % 5 {
        0 => Shape { loops: false, depth: 1, ..shape },
        1 => Shape { instructions: 30, ..shape },
        _ => shape,
    }
}

/// Returns a case as generated, or with textures, planes and changed fields.
fn job_of(case: &Case, seed: u64) -> Job {
    let mut job = case.bare_job("generated");
    if seed % 2 == 1 {
        mutate(&mut job, seed);
    }
    job
}

#[test]
fn optimized_programs_draw_the_same() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let first = number("R500_SEED").unwrap_or(0);
    let mut shorter = 0;
    let count = number("R500_PROGRAMS").unwrap_or(300);
    for seed in first..first + count {
        let case = Case::generate(&mut Rng::new(seed), &shape(seed));
        let job = job_of(&case, seed);
        let Some(what) = wrong(&job) else {
            shorter += u64::from(!optimize(&job.program, &Options::default()).changes.is_empty());
            continue;
        };
        let small = shrink(&case, |case| wrong(&job_of(case, seed)).is_some());
        let job = job_of(&small, seed);
        let why = wrong(&job).unwrap_or_default();
        let print = |program: &Program| {
            let job = Job { program: program.clone(), ..Job::from_program(program.clone()) };
            r500_asm::print(&job, &r500_asm::PrintOptions::default()).text
        };
        let result = optimize(&job.program, &Options::default()).program;
        panic!("seed {seed}: {what}; {why}\n{}\n---\n{}", print(&job.program), print(&result));
    }
    // Guards against an optimiser that changes nothing.
    assert!(shorter * 2 > count, "only {shorter} of {count} became shorter");
}
