//! Policy: which findings are suppressed, and which are errors.

use r500::check::{Lint, LintCode, Severity};

use super::Level;

/// An argument of `--deny`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// Warnings and notes.
    All,
    Warnings,
    One(LintCode),
}

impl Which {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "all" => Ok(Self::All),
            "warnings" => Ok(Self::Warnings),
            _ => code(text).map(Self::One),
        }
    }
}

/// Returns a code by its number or name.
pub(super) fn code(text: &str) -> Result<LintCode, String> {
    LintCode::find(text).ok_or_else(|| {
        format!("there is no code `{text}`; `r500 check --explain all` shows those there are")
    })
}

/// The levels of lints. Comments of the source take precedence, then named codes, then groups.
pub(super) struct Policy {
    deny: Vec<LintCode>,
    allow: Vec<LintCode>,
    /// Findings of at least this severity are errors.
    from: Severity,
}

impl Policy {
    pub(super) fn new(deny: &[Which], allow: &[LintCode]) -> Result<Self, String> {
        let mut policy = Self { deny: Vec::new(), allow: allow.to_vec(), from: Severity::Error };
        for which in deny {
            match which {
                Which::All => policy.from = Severity::Note,
                Which::Warnings => policy.from = policy.from.min(Severity::Warning),
                Which::One(code) => policy.deny.push(*code),
            }
        }
        match policy.deny.iter().find(|code| allow.contains(code)) {
            Some(code) => Err(format!("{} is both allowed and denied", code.info().number)),
            None => Ok(policy),
        }
    }

    /// Returns the level of a finding; `in_source`: the source suppresses it.
    pub(super) fn level(&self, finding: &Lint, in_source: bool) -> Level {
        let severity = finding.severity();
        if in_source || self.allow.contains(&finding.code) {
            Level::Allowed { in_source }
        } else if self.deny.contains(&finding.code) || severity >= self.from {
            Level::Reported(Severity::Error)
        } else {
            Level::Reported(severity)
        }
    }

    /// Returns the severity of an invalid suppression comment.
    pub(super) fn comments(&self) -> Severity {
        if self.from <= Severity::Warning { Severity::Error } else { Severity::Warning }
    }
}
