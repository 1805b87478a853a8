//! Diagnostics of a source with their fixes.

use r500_asm::ide::{Analysis, TextEdit};
use r500_asm::{Assembly, Diagnostic, Span};
use r500_check::{Lint, Severity};

use crate::lint::{self, Allows};

/// A diagnostic of the assembler or a lint of the checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDiagnostic {
    /// Its span, possibly in an included file.
    pub span: Span,
    /// Its severity.
    pub severity: Severity,
    /// Its code, `E0101` or `R5041`, for [`explain`](crate::explain()); empty for suppression comments that cannot be
    /// parsed.
    pub code: &'static str,
    /// The message, one line.
    pub message: String,
    /// Explanations and remedies, one line each.
    pub notes: Vec<String>,
    /// Related spans and their messages.
    pub related: Vec<(Span, String)>,
    /// Fixes, the best first.
    pub repairs: Vec<Repair>,
}

/// A text change that fixes a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Its description, in the imperative.
    pub title: String,
    /// The changes, without overlaps.
    pub edits: Vec<TextEdit>,
    /// Whether the picture cannot change: it adds waits, NOPs or temporaries.
    pub safe: bool,
    /// Whether it fixes the problem instead of suppressing it.
    pub resolves: bool,
}

/// Returns all diagnostics of the assembler and lints of the checker, by file and position. The checker runs on
/// programs that have instructions and no errors; suppressed lints are left out.
#[must_use]
pub fn diagnostics(analysis: &Analysis) -> Vec<SourceDiagnostic> {
    let assembly = analysis.assembly();
    let mut list: Vec<SourceDiagnostic> = assembly.diagnostics.iter().map(of_assembler).collect();
    if assembly.is_ok() && !assembly.job.program.code.is_empty() {
        let allows = Allows::of(assembly);
        let findings = lint::check_source(assembly).lints.into_iter();
        let findings =
            findings.filter(|f| allows.covering(f.code, &f.location, assembly).is_none());
        list.extend(findings.map(|finding| of_checker(analysis, &finding)));
        list.extend(allows.wrong.into_iter().map(|(span, message)| SourceDiagnostic {
            span,
            severity: Severity::Warning,
            code: "",
            message,
            notes: Vec::new(),
            related: Vec::new(),
            repairs: Vec::new(),
        }));
    }
    list.sort_by_key(|problem| problem.span);
    list
}

/// Returns the source with every safe fix of the checker applied; `None` if there is nothing to fix. `assemble`
/// assembles a text and reads the same included files each time.
pub fn fix_all(analysis: &Analysis, assemble: impl FnMut(&[u8]) -> Assembly) -> Option<Vec<u8>> {
    let fixed = lint::fix(analysis.text(), assemble, |assembly, finding| {
        Allows::of(assembly).covering(finding.code, &finding.location, assembly).is_none()
    });
    (!fixed.resolved.is_empty()).then_some(fixed.text)
}

fn of_assembler(diagnostic: &Diagnostic) -> SourceDiagnostic {
    let severity = match diagnostic.severity() {
        r500_asm::Severity::Error => Severity::Error,
        r500_asm::Severity::Warning => Severity::Warning,
    };
    let label = Some(diagnostic.label.clone()).filter(|label| !label.is_empty());
    let repairs = diagnostic.fix.iter().map(|text| Repair {
        title: format!("Write `{text}`"),
        edits: vec![TextEdit { span: diagnostic.span, text: text.clone() }],
        safe: false,
        resolves: true,
    });
    let related = diagnostic.related.iter().filter(|(_, label)| !label.is_empty());
    SourceDiagnostic {
        span: diagnostic.span,
        severity,
        code: diagnostic.code.name(),
        message: diagnostic.message.clone(),
        notes: label.into_iter().chain(diagnostic.help.iter().cloned()).collect(),
        related: related.cloned().collect(),
        repairs: repairs.collect(),
    }
}

fn of_checker(analysis: &Analysis, finding: &Lint) -> SourceDiagnostic {
    let assembly = analysis.assembly();
    let info = finding.code.info();
    let mut repairs = Vec::new();
    if let Some(fix) = &finding.fix
        && let Ok(edits) = lint::text_edits(assembly, fix)
        && !edits.is_empty()
    {
        let edits = edits.into_iter().map(|(span, text)| TextEdit { span, text }).collect();
        repairs.push(Repair { title: capital(&fix.text), edits, safe: fix.safe, resolves: true });
    }
    repairs.extend(allow(analysis, finding));
    let fix = finding.fix.as_ref().map(|fix| fix.text.clone());
    SourceDiagnostic {
        // A lint of the program as a whole is at the start of the source.
        span: lint::span(assembly, &finding.location).unwrap_or_default(),
        severity: finding.severity(),
        code: info.number,
        message: finding.message.clone(),
        notes: vec![fix.unwrap_or_else(|| info.remedy.to_owned())],
        related: finding
            .related
            .iter()
            .filter_map(|(place, why)| Some((lint::span(assembly, place)?, (*why).to_owned())))
            .collect(),
        repairs,
    }
}

/// Returns an edit that adds a suppression comment on a line before the instruction of a lint.
fn allow(analysis: &Analysis, finding: &Lint) -> Option<Repair> {
    let code = finding.code.info().number;
    let text = analysis.text();
    let (at, indent, title) = match finding.location.index() {
        Some(index) => {
            let span = analysis.assembly().spans.get(index).filter(|span| span.file == 0)?;
            let start = span.start as usize;
            let line = text.get(..start)?.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            let indent = &text[line..start];
            // On a line with preceding text, the comment would refer to that text.
            if !indent.iter().all(|b| b" \t".contains(b)) {
                return None;
            }
            (line, indent, format!("Allow {code} for this instruction"))
        }
        None => (0, &[][..], format!("Allow {code} in this file")),
    };
    let word = if finding.location.index().is_some() { "allow" } else { "allow-file" };
    let indent = String::from_utf8_lossy(indent);
    let at = u32::try_from(at).ok()?;
    let span = Span { file: 0, start: at, end: at };
    let edit = TextEdit { span, text: format!("{indent}-- r500: {word}({code})\n") };
    Some(Repair { title, edits: vec![edit], safe: true, resolves: false })
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
