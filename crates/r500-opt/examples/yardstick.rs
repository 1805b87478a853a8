//! Measures the gain of the optimiser on the corpus: `cargo run --release -p r500-opt --example yardstick`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "../tests/support/mod.rs"]
#[allow(dead_code)]
mod support;

use std::time::Instant;

use r500_check::Stats;
use r500_opt::{Cost, Level, Options, optimize};
use r500_program::Job;

fn main() {
    let all = std::env::args().any(|arg| arg == "--all");
    report("captures of Mesa 22.3.6", &support::jobs("mesa"), all);
    report("captures of Mesa 25.0.7", &support::jobs("mesa25"), all);
    report("piglit", &support::piglit(), false);
}

fn report(title: &str, jobs: &[Job], all: bool) {
    let mut costs: Vec<(&str, [Cost; 2], bool)> = Vec::new();
    let mut times = Vec::new();
    for job in jobs {
        let start = Instant::now();
        let optimized = optimize(&job.program, &Options::default());
        times.push(start.elapsed().as_secs_f64() * 1000.0);
        let loops = Stats::of(&job.program).is_ok_and(|stats| stats.loops > 0);
        costs.push((&job.name, optimized.cost, loops));
        if all {
            let [before, after] = optimized.cost;
            println!(
                "{:24} slots {:3} {:3}  cycles {:9} {:9}  temps {:2} {:2}  nops {:2} {:2}",
                job.name,
                before.slots,
                after.slots,
                before.cycles,
                after.cycles,
                before.temporaries,
                after.temporaries,
                before.nops,
                after.nops
            );
        }
    }
    times.sort_by(f64::total_cmp);
    let sum = |of: fn(&Cost) -> u64| {
        let total = |n: usize| costs.iter().map(|cost| of(&cost.1[n])).sum::<u64>();
        percent(total(0), total(1))
    };
    let count = |long: u64, better: fn(&[Cost; 2]) -> bool| {
        let of: Vec<_> = costs.iter().filter(|cost| cost.1[0].slots >= long).collect();
        format!("{} of {}", of.iter().filter(|cost| better(&cost.1)).count(), of.len())
    };
    let mut loops: Vec<f64> = costs
        .iter()
        .filter(|cost| cost.2)
        .map(|(_, [before, after], _)| after.cycles as f64 / before.cycles as f64 * 100.0 - 100.0)
        .collect();
    loops.sort_by(f64::total_cmp);
    println!("{title}: {} programs", jobs.len());
    println!("  slots        {}", sum(|cost| cost.slots));
    println!("  temporaries  {}", sum(|cost| cost.temporaries));
    println!("  nops         {}", sum(|cost| cost.nops));
    if let Some(median) = loops.get(loops.len() / 2) {
        println!("  cycles, median of {} programs with loops: {median:+.1} %", loops.len());
    }
    println!("  better by a slot: {}", count(0, |[a, b]| b.slots < a.slots));
    println!("  of 10 slots and more: {}", count(10, |[a, b]| b.slots < a.slots));
    println!("  worse in anything: {}", count(0, |[a, b]| !b.no_worse_than(a)));
    println!(
        "  -O2: median {:.2} ms, worst {:.1} ms",
        times[times.len() / 2],
        times[times.len() - 1]
    );
    let mut fast: Vec<f64> = jobs
        .iter()
        .map(|job| {
            let start = Instant::now();
            let _ = optimize(&job.program, &Options { level: Level::O1, ..Options::default() });
            start.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    fast.sort_by(f64::total_cmp);
    println!("  -O1: median {:.2} ms, worst {:.1} ms", fast[fast.len() / 2], fast[fast.len() - 1]);
}

fn percent(before: u64, after: u64) -> String {
    format!("{before} to {after} ({:+.1} %)", after as f64 / before as f64 * 100.0 - 100.0)
}
