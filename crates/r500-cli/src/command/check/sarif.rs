//! Findings as SARIF 2.1.0, for editors and code review.

use r500::asm::{Assembly, Files, Span};
use r500::check::{Lint, LintCode, Severity};
use r500::lint;
use serde_json::{Value as Json, json};

use super::policy::Policy;
use super::{Checked, Level, Program};
use crate::command::report::uri;
use crate::command::{compilation, input_args};

/// The log under construction.
pub(super) struct Log {
    results: Vec<Json>,
    /// Errors in comments, and unreadable files.
    comments: Vec<Json>,
    failures: Vec<Json>,
}

impl Log {
    pub(super) fn new() -> Self {
        Self { results: Vec::new(), comments: Vec::new(), failures: Vec::new() }
    }

    pub(super) fn add(&mut self, checked: &Checked, policy: &Policy) {
        for program in &checked.programs {
            let results =
                program.all().map(|(found, level)| result(checked, program, found, level));
            self.results.extend(results);
            self.results.extend(compilation_result(checked, program));
        }
        for (span, message) in &checked.comments {
            let region = checked.assembly.as_ref().map(|of| region(&of.files, *span));
            self.comments.push(json!({
                "level": level(policy.comments()),
                "message": { "text": message },
                "locations": [{ "physicalLocation": physical(&file_of(checked, Some(*span)), region) }],
            }));
        }
        if let Some(failure) = &checked.failure {
            self.failures.push(json!({
                "level": "error",
                "message": { "text": failure.message() },
                "locations": [{ "physicalLocation": physical(&file_of(checked, None), None) }],
            }));
        }
    }

    pub(super) fn finish(self) -> Json {
        let mut rules: Vec<Json> = LintCode::ALL.iter().map(|&code| rule(code)).collect();
        rules.push(compilation_rule());
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "r500 check",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                } },
                "columnKind": "unicodeCodePoints",
                "invocations": [{
                    "executionSuccessful": self.failures.is_empty(),
                    "toolExecutionNotifications": self.failures,
                    "toolConfigurationNotifications": self.comments,
                }],
                "results": self.results,
            }],
        })
    }
}

fn rule(code: LintCode) -> Json {
    let info = code.info();
    json!({
        "id": info.number,
        "name": info.name,
        "shortDescription": { "text": info.meaning },
        "fullDescription": { "text": format!("{} Evidence: {}.", info.meaning, info.evidence) },
        "help": { "text": info.remedy, "markdown": lint::page(code) },
        "defaultConfiguration": { "level": level(info.severity) },
    })
}

/// Identifies the results about compilations of a driver.
const COMPILATION: &str = "compilation";

fn compilation_rule() -> Json {
    json!({
        "id": COMPILATION,
        "name": "not-compiled",
        "shortDescription": { "text": "The driver could not compile the shader, and took its dummy." },
        "fullDescription": { "text": "A driver's log says that the compilation failed: the program is not the shader. Evidence: the driver's words." },
        "help": { "text": "Change the shader so that it stays below the driver's limits." },
        "defaultConfiguration": { "level": level(Severity::Error) },
    })
}

/// Returns the result about a shader that the driver could not compile.
fn compilation_result(checked: &Checked, program: &Program) -> Option<Json> {
    let why = compilation::not_compiled(&program.job)?;
    let help = program.job.compilation.as_deref().and_then(compilation::remedy);
    let help = help.map_or(String::new(), |help| format!("; {help}"));
    Some(json!({
        "ruleId": COMPILATION,
        "ruleIndex": LintCode::ALL.len(),
        "level": level(Severity::Error),
        "message": { "text": format!("{why}{help}") },
        "locations": [{
            "physicalLocation": physical(&file_of(checked, None), None),
            "logicalLocations": [{ "name": program.name, "fullyQualifiedName": program.name }],
        }],
        "properties": { "compilation": compilation::json(&program.job) },
    }))
}

