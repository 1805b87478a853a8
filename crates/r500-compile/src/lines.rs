//! Which lines of a source instructions compute.

use std::collections::BTreeMap;

use r500_glsl::Span;

/// Returns the lines of each instruction, from 1, in their order.
#[must_use]
pub fn lines_of(source: &str, spans: &[Vec<Span>]) -> Vec<Vec<usize>> {
    let ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at).collect();
    let line = |span: &Span| ends.partition_point(|end| *end < span.start as usize) + 1;
    let of_one = |spans: &Vec<Span>| {
        let mut lines: Vec<usize> = spans.iter().map(line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    };
    spans.iter().map(of_one).collect()
}

/// Returns the instructions of each line, from 1, that has some.
#[must_use]
pub fn instructions_of(source: &str, spans: &[Vec<Span>]) -> BTreeMap<usize, Vec<usize>> {
    let mut all: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, lines) in lines_of(source, spans).into_iter().enumerate() {
        for line in lines {
            all.entry(line).or_default().push(at);
        }
    }
    all
}
