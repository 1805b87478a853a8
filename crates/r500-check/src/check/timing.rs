//! Lints about missing synchronisation: texture semaphore, NOP before early reads, ALU_WAIT.

use r500_isa::values::{InstType, Sel, Swiz};
use r500_isa::words::{CmnInst, TexInst};
use r500_isa::{Half, Instruction, Operand, Slot};

use super::Checker;
use super::machine::span;
use super::registers::register;
use crate::LintCode;
use crate::dataflow::{ChannelId, ChannelSet, Definition, for_each_temp};
use crate::graph::{AlRange, EdgeKind, Node};
use crate::lint::{Edit, Fix};
use r500_isa::Access;

/// Pending texture results: channels fetched without acquiring the semaphore, and channels that it
/// protects. The reference engine tracks whole registers.
#[derive(Clone, Copy, Default)]
struct Fetches {
    issued: ChannelSet,
    held: ChannelSet,
}

/// The label of the related fetch.
const FETCHED: &str = "fetched here";

/// The pending channels of the first register of an access that has pending channels.
struct Pending {
    issued: Option<(u8, u8)>,
    held: Option<(u8, u8)>,
}

impl Fetches {
    fn of(&self, access: &Access, al: AlRange) -> Pending {
        let mut pending = Pending { issued: None, held: None };
        for_each_temp(access, al, |temp| {
            let some = |set: &ChannelSet| {
                Some((temp, set.temp(temp) & access.may)).filter(|found| found.1 != 0)
            };
            pending.issued = pending.issued.or(some(&self.issued));
            pending.held = pending.held.or(some(&self.held));
        });
        pending
    }
}

