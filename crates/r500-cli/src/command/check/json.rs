//! Lints as JSON. The guide's page on JSON explains the keys.

use r500::asm::Assembly;
use r500::check::{Edit, EditTarget, Facts, Fix, Lint, Location, Severity, Verdict};
use r500::lint;
use serde_json::{Value as Json, json};

use super::super::compilation;
use super::super::input_args::place_json;
use super::{Checked, Level, Program, Tally, text};

/// The answer, as it grows.
#[derive(Default)]
pub(super) struct Answer(Vec<Json>);

impl Answer {
    pub(super) fn add(&mut self, checked: &Checked) {
        let assembly = checked.assembly.as_deref();
        let programs: Vec<Json> =
            checked.programs.iter().map(|program| self::program(program, assembly)).collect();
        let comments = checked.comments.iter().map(|(span, message)| {
            json!({ "message": message, "source": assembly.map(|assembly| place_json(assembly, *span)) })
        });
        self.0.push(json!({
            "file": text::name(checked),
            "error": checked.failure.as_ref().map(super::Failure::message),
            "programs": programs,
            "comments": comments.collect::<Vec<Json>>(),
        }));
    }

    /// Adds a file with a vertex program.
    pub(super) fn add_vertex(&mut self, file: Json) {
        self.0.push(file);
    }

    pub(super) fn finish(self, tally: &Tally) -> Json {
        json!({
            "version": 1,
            "files": self.0,
            "summary": {
                "files": tally.files,
                "programs": tally.programs,
                "errors": tally.errors,
                "warnings": tally.warnings,
                "notes": tally.notes,
                "allowed": tally.allowed,
                "known": tally.known,
                "not_checked": tally.failed,
            },
        })
    }
}

fn program(program: &Program, assembly: Option<&Assembly>) -> Json {
    let findings: Vec<Json> =
        program.all().map(|(found, level)| finding(found, level, assembly)).collect();
    let (verdict, missing) = match program.report.verdict {
        Verdict::Clean(_) => ("clean", 0),
        Verdict::Incomplete { int_constants } => ("incomplete", int_constants),
        Verdict::Broken => ("broken", 0),
    };
    let missing: Vec<u32> = (0..32).filter(|n| missing >> n & 1 != 0).collect();
    json!({
        "name": program.name,
        "index": program.index,
        "compilation": compilation::json(&program.job),
        "instructions": program.job.program.code.len(),
        "verdict": verdict,
        "missing_int_constants": missing,
        "facts": program.report.verdict.facts().map(facts),
        "findings": findings,
    })
}

fn facts(facts: &Facts) -> Json {
    let bits =
        |bits: u32, count: u32| -> Vec<u32> { (0..count).filter(|n| bits >> n & 1 != 0).collect() };
    json!({
        "structured": facts.structured,
        "group_size_invisible": facts.group_size_invisible,
        "group_size_invisible_if_covered": facts.group_size_invisible_if_covered,
        "no_inactive_writes": facts.no_inactive_writes,
        "branch_levels": facts.branch_levels,
        "loop_levels": facts.loop_levels,
        "call_levels": facts.call_levels,
        "temporaries": facts.temporaries,
        "constants": facts.constants,
        "al": [facts.al.0, facts.al.1],
        "reads_are_defined": facts.reads_are_defined,
        "texture_units": bits(u32::from(facts.texture_units), 16),
        "targets": bits(u32::from(facts.targets), 4),
        "writes_depth": facts.writes_depth,
        "kills": facts.kills,
        "quad_reads": facts.quad_reads,
        "uses_predicates": facts.uses_predicates,
        "uses_relative": facts.uses_relative,
    })
}

pub(super) fn finding(finding: &Lint, level: Level, assembly: Option<&Assembly>) -> Json {
    let info = finding.code.info();
    let allowed = match level {
        Level::Reported(_) => Json::Null,
        Level::Known => "baseline".into(),
        Level::Allowed { in_source: true } => "source".into(),
        Level::Allowed { in_source: false } => "switch".into(),
    };
    let severity = match level {
        Level::Reported(severity) => severity,
        Level::Allowed { .. } | Level::Known => finding.severity(),
    };
    json!({
        "code": info.number,
        "name": info.name,
        "severity": Severity::name(severity),
        "allowed": allowed,
        "message": finding.message,
        "place": place(&finding.location, assembly),
        "related": finding
            .related
            .iter()
            .map(|(other, why)| json!({ "place": place(other, assembly), "why": why }))
            .collect::<Vec<Json>>(),
        "remedy": info.remedy,
        "fix": finding.fix.as_ref().map(fix),
    })
}

fn place(place: &Location, assembly: Option<&Assembly>) -> Json {
    let span =
        assembly.and_then(|assembly| Some(place_json(assembly, lint::span(assembly, place)?)));
    match *place {
        Location::Program => json!({ "kind": "program", "source": span }),
        Location::State(register) => {
            json!({ "kind": "state", "register": register.name, "source": span })
        }
        Location::Instruction { index, address, field } => json!({
            "kind": "instruction",
            "index": index,
            "address": address,
            "word": field.map(|(word, _)| word),
            "field": field.map(|(_, field)| field.name),
            "source": span,
        }),
    }
}

fn fix(fix: &Fix) -> Json {
    let edits: Vec<Json> = fix.edits.iter().map(edit).collect();
    json!({ "text": fix.text, "safe": fix.safe, "edits": edits })
}

pub(super) fn edit(edit: &Edit) -> Json {
    let (index, word) = match edit.target {
        EditTarget::Instruction { index, word } => (Some(index), Some(word)),
        _ => (None, None),
    };
    json!({
        "index": index,
        "word": word,
        "register": edit.register.name,
        "field": edit.field.name,
        "code": edit.code,
    })
}
