//! Comparison of two sets of programs, in the style of shader-db.

use std::io::{self, Write};

use r500::check::Stats;
use serde_json::{Map, Value, json};

use super::program::Program;
use super::table::cell;
use crate::command::program_match;

/// Two sets of programs, matched.
pub(super) struct Changes<'a> {
    /// Programs of both sets that can be counted.
    shared: Vec<(&'a Program, &'a Program)>,
    /// Programs that are new or could not be counted before.
    gained: Vec<&'a str>,
    /// Programs that are missing or can no longer be counted.
    lost: Vec<&'a str>,
}

/// Returns programs without those that are the same compilation of the same shader as an earlier one.
fn without_repetitions(programs: &[Program]) -> Vec<&Program> {
    let identities: Vec<_> = programs.iter().map(|program| &program.identity).collect();
    let repeated = program_match::repeated(&identities);
    programs.iter().zip(repeated).filter(|(_, repeated)| !repeated).map(|(it, _)| it).collect()
}

/// A change of a number.
struct Change<'a> {
    name: &'a str,
    before: u64,
    after: u64,
}

impl Change<'_> {
    /// Returns the relative change.
    fn relative(&self) -> f64 {
        share(self.before, self.after)
    }
}

fn share(before: u64, after: u64) -> f64 {
    if before == after {
        0.0
    } else if before == 0 {
        f64::INFINITY
    } else {
        (after as f64 - before as f64) / before as f64
    }
}

/// Formats a relative change as `-4.76 %`; there is none from zero.
fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:+.2} %", share * 100.0) } else { "new".to_owned() }
}

/// The change of one number over all programs.
struct Measure<'a> {
    name: &'static str,
    cost: bool,
    /// Sums over programs of both sets.
    before: u64,
    after: u64,
    /// Programs with a decrease, the greatest share first.
    fewer: Vec<Change<'a>>,
    /// Programs with an increase, the greatest share first.
    more: Vec<Change<'a>>,
}

impl Measure<'_> {
    fn changed(&self) -> bool {
        !(self.fewer.is_empty() && self.more.is_empty())
    }

    fn words(&self) -> [&'static str; 2] {
        if self.cost { ["helped", "HURT"] } else { ["fewer", "more"] }
    }
}

impl<'a> Changes<'a> {
    pub(super) fn new(before: &'a [Program], after: &'a [Program]) -> Self {
        let [before, after] = [before, after].map(without_repetitions);
        let identities =
            |programs: &[&'a Program]| programs.iter().map(|it| &it.identity).collect::<Vec<_>>();
        let partners = program_match::partners(&identities(&before), &identities(&after));
        let mut changes = Self { shared: Vec::new(), gained: Vec::new(), lost: Vec::new() };
        let mut is_matched = vec![false; after.len()];
        for (old, partner) in before.iter().zip(partners) {
            let new = partner.map(|n| {
                is_matched[n] = true;
                after[n]
            });
            let counts = |program: &Program| program.counted.is_ok();
            match (counts(old), new.filter(|new| counts(new))) {
                (true, Some(new)) => changes.shared.push((old, new)),
                (true, None) => changes.lost.push(&old.name),
                (false, Some(new)) => changes.gained.push(&new.name),
                (false, None) => {}
            }
        }
        let new = after
            .iter()
            .zip(is_matched)
            .filter(|(new, is_matched)| !is_matched && new.counted.is_ok());
        changes.gained.extend(new.map(|(new, _)| new.name.as_str()));
        changes.shared.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        changes.lost.sort_unstable();
        changes.gained.sort_unstable();
        changes
    }

    /// Returns whether a number of some program increased, or a program is missing.
    pub(super) fn hurts(&self) -> bool {
        !self.lost.is_empty() || self.measures().iter().any(|m| m.cost && !m.more.is_empty())
    }

    /// Returns every number, in the order of the table.
    fn measures(&self) -> Vec<Measure<'a>> {
        (0..Stats::NAMES.len()).map(|n| self.measure(n)).collect()
    }

