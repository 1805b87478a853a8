//! `--run` for folders and files of several programs: one line for each pair.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::findings::NewFindings;
use super::known::KnownDifferences;
use super::pairs::{self, Pair};
use super::run::Verdict;
use super::vertices::VertexRows;
use super::{Diff, not_compiled, write_answer};
use crate::command::exit::{Outcome, Status};
use crate::command::report::ReportFormat;
use crate::command::syntax::Sharding;
use crate::command::terminal;

/// Runs the pairs of two folders or files.
pub(super) fn run(
    paths: [&Path; 2],
    diff: &Diff,
    vertices: &VertexRows,
    known: &KnownDifferences,
) -> Outcome {
    let Diff { read, run: args, machine, format, fail_on_findings, .. } = diff;
    let (read, literals) = (*read, diff.literals());
    let mut broken = Status::Fine;
    let mut sharding = Sharding::new(args.shard);
    let args = args.of_pair();
    let [a, b] = [
        pairs::collect(paths[0], read, &mut broken)?,
        pairs::collect(paths[1], read, &mut broken)?,
    ];
    let pairs: Vec<Pair> =
        pairs::pairs(a, b).into_iter().filter(|_| sharding.takes_next()).collect();
    let mut programs = Vec::new();
    // Equal, different, undecided.
    let mut counts = [0_usize; 3];
    let mut known_pairs = 0_usize;
    // Pairs with findings that fail.
    let mut failed = Status::Fine;
    for Pair { name, jobs } in pairs {
        let (mut status, mut line, mut value) = match jobs {
            [Some(a), Some(b)] if not_compiled([&a, &b]).is_some() => {
                let message = not_compiled([&a, &b]).unwrap_or_default();
                let value = json!({ "verdict": "incomparable", "reason": message });
                (Status::CouldNot, format!("cannot compare: {message}"), value)
            }
            [Some(a), Some(b)] => {
                let jobs = [a, b];
                let findings = NewFindings::of(&jobs);
                failed = findings.status(failed, *fail_on_findings);
                let (status, line, mut value) = match args.compare(&jobs, literals, machine) {
                    Ok(verdict) => (verdict.status(), verdict.line(), Verdict::json(&verdict)),
                    // A program that cannot run has no verdict.
                    Err(failure) => {
                        let message = failure.message();
                        let value = json!({ "verdict": "incomparable", "reason": message });
                        (Status::CouldNot, format!("cannot compare: {message}"), value)
                    }
                };
                value["new_findings"] = findings.json();
                (status, line + &findings.suffix(), value)
            }
            [a, _] => {
                let side = if a.is_some() { "B" } else { "A" };
                let value = json!({ "verdict": "different", "missing": side });
                (Status::Failed, format!("different: {side} has no such program"), value)
            }
        };
        value["name"] = name.clone().into();
        if status != Status::Fine && known.mark(&mut value) {
            (status, line) = (Status::Fine, line + " (known)");
            known_pairs += 1;
        }
        value["line"] = line.clone().into();
        counts[match status {
            Status::Fine => 0,
            Status::Failed => 1,
            Status::Usage | Status::CouldNot => 2,
        }] += 1;
        match format {
            // Printed as they arrive, because there may be many.
            ReportFormat::Text => writeln!(terminal::out(), "{name}: {line}")?,
            _ => programs.push(value),
        }
    }
    let [equal, different, undecided] = counts;
    match format {
        ReportFormat::Text => {
            let mut out = terminal::out();
            let known =
                if known_pairs == 0 { String::new() } else { format!(", {known_pairs} known") };
            writeln!(
                out,
                "{} equal, {different} different, {undecided} undecided{known}",
                equal - known_pairs
            )?;
            vertices.text(&mut out)?;
        }
        format => {
            let programs: Vec<Value> = programs;
            let vertices = vertices.json();
            let answer = json!({ "version": 1, "programs": programs, "vertex_programs": vertices });
            write_answer(&mut terminal::out(), *format, &answer)?;
        }
    }
    Ok(vertices.status(match counts {
        _ if failed == Status::Failed => Status::Failed,
        [_, 0, 0] if broken == Status::Fine => Status::Fine,
        // Unreadable programs are not compared.
        [_, 0, _] => Status::CouldNot,
        _ => Status::Failed,
    }))
}
