//! Alignment of trailing comments: consecutive lines share a column.

use super::Line;

/// Space between the longest code of several lines and their comments.
const GAP: usize = 3;
/// Code above this length has its comment directly after it, so that it does not move those of neighbouring lines.
const LONG: usize = 72;

/// Places trailing comments.
pub(super) fn align(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let after = |line: &&Line| line.comment.is_some() && !line.code.is_empty();
        let count = lines[at..].iter().take_while(after).count();
        match count {
            0 => {}
            1 => keep(&mut lines[at]),
            _ => block(&mut lines[at..at + count]),
        }
        at += count.max(1);
    }
}

/// Keeps the space before a single comment.
fn keep(line: &mut Line) {
    if let Some(comment) = &mut line.comment {
        comment.space = comment.gap.max(1);
    }
}

/// Aligns the comments of consecutive lines: aligned comments keep their column, others are aligned.
fn block(lines: &mut [Line]) {
    let column = |line: &Line| line.comment.as_ref().map_or(0, |comment| comment.column);
    let gap = |line: &Line| line.comment.as_ref().map_or(0, |comment| comment.gap);
    let placed = |lines: &[Line], column: &dyn Fn(&Line) -> usize, gap: &dyn Fn(&Line) -> usize| {
        lines.windows(2).any(|two| column(&two[0]) == column(&two[1]))
            || lines.iter().any(|line| gap(line) > GAP)
    };
    if placed(lines, &column, &gap) {
        stay(lines);
        let space = |line: &Line| line.comment.as_ref().map_or(0, |comment| comment.space);
        // With little space left, the comments may no longer look aligned.
        if placed(lines, &|line| line.width() + space(line), &space) {
            return;
        }
    }
    let short = lines.iter().map(Line::width).filter(|width| *width <= LONG);
    let place = short.max().map_or(0, |width| width + GAP);
    for line in lines {
        let width = line.width();
        put(line, if width <= LONG { place } else { width + GAP });
    }
}

/// Keeps neighbouring comments in one column: the original one, or as far right as the code requires.
fn stay(lines: &mut [Line]) {
    let column = |line: &Line| line.comment.as_ref().map_or(0, |comment| comment.column);
    let mut at = 0;
    while at < lines.len() {
        let wanted = column(&lines[at]);
        let count = lines[at..].iter().take_while(|line| column(line) == wanted).count();
        let run = &mut lines[at..at + count];
        let width = run.iter().map(Line::width).max().unwrap_or(0);
        let place = wanted.max(width + 1);
        run.iter_mut().for_each(|line| put(line, place));
        at += count;
    }
}

fn put(line: &mut Line, place: usize) {
    let width = line.width();
    if let Some(comment) = &mut line.comment {
        comment.space = place.saturating_sub(width).max(1);
    }
}
