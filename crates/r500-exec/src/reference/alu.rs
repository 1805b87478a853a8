//! ALU and OUT instructions: operations and what finishes their results.

use r500_isa::values::{AlphaOp, Omod, RgbOp};

use super::event::EventKind;
use super::group::Group;
use super::source::{Registers, Sources, modify};
use super::write::Outcome;
use crate::finding::FindingKind;
use crate::numerics::{self, Arith, compare, kernels};
use crate::reading::{Dp4Derivative, DpAlone, Omod7, ReservedOp};
use crate::shader::Alu;

/// Operands A, B, C of both halves for one pixel, modifiers applied.
#[derive(Clone, Copy, Debug)]
struct Operands {
    rgb: [[f32; 3]; 3],
    alpha: [f32; 3],
    /// A and B of the alpha half by select and swizzle, whatever its operation: DP4's fourth pair.
    dp4: [f32; 2],
}

/// Corner of the quad that MDH and MDV take C from; A is always the top left one (documented).
const TOP_LEFT: usize = 0;
const TOP_RIGHT: usize = 1;
const BOTTOM_LEFT: usize = 2;

impl Group<'_> {
    /// One ALU or OUT instruction. All reads precede all writes (observed), those of other pixels
    /// included.
    pub(super) fn alu(&mut self, address: u32, alu: &Alu) {
        let executing: Vec<bool> = self.lanes.iter().map(|lane| self.executes(lane)).collect();
        self.check_alu(address, alu, &executing);
        let registers = self.registers(alu);
        let mut outcomes = Vec::with_capacity(self.lanes.len());
        for (lane, &executes) in executing.iter().enumerate() {
            if executes || alu.write_inactive {
                outcomes.push((lane, self.compute(lane, alu, &registers)));
            }
        }
        let dests = [self.destination(alu.rgb.dest), self.destination(alu.alpha.dest)];
        for (lane, outcome) in outcomes {
            self.write_alu(lane, alu, dests, &outcome, executing[lane]);
        }
    }

    /// The result of an instruction for one lane. Channels that go nowhere are 0, unless someone
    /// watches.
    fn compute(&mut self, lane: usize, alu: &Alu, registers: &Registers) -> Outcome {
        let wanted = if self.event_of(lane).is_some() { 0b1111 } else { alu.wanted };
        let operands = self.operands(lane, alu, registers, wanted);
        let raw = self.operate(alu, &operands, wanted);
        let result = self.finish_result(alu, raw, wanted);
        let enabled = self.enabled(lane, alu.rgb.pred, alu.alpha.pred);
        if let Some(event) = self.event_of(lane) {
            let Operands { rgb, alpha, .. } = operands;
            event.kind = EventKind::Alu { rgb, alpha, raw, result, enabled };
        }
        Outcome { result, enabled }
    }

    /// The operands that the wanted channels need; 0 for a half that nothing needs.
    fn operands(&self, lane: usize, alu: &Alu, registers: &Registers, wanted: u8) -> Operands {
        let sources = Sources::new(&self.lanes[lane], registers, alu, self.arith);
        let (mut rgb, mut alpha) = ([[0.0; 3]; 3], [0.0; 3]);
        let colours = colours_needed(alu, wanted);
        for (value, operand) in rgb.iter_mut().zip(&alu.rgb.operands) {
            *value = sources.operand(operand, colours);
        }
        if wanted & 0b1000 != 0 || matches!(alu.rgb.op, RgbOp::SOP | RgbOp::DP4) {
            for (value, operand) in alpha.iter_mut().zip(&alu.alpha.operands) {
                [*value] = sources.operand(operand, 1);
            }
        }
        let dp4 = [alpha[0], alpha[1]];
        // Documented: MDH and MDV ignore select and swizzle of A and C, not their modifiers. The
        // corner's register is read whether or not that pixel is active, covered or killed
        // (derived).
        if alu.rgb.op.is_derivative() {
            let corner = if alu.rgb.op == RgbOp::MDH { TOP_RIGHT } else { BOTTOM_LEFT };
            let [a, _, c] = alu.rgb.operands.map(|operand| operand.modifier);
            let (first, second) = self.corners(lane, alu, registers, corner);
            rgb[0] = [0, 1, 2].map(|i| modify(a, first.src0(i)));
            rgb[2] = [0, 1, 2].map(|i| modify(c, second.src0(i)));
        }
        if alu.alpha.op.is_derivative() {
            let corner = if alu.alpha.op == AlphaOp::MDH { TOP_RIGHT } else { BOTTOM_LEFT };
            let [a, _, c] = alu.alpha.operands.map(|operand| operand.modifier);
            let (first, second) = self.corners(lane, alu, registers, corner);
            alpha[0] = modify(a, first.src0(3));
            alpha[2] = modify(c, second.src0(3));
        }
        let corners = self.draw.options.readings.dp4_derivative == Dp4Derivative::Corners;
        let dp4 = if corners { [alpha[0], alpha[1]] } else { dp4 };
        Operands { rgb, alpha, dp4 }
    }

    /// The sources of the two corners that a difference is taken of: the same for all four pixels
    /// of the quad, so derivatives are coarse (observed).
    fn corners(
        &self,
        lane: usize,
        alu: &Alu,
        registers: &Registers,
        second: usize,
    ) -> (Sources, Sources) {
        let quad = lane - lane % 4;
        let of = |corner| Sources::new(&self.lanes[quad + corner], registers, alu, self.arith);
        (of(TOP_LEFT), of(second))
    }

    /// Results before OMOD and clamp: red, green, blue, alpha. SOP and DP hand over this raw result
    /// (observed).
    fn operate(&self, alu: &Alu, operands: &Operands, wanted: u8) -> [f32; 4] {
        let readings = &self.draw.options.readings;
        let Operands { rgb, alpha: [a, b, c], dp4 } = *operands;
        let reserved = |operand: f32| match readings.reserved_op {
            ReservedOp::Zero => 0.0,
            ReservedOp::OperandA => operand,
        };
        let dot = dot_product(alu.rgb.op, &rgb, dp4, self.arith);
        let colours = colours_needed(alu, wanted);
        let mut raw = [0.0; 4];
        if wanted & 0b1000 != 0 || alu.rgb.op == RgbOp::SOP {
            raw[3] = match (alu.alpha.op, dot) {
                (AlphaOp::DP, Some(dot)) => dot,
                (AlphaOp::DP, None) => match readings.dp_alone {
                    DpAlone::Zero => 0.0,
                    DpAlone::Red => channelwise(alu.rgb.op, &rgb, colours, self.arith)
                        .map_or(0.0, |[red, ..]| red),
                },
                (op, _) => alpha_op(op, [a, b, c], self.arith).unwrap_or_else(|| reserved(a)),
            };
        }
        if wanted & 0b0111 != 0 {
            let rgb = match (alu.rgb.op, dot) {
                (RgbOp::SOP, _) => [raw[3]; 3],
                (_, Some(dot)) => [dot; 3],
                (op, None) => channelwise(op, &rgb, colours, self.arith)
                    .unwrap_or_else(|| rgb[0].map(reserved)),
            };
            raw[..3].copy_from_slice(&rgb);
        }
        raw
    }

    /// OMOD, then clamp (ctm), each half its own.
    fn finish_result(&self, alu: &Alu, raw: [f32; 4], wanted: u8) -> [f32; 4] {
        let strict = self.draw.options.readings.omod_7 == Omod7::Finish;
        let rgb = omod(alu.rgb.omod, strict && !rgb_selects(alu.rgb.op));
        let alpha = omod(alu.alpha.omod, strict && !alpha_selects(alu.alpha.op));
        let mut result = [0.0; 4];
        for i in (0..4).filter(|i| wanted >> i & 1 != 0) {
            let (omod, clamp) = if i < 3 { (rgb, alu.rgb.clamp) } else { (alpha, alu.alpha.clamp) };
            result[i] = finish(raw[i], omod, clamp, self.arith);
        }
        result
    }

    fn check_alu(&mut self, address: u32, alu: &Alu, executing: &[bool]) {
        if !self.draw.options.findings {
            return;
        }
        let (rgb, alpha) = (alu.rgb.op, alu.alpha.op);
        let (rgb_code, alpha_code) = (i32::from(rgb.code()), i32::from(alpha.code()));
        let sop_alone = rgb == RgbOp::SOP && !alpha.is_transcendental();
        let dp_alone = alpha == AlphaOp::DP && !rgb.is_dot_product();
        let rgb_copies = alu.rgb.omod == Omod::DISABLED && !rgb_selects(rgb);
        let alpha_copies = alu.alpha.omod == Omod::DISABLED && !alpha_selects(alpha);
        let rules = [
            (!rgb.is_named(), FindingKind::ReservedRgbOp, rgb_code),
            (!alpha.is_named(), FindingKind::ReservedAlphaOp, alpha_code),
            (sop_alone, FindingKind::SopWithoutFunction, alpha_code),
            (dp_alone, FindingKind::DpWithoutDotProduct, rgb_code),
            (rgb_copies || alpha_copies, FindingKind::OmodDisabled, 7),
        ];
        for (lane, _) in executing.iter().enumerate().filter(|(_, executes)| **executes) {
            for (_, kind, detail) in rules.into_iter().filter(|(met, ..)| *met) {
                self.find(lane, kind, address, detail);
            }
            self.check_sources(lane, address, alu);
            self.check_predicate(lane, address, alu.rgb.pred, 0b0111);
            self.check_predicate(lane, address, alu.alpha.pred, 0b1000);
            let enabled = self.enabled(lane, alu.rgb.pred, alu.alpha.pred);
            if alu.rgb.wmask & enabled != 0 {
                self.check_destination(lane, address, alu.rgb.dest);
            }
            if alu.alpha.wmask << 3 & enabled != 0 {
                self.check_destination(lane, address, alu.alpha.dest);
            }
        }
    }
}

