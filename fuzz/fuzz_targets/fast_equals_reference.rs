//! Property: the fast engine, with the best vector instructions of this machine or the portable ones, draws the same
//! bits as the reference engine, for structured programs, mutated ones, and near-valid words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use r500_fast::{Fast, Simd};
use r500_fuzz::{drawing, equals_reference};
use r500_gen::{Bytes, Choices};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes::new(bytes);
    let engine = if bytes.chance(1, 4) { Fast::with(Simd::Portable) } else { Fast::new() };
    let (job, options) = drawing(&mut bytes);
    equals_reference(&engine, &job, &options);
});
