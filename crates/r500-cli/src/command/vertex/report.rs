//! Findings and statistics of vertex programs.

use std::collections::BTreeSet;
use std::io::Write;

use r500::asm::diagnostic::MessageLevel;
use r500::pvs::{DstType, LintKind, Op, Source, SrcType};
use serde_json::{Value as Json, json};

use super::VertexFile;
use crate::command::exit::Outcome;

impl VertexFile {
    /// `r500 check`: prints what is likely wrong, or the errors of the text. Returns the number of findings; `None` for a text with errors.
    pub(in crate::command) fn check(
        &self,
        out: &mut impl Write,
        verbose: bool,
    ) -> Outcome<Option<usize>> {
        if let Err(failure) = self.sound() {
            failure.report();
            return Ok(None);
        }
        let lints = self.source.program.check_with(&self.source.constants);
        let (first, _) = self.source.program.instructions();
        for lint in &lints {
            let info = lint.kind.info();
            let title = lint.kind.to_string();
            let span = lint.instruction.and_then(|n| self.source.spans.get(n.checked_sub(first)?));
            let text = match (span, lint.instruction) {
                (Some(span), _) => self.excerpt(
                    MessageLevel::Warning,
                    info.code,
                    &title,
                    span.clone(),
                    vec![info.help],
                ),
                (None, Some(n)) => format!(
                    "warning[{}]: {title}\n  --> {}, instruction {n}\n  help: {}",
                    info.code, self.name, info.help
                ),
                (None, None) => format!(
                    "warning[{}]: {title}\n  --> {}\n  help: {}",
                    info.code, self.name, info.help
                ),
            };
            writeln!(out, "{text}\n")?;
        }
        if verbose && lints.is_empty() {
            writeln!(out, "{}: clean", self.name)?;
        }
        Ok(Some(lints.len()))
    }

    /// Returns the number of findings without printing them; `None` for a text with errors.
    pub(in crate::command) fn findings(&self) -> Option<usize> {
        self.errors.is_empty().then(|| self.source.program.check_with(&self.source.constants).len())
    }

    /// The findings for a program.
    pub(in crate::command) fn check_json(&self) -> Json {
        let errors: Vec<Json> = self.errors.iter().map(|error| self.error_json(error)).collect();
        let lints: Vec<Json> = self
            .source
            .program
            .check()
            .iter()
            .filter(|_| errors.is_empty())
            .map(|lint| {
                let info = lint.kind.info();
                json!({
                    "code": info.code,
                    "severity": "warning",
                    "address": lint.instruction,
                    "message": lint.kind.to_string(),
                    "evidence": info.evidence,
                    "help": info.help,
                })
            })
            .collect();
        json!({ "file": self.name, "kind": "vertex", "errors": errors, "lints": lints })
    }

    /// `r500 stats`: the counters of shader-db for vertex programs, and more.
    pub(in crate::command) fn stats(&self) -> Outcome<VertexStats> {
        self.sound()?;
        Ok(VertexStats::of(&self.name, &self.source))
    }
}

/// Counters of a vertex program.
#[derive(Debug)]
pub(in crate::command) struct VertexStats {
    file: String,
    counters: [(&'static str, usize); 12],
}

impl VertexStats {
    fn of(file: &str, source: &Source) -> Self {
        let program = &source.program;
        let code: Vec<_> = program.window().map(|(_, inst)| inst).collect();
        let count = |holds: &dyn Fn(&r500::pvs::Instruction) -> bool| {
            code.iter().filter(|inst| holds(inst)).count()
        };
        let math = count(&|inst| matches!(inst.op(), Op::Math(_)));
        let pairs = count(&|inst| inst.dual_math().is_some());
        let macros = count(&|inst| matches!(inst.op(), Op::Macro(_)));
        let mut read: [BTreeSet<u8>; 4] = Default::default();
        let mut written: [BTreeSet<u8>; 4] = Default::default();
        for inst in &code {
            for src in inst.read_sources().into_iter().flatten() {
                let kind =
                    [SrcType::TEMPORARY, SrcType::INPUT, SrcType::CONSTANT, SrcType::ALT_TEMPORARY];
                if let Some(place) = kind.iter().position(|kind| *kind == src.reg_type())
                    && src.swizzle().iter().any(|select| select.code() < 4)
                {
                    read[place].insert(src.offset());
                }
            }
            let dst = inst.dst();
            let place = match dst.reg_type() {
                DstType::TEMPORARY => 0,
                DstType::OUT | DstType::OUT_REPL_X => 1,
                DstType::ALT_TEMPORARY => 2,
                _ => 3,
            };
            if dst.write_mask() != [false; 4] {
                written[place].insert(dst.offset());
            }
            if let Some(dual) = inst.dual_math() {
                written[2].insert(dual.dst_offset());
            }
        }
        let findings = program.check_with(&source.constants);
        let both = |a: &BTreeSet<u8>, b: &BTreeSet<u8>| a.union(b).count();
        Self {
            file: file.to_owned(),
            counters: [
                ("instructions", code.len()),
                // A macro takes two clocks.
                ("cycles", code.len() + macros),
                ("vector", code.len() - math),
                ("math", math + pairs),
                ("pairs", pairs),
                ("temporaries", both(&read[0], &written[0])),
                ("alt_temporaries", both(&read[3], &written[2])),
                ("inputs", read[1].len()),
                ("constants", read[2].len()),
                ("outputs", written[1].len()),
                ("flow_control", program.controls().flow.len()),
                (
                    "findings",
                    findings.iter().filter(|lint| lint.kind != LintKind::EmptyRange).count(),
                ),
            ],
        }
    }

    pub(in crate::command) fn json(&self) -> Json {
        let mut object = serde_json::Map::new();
        object.insert("file".into(), self.file.clone().into());
        object.insert("kind".into(), "vertex".into());
        for (name, value) in self.counters {
            object.insert(name.into(), value.into());
        }
        Json::Object(object)
    }

    /// Prints a line for each program, with the names of the counters above.
    pub(in crate::command) fn table(stats: &[Self], out: &mut impl Write) -> Outcome<()> {
        let width = stats
            .iter()
            .map(|stats| stats.file.chars().count())
            .max()
            .unwrap_or(0)
            .max("vertex program".len());
        write!(out, "{:width$}", "vertex program")?;
        for (name, _) in stats.first().map_or(&[][..], |stats| &stats.counters) {
            write!(out, "  {name}")?;
        }
        writeln!(out)?;
        for stats in stats {
            write!(out, "{:width$}", stats.file)?;
            for (name, value) in stats.counters {
                write!(out, "  {value:>length$}", length = name.len())?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// Prints comma-separated values with the names as the first line.
    pub(in crate::command) fn csv(stats: &[Self], out: &mut impl Write) -> Outcome<()> {
        let names = stats.first().map_or(&[][..], |stats| &stats.counters);
        let names: String = names.iter().map(|(name, _)| format!(",{name}")).collect();
        writeln!(out, "file{names}")?;
        for stats in stats {
            let values: String =
                stats.counters.iter().map(|(_, value)| format!(",{value}")).collect();
            writeln!(out, "\"{}\"{values}", stats.file.replace('"', "\"\""))?;
        }
        Ok(())
    }
}
