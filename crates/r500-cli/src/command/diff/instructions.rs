//! Side-by-side listing of two programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use r500::check::diff::{Change, Diff, FieldChange};
use r500::explain::FieldExplanation;
use r500::isa::{InstInfo, Instruction, OperandField};
use r500::program::Job;
use r500_stream::counted;
use serde_json::{Value, json};

use super::super::compilation;

/// Two programs and their differences.
pub(super) struct Listing<'a> {
    jobs: &'a [Job; 2],
    files: &'a [String; 2],
    diff: &'a Diff,
    lines: [Vec<String>; 2],
    renamed: Vec<Renamed>,
}

/// A temporary with another index in B.
struct Renamed {
    a: u8,
    b: u8,
    count: usize,
}

impl<'a> Listing<'a> {
    pub(super) fn new(jobs: &'a [Job; 2], files: &'a [String; 2], diff: &'a Diff) -> Self {
        let lines = [0, 1].map(|n: usize| {
            let offset = offset(&jobs[n]);
            let lines = r500::asm::print_lines(&jobs[n].program.code, offset);
            lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
        });
        Self { jobs, files, diff, lines, renamed: renamed(jobs, diff) }
    }

    pub(super) fn text(
        &self,
        out: &mut impl Write,
        context: usize,
        colors: bool,
    ) -> io::Result<()> {
        let (red, green, dim, plain) =
            if colors { ("\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m") } else { ("", "", "", "") };
        for (sign, n) in [("---", 0), ("+++", 1)] {
            let name = &self.jobs[n].name;
            let name = if name.is_empty() { String::new() } else { format!("  {name}") };
            writeln!(out, "{sign} {}{name}", self.files[n])?;
        }
        let same = |n: usize| matches!(self.diff.changes[n], Change::Same { .. });
        let count = self.diff.changes.len();
        let shown = |n: usize| {
            (n.saturating_sub(context)..(n + context + 1).min(count)).any(|other| !same(other))
        };
        let removed = |out: &mut dyn Write, a: usize| {
            writeln!(out, "{red}- {:>3}      {}{plain}", self.at(0, a), self.lines[0][a])
        };
        let added = |out: &mut dyn Write, b: usize| {
            writeln!(out, "{green}+     {:>3}  {}{plain}", self.at(1, b), self.lines[1][b])
        };
        let mut skipped = 0;
        for (n, change) in self.diff.changes.iter().enumerate() {
            if !shown(n) {
                skipped += 1;
                continue;
            }
            if skipped > 0 {
                writeln!(out, "{dim}          … {skipped} equal{plain}")?;
                skipped = 0;
            }
            match change {
                Change::Same { a, b } => {
                    writeln!(
                        out,
                        "  {:>3} {:>3}  {}",
                        self.at(0, *a),
                        self.at(1, *b),
                        self.lines[1][*b]
                    )?;
                }
                Change::Changed { a, b, fields } => {
                    removed(out, *a)?;
                    added(out, *b)?;
                    for field in fields {
                        let (name, [before, after]) = reading(field);
                        writeln!(out, "{dim}             {name}: {before} -> {after}{plain}")?;
                    }
                }
                Change::Removed(a) => {
                    removed(out, *a)?;
                }
                Change::Added(b) => {
                    added(out, *b)?;
                }
            }
        }
        if skipped > 0 && skipped < count {
            writeln!(out, "{dim}          … {skipped} equal{plain}")?;
        }
        for change in &self.diff.state {
            let bits = |bits: Option<u32>| {
                bits.map_or("not given".into(), |bits| self.bits(&change.name, bits))
            };
            writeln!(out, "  {}: {} -> {}", change.name, bits(change.a), bits(change.b))?;
        }
        Ok(())
    }

    /// Prints a summary of the equal instructions.
    pub(super) fn summary(&self, out: &mut impl Write) -> io::Result<()> {
        let [same, changed, removed, added] = self.counts();
        if self.diff.is_empty() {
            let same = counted(same, "instruction");
            return writeln!(out, "the same: {same} and the state around them");
        }
        writeln!(
            out,
            "instructions: {same} the same, {changed} changed, {removed} only in A, {added} only in B; \
             state: {} changed",
            self.diff.state.len()
        )?;
        if !self.renamed.is_empty() {
            let pairs: Vec<String> =
                self.renamed.iter().map(|r| format!("temp[{}] -> temp[{}]", r.a, r.b)).collect();
            writeln!(out, "temporaries renamed throughout: {}", pairs.join(", "))?;
        }
        Ok(())
    }

    fn counts(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for change in &self.diff.changes {
            counts[match change {
                Change::Same { .. } => 0,
                Change::Changed { .. } => 1,
                Change::Removed(_) => 2,
                Change::Added(_) => 3,
            }] += 1;
        }
        counts
    }

