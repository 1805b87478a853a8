//! What is wrong or odd about a source, and what may be done about it.

use r500_asm::ide::{Analysis, TextEdit};
use r500_asm::{Assembly, Diagnostic, Span};
use r500_check::{Lint, Severity, check_job};

use crate::lint::{self, Allows};

/// Something wrong or odd about a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where; perhaps in an included file.
    pub span: Span,
    /// How bad it is.
    pub severity: Severity,
    /// Its code, `E0101` or `R5041`, which [`explain`](super::explain) explains; empty for comments
    /// to the checker that cannot be understood.
    pub code: &'static str,
    /// What is wrong, in a line.
    pub message: String,
    /// Why, and what to do about it, a line each.
    pub notes: Vec<String>,
    /// Other places that matter, and why.
    pub related: Vec<(Span, String)>,
    /// What may be done about it, the best first.
    pub repairs: Vec<Repair>,
}

/// A change of the text that fixes a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What it does, in the imperative.
    pub title: String,
    /// The changes, none over another.
    pub edits: Vec<TextEdit>,
    /// The picture cannot change by it: it adds waits, NOPs or room.
    pub safe: bool,
    /// It fixes the problem rather than silencing it.
    pub resolves: bool,
}

/// Returns all that the assembler and the checker have to say, by file and place. The checker is
/// asked about programs without errors that have instructions; what the source allows is left out.
#[must_use]
pub fn problems(analysis: &Analysis) -> Vec<Problem> {
    let assembly = analysis.assembly();
    let mut list: Vec<Problem> = assembly.diagnostics.iter().map(of_assembler).collect();
    if assembly.is_ok() && !assembly.job.program.code.is_empty() {
        let allows = Allows::of(assembly);
        let findings = check_job(&assembly.job).lints.into_iter();
        let findings =
            findings.filter(|f| allows.covering(f.code, &f.location, assembly).is_none());
        list.extend(findings.map(|finding| of_checker(analysis, &finding)));
        list.extend(allows.wrong.into_iter().map(|(span, message)| Problem {
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

/// Returns the source with every safe fix of the checker that it takes; `None` where there is
/// nothing to fix. `assemble` makes a program of a text and reads the same included files each
/// time.
pub fn fix_all(analysis: &Analysis, assemble: impl FnMut(&[u8]) -> Assembly) -> Option<Vec<u8>> {
    let fixed = lint::fix(analysis.text(), assemble, |assembly, finding| {
        Allows::of(assembly).covering(finding.code, &finding.location, assembly).is_none()
    });
    (!fixed.resolved.is_empty()).then_some(fixed.text)
}

fn of_assembler(diagnostic: &Diagnostic) -> Problem {
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
    Problem {
        span: diagnostic.span,
        severity,
        code: diagnostic.code.name(),
        message: diagnostic.message.clone(),
        notes: label.into_iter().chain(diagnostic.help.iter().cloned()).collect(),
        related: related.cloned().collect(),
        repairs: repairs.collect(),
    }
}

fn of_checker(analysis: &Analysis, finding: &Lint) -> Problem {
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
    Problem {
        // What concerns the program as a whole stands at its head.
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

/// Returns a comment that allows a finding, on a line in front of its instruction.
fn allow(analysis: &Analysis, finding: &Lint) -> Option<Repair> {
    let code = finding.code.info().number;
    let text = analysis.text();
    let (at, indent, title) = match finding.location.index() {
        Some(index) => {
            let span = analysis.assembly().spans.get(index).filter(|span| span.file == 0)?;
            let start = span.start as usize;
            let line = text.get(..start)?.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            let indent = &text[line..start];
            // On a line with something else in front, the comment would be about that.
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