impl Checker<'_> {
    pub(super) fn check_timing(&mut self) {
        if self.graph.infos.iter().any(|step| step.fetch) {
            self.check_fetches();
        }
        for index in self.reached() {
            self.check_nop(index);
            let step = &self.graph.infos[index];
            let waits = self.program.code[index].cmn().alu_wait();
            let reads = step.alu_result_read || step.predicate_reads != 0;
            if step.ty == InstType::FC && reads && !waits {
                let place = self.field(index, 0, CmnInst::ALU_WAIT);
                let fix = self.set_flag(index, 0, CmnInst::ALU_WAIT);
                let message = "reads an ALU result or predicate bit without ALU_WAIT".to_owned();
                self.add_fixed(LintCode::MissingAluWait, place, message, fix);
            }
        }
    }

    fn check_fetches(&mut self) {
        let mut before = vec![Fetches::default(); self.graph.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for edge in self.graph.edges() {
                let Node::Instruction(to) = edge.to else { continue };
                let after = self.transfer(edge.from, before[edge.from]);
                changed |= before[to].issued.union(&after.issued);
                changed |= before[to].held.union(&after.held);
            }
        }
        for index in self.reached() {
            let Some(&visit) = self.graph.abstract_state(index) else { continue };
            let fetches = self.awaited(index, before[index]);
            if fetches.issued.is_empty() && fetches.held.is_empty() {
                continue;
            }
            let step = self.graph.infos[index];
            let exact = |access: &&Access| !access.relative || !visit.al.unknown;
            for access in step.reads.iter().filter(exact) {
                let Pending { issued, held } = fetches.of(access, visit.al);
                let place = self.place_of(index, access.field);
                if let Some((temp, channels)) = issued {
                    let name = register(temp, channels);
                    let message = format!("the fetch of {name} never acquired the semaphore");
                    let fix = self.await_fix(index, issued);
                    self.add_fixed(LintCode::NeverAcquired, place, message, fix);
                    self.relate(self.fetches_of(index, temp, channels), FETCHED);
                } else if let Some((temp, channels)) = held {
                    let message = format!("{} may not be fetched yet", register(temp, channels));
                    self.add_fixed(
                        LintCode::NotAwaited,
                        place,
                        message,
                        self.await_fix(index, None),
                    );
                    self.relate(self.fetches_of(index, temp, channels), FETCHED);
                }
            }
            // Fetches deliver in the order in which they were issued.
            for access in step.writes.iter().filter(|_| step.is_alu()).filter(exact) {
                let Pending { issued, held } = fetches.of(access, visit.al);
                if let Some((temp, channels)) = issued.or(held) {
                    let name = register(temp, channels);
                    let message = format!("the fetch of {name} may arrive after this write");
                    let place = self.place_of(index, access.field);
                    let fix = self.await_fix(index, issued);
                    self.add_fixed(LintCode::PendingOverwrite, place, message, fix);
                    self.relate(self.fetches_of(index, temp, channels), FETCHED);
                }
            }
        }
    }

    /// Returns a fix that adds the wait, and lets the fetches without the semaphore acquire it.
    fn await_fix(&self, index: usize, issued: Option<(u8, u8)>) -> Fix {
        let mut fix = self.set_flag(index, 0, CmnInst::TEX_SEM_WAIT);
        if let Some((temp, channels)) = issued {
            let acquire = TexInst::TEX_SEM_ACQUIRE;
            let fetches = self.fetches_of(index, temp, channels).into_iter();
            fix.edits.extend(fetches.map(|at| Edit::word(at, 1, acquire, true)));
            fix.text.push_str(" and TEX_SEM_ACQUIRE on the fetch");
        }
        fix
    }

    /// Returns the fetches that may define a register.
    fn fetches_of(&self, index: usize, temp: u8, channels: u8) -> Vec<usize> {
        let mut found = Vec::new();
        for channel in (0..4).filter(|c| channels >> c & 1 != 0) {
            for definition in self.flow.definitions(index, ChannelId::Temp(temp, channel)) {
                if let Definition::At(at) = definition
                    && self.graph.infos[at].fetch
                    && !found.contains(&at)
                {
                    found.push(at);
                }
            }
        }
        found
    }

    fn awaited(&self, index: usize, mut fetches: Fetches) -> Fetches {
        if self.program.code[index].cmn().tex_sem_wait() {
            fetches.held = ChannelSet::EMPTY;
        }
        fetches
    }

    fn transfer(&self, index: usize, fetches: Fetches) -> Fetches {
        let mut fetches = self.awaited(index, fetches);
        let step = &self.graph.infos[index];
        let (true, Some(visit)) = (step.fetch, self.graph.abstract_state(index)) else {
            return fetches;
        };
        for access in step.writes.iter() {
            for_each_temp(access, visit.al, |temp| fetches.issued.insert_temp(temp, access.may));
        }
        if self.program.code[index].tex_inst().tex_sem_acquire() {
            fetches.held.union(&std::mem::take(&mut fetches.issued));
        }
        fetches
    }

    /// Returns whether accesses of two consecutive instructions may name the same register. Both
    /// use the same aL.
    fn meet(&self, index: usize, a: &Access, b: &Access) -> bool {
        if a.relative == b.relative {
            return a.addr == b.addr;
        }
        let (relative, plain) = if a.relative { (a, b) } else { (b, a) };
        let Some(visit) = self.graph.abstract_state(index) else { return false };
        let (min, max) = span(relative, visit.al);
        !visit.al.unknown && (min..=max).contains(&i32::from(plain.addr))
    }

    /// Checks for NOP before an instruction whose presubtract, MDH or MDV reads sources early.
    fn check_nop(&mut self, index: usize) {
        let inst = self.program.code[index];
        let step = &self.graph.infos[index];
        let Some(before) = index.checked_sub(1) else { return };
        if !step.is_alu() || !reads_early(inst) {
            return;
        }
        let previous = self.graph.infos[before];
        let cmn = self.program.code[before].cmn();
        if !previous.is_alu() || cmn.nop() || previous.writes.is_empty() {
            return;
        }
        let follows = self
            .graph
            .edges_from(before)
            .iter()
            .any(|edge| edge.kind == EdgeKind::Next && edge.to == Node::Instruction(index));
        if !follows {
            return;
        }
        let early = early_reads(inst);
        for (half, n, mask) in early {
            let source = inst.sources(half)[n];
            let Some(temp) = source.temporary() else { continue };
            let read =
                Access { addr: temp, relative: source.relative, may: mask, ..Access::default() };
            let just = previous
                .writes
                .iter()
                .find(|access| access.may & mask != 0 && self.meet(index, access, &read));
            if let Some(access) = just {
                let name = register(temp, access.may & mask);
                let place = self.field(before, 0, CmnInst::NOP);
                let message = format!("{name} is read early by the next instruction");
                let fix = self.set_flag(before, 0, CmnInst::NOP);
                self.add_fixed(LintCode::MissingNop, place, message, fix);
                self.relate([index], "read early here");
                return;
            }
        }
    }
}

/// Returns whether an ALU instruction may read sources through presubtract, or quad corners.
fn reads_early(inst: Instruction) -> bool {
    inst.rgba_inst().rgb_op().is_derivative()
        || inst.alpha_inst().alpha_op().is_derivative()
        || Slot::ALL.into_iter().any(|slot| {
            inst.rgb_operand(slot).sel == Sel::SRCP || inst.alpha_operand(slot).sel == Sel::SRCP
        })
}

/// Returns the sources that are read through presubtract or as quad corners, with their channels.
fn early_reads(inst: Instruction) -> impl Iterator<Item = (Half, usize, u8)> {
    // Replace the other operands by constants; the remaining reads are early.
    let mut only = inst;
    for slot in Slot::ALL {
        let rgb = only.rgb_operand(slot);
        if rgb.sel != Sel::SRCP {
            only = only.with_rgb_operand(slot, Operand { swiz: [Swiz::ZERO; 3], ..rgb });
        }
        let alpha = only.alpha_operand(slot);
        if alpha.sel != Sel::SRCP {
            only = only.with_alpha_operand(slot, Operand { swiz: [Swiz::ZERO], ..alpha });
        }
    }
    let reads = only.source_reads();
    (0..3)
        .flat_map(move |n| {
            [(Half::Rgb, n, reads.rgb[n]), (Half::Alpha, n, u8::from(reads.alpha[n]) << 3)]
        })
        .filter(|read| read.2 != 0)
}
