//! Optimised programs: their costs, evidence and changes for the report.

use std::io::Write;

use r500::equivalence::Trial;
use r500::opt::{self, Cost};
use r500::optimizer::{Checked, CheckedVertex, Evidence, VertexEvidence};
use r500_stream::counted;
use serde_json::{Map, Value, json};

use super::super::exit::Outcome;
use super::super::vertex::VertexFile;

/// A program of a file, optimised.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) result: Result,
}

pub(super) enum Result {
    Fragment(Box<Checked>),
    Vertex(Box<VertexFile>, Box<CheckedVertex>),
}

/// Numbers of a cost, by name.
pub(super) type Row = (&'static str, u64);

fn fragment_rows(cost: Cost) -> Vec<Row> {
    vec![
        ("slots", cost.slots),
        ("cycles", cost.cycles),
        ("temporaries", cost.temporaries),
        ("nops", cost.nops),
    ]
}

fn vertex_rows(cost: opt::vertex::Cost) -> Vec<Row> {
    vec![
        ("instructions", cost.instructions as u64),
        ("clocks", cost.clocks as u64),
        ("temporaries", cost.temporaries as u64),
        ("alternates", cost.alternates as u64),
    ]
}

impl Entry {
    pub(super) fn is_vertex(&self) -> bool {
        matches!(self.result, Result::Vertex(..))
    }

    /// Returns the numbers before and after; those of the original where the result was dropped.
    pub(super) fn rows(&self) -> [Vec<Row>; 2] {
        let both = match &self.result {
            Result::Fragment(checked) => checked.optimized.cost.map(fragment_rows),
            Result::Vertex(_, checked) => checked.optimized.cost.map(vertex_rows),
        };
        let is_refused = match &self.result {
            Result::Fragment(checked) => checked.evidence.is_refusal(),
            Result::Vertex(_, checked) => checked.evidence.is_refusal(),
        };
        let [before, after] = both;
        if is_refused { [before.clone(), before] } else { [before, after] }
    }

    /// Returns whether the result is better, and whether nothing about it is worse.
    pub(super) fn verdict(&self) -> (bool, bool) {
        match &self.result {
            Result::Fragment(checked) if !checked.evidence.is_refusal() => {
                let [before, after] = checked.optimized.cost;
                (after.improves(&before), after.no_worse_than(&before))
            }
            Result::Vertex(_, checked) if !checked.evidence.is_refusal() => {
                let [before, after] = checked.optimized.cost;
                (after.improves(&before), after.no_worse_than(&before))
            }
            Result::Fragment(_) | Result::Vertex(..) => (false, true),
        }
    }

    /// Returns whether the result differed from its original.
    pub(super) fn is_wrong(&self) -> bool {
        match &self.result {
            Result::Fragment(checked) => {
                matches!(checked.evidence, Evidence::Trial(Trial::Different { .. }))
            }
            Result::Vertex(_, checked) => {
                matches!(checked.evidence, VertexEvidence::Different(_))
            }
        }
    }

    pub(super) fn evidence(&self) -> String {
        match &self.result {
            Result::Fragment(checked) => match &checked.evidence {
                Evidence::Unchanged => "unchanged".to_owned(),
                Evidence::Proved => "proved".to_owned(),
                Evidence::Trial(Trial::Equal { rounds, pixels }) => {
                    format!("{} equal, {}", counted(*rounds, "run"), counted(*pixels, "pixel"))
                }
                Evidence::Trial(Trial::Different { round, .. }) => {
                    format!("different in round {round}")
                }
                Evidence::Trial(Trial::NotRun(_)) => "not run".to_owned(),
            },
            Result::Vertex(_, checked) => match &checked.evidence {
                VertexEvidence::Unchanged => "unchanged".to_owned(),
                VertexEvidence::Proved => "proved".to_owned(),
                VertexEvidence::Equal { vertices: 1 } => "1 vertex equal".to_owned(),
                VertexEvidence::Equal { vertices } => format!("{vertices} vertices equal"),
                VertexEvidence::Different(difference) => {
                    format!("different in out[{}]", difference.output)
                }
                VertexEvidence::NotRun => "not run".to_owned(),
            },
        }
    }

    /// Prints what changed and why that is exact.
    pub(super) fn explain(&self, out: &mut impl Write) -> Outcome<()> {
        match &self.result {
            Result::Fragment(checked) => {
                for change in &checked.optimized.changes {
                    let [before, after] = change.cost.map(fragment_rows);
                    writeln!(
                        out,
                        "  {}: {} -> {}: {}; {}",
                        change.pass,
                        addresses(&change.before),
                        addresses(&change.after),
                        shown(&before, &after),
                        change.why
                    )?;
                }
            }
            Result::Vertex(_, checked) => {
                for change in &checked.optimized.changes {
                    let (before, after) = (range(change.before), range(change.after));
                    writeln!(out, "  {before} -> {after}: {}", change.passes.join(", "))?;
                    for pass in opt::vertex::passes() {
                        if change.passes.contains(&pass.name) {
                            writeln!(out, "    {}: {}; {}", pass.name, pass.what, pass.why)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Prints what stays as it is, and why.
    pub(super) fn explain_kept(&self, out: &mut impl Write) -> Outcome<()> {
        if let Result::Vertex(_, checked) = &self.result {
            for kept in &checked.optimized.kept {
                writeln!(out, "  kept {}: {}", range(kept.instructions), kept.why)?;
            }
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Value {
        let [before, after] = self.rows().map(|rows| numbers(&rows));
        match &self.result {
            Result::Fragment(checked) => {
                let changes = checked.optimized.changes.iter().map(|change| {
                    let [before, after] = change.cost.map(|cost| numbers(&fragment_rows(cost)));
                    json!({
                        "pass": change.pass,
                        "before": change.before,
                        "after": change.after,
                        "cost_before": before,
                        "cost_after": after,
                        "why": change.why,
                    })
                });
                let (verdict, rounds) = match &checked.evidence {
                    Evidence::Unchanged => ("unchanged", 0),
                    Evidence::Proved => ("proved", 0),
                    Evidence::Trial(Trial::Equal { rounds, .. }) => ("equal", *rounds),
                    Evidence::Trial(Trial::Different { .. }) => ("different", 0),
                    Evidence::Trial(Trial::NotRun(_)) => ("not-run", 0),
                };
                json!({
                    "name": self.name,
                    "before": before,
                    "after": after,
                    "evidence": verdict,
                    "rounds": rounds,
                    "changes": changes.collect::<Vec<_>>(),
                })
            }
            Result::Vertex(_, checked) => {
                let changes = checked.optimized.changes.iter().map(|change| {
                    json!({
                        "passes": change.passes,
                        "before": list(change.before),
                        "after": list(change.after),
                    })
                });
                let kept = checked.optimized.kept.iter().map(
                    |kept| json!({ "instructions": list(kept.instructions), "why": kept.why }),
                );
                let (verdict, vertices) = match &checked.evidence {
                    VertexEvidence::Unchanged => ("unchanged", 0),
                    VertexEvidence::Proved => ("proved", 0),
                    VertexEvidence::Equal { vertices } => ("equal", *vertices),
                    VertexEvidence::Different(_) => ("different", 0),
                    VertexEvidence::NotRun => ("not-run", 0),
                };
                json!({
                    "name": self.name,
                    "kind": "vertex",
                    "before": before,
                    "after": after,
                    "evidence": verdict,
                    "vertices": vertices,
                    "changes": changes.collect::<Vec<_>>(),
                    "kept": kept.collect::<Vec<_>>(),
                })
            }
        }
    }
}

fn numbers(rows: &[Row]) -> Value {
    let numbers = rows.iter().map(|(name, number)| ((*name).to_owned(), json!(number)));
    Value::Object(numbers.collect::<Map<String, Value>>())
}

fn list((first, end): (usize, usize)) -> Vec<usize> {
    (first..end).collect()
}

fn range((first, end): (usize, usize)) -> String {
    let list: Vec<u32> = (first..end).filter_map(|n| u32::try_from(n).ok()).collect();
    addresses(&list)
}

/// The numbers that changed, all where none did.
pub(super) fn shown(before: &[Row], after: &[Row]) -> String {
    let changed: Vec<String> = before
        .iter()
        .zip(after)
        .filter(|(before, after)| before != after)
        .map(|((name, before), (_, after))| {
            if *before == 0 {
                return format!("{name} {before} -> {after}");
            }
            let percent = (*after as f64 / *before as f64 - 1.0) * 100.0;
            format!("{name} {before} -> {after} ({percent:+.1} %)")
        })
        .collect();
    if changed.is_empty() { "nothing is better".to_owned() } else { changed.join(", ") }
}

/// Addresses, with ranges: `1-3, 7`.
fn addresses(list: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &at in list {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == at => *last = at,
            _ => ranges.push((at, at)),
        }
    }
    let texts: Vec<String> = ranges
        .into_iter()
        .map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") })
        .collect();
    if texts.is_empty() { "nothing".to_owned() } else { texts.join(", ") }
}
