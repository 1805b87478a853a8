//! Numbers, strings, register indices.

use crate::items::ComputedIndex;
use r500_isa::InlineConst;

use super::{ParseAbort, Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::lexer::TokenKind;
use crate::names::Kw;
use crate::source::Span;

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer: decimal digits, or `0x` and hexadecimal digits (the flag).
    Whole(u32, bool),
    /// With a point or an exponent, or `inf`, `nan`.
    Real(f32),
    /// The value of an expression.
    Computed(f64),
}

impl Number {
    /// Converts to a float: integers by value, hexadecimal ones as the bits of a float.
    pub(super) fn float(self) -> f32 {
        match self {
            #[allow(clippy::cast_precision_loss)] // excess digits are rounded to nearest
            Self::Whole(n, false) => n as f32,
            Self::Whole(n, true) => f32::from_bits(n),
            Self::Real(x) => x,
            #[allow(clippy::cast_possible_truncation)] // to nearest even
            Self::Computed(x) => x as f32,
        }
    }

    /// Returns its value; of a hexadecimal one, not as the bits of a float.
    pub(super) fn value(self) -> f64 {
        match self {
            Self::Whole(n, _) => n.into(),
            Self::Real(x) => x.into(),
            Self::Computed(x) => x,
        }
    }
}

/// An index with an optional `aL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Index {
    pub(super) n: u8,
    pub(super) relative: bool,
}

