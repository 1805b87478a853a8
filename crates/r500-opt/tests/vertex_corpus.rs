//! Vertex programs of a real driver: the optimised program is proved equal, or computes the same for edge values and random ones, at no
//! higher cost.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod vertices;

use std::io::{BufReader, Read};

use r500_formats::{Limits, LogEntries, LogEntry};
use r500_opt::vertex::{Cost, optimize};
use r500_pvs::Program;
use vertices::{Verdict, verdict};

/// Returns the programs of a log of the corpus.
fn programs(name: &str) -> Vec<Program> {
    let path = format!("{}/../../tests/corpus/vertex/{name}.log.gz", env!("CARGO_MANIFEST_DIR"));
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_end(&mut text)
        .unwrap();
    let entries = LogEntries::new(BufReader::new(&text[..]), &Limits::default());
    let program = |entry: LogEntry| match entry {
        LogEntry::Vertex(program) => program.program().unwrap(),
        LogEntry::Fragment(_) => panic!("a fragment program"),
    };
    entries.map(|entry| program(entry.unwrap())).collect()
}

#[derive(Default)]
struct Totals {
    programs: usize,
    before: usize,
    after: usize,
    proved: usize,
    run: usize,
}

/// Optimises all programs of a log. Prints each with `R500_SHOW=1`.
fn totals(name: &str) -> Totals {
    let mut totals = Totals::default();
    for (n, program) in programs(name).iter().enumerate() {
        let optimized = optimize(program, &[]);
        let [before, after] = optimized.cost;
        assert!(after.no_worse_than(&before), "{name} {n}: {before:?} {after:?}");
        assert_eq!(Cost::of(optimized.program.instructions().1), after, "{name} {n}");
        let text =
            || format!("{name} {n}:\n{program}\n---\n{}\n{:?}", optimized.program, optimized.kept);
        if std::env::var("R500_SHOW").is_ok() {
            println!("{before:?} {after:?} {}", text());
        }
        // What was not worth a finding before is not now.
        let lints = |program: &Program| {
            program.check().into_iter().map(|lint| format!("{:?}", lint.kind)).collect::<Vec<_>>()
        };
        if lints(program).is_empty() {
            assert_eq!(lints(&optimized.program), Vec::<String>::new(), "{}", text());
        }
        match verdict(program, &optimized.program, 24) {
            Verdict::Proved => totals.proved += 1,
            Verdict::Equal => totals.run += 1,
            Verdict::Different(what) => panic!("{what}: {}", text()),
        }
        let again = optimize(&optimized.program, &[]);
        assert!(
            again.cost[1] == after,
            "{:?} {after:?}: {}\n===\n{}",
            again.cost,
            text(),
            again.program
        );
        totals.programs += 1;
        totals.before += before.instructions;
        totals.after += after.instructions;
    }
    let Totals { programs, before, after, proved, run } = totals;
    let percent = (after as f64 / before as f64 - 1.0) * 100.0;
    println!(
        "{name}: {programs} programs, {before} -> {after} ({percent:.1} %), {proved} proved, {run} run"
    );
    totals
}

/// The whole corpus is at least 8 % shorter, and no program is worse.
#[test]
fn programs_of_mesa_are_shorter_and_compute_the_same() {
    let names =
        ["glmark2-mesa-22.3.6", "glmark2-mesa-25.0.7", "piglit-mesa-22.3.6", "piglit-mesa-25.0.7"];
    let all = names.map(totals);
    let [before, after] =
        [all.iter().map(|t| t.before).sum::<usize>(), all.iter().map(|t| t.after).sum()];
    println!("{before} -> {after}");
    assert_eq!(all.iter().map(|t| t.programs).sum::<usize>(), 553, "the corpus has changed");
    assert!(after * 100 <= before * 92, "{before} -> {after}");
}
