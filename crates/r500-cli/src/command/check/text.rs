//! Readable output of findings.

use std::io::Write;

use r500::asm::diagnostic::{Excerpt, Message, MessageLevel};
use r500::asm::{RenderOptions, print_lines};
use r500::check::{Facts, Lint, Location, Severity, Verdict};
use r500::lint;
use r500_stream::counted;

use super::policy::Policy;
use super::{Checked, Program, colors};
use crate::command::compilation;
use crate::command::exit::Outcome;
use crate::command::input_args;

/// Prints the report of a file.
pub(super) fn file(
    out: &mut impl Write,
    checked: &Checked,
    policy: &Policy,
    verbose: bool,
) -> Outcome<()> {
    let options = RenderOptions { color: colors() };
    findings(out, checked, policy, options)?;
    if let Some(failure) = &checked.failure {
        // Earlier findings precede the failure.
        out.flush()?;
        failure.report();
    }
    if verbose {
        for program in &checked.programs {
            let verdict = match compilation::not_compiled(&program.job) {
                Some(_) => "not compiled; nothing is guaranteed".to_owned(),
                None => verdict(&program.report.verdict),
            };
            writeln!(out, "{}: {verdict}", checked.title(program))?;
        }
    }
    Ok(())
}

/// Prints the findings of a file, and the errors in its comments.
pub(super) fn findings(
    out: &mut impl Write,
    checked: &Checked,
    policy: &Policy,
    options: RenderOptions,
) -> Outcome<()> {
    for program in &checked.programs {
        if let Some(why) = compilation::not_compiled(&program.job) {
            writeln!(out, "{}\n", failed_compilation(checked, program, &why, options))?;
        }
        // Disassembled once, and only if needed.
        let mut lines = None;
        for (finding, severity) in program.reported() {
            let lines = lines.get_or_insert_with(|| listing(checked, program));
            writeln!(out, "{}\n", one(checked, program, lines, finding, severity, options))?;
        }
    }
    if let Some(assembly) = &checked.assembly {
        for (span, text) in &checked.comments {
            let message = Message {
                level: level(policy.comments()),
                id: "",
                title: text,
                excerpt: Excerpt::Source { files: &assembly.files, places: vec![(*span, "")] },
                notes: Vec::new(),
                help: Vec::new(),
            };
            writeln!(out, "{}\n", message.render(options))?;
        }
    }
    Ok(())
}

/// Returns the message about a shader that the driver could not compile.
fn failed_compilation(
    checked: &Checked,
    program: &Program,
    why: &str,
    options: RenderOptions,
) -> String {
    let help = program.job.compilation.as_deref().and_then(compilation::remedy);
    let message = Message {
        level: MessageLevel::Error,
        id: "",
        title: why,
        excerpt: Excerpt::Line {
            origin: &format!("{}: {}", checked.title(program), program.name),
            line: None,
            mark: 0..0,
            label: "",
        },
        notes: Vec::new(),
        help: help.into_iter().collect(),
    };
    message.render(options)
}

/// Returns the instructions as text, for programs without a source.
fn listing(checked: &Checked, program: &Program) -> Vec<String> {
    if checked.assembly.is_some() {
        return Vec::new();
    }
    let program = &program.job.program;
    let offset = program.state.base_address();
    print_lines(&program.code, offset)
}

fn level(severity: Severity) -> MessageLevel {
    match severity {
        Severity::Error => MessageLevel::Error,
        Severity::Warning => MessageLevel::Warning,
        Severity::Note => MessageLevel::Note,
    }
}

