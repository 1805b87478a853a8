//! Assembler: instructions with labels, and constructors of general-purpose instructions. iced encodes them.

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, IcedError, Instruction, InstructionBlock,
    MemoryOperand, Register,
};

/// A branch target.
///
/// The encoder identifies instructions by their address before encoding: here the number of the label at an instruction, and 0 where there
/// is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CodeLabel(u64);

/// A register, or a memory operand of 4 or 8 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    Register(Register),
    Dword(MemoryOperand),
    Qword(MemoryOperand),
}

impl From<Register> for Operand {
    fn from(register: Register) -> Self {
        Self::Register(register)
    }
}

impl Operand {
    fn is_qword(self) -> bool {
        match self {
            Self::Register(register) => register.is_gpr64(),
            Self::Dword(_) => false,
            Self::Qword(_) => true,
        }
    }
}

/// Arithmetic instructions that set flags.
#[derive(Clone, Copy, Debug)]
pub(super) enum Alu {
    Add,
    And,
    Cmp,
    Or,
    Sub,
    Xor,
}

impl Alu {
    /// Returns the codes with a register destination: for operands of 4 and of 8 bytes.
    fn with_operand(self) -> [Code; 2] {
        match self {
            Self::Add => [Code::Add_r32_rm32, Code::Add_r64_rm64],
            Self::And => [Code::And_r32_rm32, Code::And_r64_rm64],
            Self::Cmp => [Code::Cmp_r32_rm32, Code::Cmp_r64_rm64],
            Self::Or => [Code::Or_r32_rm32, Code::Or_r64_rm64],
            Self::Sub => [Code::Sub_r32_rm32, Code::Sub_r64_rm64],
            Self::Xor => [Code::Xor_r32_rm32, Code::Xor_r64_rm64],
        }
    }

    /// Returns the code with an immediate of one byte or four, for a destination of 4 or 8 bytes.
    fn with_number(self, qword: bool, byte: bool) -> Code {
        let [dword_by_4, dword_by_1, qword_by_4, qword_by_1] = match self {
            Self::Add => [
                Code::Add_rm32_imm32,
                Code::Add_rm32_imm8,
                Code::Add_rm64_imm32,
                Code::Add_rm64_imm8,
            ],
            Self::And => [
                Code::And_rm32_imm32,
                Code::And_rm32_imm8,
                Code::And_rm64_imm32,
                Code::And_rm64_imm8,
            ],
            Self::Cmp => [
                Code::Cmp_rm32_imm32,
                Code::Cmp_rm32_imm8,
                Code::Cmp_rm64_imm32,
                Code::Cmp_rm64_imm8,
            ],
            Self::Or => {
                [Code::Or_rm32_imm32, Code::Or_rm32_imm8, Code::Or_rm64_imm32, Code::Or_rm64_imm8]
            }
            Self::Sub => [
                Code::Sub_rm32_imm32,
                Code::Sub_rm32_imm8,
                Code::Sub_rm64_imm32,
                Code::Sub_rm64_imm8,
            ],
            Self::Xor => [
                Code::Xor_rm32_imm32,
                Code::Xor_rm32_imm8,
                Code::Xor_rm64_imm32,
                Code::Xor_rm64_imm8,
            ],
        };
        match (qword, byte) {
            (false, false) => dword_by_4,
            (false, true) => dword_by_1,
            (true, false) => qword_by_4,
            (true, true) => qword_by_1,
        }
    }
}

/// A branch condition.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    GreaterOrEqual,
    /// Unsigned.
    Below,
    /// Unsigned.
    AboveOrEqual,
}

/// Encoded code, and the offset of each instruction.
pub(super) struct Assembled {
    pub(super) code: Vec<u8>,
    pub(super) offsets: Vec<u32>,
}

/// Instructions with unresolved labels.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    instructions: Vec<Instruction>,
    /// For each label from the second on, the first label at its instruction; `None` before it is bound.
    labels: Vec<Option<CodeLabel>>,
    /// The first label at the next instruction.
    pending: Option<CodeLabel>,
}

impl Assembler {
    pub(super) fn put(&mut self, mut inst: Instruction) {
        if let Some(label) = self.pending.take() {
            inst.set_ip(label.0);
        }
        self.instructions.push(inst);
    }

    /// Returns the number of instructions so far.
    pub(super) fn len(&self) -> usize {
        self.instructions.len()
    }

    pub(super) fn label(&mut self) -> CodeLabel {
        self.labels.push(None);
        CodeLabel(self.labels.len() as u64)
    }

    /// Binds a label to the next instruction.
    pub(super) fn bind(&mut self, label: CodeLabel) {
        let first = *self.pending.get_or_insert(label);
        let before = self.labels[label.0 as usize - 1].replace(first);
        debug_assert_eq!(before, None, "a label is in one place");
    }

