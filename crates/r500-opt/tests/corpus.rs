//! Programs of real drivers: the optimised program draws the same picture at no higher cost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use r500_opt::{Cost, Options, optimize};
use r500_program::Job;
use support::{difference, jobs, piglit, randomize, run};

/// Optimises a program, and compares the pictures of both with the values of the job and with random ones.
fn check(job: &Job, rounds: u64) -> [Cost; 2] {
    let options = Options::default();
    let optimized = optimize(&job.program, &options);
    let [before, after] = optimized.cost;
    assert!(after.no_worse_than(&before), "{}: {before:?} {after:?}", job.name);
    assert_eq!(Cost::of(&optimized.program).unwrap(), after, "{}", job.name);
    if optimized.changes.is_empty() {
        assert_eq!(optimized.program, job.program, "{}", job.name);
        return optimized.cost;
    }
    let again = optimize(&optimized.program, &options);
    assert_eq!(again.program, optimized.program, "{}: not idempotent", job.name);
    for round in 0..rounds {
        let mut job = job.clone();
        if round > 0 {
            randomize(&mut job, round, true);
        }
        let frames = [&job.program, &optimized.program].map(|program| run(&job, program, [8, 8]));
        if let [Some(a), Some(b)] = frames
            && let Some(what) = difference(&a, &b)
        {
            let text = |program| {
                let mut job = Job::from_program(r500_program::Program::clone(program));
                job.program.state.constants.clear();
                r500_asm::print(&job, &r500_asm::PrintOptions::default()).text
            };
            panic!(
                "{} round {round}: {what}\n{}\n---\n{}",
                job.name,
                text(&job.program),
                text(&optimized.program)
            );
        }
    }
    optimized.cost
}

#[test]
fn captures_draw_the_same_and_are_shorter() {
    let costs: Vec<[Cost; 2]> = jobs("mesa").iter().map(|job| check(job, 6)).collect();
    let slots = [0, 1].map(|n| costs.iter().map(|cost| cost[n].slots).sum::<u64>());
    assert!(slots[1] * 100 <= slots[0] * 88, "{slots:?}");
}

#[test]
fn piglit_programs_draw_the_same() {
    let costs: Vec<[Cost; 2]> = piglit().iter().map(|job| check(job, 4)).collect();
    let slots = [0, 1].map(|n| costs.iter().map(|cost| cost[n].slots).sum::<u64>());
    assert!(slots[1] < slots[0], "{slots:?}");
}

#[test]
fn cases_draw_the_same() {
    for job in jobs("cases") {
        check(&job, 4);
    }
}

#[test]
fn results_have_no_errors_that_their_originals_do_not_have() {
    let errors = |program: &r500_program::Program| {
        let report = r500_check::check(program, &r500_check::Assumptions::default());
        report.lints.iter().filter(|lint| lint.severity() == r500_check::Severity::Error).count()
    };
    for job in jobs("mesa").iter().chain(&piglit()).chain(&jobs("cases")) {
        let optimized = optimize(&job.program, &Options::default()).program;
        let counts = [errors(&job.program), errors(&optimized)];
        assert!(counts[1] <= counts[0], "{}: {counts:?}", job.name);
    }
}