/// Parses decimal digits, or `0x` and hexadecimal digits: the value, and whether it is hexadecimal. `None` if the bytes
/// are something else, `Err` if the value does not fit.
pub(super) fn whole(bytes: &[u8]) -> Option<Result<(u32, bool), ()>> {
    let (digits, radix) = match bytes {
        [b'0', b'x' | b'X', rest @ ..] => (rest, 16),
        _ => (bytes, 10),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for b in digits {
        let digit = char::from(*b).to_digit(radix)?;
        value = (value * u64::from(radix) + u64::from(digit)).min(1 << 40);
    }
    Some(u32::try_from(value).map(|v| (v, radix == 16)).map_err(|_| ()))
}

impl Parser<'_> {
    /// Parses an integer up to `max`. A larger one is reported and counts as 0.
    pub(super) fn number(&mut self, max: u32, what: &str) -> Parsed<u32> {
        let span = self.tok.span;
        let written = if self.at(TokenKind::Word) { whole(self.bytes(span)) } else { None };
        let Some(value) = written else {
            return self.whole_expression(max, what);
        };
        self.bump();
        if self.at_operator() {
            let first = value.map_or(f64::INFINITY, |(value, _)| value.into());
            let (value, span) = self.resume(first, span)?;
            return Ok(self.whole_value(value, span, max, what));
        }
        match value {
            Ok((value, _)) if value <= max => Ok(value),
            _ => {
                let text = self.text(span);
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::OutOfRange,
                        span,
                        format!("{text} is too large"),
                    )
                    .label(format!("{what} is at most {max}")),
                );
                Ok(0)
            }
        }
    }

    /// Parses a whole number that does not begin with one.
    #[cold]
    fn whole_expression(&mut self, max: u32, what: &str) -> Parsed<u32> {
        if self.at(TokenKind::Word) && !self.at_named_number() {
            return Err(self.bad_number(what));
        }
        if !self.at_number() {
            return Err(self.expected(what));
        }
        let (value, span) = self.expression()?;
        Ok(self.whole_value(value, span, max, what))
    }

    #[cold]
    fn bad_number(&mut self, what: &str) -> ParseAbort {
        let span = self.tok.span;
        let text = self.text(span);
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            return self.expected(what);
        }
        self.report(
            Diagnostic::new(
                DiagnosticCode::BadNumber,
                span,
                format!("`{text}` is not a whole number"),
            )
            .label("digits only, or `0x` and hexadecimal digits"),
        );
        ParseAbort
    }

    /// Returns whether a number or an expression can start here.
    pub(super) fn at_number(&self) -> bool {
        match self.tok.kind {
            TokenKind::Minus | TokenKind::OpenParen => true,
            TokenKind::Word => self.at_literal() || self.at_named_number(),
            _ => false,
        }
    }

    /// Returns whether a number without sign is next.
    fn at_literal(&self) -> bool {
        self.at_digit() || self.at_text("inf") || self.at_text("nan")
    }

    /// Returns whether the current token begins with a digit.
    pub(super) fn at_digit(&self) -> bool {
        self.bytes(self.tok.span).first().is_some_and(u8::is_ascii_digit)
    }

    /// Parses a number with its sign, or an expression, and its span.
    pub(super) fn literal(&mut self) -> Parsed<(Number, Span)> {
        let start = self.tok.span;
        let negative = self.eat(TokenKind::Minus);
        if negative && !self.at_literal() {
            let (value, span) = self.negated(start)?;
            return Ok((Number::Computed(value), span));
        }
        if self.at(TokenKind::OpenParen) || !negative && !self.at_digit() && self.at_named_number()
        {
            let (value, span) = self.expression()?;
            return Ok((Number::Computed(value), span));
        }
        let (number, digits) = self.plain_literal()?;
        let span = start.to(digits);
        if self.at_operator() {
            let first = self.double(number, digits);
            let before = self.before;
            let (value, whole) = self.resume(if negative { -first } else { first }, start)?;
            // `0.5+aL` is a number of its own.
            if !self.plus_al || self.before_plus != before {
                return Ok((Number::Computed(value), whole));
            }
        }
        Ok((
            match (negative, number) {
                (false, number) => number,
                #[allow(clippy::cast_precision_loss)]
                (true, Number::Whole(n, _)) => Number::Real(-(n as f32)),
                (true, Number::Real(x)) => Number::Real(-x),
                (true, Number::Computed(x)) => Number::Computed(-x),
            },
            span,
        ))
    }

    /// Returns the value of a number as a double: of its text, so that it is rounded once.
    fn double(&self, number: Number, span: Span) -> f64 {
        match number {
            Number::Real(x) => self.text(span).parse().unwrap_or_else(|_| x.into()),
            number => number.value(),
        }
    }

    /// Parses a number without sign, and its span: the only construct of several tokens without space between them.
    pub(super) fn plain_literal(&mut self) -> Parsed<(Number, Span)> {
        if !self.at(TokenKind::Word) {
            return Err(self.expected("a number"));
        }
        let first = self.bump().span;
        if let Some(Ok((n, hex))) = whole(self.bytes(first)) {
            let exponent_or_point = self.at(TokenKind::Dot) && self.tok.span.start == first.end;
            if !exponent_or_point || hex {
                return Ok((Number::Whole(n, hex), first));
            }
        }
        let mut end = first;
        if self.at(TokenKind::Dot) && self.tok.span.start == end.end {
            end = self.bump().span;
            if self.at(TokenKind::Word) && self.tok.span.start == end.end {
                end = self.bump().span;
            }
        }
        let exponent = self.bytes(first).first().is_some_and(u8::is_ascii_digit)
            && self.bytes(end).last().is_some_and(|b| b.eq_ignore_ascii_case(&b'e'));
        if exponent
            && matches!(self.tok.kind, TokenKind::Minus | TokenKind::Plus)
            && self.tok.span.start == end.end
        {
            end = self.bump().span;
            if self.at(TokenKind::Word) && self.tok.span.start == end.end {
                end = self.bump().span;
            }
        }
        let span = first.to(end);
        let text = self.text(span);
        let is_number = text.starts_with(|c: char| c.is_ascii_digit())
            || text.eq_ignore_ascii_case("inf")
            || text.eq_ignore_ascii_case("nan");
        let parsed = if is_number { text.parse::<f32>().ok() } else { None };
        let Some(value) = parsed else {
            let near = if is_number { None } else { self.closest_name(&text) };
            self.report(
                Diagnostic::new(
                    DiagnosticCode::BadNumber,
                    span,
                    format!("`{text}` is not a number"),
                )
                .label("like `2`, `0.5`, `-1e-3`, `inf`, `nan`, `0x` and the bits of a float, or an expression")
                .suggest(near.as_deref()),
            );
            return Err(ParseAbort);
        };
        Ok((Number::Real(value), span))
    }

    /// Parses a float: a number, or `0x` and its bits.
    pub(super) fn float(&mut self) -> Parsed<f32> {
        let (number, span) = self.literal()?;
        Ok(match number {
            Number::Computed(value) => self.round_to_float(value, span),
            number => number.float(),
        })
    }

    /// Parses a string and unescapes it (`\"`, `\\`, `\n`, `\r`, `\u` with four hexadecimal digits).
    pub(super) fn string(&mut self) -> Parsed<(String, Span)> {
        let span = self.expect_token(TokenKind::Str)?.span;
        let text = self.text(span);
        let inner = text.strip_prefix('"').unwrap_or(&text);
        let inner = inner.strip_suffix('"').unwrap_or(inner);
        let mut out = String::with_capacity(inner.len());
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('n') => out.push('\n'),
                    Some('r') => out.push('\r'),
                    Some('u') => {
                        let digits = chars.as_str().get(..4);
                        let digits = digits.filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
                        let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
                        match code.and_then(char::from_u32) {
                            Some(c) => {
                                out.push(c);
                                chars.nth(3);
                            }
                            None => out.push('u'),
                        }
                    }
                    Some(c) => out.push(c),
                    None => {}
                },
                c => out.push(c),
            }
        }
        Ok((out, span))
    }

    /// Parses `[n]`, n at most `max`.
    pub(super) fn index(&mut self, max: u8, what: &str) -> Parsed<u8> {
        let open = self.expect_token(TokenKind::OpenBracket)?.span;
        let n = self.register_number(open, max, what)?;
        self.expect_token(TokenKind::CloseBracket)?;
        Ok(n)
    }

    /// Parses the number of a register after its `[`, and keeps it where the text does not show it.
    fn register_number(&mut self, bracket: Span, max: u8, what: &str) -> Parsed<u8> {
        let first = self.tok.span;
        #[allow(clippy::cast_possible_truncation)]
        let n = self.number(u32::from(max), what)? as u8;
        // A parameter may be a number in this use.
        if self.body_scope != 0 || self.before != first || whole(self.bytes(first)).is_none() {
            self.indices.push(ComputedIndex { bracket, n });
        }
        Ok(n)
    }

    /// Parses `[n]`, `[n+aL]`, `[aL+n]` or `[aL]`.
    pub(super) fn relative_index(&mut self, max: u8, what: &str) -> Parsed<Index> {
        let open = self.expect_token(TokenKind::OpenBracket)?.span;
        let mut index = Index { n: 0, relative: false };
        self.plus_al = false;
        if self.eat_word(Kw::Al) {
            index.relative = true;
            if self.eat(TokenKind::Plus) {
                index.n = self.register_number(open, max, what)?;
            }
        } else {
            index.n = self.register_number(open, max, what)?;
            if self.plus_al {
                index.relative = self.eat_word(Kw::Al);
            }
        }
        self.expect_token(TokenKind::CloseBracket)?;
        Ok(index)
    }

    /// Parses `[n]` of a temporary, with `aL` if relative addresses are permitted.
    pub(super) fn temp_index(&mut self) -> Parsed<Index> {
        self.relative_index(127, "a temporary's number")
    }

    /// Returns the code of the inline constant with this value; reports a value without one.
    pub(super) fn inline(&mut self, value: f32, span: Span) -> u8 {
        if let Some(constant) = InlineConst::exact(value) {
            return constant.code();
        }
        self.no_inline(value, span);
        0
    }

    #[cold]
    fn no_inline(&mut self, value: f32, span: Span) {
        let magnitude = value.abs();
        let mut diagnostic = Diagnostic::new(
            DiagnosticCode::NoInline,
            span,
            format!("no inline constant has the value {value}"),
        );
        if value.is_nan() || value.is_infinite() {
            diagnostic = diagnostic.label("inline constants are finite");
        } else if value.is_sign_negative() {
            diagnostic = diagnostic
                .label("inline constants have no sign")
                .help("name the positive value and negate the operand: `-src0.r`");
        } else {
            diagnostic = diagnostic.label("four bits of exponent, three of mantissa");
        }
        let (below, above) = InlineConst::nearest(magnitude);
        let above = if above == below { None } else { above };
        let near: Vec<String> = [below, above]
            .into_iter()
            .flatten()
            .map(|c| format!("{} (code {})", c.value(), c.code()))
            .collect();
        if !near.is_empty() && magnitude.is_finite() {
            diagnostic =
                diagnostic.help(format!("inline constants near {magnitude}: {}", near.join(", ")));
        }
        self.report(diagnostic);
    }

    /// Parses a register by name or as `word[n]`; `None` if the token is neither.
    pub(super) fn register(&mut self) -> Parsed<Option<Register>> {
        if !self.at(TokenKind::Word) {
            return Ok(None);
        }
        let (max, what, make): (u8, &str, fn(u8) -> Register) = match self.tok.kw {
            Kw::Temp => (127, "a temporary's number", Register::Temp),
            Kw::Const => (255, "a constant's number", Register::Const),
            Kw::Tex => (15, "a texture unit", Register::Tex),
            Kw::Out => (3, "a render target", Register::Out),
            Kw::Int => (31, "an integer constant's number", Register::Int),
            Kw::Bool => (31, "a boolean constant's number", Register::Bool),
            _ => {
                let found = self.resolve_register(self.tok.span);
                if found.is_some() {
                    self.bump();
                }
                return Ok(found);
            }
        };
        self.bump();
        Ok(Some(make(self.index(max, what)?)))
    }

    /// Parses a register of one kind, by name or as `word[n]`.
    pub(super) fn register_of(
        &mut self,
        what: &str,
        pick: impl Fn(Register) -> Option<u8>,
    ) -> Parsed<u8> {
        let span = self.tok.span;
        let Some(register) = self.register()? else {
            return Err(self.expected(what));
        };
        pick(register).ok_or_else(|| {
            self.report(
                Diagnostic::new(DiagnosticCode::WrongRegister, span, format!("expected {what}"))
                    .label("another kind of register"),
            );
            ParseAbort
        })
    }
}
