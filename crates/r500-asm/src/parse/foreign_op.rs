//! Errors at operations of other shader languages.

use r500_isa::Half;

use super::op::{AluSlot, Op};
use super::{ParseAbort, Parser};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::foreign_ops::{ForeignOp, mad_text};
use crate::lexer::TokenKind;
use crate::names::Kw;
use crate::source::Span;

impl Parser<'_> {
    /// Reports an operation of another language, with its equivalent instruction.
    #[cold]
    pub(super) fn report_foreign_op(&mut self, op: &Op, foreign: &ForeignOp) -> ParseAbort {
        let start = self.tok.span;
        let word = self.text(start);
        self.bump();
        let mut named = op.named;
        if self.eat(TokenKind::Dot) {
            named = match &*self.text(self.tok.span).to_ascii_lowercase() {
                "rgb" => Some(AluSlot::Rgb),
                "a" => Some(AluSlot::Alpha),
                _ => named,
            };
            self.bump();
        }
        let mut operands = Vec::new();
        while operands.len() < 3 && self.at_operand() {
            let Some(span) = self.skip_operand() else { break };
            operands.push(self.text(span));
        }
        let slot = named.or(op.clue.map(|(slot, _)| slot));
        let half = slot.map(|slot| match slot {
            AluSlot::Rgb => Half::Rgb,
            AluSlot::Alpha => Half::Alpha,
        });
        let fix = half.and_then(|half| mad_text(foreign, half, &operands));
        let span = if fix.is_some() { start.to(self.before) } else { start };
        let mut diagnostic = Diagnostic::new(
            DiagnosticCode::UnknownOpcode,
            span,
            format!("there is no operation `{word}`"),
        )
        .label("`MAD` computes A*B + C")
        .help(foreign.text);
        if !foreign.is_mad() {
            diagnostic.label = "not an operation of this processor".to_owned();
        }
        if let Some(fix) = fix {
            diagnostic = diagnostic.fix(fix);
        }
        self.report(diagnostic);
        ParseAbort
    }

    /// Skips `[-] [|] src0 . swizzle [|]`, with any swizzle.
    fn skip_operand(&mut self) -> Option<Span> {
        let start = self.tok.span;
        self.eat(TokenKind::Minus);
        let absolute = self.eat(TokenKind::Pipe);
        if !matches!(self.tok.kw, Kw::Src0 | Kw::Src1 | Kw::Src2 | Kw::Srcp) {
            return None;
        }
        self.bump();
        if !self.eat(TokenKind::Dot) || !self.eat(TokenKind::Word) {
            return None;
        }
        if absolute && !self.eat(TokenKind::Pipe) {
            return None;
        }
        Some(start.to(self.before))
    }
}
