//! `--state`: what streams have set when a draw begins, and how two draws differ.

use std::collections::BTreeMap;
use std::io::Write;

use r500_stream::text::{StateEntry, StatePart, state_entries};
use serde_json::{Map, Value as Json, json};

use super::draws::draws;
use super::source::Source;
use super::{Stream, instruction};
use crate::command::capture_args::out_of_range;
use crate::command::exit::{Outcome, Status};
use crate::command::format::Format;

/// Column of comments.
const COMMENTS: usize = 44;

impl Stream {
    /// Prints the state at a draw, or how it differs from that at another.
    pub(super) fn state(&self, source: &Source, draw: u64, out: &mut dyn Write) -> Outcome {
        let wanted: Vec<u64> = [draw].into_iter().chain(self.against).collect();
        let (mut found, mut count) = (BTreeMap::new(), 0);
        draws(source, |draw| {
            if wanted.contains(&draw.number) {
                found.insert(draw.number, state_entries(draw.state, instruction));
            }
            count += 1;
            Ok(())
        })?;
        let at =
            |number: u64| found.get(&number).ok_or_else(|| out_of_range("draw", number, count));
        let entries = at(draw)?;
        match (self.against, self.format) {
            (None, Format::Text) => print(entries, out)?,
            (None, Format::Json) => {
                writeln!(
                    out,
                    "{:#}",
                    json!({ "version": 1, "draw": draw, "state": parts(entries) })
                )?;
            }
            (Some(other), format) => {
                let changes = changes(entries, at(other)?);
                match format {
                    Format::Text => print_changes(&changes, [draw, other], entries.len(), out)?,
                    Format::Json => {
                        let changes: Vec<Json> = changes.iter().map(change_json).collect();
                        let answer = json!({
                            "version": 1, "draw": draw, "against": other, "changes": changes,
                        });
                        writeln!(out, "{answer:#}")?;
                    }
                }
            }
        }
        Ok(Status::Fine)
    }
}

fn print(entries: &[StateEntry], out: &mut dyn Write) -> Outcome<()> {
    for part in StatePart::ALL {
        let of_part = || entries.iter().filter(|entry| entry.part == part);
        if of_part().next().is_none() {
            continue;
        }
        writeln!(out, "{}{}", if part == StatePart::ALL[0] { "" } else { "\n" }, part.name())?;
        for entry in of_part() {
            writeln!(out, "{}", line(entry))?;
        }
    }
    Ok(())
}

fn line(entry: &StateEntry) -> String {
    let separator = if entry.part == StatePart::Registers { " = " } else { ": " };
    let text = format!("  {}{separator}{}", entry.name, entry.value);
    match entry.comment.as_str() {
        "" => text,
        comment => {
            let blanks = COMMENTS.saturating_sub(text.chars().count()).max(1);
            format!("{text}{:blanks$}# {comment}", "")
        }
    }
}

fn parts(entries: &[StateEntry]) -> Json {
    let mut parts = Map::new();
    for entry in entries {
        let part = parts.entry(entry.part.name()).or_insert_with(|| json!({}));
        part[&entry.name] = json!(entry.value);
    }
    Json::Object(parts)
}

/// An entry whose values differ; `None` where a draw has none.
struct Change<'a> {
    part: StatePart,
    name: &'a str,
    one: Option<&'a StateEntry>,
    other: Option<&'a StateEntry>,
}

/// Returns what differs, in the order of the parts; entries that only the other draw has are at the end of theirs.
fn changes<'a>(one: &'a [StateEntry], other: &'a [StateEntry]) -> Vec<Change<'a>> {
    let key = |entry: &'a StateEntry| (entry.part, entry.name.as_str());
    let of_other: BTreeMap<_, _> = other.iter().map(|entry| (key(entry), entry)).collect();
    let of_one: BTreeMap<_, _> = one.iter().map(|entry| (key(entry), entry)).collect();
    let mut changes: Vec<Change<'a>> = Vec::new();
    for part in StatePart::ALL {
        let mine = one.iter().filter(|entry| entry.part == part);
        let others = other.iter().filter(|entry| entry.part == part);
        let others = others.filter(|entry| !of_one.contains_key(&key(entry)));
        for entry in mine.chain(others) {
            let (part, name) = key(entry);
            let [one, other] = [&of_one, &of_other].map(|of| of.get(&(part, name)).copied());
            if one.map(|entry| &entry.value) != other.map(|entry| &entry.value) {
                changes.push(Change { part, name, one, other });
            }
        }
    }
    changes
}

fn print_changes(
    changes: &[Change<'_>],
    [draw, other]: [u64; 2],
    entries: usize,
    out: &mut dyn Write,
) -> Outcome<()> {
    for part in StatePart::ALL {
        let of_part = || changes.iter().filter(|change| change.part == part);
        if of_part().next().is_none() {
            continue;
        }
        writeln!(out, "{}", part.name())?;
        for change in of_part() {
            for (sign, entry) in [('-', change.one), ('+', change.other)] {
                if let Some(entry) = entry {
                    writeln!(out, "{sign}{}", &line(entry)[1..])?;
                }
            }
        }
        writeln!(out)?;
    }
    let differ = changes.len();
    writeln!(out, "draw {draw} (-) and draw {other} (+): {differ} of {entries} entries differ")?;
    Ok(())
}

fn change_json(change: &Change<'_>) -> Json {
    let value = |entry: Option<&StateEntry>| entry.map(|entry| entry.value.clone());
    json!({
        "part": change.part.name(), "name": change.name,
        "value": value(change.one), "other": value(change.other),
    })
}
