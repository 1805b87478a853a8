//! Counts of packets, register writes, draws.

use std::io::Write;

use r500::chip::pm4::Opcode;
use r500::chip::values::PrimType;
use r500_stream::{State, Statistics, counted};
use serde_json::{Value as Json, json};

use super::Stream;
use super::source::Source;
use crate::command::exit::Outcome;
use crate::command::format::Format;

impl Stream {
    /// Counts.
    pub(super) fn stats(&self, source: &Source, out: &mut dyn Write) -> Outcome {
        let mut statistics = Statistics::default();
        let mut state = State::default();
        let status = source.submissions(|number, submission| {
            if self.wants(number) {
                statistics.add(&mut state, submission);
            }
            Ok(())
        })?;
        match self.format {
            Format::Text => out.write_all(stats_text(&statistics).as_bytes())?,
            Format::Json => writeln!(out, "{:#}", stats_json(&statistics))?,
        }
        Ok(status)
    }
}

fn register_name(address: u32) -> String {
    match r500::chip::at(address) {
        Some(place) => place.to_string(),
        None => format!("@{address:#06x}"),
    }
}

fn opcode_name(code: u8) -> String {
    match Opcode::new(code).describe() {
        Some(value) => value.name.to_owned(),
        None => format!("command {code:#04x}"),
    }
}

fn prim_name(prim_type: PrimType) -> &'static str {
    prim_type.describe().map_or("reserved primitive", |value| value.meaning)
}

fn stats_text(statistics: &Statistics) -> String {
    let total = statistics.total();
    let mut rows = vec![
        (statistics.submissions, "submissions".to_owned()),
        (statistics.dwords, "dwords".to_owned()),
        (statistics.register_packets, "packets that write registers".to_owned()),
        (statistics.fillers, "packets of type 2".to_owned()),
        (statistics.errors, "packets in error".to_owned()),
        (total.draws, "draws".to_owned()),
        (total.vertices, "vertices".to_owned()),
        (total.primitives, "primitives".to_owned()),
    ];
    let mut sections = vec![("", std::mem::take(&mut rows))];
    let draws = statistics.draws.iter();
    sections.push((
        "draws, vertices, primitives",
        draws
            .map(|(prim_type, draws)| {
                let text = format!(
                    "{}: {}, {}",
                    prim_name(*prim_type),
                    counted(draws.vertices, "vertex"),
                    counted(draws.primitives, "primitive")
                );
                (draws.draws, text)
            })
            .collect(),
    ));
    let commands = statistics.commands.iter();
    sections
        .push(("commands", commands.map(|(code, count)| (*count, opcode_name(*code))).collect()));
    let writes = statistics.writes.iter();
    sections.push((
        "register writes",
        writes.map(|(address, count)| (*count, register_name(*address))).collect(),
    ));
    let mut out = String::new();
    for (title, rows) in sections {
        if rows.is_empty() {
            continue;
        }
        if !title.is_empty() {
            out.push_str(&format!("\n{title}\n"));
        }
        for (count, text) in rows {
            out.push_str(&format!("{count:>10}  {text}\n"));
        }
    }
    let unknown = statistics.unknown_registers().count() + statistics.unknown_commands().count();
    out.push_str(&format!("\n{unknown:>10}  registers and commands without a name\n"));
    out
}

fn stats_json(statistics: &Statistics) -> Json {
    let named = |pairs: Vec<(String, u64)>| -> Json {
        Json::Object(pairs.into_iter().map(|(name, count)| (name, json!(count))).collect())
    };
    let draws: Vec<Json> = statistics
        .draws
        .iter()
        .map(|(prim_type, draws)| {
            json!({
                "primitives": prim_name(*prim_type), "draws": draws.draws,
                "vertices": draws.vertices, "count": draws.primitives,
            })
        })
        .collect();
    let commands = statistics.commands.iter().map(|(code, count)| (opcode_name(*code), *count));
    let writes = statistics.writes.iter();
    let writes = writes.map(|(address, count)| (register_name(*address), *count));
    json!({
        "version": 1, "submissions": statistics.submissions, "dwords": statistics.dwords,
        "register_packets": statistics.register_packets, "fillers": statistics.fillers,
        "errors": statistics.errors, "draws": draws, "commands": named(commands.collect()),
        "register_writes": named(writes.collect()),
        "unknown": statistics.unknown_registers().count() + statistics.unknown_commands().count(),
    })
}
