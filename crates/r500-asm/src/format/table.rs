//! Tables: consecutive directives with aligned columns, which keep their layout.

use std::collections::HashSet;

use super::Source;
use crate::ide::Head;
use r500_text::raw_tokens::{RawToken, RawTokenKind};

/// A source line of complete directives.
struct Row {
    first: usize,
    line: usize,
    /// Bytes from its first word to its last mark, and the number of tokens except signs.
    width: usize,
    words: usize,
}

/// Returns the first tokens of table rows.
pub(super) fn tables(source: &Source<'_>) -> HashSet<usize> {
    let rows = rows(source);
    let mut found = HashSet::new();
    let mut at = 0;
    while at < rows.len() {
        let like = |two: &[Row]| {
            two[1].line == two[0].line + 1
                && two[1].width == two[0].width
                && two[1].words == two[0].words
        };
        let count = 1 + rows[at..].windows(2).take_while(|two| like(two)).count();
        if count > 1 {
            found.extend(rows[at..at + count].iter().map(|row| row.first));
        }
        at += count;
    }
    found
}

fn rows(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    let (mut at, mut line, mut seen, mut end) = (0, 0, 0, 0);
    while at < source.statements.len() {
        let first = source.statements[at];
        let start = source.code[first.first].start;
        line += source.text[seen..start].iter().filter(|b| **b == b'\n').count();
        seen = start;
        // Bounded, because a line may contain as many statements as the source.
        if start >= end {
            let length = source.text[start..].iter().position(|b| *b == b'\n');
            end = length.map_or(source.text.len(), |n| start + n);
        }
        let whole = |at: usize| {
            let statement = source.statements[at];
            let last = source.code[statement.end - 1];
            let directive = matches!(statement.head, Head::Directive(_) | Head::State(_));
            (directive && last.kind == RawTokenKind::Mark(b';') && last.end <= end).then_some(last)
        };
        let mut after = at;
        let mut last: Option<RawToken> = None;
        while after < source.statements.len()
            && source.code[source.statements[after].first].start < end
        {
            match whole(after) {
                Some(token) => last = Some(token),
                None => {
                    last = None;
                    break;
                }
            }
            after += 1;
        }
        let begins = crate::ide::begins_line(source.text, source.code[first.first]);
        if let (Some(last), true) = (last, begins) {
            let code = &source.text[start..last.end];
            let raw_tokens = &source.code[first.first..source.statements[after - 1].end];
            let words =
                raw_tokens.iter().filter(|token| token.kind != RawTokenKind::Mark(b'-')).count();
            if !code.contains(&b'\t') {
                rows.push(Row { first: first.first, line, width: code.len(), words });
            }
        }
        at = after.max(at + 1);
    }
    rows
}
