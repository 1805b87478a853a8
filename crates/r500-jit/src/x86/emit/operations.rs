//! Encoding of operations and their operands.

use iced_x86::Register::{self, EAX, ECX, R14, RAX, RCX, RDI, RDX, RSI};
use iced_x86::{Code, IcedError, Instruction, MemoryOperand, RoundingControl};

use super::texel_indices::TexelIndices;
use super::{Emit, SPARE, TABLES, context, field, mask, table};
use crate::x86::assembler::{Alu, Condition, Operand};
use crate::x86::level::Level;
use r500_lir::known_bugs::{KnownBug, is_injected};
use r500_lir::{Class, Interpolant, LoadTexel, Lookup, Opcode, Relation, Rounding, TableEntry};
use r500_lir::{Mem, RegMem};

/// An operation with one instruction each in VEX and EVEX.
enum Plain {
    /// Two operands.
    Two(Code, Code),
    /// One operand, and an optional immediate byte.
    One(Code, Code, Option<u8>),
}

/// Returns the instructions of an operation, if it is a single instruction.
#[rustfmt::skip]
fn plain(opcode: Opcode) -> Option<Plain> {
    use Code as C;
    use Plain::{One, Two};
    Some(match opcode {
        Opcode::Add => Two(C::VEX_Vaddps_ymm_ymm_ymmm256, C::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er),
        Opcode::Sub => Two(C::VEX_Vsubps_ymm_ymm_ymmm256, C::EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er),
        Opcode::Mul => Two(C::VEX_Vmulps_ymm_ymm_ymmm256, C::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er),
        Opcode::Div => Two(C::VEX_Vdivps_ymm_ymm_ymmm256, C::EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er),
        Opcode::Min => Two(C::VEX_Vminps_ymm_ymm_ymmm256, C::EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae),
        Opcode::Max => Two(C::VEX_Vmaxps_ymm_ymm_ymmm256, C::EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae),
        Opcode::And => Two(C::VEX_Vandps_ymm_ymm_ymmm256, C::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32),
        Opcode::Or => Two(C::VEX_Vorps_ymm_ymm_ymmm256, C::EVEX_Vpord_zmm_k1z_zmm_zmmm512b32),
        Opcode::Xor => Two(C::VEX_Vxorps_ymm_ymm_ymmm256, C::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32),
        Opcode::AndNot => Two(C::VEX_Vandnps_ymm_ymm_ymmm256, C::EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32),
        Opcode::IntAdd => Two(C::VEX_Vpaddd_ymm_ymm_ymmm256, C::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32),
        Opcode::IntSub => Two(C::VEX_Vpsubd_ymm_ymm_ymmm256, C::EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32),
        Opcode::IntMin => Two(C::VEX_Vpminud_ymm_ymm_ymmm256, C::EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32),
        Opcode::IntMul => Two(C::VEX_Vpmulld_ymm_ymm_ymmm256, C::EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32),
        Opcode::UnpackLo32 => Two(C::VEX_Vunpcklps_ymm_ymm_ymmm256, C::EVEX_Vunpcklps_zmm_k1z_zmm_zmmm512b32),
        Opcode::UnpackHi32 => Two(C::VEX_Vunpckhps_ymm_ymm_ymmm256, C::EVEX_Vunpckhps_zmm_k1z_zmm_zmmm512b32),
        Opcode::UnpackLo64 => Two(C::VEX_Vunpcklpd_ymm_ymm_ymmm256, C::EVEX_Vunpcklpd_zmm_k1z_zmm_zmmm512b64),
        Opcode::UnpackHi64 => Two(C::VEX_Vunpckhpd_ymm_ymm_ymmm256, C::EVEX_Vunpckhpd_zmm_k1z_zmm_zmmm512b64),
        Opcode::Sqrt => One(C::VEX_Vsqrtps_ymm_ymmm256, C::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er, None),
        Opcode::ToFloat => One(C::VEX_Vcvtdq2ps_ymm_ymmm256, C::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er, None),
        Opcode::Truncate(_) => One(C::VEX_Vcvttps2dq_ymm_ymmm256, C::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae, None),
        Opcode::Shl(bits) => One(C::VEX_Vpslld_ymm_ymm_imm8, C::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8, Some(bits)),
        Opcode::Sar(bits) => One(C::VEX_Vpsrad_ymm_ymm_imm8, C::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8, Some(bits)),
        Opcode::Round(rounding) => {
            // Bit 3 suppresses the inexact flag.
            let how = match rounding {
                Rounding::Nearest => 0b1000,
                Rounding::Floor => 0b1001,
            };
            One(C::VEX_Vroundps_ymm_ymmm256_imm8, C::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae, Some(how))
        }
        Opcode::QuadBroadcast(corner) => {
            let corner = corner * 0b0101_0101;
            One(C::VEX_Vpermilps_ymm_ymmm256_imm8, C::EVEX_Vpermilps_zmm_k1z_zmmm512b32_imm8, Some(corner))
        }
        // In each 256 bits, swap the middle 64-bit elements: the first quarters of both halves, then the second ones.
        Opcode::PermuteQuads => {
            One(C::VEX_Vpermq_ymm_ymmm256_imm8, C::EVEX_Vpermq_zmm_k1z_zmmm512b64_imm8, Some(0b11_01_10_00))
        }
        Opcode::Permute128Lo | Opcode::Permute128Hi | Opcode::Permute2Lo | Opcode::Permute2Hi | Opcode::Copy | Opcode::FloorToInt
        | Opcode::Remainder | Opcode::Scale | Opcode::Cmp(_) | Opcode::Blend | Opcode::MaskedMove | Opcode::MaskedMul | Opcode::FixUp
        | Opcode::MaskAnd | Opcode::MaskOr | Opcode::MaskAndNot | Opcode::MaskAll | Opcode::MaskNone | Opcode::ToMask | Opcode::FromMask
        | Opcode::LoadTexel(_) | Opcode::GatherChannel(_) | Opcode::Interpolant(_) | Opcode::LoadCoverage(_) | Opcode::StoreCoverage(_)
        | Opcode::CountFuel(_) | Opcode::StoreColor(_) | Opcode::MulAdd | Opcode::NegMulAdd | Opcode::ToHalf | Opcode::Narrow(_) | Opcode::LoadPixels(_)
        | Opcode::Tabulated(_) | Opcode::Lookup(_)
        | Opcode::StorePixels(_) | Opcode::Store(..) => return None,
    })
}

