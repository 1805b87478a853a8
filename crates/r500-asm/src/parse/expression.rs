//! Constant expressions, wherever a number may stand.

use r500_isa::InlineConst;

use super::value::whole;
use super::{NamedValue, ParseAbort, Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::lexer::TokenKind;
use crate::names::{self, Kw};
use crate::source::Span;
use r500_text::expression::{
    self, Environment, Expression, ExpressionError, Function, Mark, Operator, Precedence, Reader,
};

impl Parser<'_> {
    /// Returns whether an operator follows a number, so that it begins an expression.
    pub(super) fn at_operator(&self) -> bool {
        matches!(
            self.tok.kind,
            TokenKind::Plus | TokenKind::Minus | TokenKind::Star | TokenKind::Slash
        )
    }

    /// Returns whether the current word is the name of a number, or begins an expression as `pi` and functions do.
    pub(super) fn at_named_number(&self) -> bool {
        if !self.at(TokenKind::Word)
            || !matches!(self.tok.kw, Kw::Ident | Kw::Sin | Kw::Cos | Kw::Min | Kw::Max)
        {
            return false;
        }
        match self.lookup(self.tok.span) {
            Some((NamedValue::Number(_) | NamedValue::Register(Register::Float(_)), _)) => true,
            Some(_) => false,
            None => {
                let text = self.text(self.tok.span);
                text.eq_ignore_ascii_case("pi") || Function::from_name(&text).is_some()
            }
        }
    }

    /// Parses the rest of an expression that begins with a number, after it.
    pub(super) fn resume(&mut self, first: f64, start: Span) -> Parsed<(f64, Span)> {
        let expression = expression::resume(self, Expression::Number(first))?;
        self.evaluate(&expression, start)
    }

    /// Parses an expression that begins with something else than a number.
    pub(super) fn expression(&mut self) -> Parsed<(f64, Span)> {
        let start = self.tok.span;
        let expression = expression::parse(self)?;
        self.evaluate(&expression, start)
    }

    /// Parses the factor after a minus sign, and the rest of the expression.
    pub(super) fn negated(&mut self, start: Span) -> Parsed<(f64, Span)> {
        let factor = expression::factor(self)?;
        let expression = expression::resume(self, Expression::Negate(Box::new(factor)))?;
        self.evaluate(&expression, start)
    }

    fn evaluate(&mut self, expression: &Expression, start: Span) -> Parsed<(f64, Span)> {
        let end = if self.plus_al { self.before_plus } else { self.before };
        let mut span = start.to(end);
        if self.body_scope != 0 && self.bytes(span).contains(&b';') {
            // It begins in an argument and ends in another text.
            span = start;
        }
        let value = expression.number(Environment::CONSTANT).map_err(|message| {
            self.report(
                Diagnostic::new(DiagnosticCode::BadExpression, span, message)
                    .label("a number belongs here"),
            );
            ParseAbort
        })?;
        if !value.is_finite() && !expression.has_infinity() {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::BadExpression,
                    span,
                    format!("the value of this expression is {value}"),
                )
                .label(
                    "a division by zero, a function outside of its domain, or a number too large",
                )
                .help("write `inf` or `nan` if that is meant"),
            );
            return Ok((0.0, span));
        }
        Ok((value, span))
    }

    /// Returns the value of an expression as a whole number of a range. Another one is reported and counts as 0.
    pub(super) fn whole_value(&mut self, value: f64, span: Span, max: u32, what: &str) -> u32 {
        let max_value = f64::from(max);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        if value.fract() == 0.0 && (0.0..=max_value).contains(&value) {
            return value as u32;
        }
        let (code, message) = if value.fract() != 0.0 {
            (DiagnosticCode::BadNumber, format!("{value} is not a whole number"))
        } else if value < 0.0 {
            (DiagnosticCode::OutOfRange, format!("{value} is negative"))
        } else {
            (DiagnosticCode::OutOfRange, format!("{value} is too large"))
        };
        self.report(Diagnostic::new(code, span, message).label(format!("{what} is at most {max}")));
        0
    }

    /// Rounds the value of an expression to float, once. A value too large for it is reported.
    pub(super) fn round_to_float(&mut self, value: f64, span: Span) -> f32 {
        #[allow(clippy::cast_possible_truncation)] // to nearest even
        let rounded = value as f32;
        if rounded.is_infinite() && value.is_finite() {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::OutOfRange,
                    span,
                    format!("{value} does not fit into a float"),
                )
                .label("the greatest float is 3.4028235e38"),
            );
        }
        rounded
    }
}

