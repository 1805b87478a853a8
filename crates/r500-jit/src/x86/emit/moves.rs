//! Loads, stores and copies of registers and memory.

use iced_x86::Register::{self, ECX, EDX, R14, RCX, RDX, RSP};
use iced_x86::{Code, IcedError, Instruction, MemoryOperand};

use super::{Emit, constant_bytes, mask};
use crate::x86::assembler::{Alu, Operand};
use crate::x86::level::Level;
use r500_lir::Class;
use r500_lir::Mem;

impl Emit<'_> {
    pub(super) fn load_from(&mut self, class: Class, dst: u8, from: Mem) -> Result<(), IcedError> {
        if class == Class::Vector && matches!(from, Mem::Const(_)) {
            let from = self.memory(from);
            let code =
                self.pick(Code::VEX_Vbroadcastss_ymm_m32, Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32);
            let dst = self.vector(dst);
            return self.add(Instruction::with2(code, dst, from)?);
        }
        let from = self.memory(from);
        self.load(class, dst, from)
    }

    pub(super) fn load(
        &mut self,
        class: Class,
        dst: u8,
        from: MemoryOperand,
    ) -> Result<(), IcedError> {
        match class {
            Class::Vector => {
                let code =
                    self.pick(Code::VEX_Vmovups_ymm_ymmm256, Code::EVEX_Vmovups_zmm_k1z_zmmm512);
                let dst = self.vector(dst);
                self.add(Instruction::with2(code, dst, from)?)
            }
            Class::Mask => self.add(Instruction::with2(Code::VEX_Kmovw_kr_km16, mask(dst), from)?),
        }
    }

    pub(super) fn store(
        &mut self,
        class: Class,
        to: MemoryOperand,
        from: u8,
    ) -> Result<(), IcedError> {
        match class {
            Class::Vector => {
                let code =
                    self.pick(Code::VEX_Vmovups_ymmm256_ymm, Code::EVEX_Vmovups_zmmm512_k1z_zmm);
                let from = self.vector(from);
                self.add(Instruction::with2(code, to, from)?)
            }
            Class::Mask => self.add(Instruction::with2(Code::VEX_Kmovw_m16_kr, to, mask(from))?),
        }
    }

    /// Moves from memory to memory, where no register is free.
    pub(super) fn carry(&mut self, class: Class, to: Mem, from: Mem) -> Result<(), IcedError> {
        if class == Class::Mask {
            // `k0` holds no value. A mask in memory is as wide as KMOVW stores it.
            let [to, from] = [to, from].map(|mem| self.memory(mem));
            self.add(Instruction::with2(Code::VEX_Kmovw_kr_km16, Register::K0, from)?)?;
            return self.add(Instruction::with2(Code::VEX_Kmovw_m16_kr, to, Register::K0)?);
        }
        let bytes = self.level.bytes();
        let constant = match from {
            Mem::Const(bits) => Some(bits),
            Mem::Stack(_) | Mem::Slot(..) => None,
        };
        if let Some(bits) = constant {
            self.a.mov_number(ECX, bits.cast_signed())?;
            self.a.shl(RCX, 32)?;
            self.a.mov_number(EDX, bits.cast_signed())?;
            self.a.alu(Alu::Or, RCX, RDX)?;
        }
        for at in (0..i64::from(bytes)).step_by(8) {
            if constant.is_none() {
                let mut from = self.memory(from);
                from.displacement += at;
                self.a.mov(RCX, Operand::Qword(from))?;
            }
            let mut to = self.memory(to);
            to.displacement += at;
            self.a.store(to, RCX)?;
        }
        Ok(())
    }

    /// Returns a vector memory operand of an arithmetic instruction: with AVX-512, the instruction broadcasts
    /// constants.
    pub(super) fn operand(&mut self, mem: Mem) -> MemoryOperand {
        let mut operand = self.memory(mem);
        operand.is_broadcast = self.level == Level::Avx512 && matches!(mem, Mem::Const(_));
        operand
    }

    pub(super) fn memory(&mut self, mem: Mem) -> MemoryOperand {
        let bytes = self.level.bytes();
        let (base, place) = match mem {
            Mem::Stack(at) => (RSP, i64::from(at) * i64::from(bytes)),
            Mem::Slot(slot, part) => {
                let (chunk, at) = self.chunk(part);
                (chunk, i64::from(slot) * i64::from(self.stride) + at)
            }
            Mem::Const(bits) => {
                let next = self.order.len() as u32;
                let order = &mut self.order;
                let at = *self.constants.entry(bits).or_insert_with(|| {
                    order.push(bits);
                    next
                });
                let at = self.first_constant() + at * constant_bytes(self.level);
                (R14, i64::from(at))
            }
        };
        MemoryOperand::with_base_displ(base, place)
    }
}
