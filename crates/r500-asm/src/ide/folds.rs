//! Folding ranges: blocks, long statements, comments of several lines.

use super::{Analysis, Head, begins_line, span};
use crate::names::Kw;
use crate::source::Span;

/// A foldable range of several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// From the first byte to the byte after the last; for a block, up to its end statement.
    pub span: Span,
    /// Whether it is a comment.
    pub comment: bool,
}

impl Analysis {
    /// Returns the foldable ranges, by position. Ranges on one line are included if their statements are.
    #[must_use]
    pub fn folds(&self) -> Vec<Fold> {
        let mut folds = Vec::new();
        let mut fold = |span: Span, comment| {
            let inside = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
            if inside.contains(&b'\n') {
                folds.push(Fold { span, comment });
            }
        };
        let mut open: Vec<Span> = Vec::new();
        for statement in &self.statements {
            let tokens = &self.code[statement.first..statement.end];
            let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { continue };
            let whole = span(*first).to(span(*last));
            fold(whole, false);
            let (ends, begins) = match statement.head {
                Head::Flow(kw) => (
                    matches!(kw, Kw::Else | Kw::Endif | Kw::Endloop | Kw::Endrep),
                    matches!(kw, Kw::If | Kw::Else | Kw::Loop | Kw::Rep),
                ),
                Head::Body(word) => (word.end().is_none(), word.end().is_some()),
                _ => continue,
            };
            if ends && let Some(start) = open.pop() {
                // Up to the line before the end statement, which stays visible.
                let head = self.text.get(..first.start).unwrap_or_default();
                let line = head.iter().rposition(|b| *b == b'\n').unwrap_or(0);
                let end = u32::try_from(line).unwrap_or(u32::MAX);
                fold(Span { end: end.max(start.end), ..start }, false);
            }
            if begins {
                open.push(whole);
            }
        }
        // Consecutive comment lines.
        let mut run: Option<Span> = None;
        for comment in self.comments.iter().filter(|token| begins_line(&self.text, **token)) {
            let here = span(*comment);
            let joined = run.filter(|run| {
                let between = self.text.get(run.end as usize..comment.start).unwrap_or_default();
                between.iter().all(u8::is_ascii_whitespace)
                    && between.iter().filter(|b| **b == b'\n').count() == 1
            });
            if joined.is_none()
                && let Some(run) = run
            {
                fold(run, true);
            }
            run = Some(joined.map_or(here, |run| run.to(here)));
        }
        if let Some(run) = run {
            fold(run, true);
        }
        folds.sort_by_key(|fold| (fold.span.start, std::cmp::Reverse(fold.span.end)));
        folds
    }
}
