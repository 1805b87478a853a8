//! Operations of an ALU or output instruction: destinations, modifiers, opcode, operands.

use r500_isa::values::{AlphaOp, AluResultSel, Compare, Mod, Omod, RgbOp, Sel, Swiz, Target};

use super::value::Index;
use super::{ParseAbort, Parsed, Parser, Register};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::foreign_ops::foreign_op;
use crate::lexer::TokenKind;
use crate::names::{self, Kw};
use crate::source::Span;

/// One of the two operations, before its half is determined.
#[derive(Clone, Copy, Default)]
pub(super) struct Op {
    /// The span of the opcode.
    pub(super) opcode: Span,
    /// Codes by half; `None` for a half without this operation.
    pub(super) rgb: Option<RgbOp>,
    pub(super) alpha: Option<AlphaOp>,
    /// Half named by a suffix of the opcode.
    pub(super) named: Option<AluSlot>,
    /// The half given by the destinations, and its span.
    pub(super) clue: Option<(AluSlot, Span)>,
    pub(super) temp: Option<(Index, u8)>,
    pub(super) out: Option<(Target, u8)>,
    pub(super) result: Option<(AluResultSel, Compare)>,
    pub(super) depth: bool,
    /// The span of a `pred[…]`.
    pub(super) pred: Option<Span>,
    /// The span of an `out[…]` that writes something.
    pub(super) output: Option<Span>,
    pub(super) clamp: bool,
    pub(super) omod: Omod,
    pub(super) operands: [WrittenOperand; 3],
    pub(super) count: usize,
}

/// An operand as written.
#[derive(Clone, Copy, Default)]
pub(super) struct WrittenOperand {
    pub(super) sel: Sel,
    pub(super) modifier: Mod,
    pub(super) letters: [Swiz; 3],
    pub(super) length: u8,
    pub(super) span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AluSlot {
    Rgb,
    Alpha,
}

impl AluSlot {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rgb => "RGB",
            Self::Alpha => "alpha",
        }
    }
}

