//! Two programs: whether they draw the same, and the optimiser, whose results are compared with their originals.

use std::ffi::c_char;

use r500::check::Assumptions;
use r500::equivalence::PairVerdict;
use r500::opt::Options;
use r500::optimizer::{self, ROUNDS};

use crate::error::{Error, or_else};
use crate::pointers;
use crate::program::{Program, give, job};
use crate::text as texts;

/// A verdict of r500_diff: none. The programs cannot be compared, and the text says why.
pub const R500_DIFF_UNKNOWN: u32 = 0;
/// A verdict of r500_diff: equal, proved; the text says for which values (integer and boolean constants are the programs').
pub const R500_DIFF_PROVED: u32 = 1;
/// A verdict of r500_diff: proved for groups whose pixels are all covered; in others uncovered pixels may show.
pub const R500_DIFF_PROVED_IF_COVERED: u32 = 2;
/// A verdict of r500_diff: no difference in the pictures that were drawn, and no proof.
pub const R500_DIFF_EQUAL_IN_RUNS: u32 = 3;
/// A verdict of r500_diff: a pixel differs.
pub const R500_DIFF_DIFFERENT: u32 = 4;

fn code(verdict: &PairVerdict) -> u32 {
    match verdict {
        PairVerdict::Proved(_) => R500_DIFF_PROVED,
        PairVerdict::ProvedIfCovered(_) => R500_DIFF_PROVED_IF_COVERED,
        PairVerdict::EqualInRuns { .. } => R500_DIFF_EQUAL_IN_RUNS,
        PairVerdict::Different(_) => R500_DIFF_DIFFERENT,
        PairVerdict::NotCompared { .. } => R500_DIFF_UNKNOWN,
    }
}

/// Compares two programs in every bit that they write, for the same values of constants, inputs and textures, register by register: draws
/// pictures with the values of both files and with random ones, then tries a proof. Stores the verdict, R500_DIFF_PROVED and so on. Returns
/// a text about it: the pixel that differs, the number of pictures, why there is no proof. NULL if there is an error. Free it with
/// r500_text_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_diff(
    a: *const Program,
    b: *const Program,
    verdict_of_diff: *mut u32,
) -> *mut c_char {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let (a, b, to) = unsafe {
            let to = pointers::exclusive(verdict_of_diff, "verdict_of_diff")?;
            (job(a)?, job(b)?, to)
        };
        let verdict = PairVerdict::of(a, b, ROUNDS);
        *to = code(&verdict);
        texts::give(&verdict.to_string())
    })
}

/// Returns a program that computes the same bits and costs less, or a copy of the given one. `evidence`, which may be NULL, receives a text to
/// free with r500_text_free: "unchanged"; "proved", where both are equal for all values; else how many pictures with the values of the file
/// and with random ones are equal. A result that differs in a bit is dropped, and the text says so. Free the program with r500_program_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn r500_optimize(
    program: *const Program,
    evidence: *mut *mut c_char,
) -> *mut Program {
    or_else(std::ptr::null_mut, || {
        // SAFETY: the contract of `pointers`.
        let job = unsafe { job(program)? };
        let checked = optimizer::optimize(job, &Options::default());
        if !evidence.is_null() {
            // SAFETY: as above.
            *unsafe { pointers::exclusive(evidence, "evidence")? } =
                texts::give(&checked.evidence.to_string())?;
        }
        let assumptions = Assumptions::of_job(&checked.job);
        Ok::<_, Error>(give(checked.job, assumptions))
    })
}
