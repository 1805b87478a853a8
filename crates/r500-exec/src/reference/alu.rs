//! ALU and OUT instructions: operations, output modifier, clamp.

use r500_isa::values::{AlphaOp, Omod, RgbOp};

use super::event::EventKind;
use super::group::Group;
use super::source::{Channel, Operands};
use super::write::Outcome;
use crate::numerics::{self, Arith, compare, kernels};
use crate::reading::{DpAlone, Omod7, ReservedOp};
use crate::shader::Alu;
use crate::warning::WarningKind;

impl Group<'_> {
    /// Executes an ALU or OUT instruction. All reads precede all writes (observed), including those of other
    /// pixels.
    pub(super) fn alu(&mut self, address: u32, alu: &Alu) {
        let executing: Vec<bool> =
            self.state.lanes.iter().map(|lane| self.executes(lane)).collect();
        self.check_alu(address, alu, &executing);
        let operands = self.operands(alu);
        let mut outcomes = Vec::with_capacity(self.state.lanes.len());
        for (lane, &executes) in executing.iter().enumerate() {
            if executes || alu.write_inactive {
                outcomes.push((lane, self.compute(lane, alu, &operands)));
            }
        }
        let dests = [self.destination(alu.rgb.dest), self.destination(alu.alpha.dest)];
        for (lane, outcome) in outcomes {
            self.write_alu(lane, alu, dests, &outcome, executing[lane]);
        }
    }

    /// Computes the result of an instruction for one lane. Unused channels are 0, unless the lane is watched.
    fn compute(&mut self, lane: usize, alu: &Alu, operands: &Operands) -> Outcome {
        let watched = self.event_of(lane).is_some();
        let wanted = if watched { 0b1111 } else { alu.wanted };
        let raw = self.operate(lane, alu, operands, wanted);
        let result = self.finish_result(alu, raw, wanted);
        let enabled = self.enabled(lane, alu.rgb.pred, alu.alpha.pred);
        if watched {
            let value = |channel: Channel| self.value(lane, &channel);
            let rgb = operands.rgb.map(|operand| operand.map(value));
            let alpha = operands.alpha.map(value);
            if let Some(event) = self.event_of(lane) {
                event.kind = EventKind::Alu { rgb, alpha, raw, result, enabled };
            }
        }
        Outcome { result, enabled }
    }

    /// Computes the results before OMOD and clamp: red, green, blue, alpha. SOP and DP pass on this raw result
    /// (observed).
    fn operate(&self, lane: usize, alu: &Alu, operands: &Operands, wanted: u8) -> [f32; 4] {
        let readings = &self.draw.options.readings;
        let rgb = |operand: usize, i: usize| self.value(lane, &operands.rgb[operand][i]);
        let colour = |i: usize| {
            rgb_op(alu.rgb.op, |operand| rgb(operand, i), self.arith).unwrap_or_else(|| {
                // Open: reserved.
                match readings.reserved_op {
                    ReservedOp::Zero => 0.0,
                    ReservedOp::OperandA => rgb(0, i),
                }
            })
        };
        let dot = || {
            let dp4 = |operand: usize| self.value(lane, &operands.dp4[operand]);
            dot_product(alu.rgb.op, rgb, dp4, self.arith)
        };
        let alpha = || {
            let operand = |operand: usize| self.value(lane, &operands.alpha[operand]);
            alpha_op(alu.alpha.op, operand, self.arith).unwrap_or_else(|| {
                match readings.reserved_op {
                    ReservedOp::Zero => 0.0,
                    ReservedOp::OperandA => operand(0),
                }
            })
        };
        let mut raw = [0.0; 4];
        if wanted & 0b1000 != 0 || alu.rgb.op == RgbOp::SOP {
            raw[3] = match alu.alpha.op {
                AlphaOp::DP => dot().unwrap_or_else(|| match readings.dp_alone {
                    DpAlone::Zero => 0.0,
                    DpAlone::Red => {
                        rgb_op(alu.rgb.op, |operand| rgb(operand, 0), self.arith).unwrap_or(0.0)
                    }
                }),
                _ => alpha(),
            };
        }
        let replicated = match alu.rgb.op {
            RgbOp::SOP => Some(raw[3]),
            op if op.is_dot_product() && wanted & 0b0111 != 0 => dot(),
            _ => None,
        };
        for i in (0..3).filter(|i| wanted >> i & 1 != 0) {
            raw[i] = replicated.unwrap_or_else(|| colour(i));
        }
        raw
    }

    /// Applies OMOD, then clamp (ctm), of each half.
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
        if !self.draw.options.warnings {
            return;
        }
        let (rgb, alpha) = (alu.rgb.op, alu.alpha.op);
        let (rgb_code, alpha_code) = (i32::from(rgb.code()), i32::from(alpha.code()));
        let sop_alone = rgb == RgbOp::SOP && !alpha.is_transcendental();
        let dp_alone = alpha == AlphaOp::DP && !rgb.is_dot_product();
        let writes = |channels: u8| alu.wanted & channels != 0;
        let rgb_copies = alu.rgb.omod == Omod::DISABLED && !rgb_selects(rgb) && writes(7);
        let alpha_copies = alu.alpha.omod == Omod::DISABLED && !alpha_selects(alpha) && writes(8);
        let rules = [
            (!rgb.is_named(), WarningKind::ReservedRgbOp, rgb_code),
            (!alpha.is_named(), WarningKind::ReservedAlphaOp, alpha_code),
            (sop_alone, WarningKind::SopWithoutFunction, alpha_code),
            (dp_alone, WarningKind::DpWithoutDotProduct, rgb_code),
            (rgb_copies || alpha_copies, WarningKind::OmodDisabled, 7),
        ];
        for (lane, _) in executing.iter().enumerate().filter(|(_, executes)| **executes) {
            for (_, kind, detail) in rules.into_iter().filter(|(met, ..)| *met) {
                self.warn(lane, kind, address, detail);
            }
            self.check_sources(lane, address, alu);
            let gated = gated_channels(alu);
            self.check_predicate(lane, address, alu.rgb.pred, gated & 0b0111);
            self.check_predicate(lane, address, alu.alpha.pred, gated & 0b1000);
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

/// Returns the channels whose writes the predicates gate: all but the ALU result.
fn gated_channels(alu: &Alu) -> u8 {
    let alpha = (alu.alpha.wmask | alu.alpha.omask | u8::from(alu.depth)) << 3;
    alu.rgb.wmask | alu.rgb.omask | alpha
}

/// Returns DP3, DP4 or D2A, left to right; `None` for other operations. `rgb` returns a channel of an operand
/// (0 to 2: A to C), `dp4` the fourth factors: the alpha half's operands (documented and ctm, observed).
#[inline]
fn dot_product(
    op: RgbOp,
    rgb: impl Fn(usize, usize) -> f32,
    dp4: impl Fn(usize) -> f32,
    arith: Arith,
) -> Option<f32> {
    let [a, b] = [0, 1].map(|operand| [rgb(operand, 0), rgb(operand, 1), rgb(operand, 2)]);
    Some(match op {
        RgbOp::DP3 => arith.dot3(a, b),
        RgbOp::DP4 => arith.dot4([a[0], a[1], a[2], dp4(0)], [b[0], b[1], b[2], dp4(1)]),
        RgbOp::D2A => arith.dot2_add([a[0], a[1]], [b[0], b[1]], rgb(2, 2)),
        _ => return None,
    })
}

/// Returns the result of an RGB operation that works channel by channel; `None` for others. `x` returns
/// operand 0 to 2: A to C, which in MDH and MDV are those of the corners (documented).
#[inline]
fn rgb_op(op: RgbOp, x: impl Fn(usize) -> f32, arith: Arith) -> Option<f32> {
    Some(match op {
        RgbOp::MAD | RgbOp::MDH | RgbOp::MDV => arith.mad(x(0), x(1), x(2)),
        RgbOp::MIN => compare::min(x(0), x(1)),
        RgbOp::MAX => compare::max(x(0), x(1)),
        RgbOp::CND => compare::cnd(x(0), x(1), x(2)),
        RgbOp::CMP => compare::cmp(x(0), x(1), x(2)),
        RgbOp::FRC => arith.frc(x(0)),
        _ => return None,
    })
}

/// Returns the result of an alpha operation other than DP; `None` for the reserved one. `x` as for [`rgb_op`].
#[inline]
fn alpha_op(op: AlphaOp, x: impl Fn(usize) -> f32, arith: Arith) -> Option<f32> {
    Some(match op {
        AlphaOp::MAD | AlphaOp::MDH | AlphaOp::MDV => arith.mad(x(0), x(1), x(2)),
        AlphaOp::MIN => compare::min(x(0), x(1)),
        AlphaOp::MAX => compare::max(x(0), x(1)),
        AlphaOp::CND => compare::cnd(x(0), x(1), x(2)),
        AlphaOp::CMP => compare::cmp(x(0), x(1), x(2)),
        AlphaOp::FRC => arith.frc(x(0)),
        AlphaOp::EX2 => kernels::ex2(x(0)),
        AlphaOp::LN2 => kernels::ln2(x(0)),
        AlphaOp::RCP => arith.rcp(x(0)),
        AlphaOp::RSQ => arith.rsq(x(0)),
        AlphaOp::SIN => kernels::sin(x(0)),
        AlphaOp::COS => kernels::cos(x(0)),
        _ => return None,
    })
}

/// Returns the effective output modifier; `finish_instead` is the reading of OMOD 7 that scales by 1.
fn omod(omod: Omod, finish_instead: bool) -> Omod {
    if omod == Omod::DISABLED && finish_instead { Omod::MUL1 } else { omod }
}

/// Applies output modifier and clamp. OMOD 7 copies bit for bit and skips the clamp (documented, ctm).
#[inline]
fn finish(raw: f32, omod: Omod, clamp: bool, arith: Arith) -> f32 {
    let Some(factor) = omod.factor() else { return raw };
    let scaled = numerics::finish(raw, factor);
    if clamp { arith.clamp01(scaled) } else { scaled }
}

/// Returns whether OMOD 7 is documented for an operation: for those that return the bits of an operand.
fn rgb_selects(op: RgbOp) -> bool {
    matches!(op, RgbOp::MIN | RgbOp::MAX | RgbOp::CMP | RgbOp::CND)
}

fn alpha_selects(op: AlphaOp) -> bool {
    matches!(op, AlphaOp::MIN | AlphaOp::MAX | AlphaOp::CMP | AlphaOp::CND)
}