    fn measure(&self, n: usize) -> Measure<'a> {
        let mut measure = Measure {
            name: Stats::NAMES[n],
            cost: Stats::COSTS[n],
            before: 0,
            after: 0,
            fewer: Vec::new(),
            more: Vec::new(),
        };
        for (old, new) in &self.shared {
            // Numbers that are undetermined in one set cannot be compared.
            let (Some(before), Some(after)) = (old.number(n), new.number(n)) else { continue };
            measure.before += before;
            measure.after += after;
            let change = Change { name: &new.name, before, after };
            match after.cmp(&before) {
                std::cmp::Ordering::Less => measure.fewer.push(change),
                std::cmp::Ordering::Greater => measure.more.push(change),
                std::cmp::Ordering::Equal => {}
            }
        }
        for changes in [&mut measure.fewer, &mut measure.more] {
            changes.sort_by(|a, b| b.relative().abs().total_cmp(&a.relative().abs()));
        }
        measure
    }

    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let measures = self.measures();
        for measure in measures.iter().filter(|measure| measure.changed() && measure.cost) {
            writeln!(out, "{}", measure.name)?;
            for (word, changes) in measure.words().iter().zip([&measure.fewer, &measure.more]) {
                for change in changes {
                    let Change { name, before, after } = change;
                    let percent = percent(change.relative());
                    writeln!(out, "  {word:<7} {name}: {before} -> {after} ({percent})")?;
                }
            }
            writeln!(out)?;
        }
        for measure in measures.iter().filter(|measure| measure.changed()) {
            total(out, measure)?;
        }
        for (word, names) in [("LOST", &self.lost), ("GAINED", &self.gained)] {
            for name in names {
                writeln!(out, "{word:<7} {name}")?;
            }
        }
        let changed = self.changed();
        writeln!(
            out,
            "{} shared programs, {} changed; LOST: {}, GAINED: {}",
            self.shared.len(),
            changed,
            self.lost.len(),
            self.gained.len()
        )
    }

    /// Returns the number of programs with a change.
    fn changed(&self) -> usize {
        let differs = |(old, new): &&(&Program, &Program)| {
            (0..Stats::NAMES.len()).any(|n| old.number(n) != new.number(n))
        };
        self.shared.iter().filter(differs).count()
    }

    pub(super) fn csv(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "program,measure,before,after,change")?;
        for measure in self.measures() {
            for change in measure.fewer.iter().chain(&measure.more) {
                let Change { name, before, after } = change;
                let share = change.relative();
                let share = if share.is_finite() { share.to_string() } else { String::new() };
                writeln!(out, "{},{},{before},{after},{share}", cell(name), measure.name)?;
            }
        }
        Ok(())
    }

    pub(super) fn json(&self) -> Value {
        let mut measures = Map::new();
        for measure in self.measures() {
            let list = |changes: &[Change<'_>]| -> Value {
                let one = |change: &Change<'_>| json!({ "name": change.name, "before": change.before, "after": change.after });
                changes.iter().map(one).collect()
            };
            let value = json!({
                "cost": measure.cost,
                "before": measure.before,
                "after": measure.after,
                "fewer": list(&measure.fewer),
                "more": list(&measure.more),
            });
            measures.insert(measure.name.into(), value);
        }
        json!({
            "version": 1,
            "shared": self.shared.len(),
            "changed": self.changed(),
            "measures": measures,
            "gained": self.gained,
            "lost": self.lost,
        })
    }
}

/// Returns the median of sorted numbers.
fn median(sorted: &[u64]) -> f64 {
    let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    low as f64 + (high - low) as f64 / 2.0
}

/// Prints the summary of one number.
fn total(out: &mut impl Write, measure: &Measure<'_>) -> io::Result<()> {
    let Measure { name, before, after, fewer, more, .. } = measure;
    writeln!(
        out,
        "total {name} in shared programs: {before} -> {after} ({})",
        percent(share(*before, *after))
    )?;
    let affected = |pick: fn(&Change<'_>) -> u64| fewer.iter().chain(more).map(pick).sum::<u64>();
    let (before, after) = (affected(|change| change.before), affected(|change| change.after));
    writeln!(
        out,
        "{name} in affected programs: {before} -> {after} ({})",
        percent(share(before, after))
    )?;
    for (word, changes) in measure.words().iter().zip([fewer, more]) {
        if changes.is_empty() {
            writeln!(out, "{word}: 0")?;
            continue;
        }
        let mut sizes: Vec<u64> = changes.iter().map(|c| c.after.abs_diff(c.before)).collect();
        sizes.sort_unstable();
        let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
        let (least, most) = (sizes[0], sizes[sizes.len() - 1]);
        let median = median(&sizes);
        writeln!(
            out,
            "{word}: {} (by {least} to {most}, mean {mean:.2}, median {median})",
            changes.len()
        )?;
    }
    writeln!(out)
}