    pub(super) fn json(&self) -> Value {
        let side = |n: usize, at: usize| {
            let words = self.jobs[n].program.code[at].0.map(|word| format!("{word:08x}"));
            json!({ "address": self.at(n, at), "text": self.lines[n][at], "words": words })
        };
        let changes = self.diff.changes.iter().map(|change| match change {
            Change::Same { a, b } => {
                json!({ "change": "same", "a": side(0, *a), "b": side(1, *b) })
            }
            Change::Changed { a, b, fields } => {
                let fields = fields.iter().map(|field| {
                    let (_, [before, after]) = reading(field);
                    json!({
                        "word": field.word,
                        "register": field.register.map(|register| register.name),
                        "field": field.field.map(|field| field.name),
                        "a": field.a,
                        "b": field.b,
                        "a_reading": before,
                        "b_reading": after,
                    })
                });
                let fields: Value = fields.collect();
                json!({ "change": "changed", "a": side(0, *a), "b": side(1, *b), "fields": fields })
            }
            Change::Removed(a) => json!({ "change": "removed", "a": side(0, *a), "b": null }),
            Change::Added(b) => json!({ "change": "added", "a": null, "b": side(1, *b) }),
        });
        let hex = |bits: Option<u32>| bits.map(|bits| format!("{bits:08x}"));
        let state = self.diff.state.iter();
        let state = state.map(|c| json!({ "name": c.name, "a": hex(c.a), "b": hex(c.b) }));
        let renamed = self.renamed.iter();
        let renamed = renamed.map(|r| json!({ "a": r.a, "b": r.b, "count": r.count }));
        let program = |n: usize| {
            json!({
                "file": self.files[n],
                "name": self.jobs[n].name,
                "instructions": self.jobs[n].program.code.len(),
                "compilation": compilation::json(&self.jobs[n]),
            })
        };
        json!({
            "version": 1,
            "a": program(0),
            "b": program(1),
            "same": self.diff.is_empty(),
            "changes": changes.collect::<Value>(),
            "state": state.collect::<Value>(),
            "renamed": renamed.collect::<Value>(),
        })
    }

    /// Returns the address of an instruction.
    fn at(&self, n: usize, index: usize) -> usize {
        index + usize::from(offset(&self.jobs[n]))
    }

    /// Returns the bits of a register of the state: constants are floats.
    fn bits(&self, name: &str, bits: u32) -> String {
        if name.starts_with("const[") {
            super::super::float_format::text(f32::from_bits(bits))
        } else {
            format!("{bits:#010x}")
        }
    }
}

fn offset(job: &Job) -> u16 {
    job.program.state.base_address()
}

/// Returns a field's name and what its codes read as.
fn reading(change: &FieldChange) -> (String, [String; 2]) {
    let codes = [change.a, change.b];
    match (change.register, change.field) {
        (_, Some(field)) => {
            let reading =
                |code| FieldExplanation { field, code, value: field.value(code) }.reading();
            // Both halves have an ADDR0.
            let halves = r500::isa::registers().filter(|other| other.field(field.name).is_some());
            let name = match change.register {
                Some(register) if halves.count() > 1 => format!("{}.{}", register.name, field.name),
                _ => field.name.to_owned(),
            };
            (name, codes.map(reading))
        }
        (Some(register), None) => (
            format!("{}, bits that no field names", register.name),
            codes.map(|bits| format!("{bits:#x}")),
        ),
        (None, None) => {
            (format!("dword {}", change.word), codes.map(|bits| format!("{bits:#010x}")))
        }
    }
}

/// Returns the renamed temporaries, if the renaming is a consistent mapping from A to B.
fn renamed(jobs: &[Job; 2], diff: &Diff) -> Vec<Renamed> {
    let mut met: BTreeMap<(u8, u8), usize> = BTreeMap::new();
    for change in &diff.changes {
        let (Change::Same { a, b } | Change::Changed { a, b, .. }) = change else { continue };
        let (a, b) = (jobs[0].program.code[*a], jobs[1].program.code[*b]);
        for (a, b) in temporaries(a).into_iter().zip(temporaries(b)) {
            if let (Some(a), Some(b)) = (a, b) {
                *met.entry((a, b)).or_default() += 1;
            }
        }
    }
    let once = |pick: fn(&(u8, u8)) -> u8| {
        let mut names: Vec<u8> = met.keys().map(pick).collect();
        names.sort_unstable();
        names.windows(2).all(|pair| pair[0] != pair[1])
    };
    if !(once(|pair| pair.0) && once(|pair| pair.1)) {
        return Vec::new();
    }
    let changed = met.into_iter().filter(|((a, b), _)| a != b);
    changed.map(|((a, b), count)| Renamed { a, b, count }).collect()
}

/// Returns the temporaries that an instruction reads or writes, indexed by operand field.
fn temporaries(inst: Instruction) -> [Option<u8>; OperandField::COUNT] {
    let mut names = [None; OperandField::COUNT];
    let info = InstInfo::new(inst);
    for access in info.reads.iter().chain(info.writes.iter()) {
        names[access.field as usize] = Some(access.addr);
    }
    names
}
