//! ALU and output instructions: `TAGS LETS : OPS ;`.

use r500_isa::Instruction;
use r500_isa::values::InstType;
use r500_isa::words::{AluAlphaAddr, AluRgbAddr, CmnInst};

use super::op::{Op, Side};
use super::tags::{For, Tags};
use super::{GivenUp, Parsed, Parser};
use crate::diagnostic::{Code, Diagnostic};
use crate::lexer::Kind;

/// All six sources at the inline constant 0 that stands where nothing is named.
const UNUSED: u32 = 0x80 | 0x80 << 10 | 0x80 << 20;

impl Parser<'_> {
    pub(super) fn alu(&mut self) -> Parsed<()> {
        let start = self.tok.span;
        let mut tags = Tags::default();
        while self.tag(&mut tags, For::Alu)? {}
        let mut rgb_addr = AluRgbAddr(UNUSED);
        let mut alpha_addr = AluAlphaAddr(UNUSED);
        self.lets(&mut rgb_addr, &mut alpha_addr)?;
        self.need(Kind::Colon)?;

        let mut ops = [Op::default(); 2];
        let mut count = 0;
        while !self.at(Kind::Semicolon) {
            if count == 2 {
                let span = self.tok.span;
                self.report(
                    Diagnostic::new(Code::TooManyOps, span, "a third operation")
                        .label("an instruction has one RGB and one alpha operation"),
                );
                return Err(GivenUp);
            }
            self.op(&mut ops[count])?;
            count += 1;
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if !self.eat(Kind::Semicolon) {
            let what = match ops[count.saturating_sub(1)].count {
                3 => "`,` or `;`",
                _ => "an operand, `,` or `;`",
            };
            if count > 0 && ops[count - 1].count == 3 && self.at_operand() && !self.tok.first {
                let span = self.tok.span;
                self.report(
                    Diagnostic::new(Code::TooManyOperands, span, "a fourth operand")
                        .label("an operation has at most three"),
                );
                return Err(GivenUp);
            }
            return Err(self.no_semicolon(what));
        }

        if tags.out {
            for span in ops[..count].iter().filter_map(|op| op.pred) {
                self.report(
                    Diagnostic::new(
                        Code::PredicateOnOutput,
                        span,
                        "an output instruction sets no predicate bits",
                    )
                    .label("the mask and the number mean a render target there")
                    .help("leave out `OUT`, or name the target: `out[0]`"),
                );
            }
        }
        let ty = if tags.out { InstType::OUT } else { InstType::ALU };
        let mut inst = Instruction([tags.cmn.bits(), rgb_addr.bits(), alpha_addr.bits(), 0, 0, 0]);
        inst.0[0] = inst.cmn().with(CmnInst::TYPE, ty).bits();
        let sides = self.sides(&ops[..count]);
        for (op, side) in ops[..count].iter().zip(sides) {
            match side {
                Some(Side::Rgb) => self.rgb_half(&mut inst, op),
                Some(Side::Alpha) => self.alpha_half(&mut inst, op),
                None => {}
            }
        }
        self.spare_bits(&tags, &mut inst);
        self.push(start, inst);
        Ok(())
    }
}
