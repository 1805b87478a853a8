//! What editors, the page and the language server say about a source: the assembler's and the
//! checker's voices in one.
//!
//! [`asm::ide`](crate::asm::ide) answers what the language alone can answer. Here its
//! [`Analysis`] is asked together with the checker: [`problems`] with their [`Repair`]s, [`hover`] and
//! [`completions`] that know codes, too, and the page of a code ([`explain`]).

mod codes;
mod diagnostic;

use r500_asm::ide::{Analysis, Completion, Hover};

pub use codes::{explain, guide};
pub use diagnostic::{Problem, Repair, fix_all, problems};

/// Returns what the word at a place means; in a comment, what the code there stands for.
#[must_use]
pub fn hover(analysis: &Analysis, at: usize) -> Option<Hover> {
    codes::hover(analysis, at).or_else(|| analysis.hover(at))
}

/// Returns what may stand at a place; in a comment's `r500: allow(…)`, the codes of the checker.
#[must_use]
pub fn completions(analysis: &Analysis, at: usize) -> Vec<Completion> {
    match codes::completions(analysis, at) {
        Some(list) => list,
        None => analysis.completions(at),
    }
}