    /// Encodes the instructions. All labels that they name must be bound, before an instruction.
    pub(super) fn assemble(mut self) -> Result<Assembled, IcedError> {
        assert_eq!(self.pending, None, "a label has an instruction after it");
        let place = |label: u64| {
            let first = self.labels[label as usize - 1];
            first.expect("labels that instructions name are bound").0
        };
        for inst in &mut self.instructions {
            if inst.is_ip_rel_memory_operand() {
                inst.set_memory_displacement64(place(inst.memory_displacement64()));
            } else if inst.near_branch_target() != 0 {
                inst.set_near_branch64(place(inst.near_branch_target()));
            }
        }
        let block = InstructionBlock::new(&self.instructions, 0);
        let options = BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS;
        let result = BlockEncoder::encode(64, block, options)?;
        Ok(Assembled { code: result.code_buffer, offsets: result.new_instruction_offsets })
    }

    fn of_one(&mut self, code: Code, register: Register) -> Result<(), IcedError> {
        self.put(Instruction::with1(code, register)?);
        Ok(())
    }

    fn of_memory(&mut self, code: Code, memory: MemoryOperand) -> Result<(), IcedError> {
        self.put(Instruction::with1(code, memory)?);
        Ok(())
    }

    fn of_two(&mut self, codes: [Code; 2], to: Register, from: Operand) -> Result<(), IcedError> {
        let code = codes[usize::from(to.is_gpr64())];
        self.put(match from {
            Operand::Register(from) => Instruction::with2(code, to, from)?,
            Operand::Dword(from) | Operand::Qword(from) => Instruction::with2(code, to, from)?,
        });
        Ok(())
    }

    fn of_number(&mut self, code: Code, to: Operand, number: i32) -> Result<(), IcedError> {
        self.put(match to {
            Operand::Register(to) => Instruction::with2(code, to, number)?,
            Operand::Dword(to) | Operand::Qword(to) => Instruction::with2(code, to, number)?,
        });
        Ok(())
    }

    pub(super) fn push(&mut self, register: Register) -> Result<(), IcedError> {
        self.of_one(Code::Push_r64, register)
    }

    pub(super) fn pop(&mut self, register: Register) -> Result<(), IcedError> {
        self.of_one(Code::Pop_r64, register)
    }

    pub(super) fn nop(&mut self) {
        self.put(Instruction::with(Code::Nopd));
    }

    pub(super) fn ret(&mut self) {
        self.put(Instruction::with(Code::Retnq));
    }

    pub(super) fn vzeroupper(&mut self) {
        self.put(Instruction::with(Code::VEX_Vzeroupper));
    }

    pub(super) fn ldmxcsr(&mut self, from: MemoryOperand) -> Result<(), IcedError> {
        self.of_memory(Code::Ldmxcsr_m32, from)
    }

    pub(super) fn stmxcsr(&mut self, to: MemoryOperand) -> Result<(), IcedError> {
        self.of_memory(Code::Stmxcsr_m32, to)
    }

    pub(super) fn prefetchw(&mut self, line: MemoryOperand) -> Result<(), IcedError> {
        self.of_memory(Code::Prefetchw_m8, line)
    }

    pub(super) fn mov(&mut self, to: Register, from: impl Into<Operand>) -> Result<(), IcedError> {
        self.of_two([Code::Mov_r32_rm32, Code::Mov_r64_rm64], to, from.into())
    }

    /// Stores a register of 4 or 8 bytes.
    pub(super) fn store(&mut self, to: MemoryOperand, from: Register) -> Result<(), IcedError> {
        let code = if from.is_gpr64() { Code::Mov_rm64_r64 } else { Code::Mov_rm32_r32 };
        self.put(Instruction::with2(code, to, from)?);
        Ok(())
    }

    /// Moves an immediate to an operand, sign-extended to 8 bytes.
    pub(super) fn mov_number(
        &mut self,
        to: impl Into<Operand>,
        number: i32,
    ) -> Result<(), IcedError> {
        let to = to.into();
        let code = match to {
            Operand::Register(register) if register.is_gpr32() => Code::Mov_r32_imm32,
            _ if to.is_qword() => Code::Mov_rm64_imm32,
            _ => Code::Mov_rm32_imm32,
        };
        self.of_number(code, to, number)
    }

    pub(super) fn alu(
        &mut self,
        alu: Alu,
        to: Register,
        from: impl Into<Operand>,
    ) -> Result<(), IcedError> {
        self.of_two(alu.with_operand(), to, from.into())
    }

    pub(super) fn alu_number(
        &mut self,
        alu: Alu,
        to: impl Into<Operand>,
        number: i32,
    ) -> Result<(), IcedError> {
        let to = to.into();
        let code = alu.with_number(to.is_qword(), i8::try_from(number).is_ok());
        self.of_number(code, to, number)
    }

    pub(super) fn shl(&mut self, register: Register, bits: u8) -> Result<(), IcedError> {
        self.of_number(Code::Shl_rm64_imm8, register.into(), bits.into())
    }

    /// Compares a register with 0.
    pub(super) fn test(&mut self, register: Register) -> Result<(), IcedError> {
        let code = if register.is_gpr64() { Code::Test_rm64_r64 } else { Code::Test_rm32_r32 };
        self.put(Instruction::with2(code, register, register)?);
        Ok(())
    }

