//! Labels: addresses by name, each in the scope in which it is defined.

use std::collections::HashMap;

use super::{Parsed, Parser};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::items::{Reference, Symbol, SymbolKind};
use crate::lexer::TokenKind;
use crate::source::Span;

/// Labels by scope, in lower case.
pub(super) type Labels = HashMap<(u32, String), (usize, Span)>;

/// A use of a label.
#[derive(Clone, Debug)]
pub(super) struct LabelUse {
    /// In lower case.
    pub(super) label: String,
    pub(super) span: Span,
    /// The scope of its token.
    pub(super) scope: u32,
}

impl Parser<'_> {
    /// Parses `@name`: the address of the next instruction.
    pub(super) fn parse_label(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        let scope = self.lexer.scope();
        let name = self.expect_token(TokenKind::Word)?.span;
        let span = start.to(name);
        let text = self.text(name);
        let address = self.job.program.code.len();
        let key = (scope, text.to_ascii_lowercase());
        if let Some((_, first)) = self.labels.get(&key) {
            let first = *first;
            self.report(
                Diagnostic::new(
                    DiagnosticCode::DuplicateLabel,
                    span,
                    format!("label `@{text}` is defined twice"),
                )
                .label("second time")
                .related(first, "first time"),
            );
            return Ok(());
        }
        self.labels.insert(key, (address, span));
        let kind = SymbolKind::Label(u32::try_from(address).unwrap_or(u32::MAX));
        self.symbols.push(Symbol { name: text, span, kind });
        Ok(())
    }

    /// Parses the name of a label, after its mark if it has one, and records the use.
    pub(super) fn label_use(&mut self, start: Span) -> Parsed<LabelUse> {
        let scope = self.lexer.scope();
        let name = self.expect_token(TokenKind::Word)?.span;
        let label = self.text(name).to_ascii_lowercase();
        let used = LabelUse { label, span: start.to(name), scope };
        self.label_uses.push(used.clone());
        Ok(used)
    }

    /// Returns the address and the span of a label: of its scope or one around it.
    pub(super) fn label(&self, used: &LabelUse) -> Option<(usize, Span)> {
        let mut key = (used.scope, used.label.clone());
        loop {
            if let Some(found) = self.labels.get(&key) {
                return Some(*found);
            }
            key.0 = self.lexer.parent(key.0)?;
        }
    }

    /// Resolves label references.
    pub(super) fn resolve_labels(&mut self) {
        for used in std::mem::take(&mut self.label_uses) {
            let definition = self.label(&used).map(|(_, definition)| definition);
            self.references.push(Reference { span: used.span, definition });
        }
    }

    /// Reports a label that is not defined.
    pub(super) fn unknown_label(&mut self, used: &LabelUse) {
        let near = self
            .closest_symbol(&used.label, |kind| matches!(kind, SymbolKind::Label(_)))
            .map(|label| format!("@{label}"));
        let mut diagnostic = Diagnostic::new(
            DiagnosticCode::UnknownLabel,
            used.span,
            format!("unknown label `@{}`", used.label),
        )
        .label("no `@label` of this name stands anywhere")
        .suggest(near.as_deref());
        let once = (diagnostic.code, diagnostic.span, diagnostic.message.clone());
        if used.scope != 0 && !self.reported.insert(once) {
            return;
        }
        self.lexer.trace_scope(used.scope, &mut diagnostic);
        self.report(diagnostic);
    }
}
