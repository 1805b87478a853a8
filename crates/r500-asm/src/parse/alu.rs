//! ALU and output instructions: `FLAGS BINDINGS : OPS ;`.

use r500_isa::Instruction;
use r500_isa::values::{Compare, InstType};
use r500_isa::words::{AluAlphaAddr, AluRgbAddr, CmnInst};

use super::flags::{Flags, InstKind};
use super::op::{AluSlot, Op};
use super::{ParseAbort, Parsed, Parser};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::lexer::TokenKind;
use crate::names;

/// All six sources at inline constant 0, the default.
const UNUSED: u32 = 0x80 | 0x80 << 10 | 0x80 << 20;

impl Parser<'_> {
    pub(super) fn alu(&mut self) -> Parsed<()> {
        let start = self.tok.span;
        let mut flags = Flags::default();
        while self.parse_flag(&mut flags, InstKind::Alu)? {}
        let mut rgb_addr = AluRgbAddr(UNUSED);
        let mut alpha_addr = AluAlphaAddr(UNUSED);
        self.parse_source_bindings(&mut rgb_addr, &mut alpha_addr)?;
        self.expect_token(TokenKind::Colon)?;

        let mut ops = [Op::default(); 2];
        let mut count = 0;
        while !self.at(TokenKind::Semicolon) {
            if count == 2 {
                let span = self.tok.span;
                self.report(
                    Diagnostic::new(DiagnosticCode::TooManyOps, span, "a third operation")
                        .label("an instruction has one RGB and one alpha operation"),
                );
                return Err(ParseAbort);
            }
            self.op(&mut ops[count])?;
            count += 1;
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        if !self.eat(TokenKind::Semicolon) {
            let what = match ops[count.saturating_sub(1)].count {
                3 => "`,` or `;`",
                _ => "an operand, `,` or `;`",
            };
            if count > 0 && self.at_missing_source() {
                return Err(self.report_missing_source(0xff));
            }
            if count > 0 && ops[count - 1].count == 3 && self.at_operand() && !self.tok.first {
                let span = self.tok.span;
                self.report(
                    Diagnostic::new(DiagnosticCode::TooManyOperands, span, "a fourth operand")
                        .label("an operation has at most three"),
                );
                return Err(ParseAbort);
            }
            return Err(self.missing_semicolon(what));
        }

        if flags.out {
            for span in ops[..count].iter().filter_map(|op| op.pred) {
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::PredicateOnOutput,
                        span,
                        "an output instruction sets no predicate bits",
                    )
                    .label("the mask and the number mean a render target there")
                    .help("leave out `OUT`, or name the target: `out[0]`"),
                );
            }
        } else {
            for op in &ops[..count] {
                self.check_output(op);
            }
        }
        let ty = if flags.out { InstType::OUT } else { InstType::ALU };
        let mut inst = Instruction([flags.cmn.bits(), rgb_addr.bits(), alpha_addr.bits(), 0, 0, 0]);
        inst.0[0] = inst.cmn().with(CmnInst::TYPE, ty).bits();
        let sides = self.assign_slots(&ops[..count]);
        for (op, side) in ops[..count].iter().zip(sides) {
            match side {
                Some(AluSlot::Rgb) => self.encode_rgb_slot(&mut inst, op),
                Some(AluSlot::Alpha) => self.encode_alpha_slot(&mut inst, op),
                None => {}
            }
        }
        self.insert_unnamed_bits(&flags, &mut inst);
        self.push(start, inst);
        Ok(())
    }

    /// Warns of an `out[n]` of an instruction without `OUT`, which sets predicate bits instead.
    fn check_output(&mut self, op: &Op) {
        let (Some(span), Some((target, mask))) = (op.output, op.out) else { return };
        let text = self.text(span);
        let compare = names::word_of(names::COMPARES, Compare::new(target.code()));
        let mask = names::MASKS[usize::from(mask & 15)];
        self.report(
            Diagnostic::new(
                DiagnosticCode::OutputWithoutOut,
                span,
                format!("`{text}` without `OUT` writes no output"),
            )
            .label("sets predicate bits")
            .help("begin the instruction with `OUT`")
            .help(format!("or write `pred[{}].{mask}`, if that is meant", compare.unwrap_or("eq"))),
        );
    }
}
