//! Editor services for sources: diagnostics of the assembler and the checker in one.
//!
//! [`r500_asm::ide`] provides the services that need the language only. This crate combines its
//! [`Analysis`] with the checker: [`diagnostics`] with their [`Repair`]s, [`hover`] and [`completions`] that also know
//! codes, and the page of a code ([`explain()`]). [`lint`] has the spans and fixes of lints; [`mod@explain`] explains words and registers
//! field by field.
#![forbid(unsafe_code)]

mod codes;
mod diagnostic;
pub mod explain;
pub mod lint;

use r500_asm::ide::{Analysis, Completion, Hover};

pub use codes::{explain, guide};
pub use diagnostic::{Repair, SourceDiagnostic, diagnostics, fix_all};

/// Returns the hover text for a position: the meaning of the word, or in a comment of the code.
#[must_use]
pub fn hover(analysis: &Analysis, at: usize) -> Option<Hover> {
    codes::hover(analysis, at).or_else(|| analysis.hover(at))
}

/// Returns completions for a position; inside a comment's `r500: allow(…)`, the codes of the checker.
#[must_use]
pub fn completions(analysis: &Analysis, at: usize) -> Vec<Completion> {
    match codes::completions(analysis, at) {
        Some(list) => list,
        None => analysis.completions(at),
    }
}
