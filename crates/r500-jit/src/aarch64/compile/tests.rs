//! Random units: the checker accepts every register allocation, and both forms have code.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::random_units::with_unit;

#[test]
fn every_unit_has_code_in_both_forms() {
    for seed in 0..60 {
        for (effort, groups) in [
            (Effort::Quick, Groups::One),
            (Effort::Full, Groups::One),
            (Effort::Full, Groups::Two),
            (Effort::Full, Groups::Contest),
        ] {
            let assembly = with_unit(seed, |unit| compile(unit, effort, groups)).unwrap();
            let Assembly { code, exact, constants, lanes } = assembly;
            assert!(matches!(lanes, 4 | 8), "{lanes} pixels at a time");
            assert!(exact > 0 && exact.is_multiple_of(4) && exact < constants, "seed {seed}");
            assert!(constants.is_multiple_of(64) && constants <= code.len(), "seed {seed}");
            // The exact form has more instructions for each product, but not the three that read and store FPSR.
            assert!(constants - exact + 3 * 4 >= exact, "seed {seed}: {exact} of {constants}");
        }
    }
}
