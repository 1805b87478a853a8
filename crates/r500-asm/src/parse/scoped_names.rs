//! Names: of registers, numbers and macros, each in the scope in which it is defined.

use std::collections::HashMap;

use super::{Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::items::{Constant, Reference, Symbol, SymbolKind};
use crate::names::{self, Kw, register_of};
use crate::source::Span;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NamedValue {
    Register(Register),
    Number(f64),
    /// A macro, by its index.
    Macro(usize),
}

/// A name as written: its span, its keyword, and the scope of its token.
#[derive(Clone, Copy)]
pub(super) struct NewName {
    pub(super) span: Span,
    pub(super) kw: Kw,
    pub(super) scope: u32,
}

/// Names by scope, in lower case.
pub(super) type Names = HashMap<(u32, String), (NamedValue, Span)>;

impl Parser<'_> {
    /// Returns the name at the current token, if it is a word.
    pub(super) fn new_name(&self) -> NewName {
        NewName { span: self.tok.span, kw: self.tok.kw, scope: self.lexer.scope() }
    }

    /// Returns what the current token names, and the span of the definition: in its scope or in one around it.
    pub(super) fn lookup(&self, span: Span) -> Option<(NamedValue, Span)> {
        let scope = self.lexer.scope();
        if scope == 0 && self.names.is_empty() {
            return None;
        }
        let mut key = (scope, self.text(span).to_ascii_lowercase());
        loop {
            if let Some((counter, value)) = self.lexer.counter(key.0)
                && *counter.name == *key.1
            {
                return Some((NamedValue::Number(value.into()), counter.span));
            }
            if let Some(found) = self.names.get(&key) {
                return Some(*found);
            }
            key.0 = self.lexer.parent(key.0)?;
        }
    }

    /// Returns what the current token names, if anything, and records the use.
    pub(super) fn resolve(&mut self, span: Span) -> Option<NamedValue> {
        let (value, definition) = self.lookup(span)?;
        self.references.push(Reference { span, definition: Some(definition) });
        Some(value)
    }

    /// Returns the register that the current token names, if it does, and records the use.
    pub(super) fn resolve_register(&mut self, span: Span) -> Option<Register> {
        let (NamedValue::Register(register), definition) = self.lookup(span)? else { return None };
        self.references.push(Reference { span, definition: Some(definition) });
        Some(register)
    }

    /// Reports a word that cannot be a name. Returns whether it can.
    pub(super) fn check_name(&mut self, name: NewName) -> bool {
        let text = self.text(name.span);
        let digit = text.starts_with(|c: char| c.is_ascii_digit());
        if name.kw == Kw::Ident && !digit && register_of(&text).is_none() {
            return true;
        }
        self.report(
            Diagnostic::new(
                DiagnosticCode::BadName,
                name.span,
                format!("`{text}` cannot be a name"),
            )
            .label(if digit {
                "names do not start with a digit"
            } else {
                "a word of the language"
            }),
        );
        false
    }

    /// Defines a name.
    pub(super) fn define_name(&mut self, name: NewName, value: NamedValue) {
        if !self.check_name(name) {
            return;
        }
        let (text, span) = (self.text(name.span), name.span);
        let key = (name.scope, text.to_ascii_lowercase());
        if let Some((_, first)) = self.names.insert(key, (value, span)) {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::DuplicateName,
                    span,
                    format!("`{text}` is defined twice"),
                )
                .label("second definition")
                .related(first, "first definition"),
            );
        }
        let kind = match value {
            NamedValue::Register(register) => SymbolKind::Register(register),
            NamedValue::Number(value) => SymbolKind::Number(Constant::new(value)),
            NamedValue::Macro(_) => SymbolKind::Macro,
        };
        self.symbols.push(Symbol { name: text, span, kind });
    }

    /// Returns the defined name most similar to a word.
    pub(super) fn closest_name(&self, word: &str) -> Option<String> {
        self.closest_symbol(word, |kind| !matches!(kind, SymbolKind::Label(_)))
    }

    /// Returns the symbol of a kind most similar to a word; the first defined wins ties.
    pub(super) fn closest_symbol(
        &self,
        word: &str,
        of: impl Fn(SymbolKind) -> bool,
    ) -> Option<String> {
        let symbols = self.symbols.iter().filter(|s| of(s.kind)).take(super::MOST_NAMES);
        names::closest(word, symbols.map(|s| s.name.as_str())).map(str::to_owned)
    }
}