/// DP3, DP4 and D2A, left to right; `None` for other operations.
#[inline]
fn dot_product(op: RgbOp, operands: &[[f32; 3]; 3], dp4: [f32; 2], arith: Arith) -> Option<f32> {
    let [a, b, c] = *operands;
    Some(match op {
        RgbOp::DP3 => arith.dot3(a, b),
        // Documented and ctm, observed: the fourth factors are the alpha half's operands.
        RgbOp::DP4 => arith.dot4([a[0], a[1], a[2], dp4[0]], [b[0], b[1], b[2], dp4[1]]),
        RgbOp::D2A => arith.dot2_add([a[0], a[1]], [b[0], b[1]], c[2]),
        _ => return None,
    })
}

/// RGB operations that work channel by channel, in the channels of a mask; `None` for others.
#[inline]
fn channelwise(op: RgbOp, operands: &[[f32; 3]; 3], mask: u8, arith: Arith) -> Option<[f32; 3]> {
    let [a, b, c] = operands;
    Some(match op {
        // In MDH and MDV, A and C are the corners' by now.
        RgbOp::MAD | RgbOp::MDH | RgbOp::MDV => each(mask, |i| arith.mad(a[i], b[i], c[i])),
        RgbOp::MIN => each(mask, |i| compare::min(a[i], b[i])),
        RgbOp::MAX => each(mask, |i| compare::max(a[i], b[i])),
        RgbOp::CND => each(mask, |i| compare::cnd(a[i], b[i], c[i])),
        RgbOp::CMP => each(mask, |i| compare::cmp(a[i], b[i], c[i])),
        RgbOp::FRC => each(mask, |i| arith.frc(a[i])),
        _ => return None,
    })
}

