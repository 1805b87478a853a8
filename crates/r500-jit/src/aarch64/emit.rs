//! Code emission: encodes the machine IR in two forms.
//!
//! ```text
//! speculative form   uses the processor's products, with the flush bit set; records whether a result was flushed
//! exact form         computes the reference's products
//! constants
//! ```
//!
//! Each form:
//!
//! ```text
//! entry      saves registers, sets the flush bit
//! groups     the instructions, in a loop over groups
//! done       restores registers, returns
//! refill     saves all vectors and calls the context's `refill`
//! ```
//!
//! The processor flushes subnormal operands as the reference semantics do, but results that are tiny *before* rounding, where the reference
//! flushes those that are tiny *after* rounding. Tiny sums are exact, roots are never tiny, and a quotient of two 24-bit significands is
//! never within 2^-25 (relatively) below a power of two unless it is one. So only a product can differ: one that rounds up to 2^-126 from
//! below. Whenever the processor flushes a result, it sets FPSR.UFC. The speculative form clears that bit first and stores it in the
//! context; if it is set, the results are discarded, and the exact form recomputes the same chunks.

mod operations;
mod pixels;

use super::assembler::{Assembler, CodeLabel};
use super::assembly::Assembly;
use super::encode::{self, Condition, SP, V, X, XZR};
use super::error::CompileError;
use crate::vm_context::offset as context;
use operations::TexelAddresses;
use pixels::PixelUse;
use r500_lir::Opcode;
use r500_lir::{Label, MachCode, MachInst, Mem, UnitLayout};

/// Bytes per vector.
pub(super) const VECTOR: u32 = 16;
/// Allocatable vector registers; the other two are [`SPARE`]s.
pub(super) const VECTORS: usize = 30;
/// Scratch vector registers.
const SPARE: [V; 2] = [V(30), V(31)];
/// FPCR.FZ, shifted: flush denormal operands and tiny results to zero.
const FLUSH: u16 = 1 << 8;

const CONTEXT: X = X(19);
/// Byte offset of the group in a slot.
const OFFSET: X = X(20);
/// The offset after the last group.
const END: X = X(21);
/// The address of the group in slot 0.
const SLOTS: X = X(22);
/// The address of the constant pool.
const POOL: X = X(23);
/// The address of the pixel offsets of the group's halves of a chunk.
const PLACES: X = X(24);
/// For a group of one quad: 16 times the index of the quad in its half of a chunk.
const QUAD: X = X(25);
/// The address of the group's coverage.
const COVERED: X = X(26);
/// Counters of outer loops; those of deeper loops are in the frame.
const COUNTERS: [X; 2] = [X(27), X(28)];
/// For each half of a chunk, the addresses of the first interpolant's x and y terms.
const TERMS: [[X; 2]; 2] = [[X(1), X(2)], [X(3), X(4)]];
/// The texels of the first texture units.
const TABLES: [X; 4] = [X(5), X(6), X(7), X(8)];
/// Scratch registers.
const SCRATCH: [X; 3] = [X(9), X(14), X(15)];
/// Scratch register for addresses of moves whose offset cannot be encoded.
const FAR: X = X(16);
/// The result of the last test: non-zero if the mask has a lane.
const TESTED: X = X(17);
const FRAME: X = X(29);
const LINK: X = X(30);

/// Bytes that [`Emit::entry`] saves, and the offset of FPCR in them.
const SAVED: u32 = 176;
const SAVED_FPCR: u32 = 160;

/// A form of the code, by how products treat subnormals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FpMode {
    Speculative,
    Exact,
}

/// Encodes machine code.
///
/// # Errors
/// If the code is too long, or contains an operation without an encoding.
pub(crate) fn emit(code: &MachCode, unit: &UnitLayout) -> Result<Assembly, CompileError> {
    let mut assembler = Assembler::default();
    let mut starts = [0; 2];
    for (start, mode) in starts.iter_mut().zip([FpMode::Speculative, FpMode::Exact]) {
        *start = 4 * assembler.len();
        let mut emit = Emit::new(code, unit, mode, assembler);
        emit.entry();
        for inst in &code.insts {
            emit.inst(inst)?;
        }
        emit.exit();
        assembler = emit.a;
    }
    let lanes = code.groups.max(1) * VECTOR / 4;
    let (code, constants) = assembler.finish()?;
    Ok(Assembly { code, exact: starts[1], constants, lanes })
}

struct Emit<'a> {
    code: &'a MachCode,
    unit: &'a UnitLayout,
    mode: FpMode,
    a: Assembler,
    labels: Vec<CodeLabel>,
    stopped: CodeLabel,
    refill: CodeLabel,
    pixels: PixelUse,
    cells: TexelAddresses,
}

