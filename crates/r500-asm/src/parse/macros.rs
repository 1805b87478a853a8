//! `.macro`, `.rept` and uses of macros.

use super::scoped_names::{NamedValue, NewName};
use super::{ParseAbort, Parsed, Parser};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::items::{Expansion, Reference, Symbol, SymbolKind};
use crate::lexer::{Counter, Macro, Piece, SUFFIX_LETTERS, TokenKind};
use crate::names;
use crate::source::Span;
use r500_text::macros::{MAX_PARAMETERS, MacroWord, may_be_parameter};
use r500_text::raw_tokens::{RawTokenKind, raw_tokens};

/// Limit of the iterations of one repetition.
const MAX_COUNT: u32 = 1 << 16;

impl Parser<'_> {
    /// Parses a statement that begins with a point.
    pub(super) fn macro_statement(&mut self) -> Parsed<()> {
        let point = self.bump().span;
        let word = self.tok.span;
        let touches =
            self.at(TokenKind::Word) && word.file == point.file && word.start == point.end;
        let found = if touches { MacroWord::from_name(self.bytes(word)) } else { None };
        let Some(found) = found else {
            if !touches {
                return Err(self.expected("`.rept`, `.macro` or another statement"));
            }
            let span = point.to(word);
            let text = self.text(span);
            let known = MacroWord::ALL.map(MacroWord::text);
            self.report(
                Diagnostic::new(
                    DiagnosticCode::UnknownStatement,
                    span,
                    format!("unknown word `{text}`"),
                )
                .label("with a point begin `.rept`, `.endr`, `.macro` and `.endm`")
                .suggest(names::closest(&text, known)),
            );
            return Err(ParseAbort);
        };
        self.bump();
        let span = point.to(word);
        match found {
            MacroWord::Rept => self.repetition(span),
            MacroWord::Macro => self.definition(span),
            MacroWord::Endr | MacroWord::Endm => {
                let opener = if found == MacroWord::Endr { ".rept" } else { ".macro" };
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::NoBody,
                        span,
                        format!("`{}` without `{opener}`", found.text()),
                    )
                    .label("nothing is open here that it ends"),
                );
                self.parse_semicolon()
            }
        }
    }

    /// Parses `.rept count [, name] ; … .endr ;`, after its first word.
    fn repetition(&mut self, span: Span) -> Parsed<()> {
        let count = self.number(MAX_COUNT, "the number of iterations")?;
        let mut counter = None;
        if self.eat(TokenKind::Comma) {
            let name = self.new_name();
            self.expect_token(TokenKind::Word)?;
            if self.check_name(name) {
                let text = self.text(name.span);
                counter = Some(Counter { name: text.to_ascii_lowercase().into(), span: name.span });
                self.symbols.push(Symbol {
                    name: text,
                    span: name.span,
                    kind: SymbolKind::Parameter,
                });
            }
        }
        let call = span.to(self.before);
        let body = self.body(MacroWord::Rept, call)?;
        self.lexer.repeat(body, count, counter, call);
        self.began_expansion(call);
        self.bump();
        Ok(())
    }

    /// Parses `.macro name [parameter {, parameter}] ; … .endm ;`, after its first word.
    fn definition(&mut self, span: Span) -> Parsed<()> {
        let name = self.new_name();
        if !self.at(TokenKind::Word) {
            return Err(self.expected("the name of the macro"));
        }
        self.bump();
        let mut parameters: Vec<(String, Span)> = Vec::new();
        while !self.at(TokenKind::Semicolon) {
            if !parameters.is_empty() && !self.eat(TokenKind::Comma) {
                return Err(self.missing_semicolon("`,` or `;`"));
            }
            let parameter = self.new_name();
            if !self.at(TokenKind::Word) {
                return Err(self.missing_semicolon("the name of a parameter"));
            }
            self.bump();
            self.parameter(&mut parameters, parameter);
        }
        let body = self.body(MacroWord::Macro, span.to(name.span))?;
        if self.lexer.macros.len() >= super::MAX_DEFINITIONS {
            return Err(ParseAbort);
        }
        self.parameter_uses(&parameters, body.span);
        let text = self.text(name.span).into();
        self.define_name(name, NamedValue::Macro(self.lexer.macros.len()));
        self.lexer.macros.push(Macro { name: text, span: name.span, parameters, body });
        self.bump();
        Ok(())
    }

    fn parameter(&mut self, parameters: &mut Vec<(String, Span)>, name: NewName) {
        if !self.check_name(name) {
            return;
        }
        let text = self.text(name.span);
        let lower = text.to_ascii_lowercase();
        if let Some((_, first)) = parameters.iter().find(|(known, _)| *known == lower) {
            let first = *first;
            self.report(
                Diagnostic::new(
                    DiagnosticCode::DuplicateName,
                    name.span,
                    format!("parameter `{text}` is given twice"),
                )
                .label("second time")
                .related(first, "first time"),
            );
        } else if parameters.len() == MAX_PARAMETERS {
            self.report(
                Diagnostic::new(DiagnosticCode::MacroArguments, name.span, "too many parameters")
                    .label(format!("a macro has at most {MAX_PARAMETERS}")),
            );
        } else {
            self.symbols.push(Symbol { name: text, span: name.span, kind: SymbolKind::Parameter });
            parameters.push((lower, name.span));
        }
    }

    /// Records the parameters in a body as uses.
    fn parameter_uses(&mut self, parameters: &[(String, Span)], body: Span) {
        if parameters.is_empty() {
            return;
        }
        let text = self.bytes(body);
        let mut uses = Vec::new();
        for token in raw_tokens(text).filter(|token| token.kind == RawTokenKind::Word) {
            let word = &text[token.range()];
            let found =
                parameters.iter().find(|(name, _)| word.eq_ignore_ascii_case(name.as_bytes()));
            if let Some((_, definition)) = found
                && may_be_parameter(text, token.range(), SUFFIX_LETTERS)
            {
                let at = |at: usize| body.start + u32::try_from(at).unwrap_or(u32::MAX);
                let span = Span { start: at(token.start), end: at(token.end), ..body };
                uses.push(Reference { span, definition: Some(*definition) });
            }
        }
        self.references.append(&mut uses);
    }

    /// Takes a body, up to the `;` after its end, which is not consumed.
    fn body(&mut self, opener: MacroWord, span: Span) -> Parsed<Piece> {
        if !self.at(TokenKind::Semicolon) {
            return Err(self.missing_semicolon("`;`"));
        }
        let end = opener.end().map_or("", MacroWord::text);
        match self.lexer.take_body(opener) {
            Ok(body) => {
                self.bump();
                if self.at(TokenKind::Semicolon) {
                    return Ok(body);
                }
                Err(self.missing_semicolon("`;`"))
            }
            Err(other) => {
                let mut diagnostic = Diagnostic::new(
                    DiagnosticCode::NoBody,
                    span,
                    format!("`{}` without `{end}`", opener.text()),
                )
                .label("opened here and never closed; the rest of the text is not read");
                if let Some(other) = other {
                    diagnostic = diagnostic.related(other, format!("`{end}` must come first"));
                }
                self.report(diagnostic);
                self.lexer.skip_text();
                self.bump();
                Ok(Err(ParseAbort)?)
            }
        }
    }

    /// Parses a use of a macro.
    pub(super) fn use_macro(&mut self, index: usize) -> Parsed<()> {
        let start = self.tok.span;
        let Some(arguments) = self.lexer.take_arguments() else {
            self.bump();
            return Err(self.unfinished_use(start));
        };
        let span = self.lexer.macros[index].span;
        self.references.push(Reference { span: start, definition: Some(span) });
        let last = arguments.last().map_or(start, |last| last.span);
        self.bump();
        let call = start.to(last);
        let definition = self.lexer.macros[index].clone();
        let (wanted, given) = (definition.parameters.len(), arguments.len());
        if wanted != given {
            let name = &definition.name;
            let parameters: Vec<&str> =
                definition.parameters.iter().map(|(name, _)| name.as_str()).collect();
            let takes = match wanted {
                0 => "no arguments".to_owned(),
                1 => "one argument".to_owned(),
                _ => format!("{wanted} arguments"),
            };
            self.report(
                Diagnostic::new(
                    DiagnosticCode::MacroArguments,
                    call,
                    format!("`{name}` takes {takes}, not {given}"),
                )
                .label("separated by commas")
                .related(definition.span, "the macro")
                .help(format!("write `{name} {} ;`", parameters.join(", "))),
            );
            return self.parse_semicolon();
        }
        self.lexer.expand(index, &definition, arguments, call);
        self.began_expansion(call);
        self.bump();
        Ok(())
    }

    #[cold]
    fn unfinished_use(&mut self, start: Span) -> ParseAbort {
        self.report(
            Diagnostic::new(DiagnosticCode::NoSemicolon, start, "statement without `;`")
                .label("a use of a macro ends with `;`"),
        );
        ParseAbort
    }

    /// Counts the last instruction to the use or repetition of the source that produces it.
    pub(super) fn extend_expansion(&mut self) {
        let end = self.job.program.code.len();
        if let Some(call) = self.lexer.outermost_use(self.body_scope)
            && let Some(last) = self.expansions.last_mut()
            && last.call == call
        {
            last.end = end;
        }
    }

    /// Records a use or a repetition of the source itself, whose instructions follow.
    fn began_expansion(&mut self, call: Span) {
        if self.body_scope == 0 {
            let first = self.job.program.code.len();
            self.expansions.push(Expansion { call, first, end: first });
        }
    }
}
