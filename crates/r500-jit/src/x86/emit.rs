//! Code emission: encodes the machine IR.
//!
//! ```text
//! entry      saves registers, sets the flush bits, locates the first group
//! groups     the instructions, in a loop over groups
//! done       restores registers, returns
//! refill     saves all vectors and calls the context's `refill`
//! constants
//! ```
//!
//! Registers: `rbx` the context; `r12` the chunk in the first slot, `r15` the next one if two are interleaved, `r10` and `r11` those after
//! it if four are (past the last chunk, the first again, which is then computed twice); `r13` the end of its chunks; `r14` the constants;
//! `r8` to `r11` the texels of the first units (unused ones hold [texel offsets](TexelIndices)); `rbp` and `rsp` the frame; the others are
//! scratch. Offsets into the context are those of the [context](crate::vm_context).

mod moves;
mod operations;
mod pixels;
mod texel_indices;

use std::collections::HashMap;

use iced_x86::Register::{
    self, EAX, ECX, EDX, R8, R9, R10, R11, R12, R13, R14, R15, RAX, RBP, RBX, RCX, RDI, RDX, RSP,
};
use iced_x86::{Code, IcedError, Instruction, MemoryOperand};

use r500_fast::codegen::Chunk;

use crate::vm_context::offset as context;
use crate::x86::assembler::{Alu, Assembled, Assembler, CodeLabel, Condition, Operand, at};
use crate::x86::assembly::{Assembly, Line};
use crate::x86::level::Level;
use operations::at_index;
use r500_lir::Class;
use r500_lir::{Label, MachCode, MachInst, RegMem, UnitLayout};
use texel_indices::TexelIndices;

/// Bytes per chunk.
const CHUNK: u32 = size_of::<Chunk>() as u32;
/// MXCSR.FTZ and DAZ: flush tiny results and denormal operands to zero.
const FLUSH: u32 = 1 << 15 | 1 << 6;
/// Distance from a pixel to the pixel at its place in the next batch, in bytes, for the widest batches.
const NEXT_BATCH: i32 = 1024;
/// Scratch vector register.
const SPARE: u8 = 31;
/// The first constants of code with [`Opcode::Permute2Lo`] and [`Opcode::Permute2Hi`]: the permutation of 8-byte elements of two vectors,
/// those of the second from 8 on.
const ROWS: [[u64; 8]; 2] = [[0, 8, 1, 9, 2, 10, 3, 11], [4, 12, 5, 13, 6, 14, 7, 15]];
/// Padding between code and constants.
const INT3: u8 = 0xcc;

/// Registers with the addresses of texels; the last two may be [`CHUNKS`] instead.
const TABLES: [Register; 4] = [R8, R9, R10, R11];

/// Registers with the addresses of the interleaved chunks.
const CHUNKS: [Register; 4] = [R12, R15, R10, R11];

/// Returns a field of the context.
fn field(offset: i32) -> Operand {
    Operand::Qword(at(RBX, offset))
}

/// Returns the field of the context with the address of a unit's texels.
fn table(unit: u8) -> Operand {
    field(context::CELLS + 8 * i32::from(unit))
}

/// Encodes machine code that reads these tables.
pub(crate) fn emit(
    code: &MachCode,
    tables: &[u32],
    level: Level,
    unit: &UnitLayout,
) -> Result<Assembly, IcedError> {
    let mut emit = Emit::new(code, tables, level, unit)?;
    emit.entry()?;
    for inst in &code.insts {
        emit.inst(inst)?;
    }
    emit.exit()?;
    emit.finish()
}

struct Emit<'a> {
    code: &'a MachCode,
    tables: &'a [u32],
    level: Level,
    stride: u32,
    a: Assembler,
    labels: Vec<CodeLabel>,
    done: CodeLabel,
    stopped: CodeLabel,
    refill: CodeLabel,
    pool: CodeLabel,
    /// The pool offset of each constant.
    constants: HashMap<u32, u32>,
    order: Vec<u32>,
    origin: Option<u32>,
    /// Instructions where the source address changes, with the addresses.
    origins: Vec<(usize, u32)>,
    fuel_checked: bool,
    /// Render targets whose pixels are stored to a frame.
    targets: Vec<u8>,
    /// Whether code uses [`ROWS`].
    has_rows: bool,
    /// Units whose texel address is in a register of [`TABLES`].
    units: Vec<u8>,
    /// The instruction that loads the address of the pool.
    points_to_pool: usize,
    /// The vectors whose interpolant addresses are cached in registers: an even one and an odd one.
    cached_interpolant_addr: [Option<u32>; 2],
    /// The texel offsets that are cached in registers.
    texel_indices: TexelIndices,
}

