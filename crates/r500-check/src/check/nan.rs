//! Lints about constant operations whose result is NaN.

use r500_isa::values::{AlphaOp, Mod, RgbOp, Sel, SrcpOp, Swiz};
use r500_isa::words::{AluAlphaInst, AluRgbaInst};
use r500_isa::{Half, Instruction, Slot, Source};
use r500_program::State;

use super::Checker;
use crate::LintCode;

impl Checker<'_> {
    pub(super) fn check_nan(&mut self, index: usize, state: &State) {
        let inst = self.program.code[index];
        let wanted = inst.result_channels();
        let values = Values {
            inst,
            constants: &state.constants,
            zero_rule: state.config.is_some_and(|c| c.zero_times_anything_equals_zero()),
        };
        let rgb = inst.rgba_inst().rgb_op();
        let nan = |value: Option<f32>| value.is_some_and(f32::is_nan);
        if (0..3).any(|channel| wanted >> channel & 1 != 0 && nan(values.rgb(rgb, channel))) {
            let place = self.field(index, 5, AluRgbaInst::RGB_OP);
            self.add(
                LintCode::NanConstant,
                place,
                format!("RGB {rgb:?} of constants is not a number"),
            );
        }
        let alpha = inst.alpha_inst().alpha_op();
        let alpha_wanted = wanted & 8 != 0 || (rgb == RgbOp::SOP && wanted & 7 != 0);
        if alpha_wanted && nan(values.alpha(alpha)) {
            let place = self.field(index, 4, AluAlphaInst::ALPHA_OP);
            self.add(
                LintCode::NanConstant,
                place,
                format!("alpha {alpha:?} of constants is not a number"),
            );
        }
    }
}

/// Constant evaluation of an instruction's operands.
struct Values<'a> {
    inst: Instruction,
    constants: &'a [[u32; 4]],
    zero_rule: bool,
}

impl Values<'_> {
    /// Returns a channel of the RGB half's result; `None` if unknown.
    fn rgb(&self, op: RgbOp, channel: usize) -> Option<f32> {
        let operand = |slot: Slot, channel: usize| {
            let operand = self.inst.rgb_operand(slot);
            self.operand(operand.sel, operand.swiz[channel], operand.modifier)
        };
        let product =
            |channel| Some(self.times(operand(Slot::A, channel)?, operand(Slot::B, channel)?));
        match op {
            RgbOp::MAD => Some(product(channel)? + operand(Slot::C, channel)?),
            RgbOp::DP3 => Some(product(0)? + product(1)? + product(2)?),
            RgbOp::DP4 => {
                let operand = |slot: Slot| self.alpha_operand(slot);
                let alpha = self.times(operand(Slot::A)?, operand(Slot::B)?);
                Some(product(0)? + product(1)? + product(2)? + alpha)
            }
            RgbOp::D2A => Some(product(0)? + product(1)? + operand(Slot::C, 2)?),
            RgbOp::FRC => fraction(operand(Slot::A, channel)?),
            _ => None,
        }
    }

    /// Returns the alpha half's result; `None` if unknown.
    fn alpha(&self, op: AlphaOp) -> Option<f32> {
        let operand = |slot: Slot| self.alpha_operand(slot);
        if op == AlphaOp::DP {
            let rgb = self.inst.rgba_inst().rgb_op();
            return if rgb.is_dot_product() { self.rgb(rgb, 0) } else { None };
        }
        let a = operand(Slot::A)?;
        match op {
            AlphaOp::MAD => Some(self.times(a, operand(Slot::B)?) + operand(Slot::C)?),
            AlphaOp::FRC => fraction(a),
            AlphaOp::LN2 => Some(if a < 0.0 || a.is_nan() { f32::NAN } else { 0.0 }),
            AlphaOp::RSQ => Some(if a < 0.0 || a.is_nan() { f32::NAN } else { 0.0 }),
            AlphaOp::SIN | AlphaOp::COS => Some(if a.is_finite() { 0.0 } else { f32::NAN }),
            AlphaOp::EX2 | AlphaOp::RCP => Some(if a.is_nan() { f32::NAN } else { 0.0 }),
            _ => None,
        }
    }

    fn alpha_operand(&self, slot: Slot) -> Option<f32> {
        let operand = self.inst.alpha_operand(slot);
        self.operand(operand.sel, operand.swiz[0], operand.modifier)
    }

    fn times(&self, a: f32, b: f32) -> f32 {
        if self.zero_rule && (a == 0.0 || b == 0.0) { 0.0 } else { a * b }
    }

    fn operand(&self, sel: Sel, swiz: Swiz, modifier: Mod) -> Option<f32> {
        let value = match swiz {
            Swiz::R | Swiz::G | Swiz::B | Swiz::A => self.source(sel, usize::from(swiz.code()))?,
            Swiz::HALF => 0.5,
            Swiz::ONE => 1.0,
            _ => 0.0,
        };
        Some(match modifier {
            Mod::NEG => -value,
            Mod::ABS => value.abs(),
            Mod::NAB => -value.abs(),
            _ => value,
        })
    }

    fn source(&self, sel: Sel, channel: usize) -> Option<f32> {
        let half = if channel < 3 { Half::Rgb } else { Half::Alpha };
        let sources = self.inst.sources(half);
        let value = |n: usize| self.value(sources[n], channel);
        match sel {
            Sel::SRC0 => value(0),
            Sel::SRC1 => value(1),
            Sel::SRC2 => value(2),
            _ => Some(match self.inst.srcp_op(half) {
                SrcpOp::SUB => value(1)? - value(0)?,
                SrcpOp::ADD => value(1)? + value(0)?,
                SrcpOp::NEG => 1.0 - value(0)?,
                _ => 1.0 - 2.0 * value(0)?,
            }),
        }
    }

    fn value(&self, source: Source, channel: usize) -> Option<f32> {
        if let Some(inline) = source.inline() {
            return Some(inline.value());
        }
        if !source.constant || source.relative {
            return None;
        }
        let constant = self.constants.get(usize::from(source.addr))?;
        Some(f32::from_bits(constant[channel]))
    }
}

fn fraction(a: f32) -> Option<f32> {
    Some(a - a.floor())
}
