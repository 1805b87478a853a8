//! Property: the jit engine, with each of this machine's vector instruction sets that it generates code for, at either
//! effort, draws the same bits as the reference engine, for structured programs, mutated ones, and near-valid words.
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
