//! Source bindings: the registers that the sources of an ALU or output instruction name.

use r500_isa::words::{AluAlphaAddr, AluRgbAddr};
use r500_isa::{InlineConst, Source};

use super::op::AluSlot;
use super::value::Number;
use super::{ParseAbort, Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::foreign_ops::{OPERANDS, foreign_op};
use crate::lexer::TokenKind;
use crate::names::{self, Kw};
use crate::source::Span;

impl Parser<'_> {
    pub(super) fn parse_source_bindings(
        &mut self,
        rgb: &mut AluRgbAddr,
        alpha: &mut AluAlphaAddr,
    ) -> Parsed<()> {
        let mut seen = 0u8;
        while !self.at(TokenKind::Colon) {
            let start = self.tok.span;
            let n = match self.tok.kw {
                Kw::Src0 => 0,
                Kw::Src1 => 1,
                Kw::Src2 => 2,
                Kw::Srcp => 3,
                _ if self.at_missing_source() => return Err(self.report_missing_source(seen)),
                _ => return Err(self.report_bad_binding()),
            };
            self.bump();
            // Without a suffix for both halves.
            let side = match self.eat(TokenKind::Dot) {
                true => Some(self.parse_binding_suffix()?),
                false if self.at(TokenKind::Equals) => None,
                false => return Err(self.expected("`.rgb`, `.a` or `=`")),
            };
            let (in_rgb, in_alpha) = (side != Some(AluSlot::Alpha), side != Some(AluSlot::Rgb));
            let place = start.to(self.before);
            let bit = u8::from(in_rgb) << n | u8::from(in_alpha) << (n + 4);
            if seen & bit != 0 {
                let text = self.text(place);
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::DuplicateLet,
                        place,
                        format!("`{text}` is given twice"),
                    )
                    .label("each source and suffix once"),
                );
            }
            seen |= bit;
            self.expect_token(TokenKind::Equals)?;
            if n == 3 {
                let Some(op) = names::value_of(names::SRCP_OPS, self.tok.kw) else {
                    return Err(self.report_bad_presubtract());
                };
                self.bump();
                if in_rgb {
                    *rgb = rgb.with(AluRgbAddr::SRCP_OP, op);
                }
                if in_alpha {
                    *alpha = alpha.with(AluAlphaAddr::SRCP_OP, op);
                }
            } else {
                let source = self.parse_source()?;
                if in_rgb {
                    *rgb = rgb.with_source(n, source);
                }
                if in_alpha {
                    *alpha = alpha.with_source(n, source);
                }
            }
            if !self.eat(TokenKind::Comma) && !self.at(TokenKind::Colon) {
                return Err(self.missing_semicolon("`,` or `:`"));
            }
        }
        Ok(())
    }

    /// Returns whether the current token is a source that does not exist, such as `src3`.
    pub(super) fn at_missing_source(&self) -> bool {
        let word = match self.tok.kind {
            TokenKind::Word if self.tok.kw == Kw::Ident => self.bytes(self.tok.span),
            _ => return false,
        };
        let is = |head: &[u8], rest: &[u8]| {
            head.eq_ignore_ascii_case(b"src") && rest.iter().all(u8::is_ascii_digit)
        };
        word.len() <= 16 && word.split_at_checked(3).is_some_and(|(head, rest)| is(head, rest))
    }

    /// Reports a source that does not exist. `seen` are the bound ones: bits 0 to 3 of colours, 4 to 7 of alpha.
    #[cold]
    pub(super) fn report_missing_source(&mut self, seen: u8) -> ParseAbort {
        let span = self.tok.span;
        let text = self.text(span);
        let diagnostic =
            Diagnostic::new(DiagnosticCode::NoSource, span, format!("there is no `{text}`"))
                .label("there are three sources: src0, src1, src2");
        let free = (0..3).find(|n| seen & 0x11 << n == 0);
        self.report(match free {
            Some(n) => diagnostic.suggest(Some(&format!("src{n}"))),
            None => diagnostic
                .help("all three are in use: read the fourth value in a second instruction"),
        });
        ParseAbort
    }

    /// Reports a token that is neither a flag, nor a source binding, nor the `:` after them.
    #[cold]
    pub(super) fn report_bad_binding(&mut self) -> ParseAbort {
        if self.at(TokenKind::Word) && !self.tok.first {
            let span = self.tok.span;
            let text = self.text(span);
            let known = [
                Kw::Out,
                Kw::TexSemWait,
                Kw::Last,
                Kw::Nop,
                Kw::AluWait,
                Kw::WriteInactive,
                Kw::StatWe,
                Kw::Pred,
                Kw::Src0,
                Kw::Src1,
                Kw::Src2,
                Kw::Srcp,
            ];
            let near = names::closest(&text, known.iter().map(|k| k.text()));
            let diagnostic = Diagnostic::new(
                DiagnosticCode::Unexpected,
                span,
                format!("expected a source or `:`, found `{text}`"),
            )
            .label("flags, then sources, precede `:`, operations follow it");
            if let Some(foreign) = foreign_op(&text) {
                self.report(diagnostic.help(foreign.text).help(OPERANDS));
                return ParseAbort;
            }
            let itself = near.is_some_and(|n| n.eq_ignore_ascii_case(&text));
            self.report(if itself { diagnostic } else { diagnostic.suggest(near) });
            return ParseAbort;
        }
        self.missing_semicolon("a flag, a source or `:`")
    }

    pub(super) fn parse_binding_suffix(&mut self) -> Parsed<AluSlot> {
        let side = match self.bytes(self.tok.span) {
            [b'r' | b'R', b'g' | b'G', b'b' | b'B'] => AluSlot::Rgb,
            [b'a' | b'A'] => AluSlot::Alpha,
            _ => return Err(self.expected("`rgb` or `a`")),
        };
        self.bump();
        Ok(side)
    }

    /// Parses the register of a source: `temp[n]`, `const[n]`, `float(code)`, the value of an inline constant, or a
    /// name.
    pub(super) fn parse_source(&mut self) -> Parsed<Source> {
        let source = |addr, constant, relative| Source { addr, constant, relative };
        self.plus_al = false;
        match self.tok.kw {
            Kw::Temp => {
                self.bump();
                let index = self.temp_index()?;
                return Ok(source(index.n, false, index.relative));
            }
            Kw::Const => {
                self.bump();
                let index = self.relative_index(255, "a constant's number")?;
                return Ok(source(index.n, true, index.relative));
            }
            _ => {}
        }
        let code = if self.eat_word(Kw::Float) {
            self.expect_token(TokenKind::OpenParen)?;
            let (number, span) = self.literal()?;
            let code = match number {
                Number::Computed(value) => {
                    #[allow(clippy::cast_possible_truncation)]
                    let code =
                        self.whole_value(value, span, 127, "an inline constant's code") as u8;
                    code
                }
                Number::Whole(code, _) => {
                    if code > 127 {
                        self.report(
                            Diagnostic::new(
                                DiagnosticCode::OutOfRange,
                                span,
                                format!("{code} is too large"),
                            )
                            .label("an inline constant's code is at most 127")
                            .help("to name it by value, write the value with a point"),
                        );
                        0
                    } else {
                        #[allow(clippy::cast_possible_truncation)]
                        let code = code as u8;
                        code
                    }
                }
                Number::Real(value) => self.inline(value, span),
            };
            self.expect_token(TokenKind::CloseParen)?;
            code
        } else {
            let span = self.tok.span;
            match if self.at(TokenKind::Word) { self.resolve_register(span) } else { None } {
                Some(Register::Temp(n)) => {
                    self.bump();
                    return Ok(source(n, false, false));
                }
                Some(Register::Const(n)) => {
                    self.bump();
                    return Ok(source(n, true, false));
                }
                Some(Register::Float(code)) => {
                    self.bump();
                    let first = InlineConst::new(code).value();
                    match self.at_operator() {
                        true => self.inline_rest(first.into(), span, code)?,
                        false => code,
                    }
                }
                Some(_) => return Err(self.report_bad_source()),
                None if self.at_number() => {
                    let (number, span) = self.literal()?;
                    let value = match number {
                        Number::Computed(value) => self.round_to_float(value, span),
                        number => number.float(),
                    };
                    self.inline(value, span)
                }
                None => return Err(self.report_bad_source()),
            }
        };
        let relative = self.plus_al || self.eat(TokenKind::Plus);
        if relative && !self.eat_word(Kw::Al) {
            return Err(self.expected("`aL`"));
        }
        Ok(source(0x80 | code, false, relative))
    }

    /// Parses the rest of an expression that begins with the name of an inline constant.
    fn inline_rest(&mut self, first: f64, start: Span, code: u8) -> Parsed<u8> {
        let before = self.before;
        let (value, span) = self.resume(first, start)?;
        if self.plus_al && self.before_plus == before {
            return Ok(code);
        }
        let value = self.round_to_float(value, span);
        Ok(self.inline(value, span))
    }

    #[cold]
    pub(super) fn report_bad_source(&mut self) -> ParseAbort {
        if !self.at(TokenKind::Word) {
            return self.expected("`temp[n]`, `const[n]`, `float(code)`, a number or a name");
        }
        let span = self.tok.span;
        let text = self.text(span);
        if self.tok.kw == Kw::Out {
            self.report(
                Diagnostic::new(DiagnosticCode::BadSource, span, "an output cannot be read")
                    .label("expected `temp[n]`, `const[n]`, `float(code)`, a number or a name")
                    .help("write the value into a temporary, too, and read that"),
            );
            return ParseAbort;
        }
        let near = names::closest(&text, ["temp", "const", "float"])
            .map(str::to_owned)
            .or_else(|| self.closest_name(&text));
        self.report(
            Diagnostic::new(DiagnosticCode::BadSource, span, format!("`{text}` is not a source"))
                .label("expected `temp[n]`, `const[n]`, `float(code)`, a number or a name")
                .suggest(near.as_deref()),
        );
        ParseAbort
    }

    #[cold]
    pub(super) fn report_bad_presubtract(&mut self) -> ParseAbort {
        let span = self.tok.span;
        if !self.at(TokenKind::Word) {
            return self.expected("`neg2`, `sub`, `add` or `neg`");
        }
        let text = self.text(span);
        let words = names::SRCP_OPS.iter().map(|(k, _)| k.text());
        self.report(
            Diagnostic::new(
                DiagnosticCode::BadPresubtract,
                span,
                format!("`{text}` is not a presubtract operation"),
            )
            .label("`neg2` (1-2*src0), `sub` (src1-src0), `add` (src1+src0) or `neg` (1-src0)")
            .suggest(names::closest(&text, words)),
        );
        ParseAbort
    }
}