impl<'a> Emit<'a> {
    fn new(code: &'a MachCode, unit: &'a UnitLayout, mode: FpMode, mut a: Assembler) -> Self {
        let labels = (0..code.labels).map(|_| a.label()).collect();
        let [stopped, refill] = [(); 2].map(|()| a.label());
        let (pixels, cells) = (PixelUse::of(code), TexelAddresses::default());
        Self { code, unit, mode, a, labels, stopped, refill, pixels, cells }
    }

    /// Returns the number of interleaved groups.
    fn groups(&self) -> u32 {
        self.code.groups.max(1)
    }

    /// Returns the size of the frame in bytes: vectors, then counters.
    fn frame(&self) -> u32 {
        let counters = self.code.counters.saturating_sub(COUNTERS.len() as u32);
        (self.code.stack * VECTOR + 8 * counters).next_multiple_of(16)
    }

    /// Adds a number to the stack pointer or subtracts it, by `op`.
    fn move_stack(&mut self, bytes: u32, op: fn(X, X, u32, bool) -> u32) {
        let (high, low) = (bytes >> 12, bytes & 0xfff);
        if high > 0 {
            self.a.put(op(SP, SP, high, true));
        }
        if low > 0 {
            self.a.put(op(SP, SP, low, false));
        }
    }

    fn load_context(&mut self, to: X, field: i32) {
        self.a.put(encode::ldr(to, CONTEXT, field.cast_unsigned()));
    }

    fn store_context(&mut self, from: X, field: i32) {
        self.a.put(encode::str(from, CONTEXT, field.cast_unsigned()));
    }

    fn entry(&mut self) {
        let saved = SAVED.cast_signed();
        self.a.put(encode::stp_pre(FRAME, LINK, SP, -saved));
        self.a.put(encode::add_imm(FRAME, SP, 0, false));
        for (at, (x, d)) in (0..).zip([(19, 8), (21, 10), (23, 12), (25, 14)]) {
            self.a.put(encode::stp(X(x), X(x + 1), SP, 16 + 16 * at));
            self.a.put(encode::stp_d(V(d), V(d + 1), SP, 96 + 16 * at));
        }
        self.a.put(encode::stp(X(27), X(28), SP, 80));
        self.a.put(encode::mrs_fpcr(SCRATCH[0]));
        self.a.put(encode::str(SCRATCH[0], SP, SAVED_FPCR));
        self.move_stack(self.frame(), encode::sub_imm);
        self.a.put(encode::mov(CONTEXT, X(0)));
        self.flush_denormals();
        if self.mode == FpMode::Speculative {
            self.a.put(encode::msr_fpsr(XZR));
        }
        self.load_context(OFFSET, context::BEGIN);
        self.load_context(END, context::END);
        self.a.pool_address(POOL);
        self.find_tables();
    }

    fn flush_denormals(&mut self) {
        self.a.put(encode::movz(SCRATCH[0], FLUSH, 1));
        self.a.put(encode::msr_fpcr(SCRATCH[0]));
    }

    /// Loads the addresses of texels into their registers.
    fn find_tables(&mut self) {
        for (unit, table) in self.unit.units.iter().zip(TABLES) {
            self.load_context(table, context::CELLS + 8 * i32::from(*unit));
        }
    }

    /// Emits the epilogue after the last group.
    fn exit(&mut self) {
        let leave = self.a.label();
        self.a.put(encode::movz(X(0), 0, 0));
        self.a.bind(leave);
        if self.mode == FpMode::Speculative {
            self.a.put(encode::mrs_fpsr(SCRATCH[0]));
            self.store_context(SCRATCH[0], context::STATUS);
        }
        self.a.put(encode::add_imm(SP, FRAME, 0, false));
        self.a.put(encode::ldr(SCRATCH[0], SP, SAVED_FPCR));
        self.a.put(encode::msr_fpcr(SCRATCH[0]));
        for (at, (x, d)) in (0..).zip([(19, 8), (21, 10), (23, 12), (25, 14)]) {
            self.a.put(encode::ldp(X(x), X(x + 1), SP, 16 + 16 * at));
            self.a.put(encode::ldp_d(V(d), V(d + 1), SP, 96 + 16 * at));
        }
        self.a.put(encode::ldp(X(27), X(28), SP, 80));
        self.a.put(encode::ldp_post(FRAME, LINK, SP, SAVED.cast_signed()));
        self.a.put(encode::RET);
        let (stopped, refill) = (self.stopped, self.refill);
        self.a.bind(stopped);
        if self.unit.fuel_checked {
            self.a.put(encode::movz(X(0), 1, 0));
            self.a.b(leave);
        }
        self.a.bind(refill);
        if self.unit.fuel_checked {
            self.refill_function();
        }
    }

