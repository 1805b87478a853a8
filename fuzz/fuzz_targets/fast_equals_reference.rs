//! The fast engine, with the best vector instructions of this machine or the portable ones, draws what
//! the reference engine draws, bit for bit: structured programs as they are or varied, and words that
//! come near a program.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_exec::fast::{Fast, Simd};
use r500_exec::{Block, Options};
use r500_fuzz::{LIMITS, fast_equals_reference};
use r500_gen::{Bytes, Case, Entropy, Shape, vary, words};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let kind = bytes.below(4);
    let engine = if bytes.chance(1, 4) { Fast::with(Simd::Portable) } else { Fast::new() };
    let poison = bytes.chance(1, 2);
    let size = [[4, 4], [7, 5], [1, 1], [8, 8]][bytes.below(4) as usize];
    let area = bytes.chance(1, 4).then_some(Block { x: 0, y: 0, width: size[0], height: 1 });
    let mut options = Options { poison, area, threads: 1, ..Options::default() };
    let job = match kind {
        0 => {
            options.limits = LIMITS;
            let length = 1 + bytes.below(16) as u16;
            let job = words::job(&mut bytes, length);
            options.area = options.area.filter(|area| area.width <= 8);
            job
        }
        kind => {
            let shape = Shape { size, ..Shape::default() };
            let seed = u64::from(bytes.bits());
            let case = Case::generate(&mut bytes, &shape);
            let mut job = case.bare_job("fuzz");
            if kind > 1 {
                vary(&mut job, seed);
            }
            job
        }
    };
    fast_equals_reference(engine, &job, &options);
});
