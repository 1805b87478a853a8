//! A bounded list of diagnostics.

use super::{Diagnostic, DiagnosticCode, Severity};
use crate::source::Span;

/// The diagnostics of an assembly, up to limits of errors and warnings. The limits bound the memory for a long source
/// in which every byte is an error.
#[derive(Debug)]
pub(crate) struct DiagnosticCollector {
    kept: Vec<Diagnostic>,
    errors: Count,
    warnings: Count,
    limit: usize,
}

/// Number of kept diagnostics of a severity, and the span of the first dropped one.
#[derive(Debug, Default)]
struct Count {
    kept: usize,
    dropped: Option<Span>,
}

impl DiagnosticCollector {
    /// Returns a collector that keeps `limit` errors and `limit` warnings.
    pub(crate) fn new(limit: usize) -> Self {
        Self { kept: Vec::new(), errors: Count::default(), warnings: Count::default(), limit }
    }

    /// Keeps a diagnostic unless the limit of its severity is reached.
    #[cold]
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let count = match diagnostic.severity() {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        if count.kept < self.limit {
            count.kept += 1;
            self.kept.push(diagnostic);
        } else {
            count.dropped.get_or_insert(diagnostic.span);
        }
    }

    /// Returns whether an error was dropped. The assembler then stops: the source is invalid, and further errors are
    /// not kept.
    pub(crate) const fn is_past_limit(&self) -> bool {
        self.errors.dropped.is_some()
    }

    /// Returns the diagnostics by position, followed by one for each severity with dropped diagnostics.
    pub(crate) fn finish(self) -> Vec<Diagnostic> {
        let Self { mut kept, errors, warnings, limit } = self;
        kept.sort_by_key(|diagnostic| diagnostic.span);
        if let Some(span) = errors.dropped {
            kept.push(
                Diagnostic::new(DiagnosticCode::TooManyErrors, span, "too many errors")
                    .label(format!("{limit} errors come before this one; the rest is not read")),
            );
        }
        if let Some(span) = warnings.dropped {
            kept.push(
                Diagnostic::new(DiagnosticCode::TooManyWarnings, span, "too many warnings").label(
                    format!("{limit} warnings come before this one; those after it are dropped"),
                ),
            );
        }
        kept
    }
}