impl<'a> Emit<'a> {
    fn new(
        code: &'a MachCode,
        tables: &'a [u32],
        level: Level,
        unit: &UnitLayout,
    ) -> Result<Self, IcedError> {
        let mut a = Assembler::default();
        let labels = (0..code.labels).map(|_| a.label()).collect();
        let [done, stopped, refill, pool] = [(); 4].map(|()| a.label());
        let fuel_checked = unit.fuel_checked;
        let tables_in_registers = if chunks(code, level) > 2 { 2 } else { TABLES.len() };
        Ok(Self {
            code,
            tables,
            level,
            stride: unit.stride,
            a,
            labels,
            done,
            stopped,
            refill,
            pool,
            constants: HashMap::new(),
            order: Vec::new(),
            origin: None,
            origins: Vec::new(),
            fuel_checked,
            targets: unit.targets.clone(),
            units: unit.units.iter().copied().take(tables_in_registers).collect(),
            points_to_pool: 0,
            has_rows: code.insts.iter().any(MachInst::permutes_rows),
            cached_interpolant_addr: [None; 2],
            texel_indices: TexelIndices::default(),
        })
    }

    /// Returns the size of the frame in bytes: vectors, then counters.
    fn frame(&self) -> i32 {
        let vectors = self.code.stack * self.level.bytes();
        let bytes = vectors + self.code.counters * 8;
        i32::try_from(bytes.next_multiple_of(64)).expect("the frame is small")
    }

    /// Returns the offset of the tables in the pool, in bytes.
    fn first_table(&self) -> u32 {
        if self.has_rows { size_of_val(&ROWS) as u32 } else { 0 }
    }

    /// Returns the offset of the operations' constants in the pool, aligned to a cache line.
    fn first_constant(&self) -> u32 {
        self.first_table() + (4 * self.tables.len() as u32).next_multiple_of(64)
    }

    /// Returns the number of interleaved chunks.
    fn chunks(&self) -> usize {
        chunks(self.code, self.level)
    }

    /// Returns the bytes of a slot that one iteration over groups covers.
    fn group(&self) -> u32 {
        group(self.code, self.level)
    }

    /// Returns the register of the chunk that contains a vector of a group, and the offset in it.
    fn chunk(&self, part: u32) -> (Register, i64) {
        chunk_at(part * self.level.bytes())
    }