#[inline]
fn each(mask: u8, channel: impl Fn(usize) -> f32) -> [f32; 3] {
    let mut value = [0.0; 3];
    for (i, x) in value.iter_mut().enumerate() {
        if mask >> i & 1 != 0 {
            *x = channel(i);
        }
    }
    value
}

/// The colours that the RGB half has to work on for the wanted channels of the result.
#[inline]
fn colours_needed(alu: &Alu, wanted: u8) -> u8 {
    let handed_over = alu.alpha.op == AlphaOp::DP;
    match alu.rgb.op.is_dot_product() {
        true if wanted & 0b0111 != 0 || handed_over => 0b0111,
        true => 0,
        false => wanted & 0b0111 | u8::from(handed_over),
    }
}

/// Alpha operations but DP; `None` for the reserved one.
#[inline]
fn alpha_op(op: AlphaOp, [a, b, c]: [f32; 3], arith: Arith) -> Option<f32> {
    Some(match op {
        AlphaOp::MAD => arith.mad(a, b, c),
        AlphaOp::MIN => compare::min(a, b),
        AlphaOp::MAX => compare::max(a, b),
        AlphaOp::CND => compare::cnd(a, b, c),
        AlphaOp::CMP => compare::cmp(a, b, c),
        AlphaOp::FRC => arith.frc(a),
        AlphaOp::EX2 => kernels::ex2(a),
        AlphaOp::LN2 => kernels::ln2(a),
        AlphaOp::RCP => arith.rcp(a),
        AlphaOp::RSQ => arith.rsq(a),
        AlphaOp::SIN => kernels::sin(a),
        AlphaOp::COS => kernels::cos(a),
        AlphaOp::MDH | AlphaOp::MDV => arith.mad(a, b, c),
        _ => return None,
    })
}

/// The modifier in force; `finish_instead` is the reading of OMOD 7 that scales by 1.
fn omod(omod: Omod, finish_instead: bool) -> Omod {
    if omod == Omod::DISABLED && finish_instead { Omod::MUL1 } else { omod }
}

/// OMOD 7 copies bit for bit and skips the clamp (documented, ctm).
#[inline]
fn finish(raw: f32, omod: Omod, clamp: bool, arith: Arith) -> f32 {
    let Some(factor) = omod.factor() else { return raw };
    let scaled = numerics::finish(raw, factor);
    if clamp { arith.clamp01(scaled) } else { scaled }
}

/// The operations that OMOD 7 is documented for: they hand on an operand's bits.
fn rgb_selects(op: RgbOp) -> bool {
    matches!(op, RgbOp::MIN | RgbOp::MAX | RgbOp::CMP | RgbOp::CND)
}

fn alpha_selects(op: AlphaOp) -> bool {
    matches!(op, AlphaOp::MIN | AlphaOp::MAX | AlphaOp::CMP | AlphaOp::CND)
}
