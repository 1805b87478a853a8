//! Property: for any program, the optimiser's result draws the same bits, costs no more, and is not optimised further.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500::equivalence::Trial;
use r500::opt::{Level, Options, optimize};
use r500_fuzz::drawing;
use r500_gen::{Bytes, Choices};
use r500_program::Job;

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let level = [Level::O1, Level::O2, Level::O3][bytes.below(3) as usize];
    let (job, _) = drawing(&mut bytes);
    let options = Options { level, ..Options::default() };
    let optimized = optimize(&job.program, &options);
    let [before, after] = optimized.cost;
    assert!(after.no_worse_than(&before), "{before:?}, then {after:?}");
    let again = optimize(&optimized.program, &options);
    assert_eq!(again.program.code, optimized.program.code, "optimised again");
    let result = Job { program: optimized.program, ..job.clone() };
    if let Trial::Different { round, difference } = Trial::run(&job, &result, 2) {
        panic!("round {round}: {difference:?}\n{:#?}\n{:#?}", job.program, result.program);
    }
});
