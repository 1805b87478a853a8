//! Write-back: predicates, masks, temporaries, outputs, depth, predicate bits, ALU result.

use r500_isa::TEMPORARIES;
use r500_isa::values::{AluResultSel, Compare, PredSel};

use super::event::Write;
use super::group::{Group, saturate};
use super::lane::Lane;
use crate::numerics::compare::{eq, ge, lt, ne};
use crate::reading::{AluResultPredicate, PredReserved, WriteInactiveDepth};
use crate::shader::{Alu, Dest, Predicate};
use crate::warning::WarningKind;

/// The results of an instruction in one lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// Finished results: red, green, blue, alpha.
    pub(super) result: [f32; 4],
    /// Channels that the predicates enable, red in bit 0.
    pub(super) enabled: u8,
}

impl Group<'_> {
    /// Returns the channels that an instruction's predicates enable for a lane, red in bit 0 (documented):
    /// NONE all; RGBA each by its own bit, alpha by A; else one bit for the half.
    pub(super) fn enabled(&self, lane: usize, rgb: Predicate, alpha: Predicate) -> u8 {
        if rgb.sel == PredSel::NONE && alpha.sel == PredSel::NONE {
            return 0b1111;
        }
        let bits = self.state.lanes.get(lane).map_or(0, |lane| lane.predicate);
        let rgb = self.enabled_channels(rgb, bits) & 0b0111;
        let alpha = self.enabled_channels(alpha, bits) & 0b1000;
        rgb | alpha
    }

    /// Writes the results of an ALU or OUT instruction for one lane; `rgb` and `alpha` are the temporaries of
    /// the halves.
    pub(super) fn write_alu(
        &mut self,
        lane: usize,
        alu: &Alu,
        [rgb, alpha]: [Option<usize>; 2],
        outcome: &Outcome,
        active: bool,
    ) {
        let Outcome { result, enabled } = *outcome;
        self.write_temp(lane, rgb, alu.rgb.wmask & enabled, result);
        self.write_temp(lane, alpha, alu.alpha.wmask << 3 & enabled, result);
        if alu.out {
            self.write_outputs(lane, alu, outcome, active);
        } else {
            self.write_predicate(lane, alu, outcome);
        }
        if let Some((sel, compare)) = alu.alu_result {
            self.write_alu_result(lane, sel, compare, outcome);
        }
        self.count_stat(lane, alu.stat_we & enabled, active);
    }

    /// Returns the temporary of a destination, with aL added if it is relative; `None` if it does not exist.
    pub(super) fn destination(&self, dest: Dest) -> Option<usize> {
        Some(self.temp_address(dest.addr, dest.relative)).filter(|&temp| self.temp_exists(temp))
    }

    /// Warns about a destination.
    pub(super) fn check_destination(&mut self, lane: usize, address: u32, dest: Dest) {
        self.check_relative(lane, address, dest.addr, dest.relative, TEMPORARIES);
        let temp = self.temp_address(dest.addr, dest.relative);
        if self.is_past(temp) {
            self.warn(lane, WarningKind::PastPixsize, address, saturate(temp));
        }
    }

    /// Writes channels of a temporary.
    pub(super) fn write_temp(
        &mut self,
        lane: usize,
        temp: Option<usize>,
        mask: u8,
        value: [f32; 4],
    ) {
        let Some(temp) = temp.filter(|_| mask != 0) else { return };
        let Lane { temps, written, .. } = &mut self.state.lanes[lane];
        let register = &mut temps[temp];
        put(register, mask, value);
        written[temp] |= mask;
        let value = *register;
        if let (Some(event), Ok(temp)) = (self.event_of(lane), u8::try_from(temp)) {
            event.writes.push(Write::Temp { temp, mask, value });
        }
    }

    /// Counts an instruction for `STAT_WE`, by channel.
    pub(super) fn count_stat(&mut self, lane: usize, channels: u8, active: bool) {
        if channels == 0 {
            return;
        }
        let counts = self.state.lanes.get(lane).is_some_and(|lane| lane.inside && lane.covered);
        if active && counts {
            for (i, count) in self.state.counters.stat.iter_mut().enumerate() {
                *count += u64::from(channels >> i & 1);
            }
        }
    }

    /// Warns about reading predicate bits that were never set; `channels` are those that the predicate gates.
    pub(super) fn check_predicate(
        &mut self,
        lane: usize,
        address: u32,
        pred: Predicate,
        channels: u8,
    ) {
        let bits = match pred.sel {
            _ if channels == 0 => return,
            PredSel::RGBA => channels,
            PredSel::RRRR => 1,
            PredSel::GGGG => 2,
            PredSel::BBBB => 4,
            PredSel::AAAA => 8,
            _ => return,
        };
        let set = self.state.lanes.get(lane).map_or(0, |lane| lane.predicate_set);
        for bit in (0..4).filter(|bit| (bits & !set) >> bit & 1 != 0) {
            self.warn(lane, WarningKind::PredicateNotSet, address, bit);
        }
    }

    /// Returns the channels that a predicate enables.
    fn enabled_channels(&self, pred: Predicate, bits: u8) -> u8 {
        let all_if = |set: bool| if set { 0b1111 } else { 0 };
        let bit = |n: u8| all_if(bits >> n & 1 != 0);
        let selected = match pred.sel {
            PredSel::RGBA => bits,
            PredSel::RRRR => bit(0),
            PredSel::GGGG => bit(1),
            PredSel::BBBB => bit(2),
            PredSel::AAAA => bit(3),
            // Derived: inversion has no effect without a predicate.
            PredSel::NONE => return 0b1111,
            // Open: reserved.
            _ => match self.draw.options.readings.pred_reserved {
                PredReserved::None => return 0b1111,
                PredReserved::Alpha => bit(3),
            },
        };
        if pred.inv { !selected & 0b1111 } else { selected }
    }

    /// Writes the outputs of OUT: colours go to the RGB half's target, alpha to the alpha half's
    /// (documented); a later write replaces an earlier one (ctm). Depth is the finished alpha result under
    /// the alpha predicate (documented, derived).
    fn write_outputs(&mut self, lane: usize, alu: &Alu, outcome: &Outcome, active: bool) {
        let Outcome { result, enabled } = *outcome;
        let halves = [
            (alu.rgb.target, alu.rgb.omask & enabled),
            (alu.alpha.target, alu.alpha.omask << 3 & enabled),
        ];
        for (target, mask) in halves.into_iter().filter(|(_, mask)| *mask != 0) {
            let n = usize::from(target.code() & 3);
            let Some(pixel) = self.state.lanes.get_mut(lane) else { return };
            put(&mut pixel.color[n], mask, result);
            pixel.color_written[n] |= mask;
            let value = pixel.color[n];
            if let Some(event) = self.event_of(lane) {
                event.writes.push(Write::Output { target: target.code(), mask, value });
            }
        }
        let reaches_depth =
            active || self.draw.options.readings.write_inactive_depth == WriteInactiveDepth::Yes;
        if alu.depth && enabled & 0b1000 != 0 && reaches_depth {
            let depth = result[3];
            if let Some(pixel) = self.state.lanes.get_mut(lane) {
                pixel.depth = Some(depth);
            }
            if let Some(event) = self.event_of(lane) {
                event.writes.push(Write::Depth(depth));
            }
        }
    }

    /// Writes predicate bits: OMASK selects them, TARGET the comparison of the finished result with zero
    /// (documented); the instruction's own predicate gates the write (derived).
    fn write_predicate(&mut self, lane: usize, alu: &Alu, outcome: &Outcome) {
        let Outcome { result, enabled } = *outcome;
        let mask = (alu.rgb.omask | alu.alpha.omask << 3) & enabled;
        if mask == 0 {
            return;
        }
        let mut bits = 0;
        for (i, x) in result.into_iter().enumerate() {
            let compare = if i < 3 { alu.rgb.target } else { alu.alpha.target }.compare();
            bits |= u8::from(compare_with_zero(compare, x)) << i;
        }
        let Some(pixel) = self.state.lanes.get_mut(lane) else { return };
        pixel.predicate = pixel.predicate & !mask | bits & mask;
        pixel.predicate_set |= mask;
        let bits = pixel.predicate;
        if let Some(event) = self.event_of(lane) {
            event.writes.push(Write::Predicate { mask, bits });
        }
    }

    /// Writes the ALU result: the comparison of the finished, clamped red or alpha with zero (documented,
    /// ctm). No temporary needs to be written (observed); the predicate does not gate the write (open).
    fn write_alu_result(
        &mut self,
        lane: usize,
        sel: AluResultSel,
        compare: Compare,
        outcome: &Outcome,
    ) {
        let channel = if sel == AluResultSel::ALPHA { 3 } else { 0 };
        let gated = self.draw.options.readings.alu_result_predicate == AluResultPredicate::Gated;
        if gated && outcome.enabled >> channel & 1 == 0 {
            return;
        }
        let set = compare_with_zero(compare, outcome.result[channel]);
        if let Some(pixel) = self.state.lanes.get_mut(lane) {
            pixel.alu_result = set;
            pixel.alu_result_set = true;
        }
        if let Some(event) = self.event_of(lane) {
            event.writes.push(Write::AluResult(set));
        }
    }
}

/// Compares a number with zero: NaN is only unequal (derived), a denormal is zero (ctm).
pub(super) fn compare_with_zero(compare: Compare, x: f32) -> bool {
    match compare {
        Compare::LT => lt(x, 0.0),
        Compare::GE => ge(x, 0.0),
        Compare::NE => ne(x, 0.0),
        _ => eq(x, 0.0),
    }
}

#[inline]
fn put(register: &mut [f32; 4], mask: u8, value: [f32; 4]) {
    for (i, (to, from)) in register.iter_mut().zip(value).enumerate() {
        if mask >> i & 1 != 0 {
            *to = from;
        }
    }
}
