//! Example programs: for each lint code a small program that triggers it, and a similar one that
//! does not.
//!
//! The guide shows them, and the tests check that the first triggers the lint and the second does
//! not.

mod build;
mod flow;
mod machine;
mod values;

use r500_program::Job;

use crate::LintCode;

impl LintCode {
    /// Returns a small program that triggers the lint.
    #[must_use]
    pub fn bad(self) -> Job {
        examples(self).0
    }

    /// Returns a similar program that does not trigger the lint.
    #[must_use]
    pub fn good(self) -> Job {
        examples(self).1
    }
}

/// Returns a program that triggers a lint, and one that does not.
fn examples(code: LintCode) -> (Job, Job) {
    machine::examples(code)
        .or_else(|| flow::examples(code))
        .or_else(|| values::examples(code))
        .unwrap_or_default()
}