fn one(
    checked: &Checked,
    program: &Program,
    lines: &[String],
    finding: &Lint,
    severity: Severity,
    options: RenderOptions,
) -> String {
    let info = finding.code.info();
    // Label of the marked part: address and field.
    let label = finding.location.to_string();
    let denied = format!("{} of its own accord; --deny makes it an error", info.severity.name());
    let denied = (severity > finding.severity()).then_some(&*denied);
    let fix = finding.fix.as_ref().map(|fix| {
        let safe = if fix.safe { " (--fix does it)" } else { "" };
        format!("{}{safe}", fix.text)
    });
    let origin;
    let span =
        checked.assembly.as_ref().and_then(|assembly| lint::span(assembly, &finding.location));
    let excerpt = match (&checked.assembly, span) {
        (Some(assembly), Some(span)) => {
            let related = finding.related.iter();
            let related =
                related.filter_map(|(place, why)| Some((lint::span(assembly, place)?, *why)));
            let places = std::iter::once((span, &*label)).chain(related).collect();
            Excerpt::Source { files: &assembly.files, places }
        }
        _ => {
            origin = format!("{}: {}", checked.title(program), finding.location);
            let line =
                finding.location.index().and_then(|index| Some((index, &**lines.get(index)?)));
            let whole = line.map_or(0, |(_, text)| text.len());
            let mark = line.and_then(|(_, text)| lint::locate(text.as_bytes(), &finding.location));
            let line =
                line.map(|(index, text)| (address(&finding.location).unwrap_or(index), text));
            Excerpt::Line { origin: &origin, line, mark: mark.unwrap_or(0..whole), label: &label }
        }
    };
    // Without source lines, other locations are shown as addresses.
    let related: Vec<String> = match span {
        Some(_) => Vec::new(),
        None => finding.related.iter().map(|(place, why)| format!("{place}: {why}")).collect(),
    };
    let notes = denied.into_iter().chain(related.iter().map(String::as_str)).collect();
    let message = Message {
        level: level(severity),
        id: info.number,
        title: &finding.message,
        excerpt,
        notes,
        help: vec![fix.as_deref().unwrap_or(info.remedy)],
    };
    message.render(options)
}

fn address(place: &Location) -> Option<usize> {
    match *place {
        Location::Instruction { address, .. } => usize::try_from(address).ok(),
        _ => None,
    }
}

/// Returns a summary of the result and the guarantees.
pub(super) fn verdict(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Clean(facts) => format!("clean\n{}", guarantees(facts)),
        Verdict::Incomplete { int_constants } => {
            let missing = (0..32).filter(|n| int_constants >> n & 1 != 0);
            let missing: Vec<String> = missing.map(|n| format!("int[{n}]")).collect();
            format!(
                "no errors that can be seen, but it depends on {}, which is not given; nothing is \
                 guaranteed",
                missing.join(", ")
            )
        }
        _ => "it has errors; nothing is guaranteed".to_owned(),
    }
}

fn guarantees(facts: &Facts) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = |text: String| lines.push(text);
    let below = |n: u16, what: &str| match n {
        0 => format!("no {what}s"),
        1 => format!("{what} 0"),
        n => format!("{what}s 0 to {}", n - 1),
    };
    line(match facts.structured {
        true => "structured: each pixel gets what its own path gives, and every run ends".to_owned(),
        false => "not structured: it runs without a hard finding, but pixels may depend on each other's paths".to_owned(),
    });
    line(
        match (facts.group_size_invisible, facts.group_size_invisible_if_covered) {
            (true, _) => "the size of a group shows in no result",
            (_, true) => "the size of a group shows in no result where all pixels are covered",
            _ => "the size of a group may show",
        }
        .to_owned(),
    );
    line(
        match facts.reads_are_defined {
            true => "every value that is read was put there before",
            false => "values may be read that nothing has put there",
        }
        .to_owned(),
    );
    line(format!(
        "at most {}, {}, {}; aL from {} to {}",
        counted(facts.branch_levels, "branch level"),
        counted(facts.loop_levels, "loop"),
        counted(facts.call_levels, "call"),
        facts.al.0,
        facts.al.1
    ));
    line(format!(
        "{}; {}",
        below(u16::from(facts.temporaries), "temporary").replace("temporarys", "temporaries"),
        below(facts.constants, "constant")
    ));
    let units: Vec<String> =
        (0..16).filter(|n| facts.texture_units >> n & 1 != 0).map(|n| n.to_string()).collect();
    let targets: String =
        (0u8..4).filter(|n| facts.targets >> n & 1 != 0).map(|n| char::from(b'A' + n)).collect();
    line(format!(
        "texture units: {}; render targets: {}{}",
        if units.is_empty() { "none".to_owned() } else { units.join(", ") },
        if targets.is_empty() { "none" } else { &targets },
        if facts.writes_depth { ", and depth" } else { "" }
    ));
    let does = [
        (facts.kills, "kills pixels"),
        (facts.quad_reads, "reads neighbours in its quad"),
        (facts.uses_predicates, "uses predicates"),
        (facts.uses_relative, "uses aL"),
        (!facts.no_inactive_writes, "writes for inactive pixels"),
    ];
    let does: Vec<&str> =
        does.into_iter().filter(|(does, _)| *does).map(|(_, what)| what).collect();
    if !does.is_empty() {
        line(does.join(", "));
    }
    lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Returns the name of a file in messages.
pub(super) fn name(checked: &Checked) -> String {
    input_args::show(&checked.file)
}
