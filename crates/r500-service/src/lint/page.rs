//! The reference page of a lint code, for the guide and for `r500 check --explain`.

use std::fmt::Write;

use r500_asm::{PrintOptions, print};
use r500_check::{LintCode, check_job};
use r500_exec::WarningKind;
use r500_program::Job;

/// Longer examples are omitted.
const LINES: usize = 24;

/// Returns a page in Markdown: the meaning of a code, its evidence, the remedy, and two programs, one that triggers it
/// and a similar one that does not.
#[must_use]
pub fn page(code: LintCode) -> String {
    let info = code.info();
    let severity = info.severity.name();
    let mut page = format!("## {}: {}\n\n", info.number, info.name);
    let (bad, good) = (code.bad(), code.good());
    let fixes = if has_fix(code) { " The finding has this as its fix." } else { "" };
    // Writing to a string cannot fail.
    let _ = write!(page, "*{severity}* {}\n\n*Evidence:* {}.\n", info.meaning, info.evidence);
    if let Some(run) = in_a_run(code) {
        let _ = write!(page, "\n*In a run:* {run}.\n");
    }
    let _ = write!(page, "\n*Remedy:* {}{fixes}\n", info.remedy);
    let (bad, good) = (lines(&bad, &good), lines(&good, &bad));
    if bad.len().max(good.len()) <= LINES {
        let _ = write!(page, "\nExample:\n\n```text\n{}\n```\n", bad.join("\n"));
        let _ = write!(page, "\nCounter-example:\n\n```text\n{}\n```\n", good.join("\n"));
    }
    page
}

/// Returns whether the findings with a code have a safe fix.
#[must_use]
pub fn has_fix(code: LintCode) -> bool {
    let is_safe = |fix: Option<&r500_check::Fix>| fix.is_some_and(|fix| fix.safe);
    check_job(&code.bad()).with_code(code).any(|finding| is_safe(finding.fix.as_ref()))
}

/// Returns the effect on a run in the reference engine.
fn in_a_run(code: LintCode) -> Option<String> {
    let name = match code {
        LintCode::RunsOut | LintCode::JumpsOut | LintCode::EndOutside => {
            WarningKind::LeftWindow.name()
        }
        _ => code.info().name,
    };
    if let Some(kind) = WarningKind::ALL.iter().find(|kind| kind.name() == name) {
        let hard = if kind.is_hard() { "hard " } else { "" };
        return Some(format!("the {hard}finding `{name}`, where it happens"));
    }
    let run = match code {
        LintCode::NoInstructions | LintCode::EmptyWindow | LintCode::StartOutside => {
            "refused: nothing can run"
        }
        LintCode::PastSlots => "instructions past the last slot run all the same",
        LintCode::TooManyConstants => "nothing, for nothing can name them",
        LintCode::NeverEnds => "it ends at the limit of instructions",
        _ => return None,
    };
    Some(run.to_owned())
}

/// Returns the instructions of a job, and its directives that `other` does not have.
fn lines(job: &Job, other: &Job) -> Vec<String> {
    let text =
        |job: &Job, state| print(job, &PrintOptions { state, ..PrintOptions::default() }).text;
    let (whole, code, other) = (text(job, true), text(job, false), text(other, true));
    let state = whole.strip_suffix(&code).unwrap_or(&whole);
    let own = state.lines().filter(|line| !line.is_empty() && !other.lines().any(|l| l == *line));
    let lines: Vec<String> = own.chain(code.lines()).map(str::to_owned).collect();
    if lines.is_empty() { vec!["-- nothing".to_owned()] } else { lines }
}

#[cfg(test)]
mod tests {
    use r500_check::Severity;

    use super::*;

    /// Errors are the lints whose programs make the reference engine report a hard finding, refuse, or not end.
    #[test]
    fn errors_say_what_they_do_in_a_run() {
        for &code in LintCode::ALL {
            let error = code.info().severity == Severity::Error;
            let run = in_a_run(code);
            assert!(!error || run.is_some() || code == LintCode::TooTangled, "{code:?}");
            let hard = run.as_ref().is_some_and(|run| run.starts_with("the hard"));
            assert!(error || !hard, "{code:?}: {run:?}");
        }
        assert_eq!(WarningKind::ALL.iter().filter(|kind| kind.is_hard()).count(), 17);
    }
}
