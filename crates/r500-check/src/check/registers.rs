//! Lints about uninitialised reads and dead writes.

use r500_isa::words::CmnInst;

use super::Checker;
use crate::LintCode;
use crate::dataflow::{ChannelId, ChannelSet, DefiniteInit, Liveness};
use crate::lint::{Edit, Fix};
use r500_isa::{Access, OperandField};

impl Checker<'_> {
    /// Reports uninitialised reads and dead writes. Returns whether every read is initialised.
    pub(super) fn check_registers(&mut self) -> bool {
        let mut inputs = self.assumptions.inputs.unwrap_or_else(all_temporaries);
        if self.assumptions.inputs.is_none() {
            inputs.union(&all_temporaries());
        }
        let written = DefiniteInit::of(self.flow, &inputs);
        let live = Liveness::of_covered(self.flow);
        let mut defined = self.assumptions.inputs.is_some();
        for index in (0..self.graph.len()).filter(|&index| self.flow.reaches(index)) {
            let effects = *self.flow.effects(index);
            let unsure = effects.may_read.without(written.always(index));
            if !unsure.is_empty() {
                defined = false;
                self.check_reads(index, &effects.must_read, &written);
            }
            if !self.graph.infos[index].write_inactive {
                let dead = effects.may_write.without(live.live_out(index));
                if !dead.is_empty() {
                    self.check_dead(index, &dead);
                }
            }
        }
        defined
    }

    fn check_reads(&mut self, index: usize, needs: &ChannelSet, written: &DefiniteInit) {
        let never = needs.without(written.maybe(index));
        // If every write is conditional, only channels without any write are certainly
        // uninitialised.
        let perhaps = if self.flow.writes_are_conditional() {
            ChannelSet::EMPTY
        } else {
            needs.without(written.always(index)).without(&never)
        };
        let info = self.graph.infos[index];
        for access in info.reads.iter().filter(|access| !access.relative) {
            for (set, code, how) in [
                (&never, LintCode::NeverWritten, "no path writes"),
                (&perhaps, LintCode::MaybeUnwritten, "some path does not write"),
            ] {
                let channels = set.temp(access.addr) & access.must;
                if channels != 0 {
                    let place = self.place_of(index, access.field);
                    let name = register(access.addr, channels);
                    self.add(code, place, format!("{how} {name} before it is read here"));
                }
            }
        }
        let bits = never.predicates() | perhaps.predicates();
        if bits != 0 {
            let place = self.field(index, 0, CmnInst::RGB_PRED_SEL);
            let message = format!("predicate bits {} are not set on every path", letters(bits));
            self.add(LintCode::PredicateNotSet, place, message);
        }
        if never.contains(ChannelId::AluResult) || perhaps.contains(ChannelId::AluResult) {
            let place = self.field(index, 2, r500_isa::words::FcInst::JUMP_FUNC);
            self.add(
                LintCode::AluResultNotSet,
                place,
                "the ALU result is not set on every path".into(),
            );
        }
    }

    fn check_dead(&mut self, index: usize, dead: &ChannelSet) {
        let info = self.graph.infos[index];
        for access in info.writes.iter().filter(|access| !access.relative) {
            let channels = dead.temp(access.addr) & access.may;
            // The write mask does not change the cost of a fetch.
            if channels != 0 && (!info.fetch || channels == access.may) {
                let place = self.place_of(index, access.field);
                let message =
                    format!("{} is never read after this", register(access.addr, channels));
                let fix = self.narrow(index, access, channels);
                self.add_fixed(LintCode::DeadWrite, place, message, fix);
            }
        }
        let bits = dead.predicates();
        if bits != 0 && bits == info.predicate_writes {
            let place = self.field(index, 0, CmnInst::RGB_OMASK);
            let message = format!("predicate bits {} are never read after this", letters(bits));
            self.add(LintCode::DeadWrite, place, message);
        }
        if dead.contains(ChannelId::AluResult) {
            let place = self.field(index, 3, r500_isa::words::AluRgbInst::ALU_WMASK);
            self.add(LintCode::DeadWrite, place, "the ALU result is never read after this".into());
        }
        let outputs: Vec<String> = dead
            .iter()
            .filter(|channel| matches!(channel, ChannelId::Output(..) | ChannelId::Depth))
            .map(|channel| channel.to_string())
            .collect();
        if !outputs.is_empty() {
            let place = self.field(index, 0, CmnInst::RGB_OMASK);
            let message = format!("overwritten before the program ends: {}", outputs.join(", "));
            self.add(LintCode::DeadOutput, place, message);
        }
    }

    /// Returns a fix that clears dead channels of a write mask.
    fn narrow(&self, index: usize, access: &Access, dead: u8) -> Fix {
        let cmn = self.program.code[index].cmn();
        let mut edits = Vec::new();
        if dead & 7 != 0 && access.field != OperandField::AlphaDest {
            let mask = r500_isa::values::RgbMask::new(cmn.rgb_wmask().code() & !dead & 7);
            edits.push(Edit::word(index, 0, CmnInst::RGB_WMASK, mask));
        }
        if dead & 8 != 0 {
            edits.push(Edit::word(index, 0, CmnInst::ALPHA_WMASK, false));
        }
        Fix { text: format!("do not write {}", register(access.addr, dead)), safe: false, edits }
    }
}

fn all_temporaries() -> ChannelSet {
    let mut set = ChannelSet::EMPTY;
    (0..=127).for_each(|temp| set.insert_temp(temp, 0b1111));
    set
}

/// Returns a temporary with some of its channels: `temp[3].rg`.
pub(super) fn register(temp: u8, channels: u8) -> String {
    format!("temp[{temp}].{}", letters(channels))
}

fn letters(channels: u8) -> String {
    (0..4).filter(|i| channels >> i & 1 != 0).map(|i| char::from(b"rgba"[i])).collect()
}
