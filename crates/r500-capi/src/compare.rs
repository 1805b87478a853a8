//! Two programs: whether they draw the same, and the optimiser, whose results are compared with their originals.

use std::ffi::c_char;

use r500::check::Assumptions;
use r500::equivalence::{Difference, Known, Part, Proof, Trial, prove_with};
use r500::opt::Options;
use r500::optimizer::{self, Evidence, ROUNDS};

use crate::error::{Error, or_else};
use crate::pointers;
use crate::program::{Program, give, job};
use crate::text as texts;

/// A verdict of r500_diff: none. The programs cannot be compared, and the text says why.
pub const R500_DIFF_UNKNOWN: u32 = 0;
/// A verdict of r500_diff: equal for all constants, inputs and textures, proved.
pub const R500_DIFF_PROVED: u32 = 1;
/// A verdict of r500_diff: the same for groups whose pixels are all covered; in others uncovered pixels may show.
pub const R500_DIFF_PROVED_IF_COVERED: u32 = 2;
/// A verdict of r500_diff: no difference in the pictures that were drawn, and no proof.
pub const R500_DIFF_EQUAL_IN_RUNS: u32 = 3;
/// A verdict of r500_diff: a pixel differs.
pub const R500_DIFF_DIFFERENT: u32 = 4;

/// Returns the text of a difference.
fn described(Difference { pixel: [x, y], parts }: &Difference) -> String {
    let part = |part: &Part| match part {
        Part::Color { target, written: [a, b], .. } => {
            format!("colour {target} is {a:?} and {b:?}")
        }
        Part::Depth { written: [a, b] } => format!("depth is {a:?} and {b:?}"),
        Part::Coverage { drawn } => {
            let [a, b] = drawn.map(|drawn| if drawn { "drawn" } else { "killed" });
            format!("it is {a} and {b}")
        }
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    format!("pixel {x},{y}: {}", parts.join("; "))
}

/// Returns the verdict of a trial alone, and its text.
fn verdict(trial: &Trial) -> (u32, String) {
    match trial {
        Trial::Equal { rounds, pixels } => (
            R500_DIFF_EQUAL_IN_RUNS,
            format!("no difference in {rounds} pictures with {pixels} pixels"),
        ),
        Trial::Different { difference, .. } => (R500_DIFF_DIFFERENT, described(difference)),
        Trial::NotRun(why) => (R500_DIFF_UNKNOWN, why.to_string()),
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
        let (code, mut text) = verdict(&Trial::run(a, b, ROUNDS));
        *to = code;
        // A pixel that differs is the answer.
        if code != R500_DIFF_DIFFERENT {
            match prove_with(&a.program, &b.program, &Known::default()) {
                Proof::Proved => {
                    *to = R500_DIFF_PROVED;
                    text = "equal for all constants, inputs and textures".to_owned();
                }
                Proof::ProvedIfCovered => {
                    *to = R500_DIFF_PROVED_IF_COVERED;
                    text = "equal for all constants, inputs and textures, for groups whose pixels are all covered".to_owned();
                }
                Proof::Unknown(why) => text = format!("{text}; no proof: {why}"),
            }
        }
        texts::give(&text)
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
        let text = match &checked.evidence {
            Evidence::Unchanged => "unchanged".to_owned(),
            Evidence::Proved => "proved".to_owned(),
            Evidence::Trial(trial) => match verdict(trial) {
                (R500_DIFF_EQUAL_IN_RUNS, text) => text,
                (_, text) => format!("the result is dropped: {text}"),
            },
        };
        if !evidence.is_null() {
            // SAFETY: as above.
            *unsafe { pointers::exclusive(evidence, "evidence")? } = texts::give(&text)?;
        }
        let assumptions = Assumptions::of_job(&checked.job);
        Ok::<_, Error>(give(checked.job, assumptions))
    })
}
