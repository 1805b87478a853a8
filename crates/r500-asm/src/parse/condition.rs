//! Conditions, encoded as `JUMP_FUNC`, the truth table over the ALU result, a predicate bit and a
//! boolean constant.

use r500_isa::values::PredSel;

use super::{ParseAbort, Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::lexer::TokenKind;
use crate::names::Kw;
use crate::source::Span;

/// Table of "the ALU result is set": bits whose index has 4.
pub(crate) const ALU: u8 = 0xf0;
/// Table of "the predicate is set": bits whose index has 2.
pub(crate) const PREDICATE: u8 = 0xcc;
/// Table of "the boolean is set": bits whose index has 1.
pub(crate) const BOOLEAN: u8 = 0xaa;

/// A condition: its truth table, and the predicate and boolean that it reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Condition {
    pub(super) table: u8,
    pub(super) predicate: Option<PredSel>,
    pub(super) boolean: Option<u8>,
}

impl Parser<'_> {
    /// Parses `alu`, `pred.r`, `bool[3]`, `table(0x0f)`, and these with `!`, `&`, `|` and brackets.
    pub(super) fn condition(&mut self) -> Parsed<Condition> {
        self.any_of(0)
    }

    fn any_of(&mut self, depth: u32) -> Parsed<Condition> {
        let start = self.tok.span;
        let mut left = self.all_of(depth)?;
        while self.eat(TokenKind::Pipe) {
            let right = self.all_of(depth)?;
            left = self.join(left, right, start, |a, b| a | b);
        }
        Ok(left)
    }

    fn all_of(&mut self, depth: u32) -> Parsed<Condition> {
        let start = self.tok.span;
        let mut left = self.term(depth)?;
        while self.eat(TokenKind::Amp) {
            let right = self.term(depth)?;
            left = self.join(left, right, start, |a, b| a & b);
        }
        Ok(left)
    }

    fn term(&mut self, depth: u32) -> Parsed<Condition> {
        let mut inverted = false;
        while self.eat(TokenKind::Bang) {
            inverted = !inverted;
        }
        let mut condition = Condition::default();
        if self.at(TokenKind::OpenParen) && depth < 16 {
            self.bump();
            condition = self.any_of(depth + 1)?;
            self.expect_token(TokenKind::CloseParen)?;
        } else if self.eat_word(Kw::Alu) {
            condition.table = ALU;
        } else if self.eat_word(Kw::Pred) {
            self.expect_token(TokenKind::Dot)?;
            let Some(sel) = [
                ("r", PredSel::RRRR),
                ("g", PredSel::GGGG),
                ("b", PredSel::BBBB),
                ("a", PredSel::AAAA),
            ]
            .into_iter()
            .find(|(text, _)| self.at_text(text)) else {
                return Err(self.expected("`r`, `g`, `b` or `a`"));
            };
            self.bump();
            condition.table = PREDICATE;
            condition.predicate = Some(sel.1);
        } else if self.eat_word(Kw::Table) {
            self.expect_token(TokenKind::OpenParen)?;
            #[allow(clippy::cast_possible_truncation)]
            let table = self.number(255, "a truth table")? as u8;
            condition.table = table;
            self.expect_token(TokenKind::CloseParen)?;
        } else {
            let start = self.tok.span;
            match self.register()? {
                Some(Register::Bool(n)) => {
                    condition.table = BOOLEAN;
                    condition.boolean = Some(n);
                }
                found => {
                    if found.is_some() {
                        self.report(
                            Diagnostic::new(
                                DiagnosticCode::WrongRegister,
                                start.to(self.before),
                                "this register cannot be a condition",
                            )
                            .label("only boolean constants are"),
                        );
                        return Err(ParseAbort);
                    }
                    return Err(self.expected(
                        "a condition: `alu`, `pred.r`, `bool[0]`, `table(0x0f)` or `!` and one",
                    ));
                }
            }
        }
        if inverted {
            condition.table = !condition.table;
        }
        Ok(condition)
    }

    fn join(
        &mut self,
        a: Condition,
        b: Condition,
        start: Span,
        how: fn(u8, u8) -> u8,
    ) -> Condition {
        let different = matches!((a.predicate, b.predicate), (Some(x), Some(y)) if x != y)
            || matches!((a.boolean, b.boolean), (Some(x), Some(y)) if x != y);
        if different {
            let span = start.to(self.before);
            self.report(
                Diagnostic::new(
                    DiagnosticCode::ConditionConflict,
                    span,
                    "a condition reads one predicate bit and one boolean constant",
                )
                .label("two of a kind"),
            );
        }
        Condition {
            table: how(a.table, b.table),
            predicate: a.predicate.or(b.predicate),
            boolean: a.boolean.or(b.boolean),
        }
    }
}