impl Reader for Parser<'_> {
    type Error = ParseAbort;

    fn operator(&mut self, precedence: Precedence) -> Option<Operator> {
        if self.lexer.depth() < self.unit {
            return None;
        }
        let operator = match (self.tok.kind, precedence) {
            (TokenKind::Plus, Precedence::Sum) => Operator::Add,
            (TokenKind::Minus, Precedence::Sum) => Operator::Subtract,
            (TokenKind::Star, Precedence::Product) => Operator::Multiply,
            (TokenKind::Slash, Precedence::Product) => Operator::Divide,
            _ => return None,
        };
        let before = self.before;
        self.bump();
        if operator == Operator::Add && self.at_word(Kw::Al) {
            self.plus_al = true;
            self.before_plus = before;
            return None;
        }
        Some(operator)
    }

    fn mark(&mut self, mark: Mark) -> bool {
        self.eat(match mark {
            Mark::Open => TokenKind::OpenParen,
            Mark::Close => TokenKind::CloseParen,
            Mark::Comma => TokenKind::Comma,
            Mark::Minus => TokenKind::Minus,
        })
    }

    fn number(&mut self) -> Parsed<Option<f64>> {
        if !self.at_digit() && !self.at_text("inf") && !self.at_text("nan") {
            return Ok(None);
        }
        let span = self.tok.span;
        if let Some(Ok((n, true))) = whole(self.bytes(span)) {
            self.bump();
            return Ok(Some(f64::from(n)));
        }
        let (_, span) = self.plain_literal()?;
        let text = self.text(span);
        // Checked by `plain_literal`, which accepts nothing else.
        Ok(Some(text.parse().map_err(|_| self.expected("a number"))?))
    }

    fn word(&mut self) -> Option<String> {
        if !self.at(TokenKind::Word) {
            return None;
        }
        // Resolved before the next token is read, whose scope may be another one.
        self.word_value = self.resolve(self.tok.span);
        Some(self.text(self.tok.span)).inspect(|_| {
            self.bump();
        })
    }

    fn name(&mut self, word: &str) -> Option<Expression> {
        match self.word_value.take()? {
            NamedValue::Number(value) => Some(Expression::Number(value)),
            NamedValue::Register(Register::Float(code)) => {
                Some(Expression::Number(InlineConst::new(code).value().into()))
            }
            // Reported as a word without a value.
            NamedValue::Register(_) | NamedValue::Macro(_) => {
                let _ = word;
                None
            }
        }
    }

    fn error(&mut self, error: ExpressionError) -> ParseAbort {
        let word = self.before;
        match &error {
            ExpressionError::NoValue => return self.expected("a number"),
            ExpressionError::Missing(mark) => return self.expected(&format!("`{mark}`")),
            ExpressionError::UnknownName(name) => {
                let functions = Function::of_numbers().map(|(name, ..)| name);
                let near = names::closest(name, functions.chain(["pi"])).map(str::to_owned);
                let near = near.or_else(|| self.closest_name(name));
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::BadExpression,
                        word,
                        format!("`{name}` is not a number"),
                    )
                    .label("no number has this name")
                    .help(format!(
                        "`DEF {name} = 1 ;` before gives one; there are `pi` and {}",
                        function_list()
                    ))
                    .suggest(near.as_deref()),
                );
            }
            ExpressionError::Arguments { .. } => self.report(
                Diagnostic::new(DiagnosticCode::BadExpression, word, error.to_string())
                    .label("ends here"),
            ),
            _ => {
                let span = self.tok.span;
                self.report(
                    Diagnostic::new(DiagnosticCode::BadExpression, span, error.to_string())
                        .label("an expression has at most 64 operators in a row or levels"),
                );
            }
        }
        ParseAbort
    }

    fn open_unit(&mut self) -> bool {
        let Some(depth) = self.lexer.argument_at(self.tok.span, self.unit) else { return false };
        self.units.push(std::mem::replace(&mut self.unit, depth));
        true
    }

    fn close_unit(&mut self) {
        self.unit = self.units.pop().unwrap_or_default();
    }
}

fn function_list() -> String {
    let names: Vec<String> = Function::of_numbers().map(|(name, ..)| format!("`{name}`")).collect();
    names.join(", ")
}