    /// Emits the function that calls [`context::REFILL`]; the result is in `x0`. It saves all vectors: a callee preserves only the lower
    /// halves of some.
    fn refill_function(&mut self) {
        const LINK_AT: u32 = VECTORS as u32 * VECTOR;
        let room = LINK_AT + 16;
        let pairs = || (0..VECTORS as u8).step_by(2).map(|v| (V(v), V(v + 1), 16 * i32::from(v)));
        self.move_stack(room, encode::sub_imm);
        pairs().for_each(|(v, w, at)| self.a.put(encode::stp_q(v, w, SP, at)));
        self.a.put(encode::str(LINK, SP, LINK_AT));
        self.a.put(encode::mrs_fpsr(SCRATCH[0]));
        self.a.put(encode::str(SCRATCH[0], SP, LINK_AT + 8));
        self.a.put(encode::ldr(SCRATCH[0], FRAME, SAVED_FPCR));
        self.a.put(encode::msr_fpcr(SCRATCH[0]));
        self.a.put(encode::mov(X(0), CONTEXT));
        self.load_context(SCRATCH[0], context::REFILL);
        self.a.put(encode::blr(SCRATCH[0]));
        self.flush_denormals();
        self.a.put(encode::ldr(SCRATCH[0], SP, LINK_AT + 8));
        self.a.put(encode::msr_fpsr(SCRATCH[0]));
        self.a.put(encode::ldr(LINK, SP, LINK_AT));
        pairs().for_each(|(v, w, at)| self.a.put(encode::ldp_q(v, w, SP, at)));
        self.move_stack(room, encode::add_imm);
        self.find_tables();
        self.locate_interpolants();
        self.a.put(encode::RET);
    }

    fn inst(&mut self, inst: &MachInst) -> Result<(), CompileError> {
        match *inst {
            MachInst::Op { opcode, dst, args, .. } => {
                self.op(opcode, V(dst), args)?;
                if writes_vector(opcode) {
                    self.cells.forget(V(dst));
                }
            }
            MachInst::Load { dst, from, .. } => {
                self.load(V(dst), from);
                self.cells.forget(V(dst));
            }
            MachInst::Store { to, from, .. } => self.store(to, V(from)),
            MachInst::Move { dst, from, .. } => {
                self.copy(V(dst), V(from));
                self.cells.forget(V(dst));
            }
            MachInst::MemMove { to, from, .. } => {
                self.load(SPARE[1], from);
                self.store(to, SPARE[1]);
            }
            MachInst::Test { mask, .. } => {
                // UMAXP: each of the lower two lanes is the maximum of two lanes.
                self.a.put(encode::umaxp(SPARE[1], V(mask), V(mask)));
                self.a.put(encode::fmov_to_x(TESTED, SPARE[1]));
            }
            MachInst::BranchIfNone(label) => {
                let label = self.labels[label.0 as usize];
                self.a.cbz(TESTED, label);
            }
            MachInst::Label(Label(label)) => {
                self.cells.clear();
                let code_label = self.labels[label as usize];
                self.a.bind(code_label);
                if label == 0 {
                    self.begin_group();
                }
            }
            MachInst::ConsumeFuel(instructions) => self.spend(instructions),
            MachInst::LoopBegin { counter, trips } => self.begin_loop(counter, trips),
            MachInst::LoopBack { counter, to, tested, address } => {
                self.loop_back(counter, to, tested, address);
            }
            MachInst::NextGroup(top) => self.next_group(top),
        }
        Ok(())
    }

    /// Emits the start of the loop over groups.
    fn begin_group(&mut self) {
        let [scratch, ..] = SCRATCH;
        self.load_context(scratch, context::SLOTS);
        self.a.put(encode::add_x(SLOTS, scratch, OFFSET, 0));
        self.locate_pixels();
        if self.unit.fuel_checked {
            self.load_context(scratch, context::GRANT);
            self.store_context(scratch, context::FUEL);
            self.store_context(XZR, context::ADDED);
        }
    }

    fn spend(&mut self, instructions: u32) {
        if !self.unit.fuel_checked {
            return;
        }
        let [fuel, number, _] = SCRATCH;
        self.load_context(fuel, context::FUEL);
        if instructions < 1 << 12 {
            self.a.put(encode::sub_imm(fuel, fuel, instructions, false));
        } else {
            self.a.number(number, instructions);
            self.a.put(encode::sub_x(fuel, fuel, number));
        }
        self.store_context(fuel, context::FUEL);
    }

    /// Returns the frame offset of a counter; `None` if it has a register.
    fn counter_place(&self, counter: u32) -> Option<u32> {
        let beyond = counter.checked_sub(COUNTERS.len() as u32)?;
        Some(self.code.stack * VECTOR + 8 * beyond)
    }