    /// Returns the context's fields with the fuel of the interleaved groups, or of each of two.
    fn fuels(&self) -> &'static [i32] {
        if self.code.separate_fuel_counts {
            &[context::FUEL, context::OTHER_FUEL]
        } else {
            &[context::FUEL]
        }
    }

    fn counter(&self, counter: u32) -> Operand {
        let offset = self.code.stack * self.level.bytes() + counter * 8;
        Operand::Dword(at(RSP, offset.cast_signed()))
    }

    fn entry(&mut self) -> Result<(), IcedError> {
        let frame = self.frame();
        let a = &mut self.a;
        a.push(RBP)?;
        a.mov(RBP, RSP)?;
        a.push(RBX)?;
        a.push(R12)?;
        a.push(R13)?;
        a.push(R14)?;
        a.push(R15)?;
        a.alu_number(Alu::Sub, RSP, 16 + frame)?;
        a.alu_number(Alu::And, RSP, -64)?;
        a.mov(RBX, RDI)?;
        a.stmxcsr(at(RBP, -48))?;
        // LDMXCSR takes as long as some ten vectors: a caller that draws several batches has set the bits already.
        let flushes = a.label();
        a.mov(EAX, Operand::Dword(at(RBP, -48)))?;
        a.mov(ECX, EAX)?;
        a.alu_number(Alu::Or, EAX, FLUSH.cast_signed())?;
        a.store(at(RBP, -44), EAX)?;
        a.alu(Alu::Cmp, RAX, RCX)?;
        a.jump_if(Condition::Equal, flushes)?;
        a.ldmxcsr(at(RBP, -44))?;
        a.bind(flushes);
        a.mov(R12, field(context::SLOTS))?;
        a.mov(R13, R12)?;
        a.alu(Alu::Add, R13, field(context::END))?;
        a.alu(Alu::Add, R12, field(context::BEGIN))?;
        self.points_to_pool = a.len();
        a.lea_label(R14, self.pool)?;
        a.alu(Alu::Cmp, R12, R13)?;
        a.jump_if(Condition::AboveOrEqual, self.done)?;
        self.find_tables()
    }

    /// Loads the addresses of texels into their registers.
    fn find_tables(&mut self) -> Result<(), IcedError> {
        for (unit, register) in self.units.iter().zip(TABLES) {
            let from = table(*unit);
            self.a.mov(register, from)?;
        }
        Ok(())
    }

    fn exit(&mut self) -> Result<(), IcedError> {
        let bytes = self.level.bytes();
        let (vectors, masks) =
            (self.level.registers(Class::Vector), self.level.registers(Class::Mask));
        let a = &mut self.a;
        let leave = a.label();
        a.bind(self.done);
        a.alu(Alu::Xor, EAX, EAX)?;
        a.bind(leave);
        let restored = a.label();
        a.mov(ECX, Operand::Dword(at(RBP, -48)))?;
        a.mov(EDX, Operand::Dword(at(RBP, -44)))?;
        a.alu(Alu::Cmp, RCX, RDX)?;
        a.jump_if(Condition::Equal, restored)?;
        a.ldmxcsr(at(RBP, -48))?;
        a.bind(restored);
        a.vzeroupper();
        a.lea(RSP, at(RBP, -40))?;
        a.pop(R15)?;
        a.pop(R14)?;
        a.pop(R13)?;
        a.pop(R12)?;
        a.pop(RBX)?;
        a.pop(RBP)?;
        a.ret();
        if !self.fuel_checked {
            return Ok(());
        }
        a.bind(self.stopped);
        a.mov_number(EAX, 1)?;
        a.jmp(leave)?;
        // The frame is aligned to 64 bytes, and the return address takes 8 of them.
        let after = vectors as u32 * bytes;
        let room = after.cast_signed() + 64;
        a.bind(self.refill);
        a.alu_number(Alu::Sub, RSP, room - 8)?;
        let vectors = (0..vectors as u32).map(|r| (Class::Vector, r as u8, rsp_at(r * bytes)));
        let masks = (0..masks as u32).map(|r| (Class::Mask, r as u8, rsp_at(after + r * 8)));
        let saved: Vec<_> = vectors.chain(masks).collect();
        for &(class, register, place) in &saved {
            self.store(class, place, register)?;
        }
        let a = &mut self.a;
        a.mov(RDI, RBX)?;
        a.vzeroupper();
        a.call_at(at(RBX, context::REFILL))?;
        for (class, register, place) in saved {
            self.load(class, register, place)?;
        }
        self.find_tables()?;
        self.find_chunks()?;
        let a = &mut self.a;
        a.alu_number(Alu::Add, RSP, room - 8)?;
        a.test(RAX)?;
        a.ret();
        Ok(())
    }

    fn finish(mut self) -> Result<Assembly, IcedError> {
        self.a.bind(self.pool);
        let pool = self.a.len();
        self.a.nop();
        let Assembled { mut code, offsets } = std::mem::take(&mut self.a).assemble()?;
        let offset = |inst: usize| offsets[inst];
        let pool = offset(pool) as usize;
        let lines = (self.origins.iter())
            .map(|&(inst, address)| Line { offset: offset(inst), address })
            .collect();
        code.truncate(pool);
        // Constants are aligned to a cache line: adjust the displacement of the instruction that loads their address.
        let padding = pool.next_multiple_of(64) - pool;
        let end = offset(self.points_to_pool + 1) as usize;
        let place = code[..end].last_chunk_mut().expect("the instruction ends in a displacement");
        *place = (i32::from_le_bytes(*place) + padding as i32).to_le_bytes();
        code.resize(pool + padding, INT3);
        if self.has_rows {
            code.extend(ROWS.as_flattened().iter().flat_map(|at| at.to_le_bytes()));
        }
        code.extend(self.tables.iter().flat_map(|bits| bits.to_le_bytes()));
        code.resize(pool + padding + self.first_constant() as usize, 0);
        for bits in &self.order {
            for _ in 0..constant_bytes(self.level) / 4 {
                code.extend_from_slice(&bits.to_le_bytes());
            }
        }
        let lanes = self.group() / 4;
        Ok(Assembly { code, constants: pool + padding, lines, lanes })
    }

    fn inst(&mut self, inst: &MachInst) -> Result<(), IcedError> {
        if !inst.keeps_general_registers() {
            self.cached_interpolant_addr = [None; 2];
        }
        self.texel_indices.before(inst);
        match *inst {
            MachInst::Op { opcode, dst, args, origin } => {
                if self.origin != Some(origin) {
                    self.origin = Some(origin);
                    self.origins.push((self.a.len(), origin));
                }
                self.op(opcode, dst, args)
            }
            MachInst::Load { class, dst, from } => self.load_from(class, dst, from),
            MachInst::Store { class, to, from } => {
                let to = self.memory(to);
                self.store(class, to, from)
            }
            MachInst::Move { class: Class::Vector, dst, from } => {
                let (dst, from) = (self.vector(dst), self.vector(from));
                let code =
                    self.pick(Code::VEX_Vmovaps_ymm_ymmm256, Code::EVEX_Vmovaps_zmm_k1z_zmmm512);
                self.add(Instruction::with2(code, dst, from)?)
            }
            MachInst::Move { class: Class::Mask, dst, from } => {
                self.add(Instruction::with2(Code::VEX_Kmovw_kr_km16, mask(dst), mask(from))?)
            }
            MachInst::MemMove { class, to, from } => self.carry(class, to, from),
            MachInst::Test { class, mask } => self.test(class, mask),
            MachInst::BranchIfNone(label) => {
                let label = self.labels[label.0 as usize];
                self.a.test(EAX)?;
                self.a.jump_if(Condition::Equal, label)
            }
            MachInst::Label(Label(label)) => {
                self.a.bind(self.labels[label as usize]);
                if label == 0 { self.begin_group() } else { Ok(()) }
            }
            MachInst::ConsumeFuel(instructions) => {
                if self.fuel_checked {
                    let instructions = i32::try_from(instructions).expect("a function has few");
                    for fuel in self.fuels() {
                        self.a.alu_number(Alu::Sub, field(*fuel), instructions)?;
                    }
                }
                Ok(())
            }
            MachInst::LoopBegin { counter, trips } => {
                let counter = self.counter(counter);
                self.a.mov_number(counter, trips.cast_signed())
            }
            MachInst::LoopBack { counter, to, tested, address } => {
                let counter = self.counter(counter);
                let top = self.labels[to.0 as usize];
                let after = self.a.label();
                let a = &mut self.a;
                if tested {
                    a.test(EAX)?;
                    a.jump_if(Condition::Equal, after)?;
                }
                a.alu_number(Alu::Sub, counter, 1)?;
                if !self.fuel_checked {
                    a.jump_if(Condition::NotEqual, top)?;
                    a.bind(after);
                    return Ok(());
                }
                a.jump_if(Condition::Equal, after)?;
                let empty = a.label();
                if self.code.separate_fuel_counts {
                    a.alu_number(Alu::Cmp, field(context::OTHER_FUEL), 0)?;
                    a.jump_if(Condition::Less, empty)?;
                }
                a.alu_number(Alu::Cmp, field(context::FUEL), 0)?;
                a.jump_if(Condition::GreaterOrEqual, top)?;
                a.bind(empty);
                a.mov_number(field(context::ADDRESS), address.cast_signed())?;
                a.call(self.refill)?;
                a.jump_if(Condition::Equal, top)?;
                a.jmp(self.stopped)?;
                a.bind(after);
                Ok(())
            }
            MachInst::NextGroup(top) => {
                let top = self.labels[top.0 as usize];
                if self.fuel_checked {
                    for fuel in self.fuels() {
                        let less = self.a.label();
                        self.a.mov(RAX, field(context::ADDED))?;
                        self.a.alu(Alu::Sub, RAX, field(*fuel))?;
                        self.a.alu(Alu::Cmp, RAX, field(context::MOST))?;
                        self.a.jump_if(Condition::LessOrEqual, less)?;
                        self.a.store(at(RBX, context::MOST), RAX)?;
                        self.a.bind(less);
                    }
                }
                self.a.alu_number(Alu::Add, R12, self.group().cast_signed())?;
                self.a.alu(Alu::Cmp, R12, R13)?;
                self.a.jump_if(Condition::Below, top)
            }
        }
    }

    /// Sets `eax` to a non-zero number if a mask has a lane.
    fn test(&mut self, class: Class, register: u8) -> Result<(), IcedError> {
        let (code, mask) = match class {
            Class::Vector => (Code::VEX_Vmovmskps_r32_ymm, self.vector(register)),
            Class::Mask => (Code::VEX_Kmovw_r32_kr, mask(register)),
        };
        self.add(Instruction::with2(code, EAX, mask)?)
    }

    /// Sets the registers of the second and further interleaved chunks.
    fn find_chunks(&mut self) -> Result<(), IcedError> {
        for (number, chunk) in (0..).zip(CHUNKS).take(self.chunks()).skip(1) {
            self.a.lea(chunk, at(R12, number * CHUNK.cast_signed()))?;
            self.a.alu(Alu::Cmp, chunk, R13)?;
            self.a.cmovae(chunk, R12)?;
        }
        Ok(())
    }

    /// Emits the start of the loop over groups.
    fn begin_group(&mut self) -> Result<(), IcedError> {
        self.find_chunks()?;
        if self.fuel_checked {
            self.a.mov(RAX, field(context::GRANT))?;
            for fuel in self.fuels() {
                self.a.store(at(RBX, *fuel), RAX)?;
            }
            self.a.mov_number(field(context::ADDED), 0)?;
        }
        if self.targets.is_empty() {
            return Ok(());
        }
        // Prefetches for writing: a batch writes a short piece of many rows, too short for the hardware prefetcher to predict the next
        // batch.
        let rows = self.group() / 16;
        let targets = self.targets.clone();
        self.a.mov(RAX, field(context::PLACES))?;
        for row in 0..rows {
            let (chunk, half) = chunk_at(row / 2 * 32);
            let place = at_index(chunk, RAX, half + 4 * i64::from(row % 2));
            self.load_number(RDX, place)?;
            for target in &targets {
                self.a.mov(RCX, field(context::PLANES + 8 * i32::from(*target)))?;
                self.a.prefetchw(at_index(RCX, RDX, NEXT_BATCH.into()))?;
            }
        }
        Ok(())
    }

    fn vector(&self, register: u8) -> Register {
        let first = match self.level {
            Level::Avx2 => Register::YMM0,
            Level::Avx512 => Register::ZMM0,
        };
        first + u32::from(register)
    }

    fn register(&self, class: Class, place: Option<RegMem>) -> Register {
        let Some(RegMem::Register(register)) = place else {
            unreachable!("{place:?} is an operand that must be in a register");
        };
        match class {
            Class::Vector => self.vector(register),
            Class::Mask => mask(register),
        }
    }

    fn pick(&self, vex: Code, evex: Code) -> Code {
        match self.level {
            Level::Avx2 => vex,
            Level::Avx512 => evex,
        }
    }

    fn add(&mut self, inst: Instruction) -> Result<(), IcedError> {
        self.a.put(inst);
        Ok(())
    }
}

/// Returns the bytes of a constant: AVX-512 broadcasts one element.
fn constant_bytes(level: Level) -> u32 {
    match level {
        Level::Avx2 => 32,
        Level::Avx512 => 4,
    }
}

/// Returns the register of the chunk that contains a byte of a group, and the offset in it.
fn chunk_at(at: u32) -> (Register, i64) {
    (CHUNKS[(at / CHUNK) as usize], i64::from(at % CHUNK))
}

/// Returns the bytes of a slot that one iteration over groups covers.
fn group(code: &MachCode, level: Level) -> u32 {
    code.groups.max(1) * level.bytes()
}

/// Returns the number of interleaved chunks.
fn chunks(code: &MachCode, level: Level) -> usize {
    group(code, level).div_ceil(CHUNK) as usize
}

/// Returns a mask register, from `k1` on: `k0` cannot be a write mask.
fn mask(register: u8) -> Register {
    Register::K1 + u32::from(register)
}

fn rsp_at(place: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(RSP, i64::from(place))
}

#[cfg(test)]
mod tests;
