//! Constants: `const[n] =`, `int[n] =`, `bool[n] =`, and constants by their names.

use r500_isa::state::{UsFcBoolConst, UsFcIntConst};

use super::{Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::lexer::TokenKind;
use crate::source::Span;

impl Parser<'_> {
    /// Parses `const[n] = (r, g, b, a) ;`.
    pub(super) fn constant(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        let n = self.index(255, "a constant's number")?;
        self.expect_token(TokenKind::Equals)?;
        self.give(Register::Const(n), start)
    }

    /// Parses `int[n] = (trip count, first aL, step) ;`.
    pub(super) fn integer(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        let n = self.index(31, "an integer constant's number")?;
        self.expect_token(TokenKind::Equals)?;
        self.give(Register::Int(n), start)
    }

    /// Parses `bool[n] = true ;`.
    pub(super) fn boolean(&mut self) -> Parsed<()> {
        let start = self.bump().span;
        let n = self.index(31, "a boolean constant's number")?;
        self.expect_token(TokenKind::Equals)?;
        self.give(Register::Bool(n), start)
    }

    pub(super) fn named_constant(&mut self) -> Parsed<()> {
        let span = self.tok.span;
        if let Some(register) = self.register()? {
            self.expect_token(TokenKind::Equals)?;
            self.give(register, span)?;
        }
        Ok(())
    }

    /// Parses the value of a constant, after its `=`, and sets it.
    pub(super) fn give(&mut self, register: Register, span: Span) -> Parsed<()> {
        match register {
            Register::Const(n) => {
                self.once_at(&format!("const[{n}]"), span);
                let channels = self.given_channels()?;
                self.job.program.state.set_given_channels(usize::from(n), channels);
            }
            Register::Int(n) => {
                self.once_at(&format!("int[{n}]"), span);
                let word = self.integer_triple()?;
                self.job.program.state.fc_int_const[usize::from(n)] = Some(word);
            }
            Register::Bool(n) => {
                self.once_at(&format!("bool[{n}]"), span);
                let on = self.truth()?;
                let bits = self.job.program.state.fc_bool_const.unwrap_or_default().kbool();
                let bits = bits & !(1 << n) | u32::from(on) << n;
                self.job.program.state.fc_bool_const = Some(UsFcBoolConst(bits));
            }
            _ => {}
        }
        Ok(())
    }

    /// Parses `(r, g, b, a)`, the bits of four floats; `_` stands for a channel that is not given.
    fn given_channels(&mut self) -> Parsed<[Option<u32>; 4]> {
        let mut channels = [None; 4];
        self.expect_token(TokenKind::OpenParen)?;
        for (i, channel) in channels.iter_mut().enumerate() {
            if i > 0 {
                self.expect_token(TokenKind::Comma)?;
            }
            if self.at(TokenKind::Word) && self.text(self.tok.span) == "_" {
                self.bump();
            } else {
                *channel = Some(self.float()?.to_bits());
            }
        }
        self.expect_token(TokenKind::CloseParen)?;
        Ok(channels)
    }

    /// Parses `(a, b, …)`, N floats.
    pub(super) fn vector<const N: usize>(&mut self) -> Parsed<[f32; N]> {
        let mut values = [0.0; N];
        self.expect_token(TokenKind::OpenParen)?;
        for (i, value) in values.iter_mut().enumerate() {
            if i > 0 {
                self.expect_token(TokenKind::Comma)?;
            }
            *value = self.float()?;
        }
        self.expect_token(TokenKind::CloseParen)?;
        Ok(values)
    }

    fn integer_triple(&mut self) -> Parsed<UsFcIntConst> {
        if !self.at(TokenKind::OpenParen) {
            return Ok(UsFcIntConst(self.number(u32::MAX, "`(passes, first, step)` or a dword")?));
        }
        self.bump();
        #[allow(clippy::cast_possible_truncation)]
        let passes = self.number(255, "the trip count")? as u8;
        self.expect_token(TokenKind::Comma)?;
        #[allow(clippy::cast_possible_truncation)]
        let first = self.number(255, "the first aL")? as u8;
        self.expect_token(TokenKind::Comma)?;
        let (step, span) = self.literal()?;
        let step = step.value();
        self.expect_token(TokenKind::CloseParen)?;
        if step.fract() != 0.0 || !(-128.0..=127.0).contains(&step) {
            self.report(
                Diagnostic::new(
                    DiagnosticCode::OutOfRange,
                    span,
                    format!("{step} is not a valid step of aL"),
                )
                .label("a whole number from -128 to 127"),
            );
            return Ok(UsFcIntConst(0));
        }
        #[allow(clippy::cast_possible_truncation)]
        let step = step as i8;
        Ok(UsFcIntConst(0)
            .with(UsFcIntConst::KR, passes)
            .with(UsFcIntConst::KG, first)
            .with(UsFcIntConst::KB, step))
    }

    pub(super) fn truth(&mut self) -> Parsed<bool> {
        for (text, value) in [("true", true), ("false", false), ("1", true), ("0", false)] {
            if self.eat_text(text) {
                return Ok(value);
            }
        }
        Err(self.expected("`true` or `false`"))
    }
}
