//! ALU slot assignment: the half that an operation belongs to, and its encoding there.

use r500_isa::instruction::Operand;
use r500_isa::values::{AlphaOp, RgbMask, RgbOp};
use r500_isa::words::{AluAlphaInst, AluRgbInst, AluRgbaInst, CmnInst};
use r500_isa::{Instruction, Slot};

use super::Parser;
use super::flags::flag;
use super::op::{AluSlot, Op, WrittenOperand};
use crate::diagnostic::{Diagnostic, DiagnosticCode};
use crate::source::Span;

impl Parser<'_> {
    // Slot assignment.

    /// Returns the half of each operation; `None` if an ambiguity or error has been reported.
    pub(super) fn assign_slots(&mut self, ops: &[Op]) -> [Option<AluSlot>; 2] {
        let mut sides = [None; 2];
        for (op, side) in ops.iter().zip(&mut sides) {
            *side = op.named.or(match (op.rgb, op.alpha) {
                (Some(_), None) => Some(AluSlot::Rgb),
                (None, Some(_)) => Some(AluSlot::Alpha),
                _ => op.clue.map(|(side, _)| side),
            });
        }
        match (ops.len(), sides) {
            (2, [Some(side), None]) => sides[1] = Some(other(side)),
            (2, [None, Some(side)]) => sides[0] = Some(other(side)),
            (2, [None, None]) => self.report_ambiguous_slot(&ops[0]),
            (1, [None, _]) => self.report_ambiguous_slot(&ops[0]),
            (2, [Some(a), Some(b)]) if a == b => {
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::SameHalf,
                        ops[1].opcode,
                        format!("two operations of the {} half", a.name()),
                    )
                    .label("second")
                    .related(ops[0].opcode, "first"),
                );
                sides[1] = None;
            }
            _ => {}
        }
        for (op, side) in ops.iter().zip(&mut sides) {
            let Some(found) = *side else { continue };
            let has = if found == AluSlot::Rgb { op.rgb.is_some() } else { op.alpha.is_some() };
            if !has {
                let text = self.text(op.opcode);
                self.report(
                    Diagnostic::new(
                        DiagnosticCode::WrongHalf,
                        op.opcode,
                        format!("the {} half has no operation `{text}`", found.name()),
                    )
                    .label(format!("belongs to the {} half", other(found).name())),
                );
                *side = None;
            } else if let Some((clue, at)) = op.clue.filter(|(clue, _)| *clue != found) {
                self.report_wrong_destination(op, clue, at, ops.len() == 1);
                *side = None;
            }
        }
        sides
    }

    /// Reports a destination that belongs to the other half. In an instruction of its own, an alpha operation reaches
    /// colours by `SOP`.
    #[cold]
    fn report_wrong_destination(&mut self, op: &Op, clue: AluSlot, at: Span, alone: bool) {
        let text = self.text(op.opcode);
        let message = format!("destination of the {} half for `{text}`", clue.name());
        let own = format!("belongs to the {} half", other(clue).name());
        let diagnostic = |span| Diagnostic::new(DiagnosticCode::WrongHalf, span, &*message);
        let operand = op.operands[0];
        let transcendental = op.rgb.is_none() && op.alpha.is_some_and(|op| op.is_transcendental());
        self.report(if transcendental && alone && op.count == 1 && op.named.is_none() {
            let source = self.text(operand.span);
            let source = source.split_once('.').map_or(source.clone(), |(head, tail)| {
                let bar = if tail.ends_with('|') { "|" } else { "" };
                format!("{head}.{}{bar}", tail.chars().take(1).collect::<String>())
            });
            diagnostic(op.opcode.to(operand.span))
                .label(own)
                .related(at, format!("belongs to the {} half", clue.name()))
                .help(format!(
                    "`{text}` is computed in the alpha half; `SOP` gives its result to colours"
                ))
                .fix(format!("SOP, {text} {source}"))
        } else {
            let help = match (op.rgb, op.alpha) {
                (None, _) if transcendental => {
                    Some(format!("`SOP` in the RGB half gives the result of `{text}` to colours"))
                }
                (Some(op), None) if op.is_dot_product() => {
                    Some("`DP` in the alpha half gives the dot product to alpha".to_owned())
                }
                _ => None,
            };
            let mut diagnostic = diagnostic(at)
                .label(format!("belongs to the {} half", clue.name()))
                .related(op.opcode, own);
            diagnostic.help.extend(help);
            diagnostic
        });
    }

    #[cold]
    pub(super) fn report_ambiguous_slot(&mut self, op: &Op) {
        let text = self.text(op.opcode);
        self.report(
            Diagnostic::new(
                DiagnosticCode::UnclearHalf,
                op.opcode,
                format!("`{text}` may be the RGB or the alpha operation"),
            )
            .label("both halves have it, and no mask decides which one")
            .help(format!("write `{text}.rgb` or `{text}.a`")),
        );
    }

    // Encoding of the halves.

    pub(super) fn encode_rgb_slot(&mut self, inst: &mut Instruction, op: &Op) {
        let mut cmn = flag(inst.cmn(), CmnInst::RGB_CLAMP, op.clamp);
        let mut w3 = inst.rgb_inst().with(AluRgbInst::OMOD, op.omod);
        let mut w5 = inst.rgba_inst().with(AluRgbaInst::RGB_OP, op.rgb.unwrap_or(RgbOp::MAD));
        if let Some((index, mask)) = op.temp {
            cmn = cmn.with(CmnInst::RGB_WMASK, RgbMask::new(mask));
            w5 = w5
                .with(AluRgbaInst::RGB_ADDRD, index.n)
                .with(AluRgbaInst::RGB_ADDRD_REL, index.relative);
        }
        if let Some((target, mask)) = op.out {
            cmn = cmn.with(CmnInst::RGB_OMASK, RgbMask::new(mask));
            w3 = w3.with(AluRgbInst::TARGET, target);
        }
        if let Some((sel, compare)) = op.result {
            cmn = cmn.with(CmnInst::ALU_RESULT_SEL, sel).with(CmnInst::ALU_RESULT_OP, compare);
            w3 = w3.with(AluRgbInst::ALU_WMASK, true);
        }
        inst.0[0] = cmn.bits();
        inst.0[3] = w3.bits();
        inst.0[5] = w5.bits();
        self.check_last_operand(op, AluSlot::Rgb, |slot| op.rgb.is_some_and(|op| op.uses(slot)));
        for (slot, written) in Slot::ALL.into_iter().zip(&op.operands[..op.count]) {
            self.check_length(written, 3, "an RGB operand", "three letters");
            let WrittenOperand { sel, letters: swiz, modifier, .. } = *written;
            *inst = inst.with_rgb_operand(slot, Operand { sel, swiz, modifier });
        }
    }

    pub(super) fn encode_alpha_slot(&mut self, inst: &mut Instruction, op: &Op) {
        let mut cmn = flag(inst.cmn(), CmnInst::ALPHA_CLAMP, op.clamp);
        let mut w4 = inst
            .alpha_inst()
            .with(AluAlphaInst::OMOD, op.omod)
            .with(AluAlphaInst::ALPHA_OP, op.alpha.unwrap_or(AlphaOp::MAD))
            .with(AluAlphaInst::W_OMASK, op.depth);
        if let Some((index, mask)) = op.temp {
            cmn = cmn.with(CmnInst::ALPHA_WMASK, mask & 8 != 0);
            w4 = w4
                .with(AluAlphaInst::ALPHA_ADDRD, index.n)
                .with(AluAlphaInst::ALPHA_ADDRD_REL, index.relative);
        }
        if let Some((target, mask)) = op.out {
            cmn = cmn.with(CmnInst::ALPHA_OMASK, mask & 8 != 0);
            w4 = w4.with(AluAlphaInst::TARGET, target);
        }
        if let Some((sel, compare)) = op.result {
            cmn = cmn.with(CmnInst::ALU_RESULT_SEL, sel).with(CmnInst::ALU_RESULT_OP, compare);
            inst.0[3] = inst.rgb_inst().with(AluRgbInst::ALU_WMASK, true).bits();
        }
        inst.0[0] = cmn.bits();
        inst.0[4] = w4.bits();
        self.check_last_operand(op, AluSlot::Alpha, |slot| {
            op.alpha.is_some_and(|op| op.uses(slot))
        });
        for (slot, written) in Slot::ALL.into_iter().zip(&op.operands[..op.count]) {
            self.check_length(written, 1, "an alpha operand", "one letter");
            let WrittenOperand { sel, letters: [swiz, ..], modifier, .. } = *written;
            *inst = inst.with_alpha_operand(slot, Operand { sel, swiz: [swiz], modifier });
        }
    }

    /// Warns if the last operand is omitted after written ones: it then reads red of src0, not 0.
    fn check_last_operand(&mut self, op: &Op, slot: AluSlot, uses: impl Fn(Slot) -> bool) {
        let read = Slot::ALL.into_iter().rposition(uses).map_or(0, |last| last + 1);
        if op.count == 0 || op.count + 1 != read {
            return;
        }
        let span = op.opcode.to(op.operands[op.count - 1].span);
        let (text, operator) = (self.text(span), self.text(op.opcode));
        let (value, zero) = match slot {
            AluSlot::Rgb => ("src0.rrr", "src0.000"),
            AluSlot::Alpha => ("src0.r", "src0.0"),
        };
        let name = ["A", "B", "C"][read - 1];
        let diagnostic = Diagnostic::new(
            DiagnosticCode::MissingOperand,
            span,
            format!("operand {name} of `{operator}` is not written"),
        )
        .label(format!("it is `{value}`, not 0"));
        let adds = op.rgb == Some(RgbOp::MAD) || op.alpha == Some(AlphaOp::MAD);
        self.report(if adds {
            diagnostic.fix(format!("{text} {zero}"))
        } else {
            diagnostic.help(format!("write it: `{text} {value}`"))
        });
    }

    pub(super) fn check_length(
        &mut self,
        written: &WrittenOperand,
        length: u8,
        what: &str,
        letters: &str,
    ) {
        if written.length == length || written.length == 0 {
            return;
        }
        let text = self.text(written.span);
        let mut diagnostic = Diagnostic::new(
            DiagnosticCode::SwizzleLength,
            written.span,
            format!("{what} takes {letters}, not {}", written.length),
        )
        .label(format!("belongs to the {} half", if length == 3 { "RGB" } else { "alpha" }));
        if let Some((head, tail)) = text.split_once('.') {
            let (swizzle, bar) = tail.strip_suffix('|').map_or((tail, ""), |s| (s, "|"));
            let swizzle = swizzle.trim();
            if length == 3 && written.length == 1 {
                diagnostic = diagnostic.fix(format!("{head}.{}{bar}", swizzle.repeat(3)));
            } else if length == 3 && written.length == 2 {
                diagnostic = diagnostic
                    .help("a letter each for red, green and blue; `_` where nothing is read")
                    .fix(format!("{head}.{swizzle}_{bar}"));
            } else if length == 3 {
                let three: String = swizzle.chars().take(3).collect();
                diagnostic = diagnostic.fix(format!("{head}.{three}{bar}"));
            } else if length == 1 {
                let first: String = swizzle.chars().take(1).collect();
                diagnostic = diagnostic.fix(format!("{head}.{first}{bar}"));
            }
        }
        self.report(diagnostic);
    }
}

const fn other(side: AluSlot) -> AluSlot {
    match side {
        AluSlot::Rgb => AluSlot::Alpha,
        AluSlot::Alpha => AluSlot::Rgb,
    }
}
