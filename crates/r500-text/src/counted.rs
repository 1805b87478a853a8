//! Counts in messages.

use std::fmt::Display;

/// Returns a count with its noun, in the plural unless it is one.
///
/// ```
/// use r500_text::counted;
///
/// assert_eq!(counted(1, "draw"), "1 draw");
/// assert_eq!(counted(0, "draw"), "0 draws");
/// assert_eq!(counted(3, "vertex"), "3 vertices");
/// ```
pub fn counted<N: Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    if n == N::from(1) {
        return format!("{n} {noun}");
    }
    match noun.strip_suffix("ex") {
        Some(stem) => format!("{n} {stem}ices"),
        None => format!("{n} {noun}s"),
    }
}
