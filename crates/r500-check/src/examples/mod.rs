//! For each code a small program that has it, and nearly the same program without it.
//!
//! They show in the guide and are the checker's own tests: what is bad must be found, what is good
//! must not.

mod build;
mod flow;
mod machine;
mod values;

use r500_program::Job;

use crate::LintCode;

/// A program that has a finding of that code, and one that does not.
pub(crate) fn examples(code: LintCode) -> (Job, Job) {
    machine::examples(code)
        .or_else(|| flow::examples(code))
        .or_else(|| values::examples(code))
        .unwrap_or_default()
}
