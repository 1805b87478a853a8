//! Random vertex programs compute the same after they are optimised, bit for bit, for edge values and random ones.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod vertices;

use r500_gen::{Rng, vertex_programs};
use r500_opt::vertex::{Cost, optimize};
use vertices::{Verdict, verdict};

/// `R500_PROGRAMS` programs from seed `R500_SEED` on.
#[test]
fn random_programs_compute_the_same() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let (count, first) = (number("R500_PROGRAMS", 6_000), number("R500_SEED", 0));
    let (mut shorter, mut proved, mut kept) = (0_u64, 0_u64, 0_u64);
    let mut instructions = [0, 0];
    for seed in first..first + count {
        let program = vertex_programs::program(&mut Rng::new(seed), 24, seed % 2 == 0);
        let optimized = optimize(&program, &[]);
        let text = || format!("seed {seed}:\n{program}\n---\n{}", optimized.program);
        let [before, after] = optimized.cost;
        assert!(after.no_worse_than(&before), "{before:?} {after:?} {}", text());
        assert_eq!(Cost::of(optimized.program.instructions().1), after, "{}", text());
        match verdict(&program, &optimized.program, 6) {
            Verdict::Proved => proved += 1,
            Verdict::Equal => {}
            Verdict::Different(what) => panic!("{what}: {}", text()),
        }
        for (total, cost) in instructions.iter_mut().zip([before, after]) {
            *total += cost.instructions;
        }
        shorter += u64::from(after.instructions < before.instructions);
        kept += u64::from(!optimized.kept.is_empty());
    }
    println!(
        "{count} programs, {shorter} shorter ({instructions:?}), {proved} proved, {kept} with obstacles"
    );
    // The comparison means something: much is rewritten.
    assert!(shorter * 2 > count, "{shorter} of {count}");
}