impl Parser<'_> {
    pub(super) fn op(&mut self, op: &mut Op) -> Parsed<()> {
        while self.destination(op)? {}
        op.clamp = self.eat_word(Kw::Clamp);
        if self.eat_word(Kw::Raw) {
            op.omod = Omod::DISABLED;
        } else {
            self.output_modifier(op)?;
        }
        self.opcode(op)?;
        while op.count < 3 && self.at_operand() {
            let operand = &mut op.operands[op.count];
            self.operand(operand)?;
            op.count += 1;
        }
        Ok(())
    }

    /// Parses `temp[1].rg =`, `out[0].rgb =`, `pred[lt].r =`, `alu[ge].a =`, `depth =`, `name.rg =`.
    pub(super) fn destination(&mut self, op: &mut Op) -> Parsed<bool> {
        let start = self.tok.span;
        match self.tok.kw {
            Kw::Temp => {
                self.bump();
                let index = self.temp_index()?;
                let mask = self.dest_mask(op, start)?;
                op.temp = Some((index, mask));
            }
            Kw::Out => {
                self.bump();
                let n = self.index(3, "a render target")?;
                let mask = self.dest_mask(op, start)?;
                op.out = Some((Target::new(n), mask));
                op.output = Some(start.to(self.before)).filter(|_| mask != 0);
            }
            Kw::Pred => {
                self.bump();
                self.expect_token(TokenKind::OpenBracket)?;
                let compare = self.compare()?;
                self.expect_token(TokenKind::CloseBracket)?;
                let mask = self.dest_mask(op, start)?;
                op.out = Some((Target::new(compare.code()), mask));
                op.pred = Some(start.to(self.before));
            }
            Kw::Alu => {
                self.bump();
                self.expect_token(TokenKind::OpenBracket)?;
                let compare = self.compare()?;
                self.expect_token(TokenKind::CloseBracket)?;
                self.expect_token(TokenKind::Dot)?;
                let sel = self.result_channel()?;
                let side = if sel == AluResultSel::RED { AluSlot::Rgb } else { AluSlot::Alpha };
                self.clue(op, side, start.to(self.before));
                op.result = Some((sel, compare));
            }
            Kw::Depth => {
                self.bump();
                self.clue(op, AluSlot::Alpha, start);
                op.depth = true;
            }
            Kw::Ident if self.tok.kind == TokenKind::Word => match self.resolve_register(start) {
                Some(Register::Temp(n)) => {
                    self.bump();
                    let mask = self.dest_mask(op, start)?;
                    op.temp = Some((Index { n, relative: false }, mask));
                }
                Some(Register::Out(n)) => {
                    self.bump();
                    let mask = self.dest_mask(op, start)?;
                    op.out = Some((Target::new(n), mask));
                    op.output = Some(start.to(self.before)).filter(|_| mask != 0);
                }
                _ => return Ok(false),
            },
            _ => return Ok(false),
        }
        self.expect_token(TokenKind::Equals)?;
        Ok(true)
    }

    pub(super) fn dest_mask(&mut self, op: &mut Op, start: Span) -> Parsed<u8> {
        self.expect_token(TokenKind::Dot)?;
        let mask = self.mask()?;
        let span = start.to(self.before);
        if mask & 8 != 0 && mask & 7 != 0 {
            let text = self.text(self.before);
            self.report(
                Diagnostic::new(
                    DiagnosticCode::MixedHalves,
                    self.before,
                    format!("mask `{text}` mixes colours and alpha"),
                )
                .label("an operation writes colours or alpha")
                .help("write two operations, separated by a comma"),
            );
            op.clue = op.clue.or(Some((AluSlot::Rgb, span)));
        } else if mask != 0 {
            self.clue(op, if mask & 8 != 0 { AluSlot::Alpha } else { AluSlot::Rgb }, span);
        }
        Ok(mask)
    }

    /// Records the half that a destination belongs to.
    pub(super) fn clue(&mut self, op: &mut Op, side: AluSlot, span: Span) {
        match op.clue {
            Some((first, at)) if first != side => self.report(
                Diagnostic::new(
                    DiagnosticCode::MixedHalves,
                    span,
                    "one operation has destinations of both halves",
                )
                .label(format!("this belongs to the {} half", side.name()))
                .related(at, format!("this belongs to the {} half", first.name()))
                .help("write two operations, separated by a comma"),
            ),
            _ => op.clue = Some((side, span)),
        }
    }

    /// Parses an output modifier such as `2.0 *`.
    pub(super) fn output_modifier(&mut self, op: &mut Op) -> Parsed<()> {
        let first = self.tok.span;
        let digit = self.bytes(first).first().is_some_and(u8::is_ascii_digit);
        if self.tok.kind != TokenKind::Word || !digit {
            return Ok(());
        }
        self.bump();
        let last =
            if self.eat(TokenKind::Dot) { self.expect_token(TokenKind::Word)?.span } else { first };
        let found = names::OMODS.iter().position(|(whole, part)| {
            self.bytes(first) == whole.as_bytes() && self.bytes(last) == part.as_bytes()
        });
        match found {
            #[allow(clippy::cast_possible_truncation)]
            Some(code) if last != first => op.omod = Omod::new(code as u8),
            _ => {
                let span = first.to(last);
                let text = self.text(span);
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::BadOmod,
                        span,
                        format!("`{text}` is not an output modifier"),
                    )
                    .label("one of 1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125, spelled so"),
                );
            }
        }
        self.expect_token(TokenKind::Star)?;
        Ok(())
    }

    /// Parses an opcode, by word or as `OP(code)`, and its half if it has a suffix: `MAD.rgb`.
    pub(super) fn opcode(&mut self, op: &mut Op) -> Parsed<()> {
        op.opcode = self.tok.span;
        if self.at_word(Kw::Op) {
            self.bump();
            self.expect_token(TokenKind::OpenParen)?;
            #[allow(clippy::cast_possible_truncation)]
            let code = self.number(15, "an opcode")? as u8;
            self.expect_token(TokenKind::CloseParen)?;
            op.rgb = Some(RgbOp::new(code));
            op.alpha = Some(AlphaOp::new(code));
        } else {
            let Some(found) = names::opcode(self.tok.kw) else {
                return Err(self.bad_opcode(op));
            };
            self.bump();
            op.rgb = found.rgb;
            op.alpha = found.alpha;
        }
        if self.eat(TokenKind::Dot) {
            let side = self.parse_binding_suffix()?;
            op.named = Some(side);
        }
        op.opcode = op.opcode.to(self.before);
        Ok(())
    }

    #[cold]
    pub(super) fn bad_opcode(&mut self, op: &Op) -> ParseAbort {
        if !self.at(TokenKind::Word) {
            let nothing = op.temp.is_none() && op.out.is_none();
            return self.expected(if nothing { "an operation" } else { "an opcode" });
        }
        let span = self.tok.span;
        let text = self.text(span);
        if let Some(foreign) = foreign_op(&text) {
            return self.report_foreign_op(op, foreign);
        }
        let words = names::OPCODES.iter().map(|o| o.kw.text());
        let near = names::closest(&text, words).map(str::to_owned).or_else(|| {
            names::closest(&text, ["temp", "out", "pred", "alu", "depth"]).map(str::to_owned)
        });
        let near = near.or_else(|| self.closest_name(&text));
        self.report(
            Diagnostic::new(
                DiagnosticCode::UnknownOpcode,
                span,
                format!("unknown operation `{text}`"),
            )
            .label("no arithmetic operation and no destination is called so")
            .suggest(near.as_deref()),
        );
        ParseAbort
    }

    pub(super) fn at_operand(&self) -> bool {
        matches!(self.tok.kind, TokenKind::Minus | TokenKind::Pipe)
            || matches!(self.tok.kw, Kw::Src0 | Kw::Src1 | Kw::Src2 | Kw::Srcp)
    }

    /// Parses `[-] [|] src0 . swizzle [|]`.
    pub(super) fn operand(&mut self, written: &mut WrittenOperand) -> Parsed<()> {
        let start = self.tok.span;
        let negative = self.eat(TokenKind::Minus);
        let absolute = self.eat(TokenKind::Pipe);
        let sel = match self.tok.kw {
            Kw::Src0 => Sel::SRC0,
            Kw::Src1 => Sel::SRC1,
            Kw::Src2 => Sel::SRC2,
            Kw::Srcp => Sel::SRCP,
            _ if self.at_missing_source() => return Err(self.report_missing_source(0xff)),
            _ => return Err(self.expected("`src0`, `src1`, `src2` or `srcp`")),
        };
        self.bump();
        self.expect_token(TokenKind::Dot)?;
        let swizzle = self.expect_token(TokenKind::Word)?.span;
        let mut letters = [Swiz::R; 3];
        let bytes = self.bytes(swizzle);
        let length = bytes.len();
        let mut good = true;
        for (i, b) in bytes.iter().enumerate() {
            match names::swizzle(*b) {
                Some(swiz) if i < 3 => letters[i] = swiz,
                Some(_) => {}
                None => good = false,
            }
        }
        if !good {
            let text = self.text(swizzle);
            let mut diagnostic = Diagnostic::new(
                DiagnosticCode::BadSwizzle,
                swizzle,
                format!("`{text}` is not a swizzle"),
            )
            .label("letters are r g b a, 0, h (one half), 1 and _ (unused)");
            if let Some(letters) = names::translated_swizzle(&text) {
                // An operand has no fourth channel: alpha has a separate operation.
                diagnostic = diagnostic.fix(letters.chars().take(3).collect::<String>());
            }
            self.report(diagnostic);
        }
        if absolute {
            self.expect_token(TokenKind::Pipe)?;
        }
        let modifier = match (negative, absolute) {
            (false, false) => Mod::NOP,
            (true, false) => Mod::NEG,
            (false, true) => Mod::ABS,
            (true, true) => Mod::NAB,
        };
        let span = start.to(self.before);
        // An invalid swizzle has been reported, so its length is not checked.
        let length = if good { length } else { 0 };
        let length = u8::try_from(length).unwrap_or(u8::MAX);
        *written = WrittenOperand { sel, modifier, letters, length, span };
        Ok(())
    }
}