impl Emit<'_> {
    pub(super) fn op(
        &mut self,
        opcode: Opcode,
        dst: u8,
        args: [Option<RegMem>; 3],
    ) -> Result<(), IcedError> {
        use Code as C;
        let [a, b, c] = args;
        match plain(opcode) {
            Some(Plain::Two(vex, evex)) => return self.binary(vex, evex, dst, a, b),
            Some(Plain::One(vex, evex, immediate)) => {
                return self.unary(vex, evex, dst, a, immediate);
            }
            None => {}
        }
        match opcode {
            // The lower half of the first, that of the second; the upper ones.
            Opcode::Permute128Lo | Opcode::Permute128Hi => {
                let which = if opcode == Opcode::Permute128Lo { 0x20 } else { 0x31 };
                let to = self.vector(dst);
                self.with_immediate(C::VEX_Vperm2f128_ymm_ymm_ymmm256_imm8, to, a, b, which)
            }
            Opcode::Permute2Lo => self.row(0, dst, a, b),
            Opcode::Permute2Hi => self.row(1, dst, a, b),
            Opcode::Copy => match a {
                Some(RegMem::Memory(from)) => self.load_from(Class::Vector, dst, from),
                _ => self.unary(
                    C::VEX_Vmovups_ymm_ymmm256,
                    C::EVEX_Vmovups_zmm_k1z_zmmm512,
                    dst,
                    a,
                    None,
                ),
            },
            Opcode::FloorToInt => {
                let (dst, from) = (self.vector(dst), self.register(Class::Vector, a));
                let code = C::EVEX_Vcvtps2dq_zmm_k1z_zmmm512b32_er;
                let mut inst = Instruction::with2(code, dst, from)?;
                inst.set_rounding_control(RoundingControl::RoundDown);
                self.add(inst)
            }
            Opcode::Remainder => {
                let (dst, from) = (self.vector(dst), self.register(Class::Vector, a));
                // Bit 3 suppresses the inexact flag; round to nearest.
                let code = C::EVEX_Vreduceps_zmm_k1z_zmmm512b32_imm8_sae;
                self.add(Instruction::with3(code, dst, from, 0b1000)?)
            }
            Opcode::Scale => {
                let inst = self.three(C::EVEX_Vscalefps_zmm_k1z_zmm_zmmm512b32_er, dst, a, b)?;
                self.add(inst)
            }
            Opcode::Cmp(relation) => self.compare(relation, dst, a, b),
            Opcode::Blend => self.blend(dst, a, b, c),
            Opcode::MaskedMove => {
                let k = self.register(Class::Mask, a);
                let dst = self.vector(dst);
                let mut inst = match b {
                    Some(RegMem::Memory(from @ Mem::Const(_))) => {
                        let from = self.memory(from);
                        Instruction::with2(C::EVEX_Vbroadcastss_zmm_k1z_xmmm32, dst, from)?
                    }
                    Some(RegMem::Memory(from)) => {
                        // Slots need not be aligned.
                        let from = self.memory(from);
                        let code = match is_injected(KnownBug::AlignedMaskedMove) {
                            true => C::EVEX_Vmovaps_zmm_k1z_zmmm512,
                            false => C::EVEX_Vmovups_zmm_k1z_zmmm512,
                        };
                        Instruction::with2(code, dst, from)?
                    }
                    _ => Instruction::with2(
                        C::EVEX_Vmovaps_zmm_k1z_zmmm512,
                        dst,
                        self.register(Class::Vector, b),
                    )?,
                };
                inst.set_op_mask(k);
                inst.set_zeroing_masking(true);
                self.add(inst)
            }
            Opcode::MaskedMul => {
                let k = self.register(Class::Mask, a);
                let mut inst = self.three(C::EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er, dst, b, c)?;
                inst.set_op_mask(k);
                inst.set_zeroing_masking(true);
                self.add(inst)
            }
            Opcode::FixUp => self.fix_up(dst, a, b, c),
            Opcode::MaskAnd => {
                self.masks(C::VEX_Vandps_ymm_ymm_ymmm256, C::VEX_Kandw_kr_kr_kr, dst, a, b)
            }
            Opcode::MaskOr => {
                self.masks(C::VEX_Vorps_ymm_ymm_ymmm256, C::VEX_Korw_kr_kr_kr, dst, a, b)
            }
            Opcode::MaskAndNot => {
                self.masks(C::VEX_Vandnps_ymm_ymm_ymmm256, C::VEX_Kandnw_kr_kr_kr, dst, a, b)
            }
            Opcode::MaskAll | Opcode::MaskNone => {
                let all = opcode == Opcode::MaskAll;
                let inst = match self.level {
                    Level::Avx2 => {
                        let dst = self.vector(dst);
                        let code = if all {
                            C::VEX_Vpcmpeqd_ymm_ymm_ymmm256
                        } else {
                            C::VEX_Vxorps_ymm_ymm_ymmm256
                        };
                        Instruction::with3(code, dst, dst, dst)?
                    }
                    Level::Avx512 => {
                        let code = if all { C::VEX_Kxnorw_kr_kr_kr } else { C::VEX_Kxorw_kr_kr_kr };
                        Instruction::with3(code, mask(dst), mask(dst), mask(dst))?
                    }
                };
                self.add(inst)
            }
            Opcode::ToMask => {
                let from = self.register(Class::Vector, a);
                self.add(Instruction::with2(C::EVEX_Vpmovd2m_kr_zmm, mask(dst), from)?)
            }
            Opcode::FromMask => {
                let (dst, from) = (self.vector(dst), self.register(Class::Mask, a));
                self.add(Instruction::with2(C::EVEX_Vpmovm2d_zmm_kr, dst, from)?)
            }
            Opcode::LoadTexel(texel) => self.texel(texel, dst, a),
            Opcode::GatherChannel(_) => {
                unreachable!("numbers of single pixels are for WebAssembly")
            }
            Opcode::Interpolant(ramp) => self.interpolant(ramp, dst),
            Opcode::Tabulated(entry) => self.tabulated(entry, dst),
            Opcode::Lookup(table) => self.lookup(table, dst, a),
            Opcode::LoadCoverage(part) => {
                let from = self.covered(part)?;
                self.load(Class::Vector, dst, from)
            }
            Opcode::StoreCoverage(part) => {
                let to = self.covered(part)?;
                let Some(RegMem::Register(from)) = a else {
                    unreachable!("{a:?} is not in a register")
                };
                self.store(Class::Vector, to, from)
            }
            Opcode::CountFuel(instructions) => self.count_fuel(instructions, [a, b]),
            Opcode::StoreColor(paint) => self.store_color(paint, a, b),
            Opcode::MulAdd | Opcode::NegMulAdd => self.mul_add(opcode, dst, a, b, c),
            Opcode::ToHalf => self.half(dst, a),
            Opcode::Narrow(bytes) => self.narrow(bytes, dst, a),
            Opcode::LoadPixels(rows) => self.load_pixels(rows, dst),
            Opcode::StorePixels(rows) => self.store_pixels(rows, a),
            Opcode::Store(slot, part) => {
                let to = self.memory(Mem::Slot(slot, part));
                let from = self.register(Class::Vector, a);
                self.add(Instruction::with2(
                    self.pick(C::VEX_Vmovups_ymmm256_ymm, C::EVEX_Vmovups_zmmm512_k1z_zmm),
                    to,
                    from,
                )?)
            }
            _ => unreachable!("{opcode:?} is a plain one"),
        }
    }

    /// Counts instructions for each group with a lane in its mask.
    fn count_fuel(
        &mut self,
        instructions: u32,
        masks: [Option<RegMem>; 2],
    ) -> Result<(), IcedError> {
        let instructions = i32::try_from(instructions).expect("a function has few");
        for (mask, fuel) in masks.into_iter().zip([context::FUEL, context::OTHER_FUEL]) {
            let Some(RegMem::Register(mask)) = mask else {
                unreachable!("{mask:?} is not in a register")
            };
            self.test(self.level.mask(), mask)?;
            let none = self.a.label();
            self.a.test(EAX)?;
            self.a.jump_if(Condition::Equal, none)?;
            self.a.alu_number(Alu::Sub, field(fuel), instructions)?;
            self.a.bind(none);
        }
        Ok(())
    }

    /// Broadcasts an entry of a table.
    fn tabulated(
        &mut self,
        TableEntry { first, inner, outer }: TableEntry,
        dst: u8,
    ) -> Result<(), IcedError> {
        let counter = self.counter(inner);
        self.a.mov(ECX, counter)?;
        if let Some((outer, shift)) = outer {
            let counter = self.counter(outer);
            self.a.mov(EAX, counter)?;
            self.a.shl(RAX, shift)?;
            self.a.alu(Alu::Add, RCX, RAX)?;
        }
        let at = i64::from(self.first_table()) + 4 * i64::from(first);
        let from =
            MemoryOperand::with_base_index_scale_displ_size(R14, RCX, 4, at, u32::from(at != 0));
        let code =
            self.pick(Code::VEX_Vbroadcastss_ymm_m32, Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32);
        let to = self.vector(dst);
        self.add(Instruction::with2(code, to, from)?)
    }

    /// Looks up entries of a table in memory.
    fn lookup(&mut self, table: Lookup, dst: u8, a: Option<RegMem>) -> Result<(), IcedError> {
        let code =
            self.pick(Code::VEX_Vpermd_ymm_ymm_ymmm256, Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32);
        let (to, places) = (self.vector(dst), self.register(Class::Vector, a));
        let at = i64::from(self.first_table()) + 4 * i64::from(table.first);
        let from = MemoryOperand::with_base_displ(R14, at);
        self.add(Instruction::with3(code, to, places, from)?)
    }

    /// Emits an interpolated input: the x terms plus the y terms of the pixels.
    fn interpolant(
        &mut self,
        Interpolant { number, part }: Interpolant,
        dst: u8,
    ) -> Result<(), IcedError> {
        let [column, row] = match part % 2 {
            0 => [RCX, RDX],
            _ => [RSI, RDI],
        };
        if self.cached_interpolant_addr == [None; 2] {
            self.a.mov(RAX, field(context::INTERPOLANTS))?;
        }
        if self.cached_interpolant_addr[part as usize % 2].replace(part) != Some(part) {
            self.a.mov(row, field(context::PLACES))?;
            let (chunk, place) = self.chunk(part);
            for (register, at) in [(column, place + 8), (row, place + 12)] {
                self.load_number(register, at_index(chunk, row, at))?;
            }
        }
        let at = i64::from(number) * size_of::<r500_fast::codegen::LinearInterpolant>() as i64;
        let (along, across) = (at_index(RAX, column, at), at_index(RAX, row, at));
        let to = self.vector(dst);
        // The two lower quads of a chunk have the same columns as the upper ones.
        let code =
            self.pick(Code::VEX_Vmovups_ymm_ymmm256, Code::EVEX_Vbroadcastf32x8_zmm_k1z_m256);
        self.add(Instruction::with2(code, to, along)?)?;
        let code = self
            .pick(Code::VEX_Vaddps_ymm_ymm_ymmm256, Code::EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er);
        self.add(Instruction::with3(code, to, to, across)?)
    }

    /// Loads four bytes, zero-extended to eight.
    pub(super) fn load_number(
        &mut self,
        register: Register,
        from: MemoryOperand,
    ) -> Result<(), IcedError> {
        let low = EAX + (register as u32 - RAX as u32);
        self.a.mov(low, Operand::Dword(from))
    }

    /// Returns the memory operand of a vector's coverage.
    fn covered(&mut self, part: u32) -> Result<MemoryOperand, IcedError> {
        self.a.mov(RAX, field(context::COVERED))?;
        let (chunk, at) = self.chunk(part);
        Ok(at_index(chunk, RAX, at))
    }

    /// Interleaves the 8-byte elements of two vectors, of one half of them.
    fn row(
        &mut self,
        half: u32,
        dst: u8,
        a: Option<RegMem>,
        b: Option<RegMem>,
    ) -> Result<(), IcedError> {
        // The index vector is in the result's register, unless that is an operand.
        let taken = [a, b].contains(&Some(RegMem::Register(dst)));
        let result = if taken { SPARE } else { dst };
        let which = MemoryOperand::with_base_displ(R14, i64::from(64 * half));
        self.load(Class::Vector, result, which)?;
        let inst = self.three(Code::EVEX_Vpermi2pd_zmm_k1z_zmm_zmmm512b64, result, a, b)?;
        self.add(inst)?;
        if !taken {
            return Ok(());
        }
        let (to, result) = (self.vector(dst), self.vector(result));
        self.add(Instruction::with2(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, to, result)?)
    }

    /// Emits a fix-up. The instruction overwrites `a`, which may be live; and the result may share the register of another operand.
    fn fix_up(
        &mut self,
        dst: u8,
        a: Option<RegMem>,
        b: Option<RegMem>,
        table: Option<RegMem>,
    ) -> Result<(), IcedError> {
        let in_dst = Some(RegMem::Register(dst));
        let result = if b == in_dst || table == in_dst { SPARE } else { dst };
        let copied = |emit: &mut Self, to: Register, from: Register| match to == from {
            true => Ok(()),
            false => emit.add(Instruction::with2(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, to, from)?),
        };
        let (to, from) = (self.vector(result), self.register(Class::Vector, a));
        copied(self, to, from)?;
        let code = Code::EVEX_Vfixupimmps_zmm_k1z_zmm_zmmm512b32_imm8_sae;
        self.with_immediate(code, to, b, table, 0)?;
        copied(self, self.vector(dst), to)
    }

    /// Sixteen bytes of the table for each quad.
    fn texel(&mut self, texel: LoadTexel, dst: u8, at: Option<RegMem>) -> Result<(), IcedError> {
        // A constant is there for one lane only.
        let at = match at {
            Some(RegMem::Memory(at @ (Mem::Stack(_) | Mem::Slot(..)))) => at,
            Some(RegMem::Memory(at)) if is_injected(KnownBug::TexelOffsetsInPool) => at,
            _ => unreachable!("the offsets of texels are in memory, not {at:?}"),
        };
        let to = self.vector(dst);
        let held = self.units.iter().position(|unit| *unit == texel.unit);
        let base = held.and_then(|at| TABLES.get(at).copied()).unwrap_or(RAX);
        if base == RAX {
            self.a.mov(base, table(texel.unit))?;
        }
        let indices = self.texel_indices(at, texel.pixel)?;
        let mut places = indices.iter().copied().zip(0..);
        let from = |index: Register| at_index(base, index, i64::from(texel.offset));
        if let Some((index, _)) = places.next() {
            let low = Register::XMM0 + u32::from(dst);
            let code = self.pick(Code::VEX_Vmovups_xmm_xmmm128, Code::EVEX_Vmovups_xmm_k1z_xmmm128);
            self.add(Instruction::with2(code, low, from(index))?)?;
        }
        for (index, quad) in places {
            let code = self.pick(
                Code::VEX_Vinsertf128_ymm_ymm_xmmm128_imm8,
                Code::EVEX_Vinsertf32x4_zmm_k1z_zmm_xmmm128_imm8,
            );
            self.add(Instruction::with4(code, to, to, from(index), quad)?)?;
        }
        Ok(())
    }

    /// Returns the registers with the offsets of a pixel of each quad. The texels of a footprint follow each other and have
    /// the same ones.
    fn texel_indices(&mut self, at: Mem, pixel: u8) -> Result<&'static [Register], IcedError> {
        let sets = TexelIndices::sets(self.level, self.units.len(), self.chunks());
        if let Some(n) = self.texel_indices.find(at, pixel) {
            return Ok(sets[n]);
        }
        let registers = sets[self.texel_indices.replace(at, pixel, sets.len())];
        let offsets = self.memory(at);
        for (quad, register) in (0..).zip(registers) {
            let mut from = offsets;
            from.displacement += i64::from(16 * quad + 4 * u32::from(pixel));
            self.load_number(*register, from)?;
        }
        Ok(registers)
    }

    fn compare(
        &mut self,
        relation: Relation,
        dst: u8,
        a: Option<RegMem>,
        b: Option<RegMem>,
    ) -> Result<(), IcedError> {
        let predicate = match relation {
            Relation::Eq => 0x00,
            Relation::Lt => 0x11,
            Relation::Le => 0x12,
            Relation::Ne => 0x04,
            Relation::Ge => 0x1d,
            Relation::Gt => 0x1e,
        };
        let (to, code) = match self.level {
            Level::Avx2 => (self.vector(dst), Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8),
            Level::Avx512 => (mask(dst), Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae),
        };
        self.with_immediate(code, to, a, b, predicate)
    }

    /// Encodes an instruction of two operands and an immediate; the second operand may be in memory.
    fn with_immediate(
        &mut self,
        code: Code,
        to: Register,
        a: Option<RegMem>,
        b: Option<RegMem>,
        immediate: u32,
    ) -> Result<(), IcedError> {
        let a = self.register(Class::Vector, a);
        let inst = match b {
            Some(RegMem::Memory(from)) => {
                Instruction::with4(code, to, a, self.operand(from), immediate)?
            }
            _ => Instruction::with4(code, to, a, self.register(Class::Vector, b), immediate)?,
        };
        self.add(inst)
    }

    fn blend(
        &mut self,
        dst: u8,
        m: Option<RegMem>,
        a: Option<RegMem>,
        b: Option<RegMem>,
    ) -> Result<(), IcedError> {
        if self.level == Level::Avx512 {
            let k = self.register(Class::Mask, m);
            let mut inst = self.three(Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32, dst, b, a)?;
            inst.set_op_mask(k);
            return self.add(inst);
        }
        let (to, m, b) =
            (self.vector(dst), self.register(Class::Vector, m), self.register(Class::Vector, b));
        let code = Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm;
        let inst = match a {
            Some(RegMem::Memory(from)) => {
                let from = self.operand(from);
                Instruction::with4(code, to, b, from, m)?
            }
            _ => Instruction::with4(code, to, b, self.register(Class::Vector, a), m)?,
        };
        self.add(inst)
    }

    fn masks(
        &mut self,
        vex: Code,
        evex: Code,
        dst: u8,
        a: Option<RegMem>,
        b: Option<RegMem>,
    ) -> Result<(), IcedError> {
        match self.level {
            Level::Avx2 => self.binary(vex, vex, dst, a, b),
            Level::Avx512 => {
                let (a, b) = (self.register(Class::Mask, a), self.register(Class::Mask, b));
                self.add(Instruction::with3(evex, mask(dst), a, b)?)
            }
        }
    }

    fn binary(
        &mut self,
        vex: Code,
        evex: Code,
        dst: u8,
        a: Option<RegMem>,
        b: Option<RegMem>,
    ) -> Result<(), IcedError> {
        let inst = self.three(self.pick(vex, evex), dst, a, b)?;
        self.add(inst)
    }

    /// Encodes an instruction of two operands; the second may be in memory.
    pub(super) fn three(
        &mut self,
        code: Code,
        dst: u8,
        a: Option<RegMem>,
        b: Option<RegMem>,
    ) -> Result<Instruction, IcedError> {
        let (dst, a) = (self.vector(dst), self.register(Class::Vector, a));
        match b {
            Some(RegMem::Memory(from)) => Instruction::with3(code, dst, a, self.operand(from)),
            _ => Instruction::with3(code, dst, a, self.register(Class::Vector, b)),
        }
    }

    fn unary(
        &mut self,
        vex: Code,
        evex: Code,
        dst: u8,
        a: Option<RegMem>,
        imm: Option<u8>,
    ) -> Result<(), IcedError> {
        let (code, dst) = (self.pick(vex, evex), self.vector(dst));
        let inst = match (a, imm) {
            (Some(RegMem::Memory(from)), None) => {
                Instruction::with2(code, dst, self.operand(from))?
            }
            (Some(RegMem::Memory(from)), Some(imm)) => {
                Instruction::with3(code, dst, self.operand(from), u32::from(imm))?
            }
            (_, None) => Instruction::with2(code, dst, self.register(Class::Vector, a))?,
            (_, Some(imm)) => {
                Instruction::with3(code, dst, self.register(Class::Vector, a), u32::from(imm))?
            }
        };
        self.add(inst)
    }
}

/// Returns the memory operand at the sum of two registers and an offset.
pub(super) fn at_index(base: Register, index: Register, offset: i64) -> MemoryOperand {
    let size = u32::from(offset != 0);
    MemoryOperand::with_base_index_scale_displ_size(base, index, 1, offset, size)
}
