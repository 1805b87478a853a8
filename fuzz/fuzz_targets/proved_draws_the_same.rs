//! Property: programs that are proved equal draw the same bits. The pairs are any program, and the same program with
//! some bits changed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500::equivalence::{Proof, Trial, prove};
use r500_fuzz::drawing;
use r500_gen::{Bytes, Choices};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let changes: Vec<[u32; 3]> =
        (0..=bytes.below(2)).map(|_| [bytes.bits(), bytes.below(6), bytes.below(32)]).collect();
    let (job, _) = drawing(&mut bytes);
    let mut changed = job.clone();
    let length = changed.program.code.len();
    for [at, word, bit] in changes {
        if length > 0 {
            changed.program.code[at as usize % length].0[word as usize] ^= 1 << bit;
        }
    }
    if prove(&job.program, &changed.program) != Proof::Proved {
        return;
    }
    if let Trial::Different { round, difference } = Trial::run(&job, &changed, 4) {
        panic!("round {round}: {difference:?}\n{:#?}\n{:#?}", job.program, changed.program);
    }
});