fn level(severity: Severity) -> &'static str {
    // SARIF uses the same names.
    severity.name()
}

fn result(checked: &Checked, program: &Program, finding: &Lint, counted: Level) -> Json {
    let assembly = checked.assembly.as_deref();
    let span = assembly.and_then(|assembly| lint::span(assembly, &finding.location));
    let here = assembly.zip(span).map(|(assembly, span)| region(&assembly.files, span));
    let severity = match counted {
        Level::Reported(severity) => severity,
        Level::Allowed { .. } | Level::Known => finding.severity(),
    };
    let name = finding.location.to_string();
    let full = match program.name.as_str() {
        "" => name.clone(),
        of => format!("{of}: {name}"),
    };
    let index = LintCode::ALL.iter().position(|code| *code == finding.code);
    let mut result = json!({
        "ruleId": finding.code.info().number,
        "ruleIndex": index,
        "level": level(severity),
        "message": { "text": finding.message },
        "locations": [{
            "physicalLocation": physical(&file_of(checked, span), here),
            "logicalLocations": [{ "name": name, "fullyQualifiedName": full }],
        }],
    });
    let related: Vec<Json> = finding
        .related
        .iter()
        .map(|(place, why)| {
            let span = assembly.and_then(|assembly| lint::span(assembly, place));
            let part = assembly.zip(span).map(|(assembly, span)| region(&assembly.files, span));
            json!({
                "physicalLocation": physical(&file_of(checked, span), part),
                "logicalLocations": [{ "name": place.to_string() }],
                "message": { "text": why },
            })
        })
        .collect();
    if !related.is_empty() {
        result["relatedLocations"] = related.into();
    }
    if let Level::Allowed { in_source } = counted {
        let kind = if in_source { "inSource" } else { "external" };
        result["suppressions"] = json!([{ "kind": kind }]);
    }
    if counted == Level::Known {
        result["baselineState"] = "unchanged".into();
    }
    if let Some(fix) = assembly.and_then(|assembly| fix(checked, assembly, finding)) {
        result["fixes"] = json!([fix]);
    }
    result
}

/// Returns a safe fix as edits of the source.
fn fix(checked: &Checked, assembly: &Assembly, finding: &Lint) -> Option<Json> {
    let fix = finding.fix.as_ref().filter(|fix| fix.safe)?;
    let edits = lint::text_edits(assembly, fix).ok()?;
    let replacements: Vec<Json> = edits
        .into_iter()
        .map(|(span, text)| {
            json!({ "deletedRegion": region(&assembly.files, span), "insertedContent": { "text": text } })
        })
        .collect();
    Some(json!({
        "description": { "text": fix.text },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri(&input_args::show(&checked.file)) },
            "replacements": replacements,
        }],
    }))
}

fn physical(file: &str, region: Option<Json>) -> Json {
    match region {
        Some(region) => json!({ "artifactLocation": { "uri": uri(file) }, "region": region }),
        None => json!({ "artifactLocation": { "uri": uri(file) } }),
    }
}

/// Returns the file of a span: the source, or one that it includes.
fn file_of(checked: &Checked, span: Option<Span>) -> String {
    match (&checked.assembly, span) {
        (Some(assembly), Some(span)) if span.file != 0 => assembly.files.name(span).to_owned(),
        _ => input_args::show(&checked.file),
    }
}

/// Returns lines and columns from 1, columns in characters, with an exclusive end.
fn region(files: &Files, span: Span) -> Json {
    let [start, end] =
        [span.start, span.end].map(|at| place(files, Span { start: at, end: at, ..span }));
    json!({
        "startLine": start.0, "startColumn": start.1, "endLine": end.0, "endColumn": end.1,
    })
}

fn place(files: &Files, at: Span) -> (u32, usize) {
    let position = files.position(at);
    let line = Span { start: at.start - (position.column - 1).min(at.start), ..at };
    (position.line, String::from_utf8_lossy(files.bytes(line)).chars().count() + 1)
}
