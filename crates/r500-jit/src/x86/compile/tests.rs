//! Random segments: their code computes what they say, on each level that this processor has.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use r500_exec::Options;
use r500_fast::codegen::Batch;

use super::*;
use crate::segments::{Numbers, check, count, with_segment};
use crate::x86::pages::Pages;
use crate::x86::pages::tests::with_budget;

/// Checks so many segments, with the groups of pixels that go together doubled so many times.
fn check_segments(segments: u64, doublings: impl Fn(&Program, Level) -> u32) {
    let levels = [Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available());
    for level in levels {
        for (seed, effort) in
            (0..segments).flat_map(|seed| [(seed, Effort::Quick), (seed, Effort::Full)])
        {
            let make = |unit: &CompileUnit<'_>| {
                let assembly = compile_doubled(unit, level, effort, &doublings);
                let assembly = assembly.unwrap();
                (assembly.lanes as usize, Pages::new(&assembly, unit, level).unwrap())
            };
            let what = (level, effort);
            check(
                seed,
                Numbers::All,
                true,
                &what,
                make,
                |pages, slots, covered, cells, interpolants, targets| {
                    let chunks = covered.len();
                    with_budget(&Options::default(), |fuel| {
                        let batch = &mut Batch {
                            slots,
                            covered,
                            texels: cells,
                            interpolants,
                            targets,
                            fuel,
                        };
                        pages.call(batch, (0, chunks), false).unwrap();
                    });
                },
            );
        }
    }
}

#[test]
fn random_segments_compute_what_they_say() {
    check_segments(count(1500), usual_doublings);
}

/// Of three chunks the last is alone.
#[test]
fn two_chunks_go_together() {
    check_segments(count(1000), |_, level| match level {
        Level::Avx2 => 2,
        Level::Avx512 => 1,
    });
}

/// Code for processors that are not here is made, too.
#[test]
fn every_segment_has_code_for_every_level() {
    for seed in 0..200 {
        with_segment(seed, |unit| {
            for level in [Level::Avx2, Level::Avx512] {
                let made = compile(unit, level, Effort::Full);
                assert!(made.is_ok(), "seed {seed}, {level:?}: {made:?}");
            }
        });
    }
}
