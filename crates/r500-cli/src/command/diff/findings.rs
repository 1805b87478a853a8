//! Findings of the checker that only B has.

use std::io::{self, Write};

use r500::check::{Lint, Location};
use r500::equivalence::new_findings;
use r500::program::Job;
use serde_json::{Value, json};

use crate::command::exit::Status;

/// The errors and warnings of B that A does not have.
#[derive(Default)]
pub(super) struct NewFindings(Vec<Lint>);

impl NewFindings {
    /// Checks both programs.
    pub(super) fn of([a, b]: &[Job; 2]) -> Self {
        Self(new_findings(a, b))
    }

    /// Returns the status of a verdict: with `fail`, 1 if there are findings.
    pub(super) fn status(&self, verdict: Status, fail: bool) -> Status {
        if fail && !self.0.is_empty() { Status::Failed } else { verdict }
    }

    /// Prints the findings, one a line.
    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        writeln!(out, "B has findings that A does not:")?;
        self.0.iter().try_for_each(|lint| writeln!(out, "  {lint}"))
    }

    /// Returns what follows the verdict on the line of a pair.
    pub(super) fn suffix(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let short = |lint: &Lint| {
            let number = lint.code.info().number;
            match lint.location {
                Location::Instruction { address, .. } => format!("{number} at @{address}"),
                _ => number.to_owned(),
            }
        };
        let mut list: Vec<String> = self.0.iter().map(short).collect();
        list.dedup();
        format!("; B has findings that A does not: {}", list.join(", "))
    }

    pub(super) fn json(&self) -> Value {
        let finding = |lint: &Lint| {
            let info = lint.code.info();
            let (address, field) = match lint.location {
                Location::Instruction { address, field, .. } => {
                    (Some(address), field.map(|(_, field)| field.name))
                }
                Location::State(register) => (None, Some(register.name)),
                Location::Program => (None, None),
            };
            json!({
                "code": info.number,
                "name": info.name,
                "severity": info.severity.name(),
                "address": address,
                "field": field,
                "message": lint.message,
            })
        };
        self.0.iter().map(finding).collect()
    }
}