    /// Loads or stores a counter in the frame, whose offset may exceed an immediate.
    fn access_counter(&mut self, place: u32, register: X, by: fn(X, X, u32) -> u32) {
        self.a.number(FAR, place);
        // ADD (shifted register) cannot take the stack pointer.
        self.a.put(encode::add_imm(STACK_COPY, SP, 0, false));
        self.a.put(encode::add_x(FAR, STACK_COPY, FAR, 0));
        self.a.put(by(register, FAR, 0));
    }

    fn begin_loop(&mut self, counter: u32, trips: u32) {
        match self.counter_place(counter) {
            None => self.a.number(COUNTERS[counter as usize], trips),
            Some(place) => {
                self.a.number(SCRATCH[0], trips);
                self.access_counter(place, SCRATCH[0], encode::str);
            }
        }
    }

    fn loop_back(&mut self, counter: u32, to: Label, tested: bool, address: u32) {
        let top = self.labels[to.0 as usize];
        let after = self.a.label();
        if tested {
            self.a.cbz(TESTED, after);
        }
        match self.counter_place(counter) {
            None => {
                let counter = COUNTERS[counter as usize];
                self.a.put(encode::subs_w_imm(counter, counter, 1));
            }
            Some(place) => {
                let [left, ..] = SCRATCH;
                self.access_counter(place, left, encode::ldr);
                self.a.put(encode::subs_w_imm(left, left, 1));
                self.a.put(encode::str(left, FAR, 0));
            }
        }
        if !self.unit.fuel_checked {
            self.a.b_if(Condition::Ne, top);
            self.a.bind(after);
            return;
        }
        let more = self.a.label();
        self.a.b_if(Condition::Ne, more);
        self.a.b(after);
        self.a.bind(more);
        self.load_context(SCRATCH[0], context::FUEL);
        self.a.put(encode::cmp_imm(SCRATCH[0], 0));
        self.a.b_if(Condition::Ge, top);
        self.a.number(SCRATCH[0], address);
        self.store_context(SCRATCH[0], context::ADDRESS);
        let (refill, stopped) = (self.refill, self.stopped);
        self.a.bl(refill);
        self.a.cbz(X(0), top);
        self.a.b(stopped);
        self.a.bind(after);
    }

    fn next_group(&mut self, top: Label) {
        let top = self.labels[top.0 as usize];
        if self.unit.fuel_checked {
            let [used, other, _] = SCRATCH;
            self.load_context(used, context::ADDED);
            self.load_context(other, context::FUEL);
            self.a.put(encode::sub_x(used, used, other));
            self.load_context(other, context::MOST);
            self.a.put(encode::cmp(used, other));
            let less = self.a.label();
            self.a.b_if(Condition::Le, less);
            self.store_context(used, context::MOST);
            self.a.bind(less);
        }
        self.a.put(encode::add_imm(OFFSET, OFFSET, self.groups() * VECTOR, false));
        self.a.put(encode::cmp(OFFSET, END));
        self.a.b_if(Condition::Lo, top);
    }

    fn load(&mut self, to: V, from: Mem) {
        let (base, offset) = match from {
            Mem::Const(bits) => return self.a.vector_of(to, bits, POOL, FAR),
            from => self.memory(from),
        };
        self.a.put(encode::ldr_q(to, base, offset));
    }

    fn store(&mut self, to: Mem, from: V) {
        let (base, offset) = self.memory(to);
        self.a.put(encode::str_q(from, base, offset));
    }

    /// Returns the base and the offset of a memory operand, for vector loads and stores.
    fn memory(&mut self, mem: Mem) -> (X, u32) {
        match mem {
            Mem::Stack(at) if at < 1 << 12 => (SP, at * VECTOR),
            Mem::Stack(at) => {
                self.a.put(encode::add_imm(STACK_COPY, SP, 0, false));
                self.a.reach_q(STACK_COPY, at * VECTOR, FAR)
            }
            Mem::Slot(slot, part) => {
                let offset = slot * self.unit.stride + part * VECTOR;
                self.a.reach_q(SLOTS, offset, FAR)
            }
            Mem::Const(bits) => unreachable!("the constant {bits:#x} is never written"),
        }
    }

    fn copy(&mut self, to: V, from: V) {
        if to != from {
            self.a.put(encode::orr(to, from, from));
        }
    }
}

/// A copy of the stack pointer, for instructions that cannot take it.
const STACK_COPY: X = SCRATCH[2];

/// Returns whether an operation has a vector result.
fn writes_vector(opcode: Opcode) -> bool {
    !matches!(
        opcode,
        Opcode::Store(..)
            | Opcode::StoreCoverage(_)
            | Opcode::StoreColor(_)
            | Opcode::StorePixels(_)
            | Opcode::CountFuel(_)
    )
}

#[cfg(test)]
mod tests;