    /// Moves if the last unsigned comparison gave above or equal.
    pub(super) fn cmovae(&mut self, to: Register, from: Register) -> Result<(), IcedError> {
        self.put(Instruction::with2(Code::Cmovae_r64_rm64, to, from)?);
        Ok(())
    }

    pub(super) fn lea(&mut self, to: Register, place: MemoryOperand) -> Result<(), IcedError> {
        self.put(Instruction::with2(Code::Lea_r64_m, to, place)?);
        Ok(())
    }

    /// Loads the address of a label.
    pub(super) fn lea_label(&mut self, to: Register, label: CodeLabel) -> Result<(), IcedError> {
        let place = MemoryOperand::with_base_displ(Register::RIP, label.0.cast_signed());
        self.lea(to, place)
    }

    pub(super) fn jmp(&mut self, to: CodeLabel) -> Result<(), IcedError> {
        self.branch(Code::Jmp_rel32_64, to)
    }

    pub(super) fn call(&mut self, to: CodeLabel) -> Result<(), IcedError> {
        self.branch(Code::Call_rel32_64, to)
    }

    /// Calls the function whose address is in memory.
    pub(super) fn call_at(&mut self, from: MemoryOperand) -> Result<(), IcedError> {
        self.of_memory(Code::Call_rm64, from)
    }

    pub(super) fn jump_if(&mut self, condition: Condition, to: CodeLabel) -> Result<(), IcedError> {
        let code = match condition {
            Condition::Equal => Code::Je_rel32_64,
            Condition::NotEqual => Code::Jne_rel32_64,
            Condition::Less => Code::Jl_rel32_64,
            Condition::LessOrEqual => Code::Jle_rel32_64,
            Condition::GreaterOrEqual => Code::Jge_rel32_64,
            Condition::Below => Code::Jb_rel32_64,
            Condition::AboveOrEqual => Code::Jae_rel32_64,
        };
        self.branch(code, to)
    }

    /// The encoder uses the short form if it reaches.
    fn branch(&mut self, code: Code, to: CodeLabel) -> Result<(), IcedError> {
        self.put(Instruction::with_branch(code, to.0)?);
        Ok(())
    }
}

/// Returns the memory operand at a register plus an offset.
pub(super) fn at(base: Register, offset: i32) -> MemoryOperand {
    let size = u32::from(offset != 0);
    MemoryOperand::with_base_displ_size(base, offset.into(), size)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use iced_x86::Register::{EAX, ECX, R12, R13, R14, RAX, RBP, RBX, RSP};

    use super::*;

    /// Bytes encoded by hand from the formats of AMD's manual (volume 3).
    #[test]
    fn instructions_are_the_manuals_bytes() {
        let mut a = Assembler::default();
        a.push(RBP).unwrap();
        a.mov(RBP, RSP).unwrap();
        a.mov(ECX, Operand::Dword(at(RBP, -48))).unwrap();
        a.store(at(RBX, 0), RAX).unwrap();
        a.mov_number(Operand::Dword(at(RSP, 8)), 64).unwrap();
        a.mov_number(EAX, 1).unwrap();
        a.alu(Alu::Cmp, R12, R13).unwrap();
        a.alu_number(Alu::Sub, Operand::Qword(at(RBX, 16)), 3).unwrap();
        a.alu_number(Alu::Sub, RSP, 4096).unwrap();
        a.test(EAX).unwrap();
        a.ret();
        #[rustfmt::skip]
        let wanted = [
            0x55,
            0x48, 0x8b, 0xec,
            0x8b, 0x4d, 0xd0,
            0x48, 0x89, 0x03,
            0xc7, 0x44, 0x24, 0x08, 0x40, 0, 0, 0,
            0xb8, 1, 0, 0, 0,
            0x4d, 0x3b, 0xe5,
            0x48, 0x83, 0x6b, 0x10, 0x03,
            0x48, 0x81, 0xec, 0, 0x10, 0, 0,
            0x85, 0xc0,
            0xc3,
        ];
        assert_eq!(a.assemble().unwrap().code, wanted);
    }

    #[test]
    fn labels_of_one_instruction_are_one_place() {
        let mut a = Assembler::default();
        let [top, also_top, after, pool] = [(); 4].map(|()| a.label());
        a.bind(top);
        a.bind(also_top);
        a.lea_label(R14, pool).unwrap();
        a.jump_if(Condition::Equal, after).unwrap();
        a.jmp(also_top).unwrap();
        a.bind(after);
        a.bind(pool);
        a.ret();
        let Assembled { code, offsets } = a.assemble().unwrap();
        assert_eq!(offsets, [0, 7, 9, 11]);
        // lea r14,[rip+4]; je +2; jmp -11; ret
        assert_eq!(code, [0x4c, 0x8d, 0x35, 4, 0, 0, 0, 0x74, 2, 0xeb, 0xf5, 0xc3]);
    }

    #[test]
    #[should_panic(expected = "labels that instructions name are bound")]
    fn a_label_in_no_place_is_no_address() {
        let mut a = Assembler::default();
        let nowhere = a.label();
        a.jmp(nowhere).unwrap();
        let _ = a.assemble();
    }
}
