//! The jit engine, with each of the vector instructions of this machine that it makes code of, compiled
//! quickly or well, draws what the reference engine draws, bit for bit: structured programs as they are
//! or varied, and words that come near a program.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_fast::Simd;
use r500_fuzz::{drawing, equals_reference};
use r500_gen::{Bytes, Choices};
use r500_jit::{Effort, Jit, Settings, When};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let effort = if bytes.chance(1, 2) { Effort::Quick } else { Effort::Full };
    let settings = Settings { when: When::Before(effort), ..Settings::default() };
    let (job, options) = drawing(&mut bytes);
    for simd in [Simd::Avx2, Simd::Avx512].into_iter().filter(|simd| simd.is_available()) {
        equals_reference(&Jit::with(simd, settings), &job, &options);
    }
});
