//! The interpreter: fetch and dispatch, integer instructions, control flow, the calling convention.

use crate::decode::{Program, text};
use crate::fault::{Fault, FaultKind};
use crate::memory::Memory;
use crate::op::{Alu, Op, Operand, Width};
use crate::registers::{Flags, MXCSR, Machine};

const RSP: usize = 4;
const RDI: usize = 7;
/// Registers that a function must preserve in the System V convention.
const PRESERVED: [(usize, &str); 6] =
    [(3, "rbx"), (5, "rbp"), (12, "r12"), (13, "r13"), (14, "r14"), (15, "r15")];
/// The return address of the called function, outside all regions.
const RETURN: u64 = 0x0bad_c0de;
/// Bits of MXCSR that may be set: exception flags, DAZ, exception masks, FTZ.
const MXCSR_ALLOWED: u32 = 0x9fff;

impl Machine {
    fn load(&self, memory: &Memory<'_>, address: u64, width: Width) -> Result<u64, FaultKind> {
        let mut bytes = [0; 8];
        memory.load(address, &mut bytes[..width.bytes()])?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn get(&self, memory: &Memory<'_>, operand: Operand, width: Width) -> Result<u64, FaultKind> {
        match operand {
            Operand::Register(n) => Ok(self.general[usize::from(n)] & width.mask()),
            Operand::Immediate(value) => Ok(value & width.mask()),
            Operand::Memory(address) => self.load(memory, self.address(address), width),
        }
    }

    /// Writes a result. A 32-bit result clears the upper half of the register.
    fn set(
        &mut self,
        memory: &mut Memory<'_>,
        operand: Operand,
        width: Width,
        value: u64,
    ) -> Result<(), FaultKind> {
        match operand {
            Operand::Register(n) => {
                self.general[usize::from(n)] = value & width.mask();
                if usize::from(n) == RSP {
                    memory.set_stack_pointer(value);
                }
            }
            Operand::Memory(address) => {
                memory.store(self.address(address), &value.to_le_bytes()[..width.bytes()])?;
            }
            Operand::Immediate(_) => unreachable!("no instruction writes to an immediate"),
        }
        Ok(())
    }

    fn alu(
        &mut self,
        memory: &mut Memory<'_>,
        (op, width): (Alu, Width),
        dst: Operand,
        src: Operand,
    ) -> Result<(), FaultKind> {
        let (a, b) = (self.get(memory, dst, width)?, self.get(memory, src, width)?);
        let top = |x: u64| x >> (8 * width.bytes() - 1) & 1 != 0;
        let (result, carry, overflow) = match op {
            Alu::Add => {
                let sum = a.wrapping_add(b) & width.mask();
                (sum, sum < a, top(!(a ^ b) & (a ^ sum)))
            }
            Alu::Sub | Alu::Cmp => {
                let difference = a.wrapping_sub(b) & width.mask();
                (difference, a < b, top((a ^ b) & (a ^ difference)))
            }
            Alu::And | Alu::Test => (a & b, false, false),
            Alu::Or => (a | b, false, false),
            Alu::Xor => (a ^ b, false, false),
        };
        self.flags = Flags { carry, zero: result == 0, sign: top(result), overflow };
        match op {
            Alu::Cmp | Alu::Test => Ok(()),
            _ => self.set(memory, dst, width, result),
        }
    }

    fn shift_left(&mut self, width: Width, dst: u8, bits: u8) {
        let bits = u32::from(bits) & (8 * width.bytes() as u32 - 1);
        // A shift by zero keeps the flags.
        if bits == 0 {
            return;
        }
        let register = &mut self.general[usize::from(dst)];
        let shifted = u128::from(*register & width.mask()) << bits;
        *register = shifted as u64 & width.mask();
        let top = |x: u128| x >> (8 * width.bytes() - 1) & 1 != 0;
        let (carry, sign) = (top(shifted >> 1), top(shifted));
        // Undefined except for shifts by one.
        let overflow = carry != sign;
        self.flags = Flags { carry, zero: *register == 0, sign, overflow };
    }

    fn push(&mut self, memory: &mut Memory<'_>, value: u64) -> Result<(), FaultKind> {
        let pointer = self.general[RSP].wrapping_sub(8);
        memory.set_stack_pointer(pointer);
        memory.store(pointer, &value.to_le_bytes())?;
        self.general[RSP] = pointer;
        Ok(())
    }

    fn pop(&mut self, memory: &mut Memory<'_>) -> Result<u64, FaultKind> {
        let pointer = self.general[RSP];
        let value = memory.load_u64(pointer).map_err(FaultKind::Access)?;
        self.general[RSP] = pointer.wrapping_add(8);
        memory.set_stack_pointer(self.general[RSP]);
        Ok(value)
    }

    /// Executes VZEROUPPER. It does not change registers from number 16 on.
    fn zero_upper(&mut self) {
        for vector in &mut self.vectors[..16] {
            vector[4..].fill(0);
        }
    }
}

impl Width {
    fn bytes(self) -> usize {
        match self {
            Self::W32 => 4,
            Self::W64 => 8,
        }
    }

    fn mask(self) -> u64 {
        match self {
            Self::W32 => u64::from(u32::MAX),
            Self::W64 => u64::MAX,
        }
    }
}

/// Host functions that the code may call.
pub trait Host {
    /// Calls the function at an address with its first argument. Returns the result, or `None` if there is no function
    /// at this address.
    fn call(&mut self, address: u64, argument: u64, memory: &mut Memory<'_>) -> Option<u64>;
}

/// A host without functions.
impl Host for () {
    fn call(&mut self, _: u64, _: u64, _: &mut Memory<'_>) -> Option<u64> {
        None
    }
}

/// The environment in which code runs.
pub struct Environment<'e, 'm> {
    /// The memory of the code.
    pub memory: &'e mut Memory<'m>,
    /// The functions that the code may call.
    pub host: &'e mut dyn Host,
    /// The address after the last byte of the stack, a multiple of 16.
    pub stack: u64,
    /// Instructions that it may execute; after a run that returned, those that remain.
    pub steps: u64,
}

/// Where execution continues after an instruction.
enum Next {
    Following,
    Op(u32),
    Left,
}

impl Program {
    /// Calls the code as a System V function with one argument. Returns its result.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn run(&self, argument: u64, environment: &mut Environment<'_, '_>) -> Result<u64, Fault> {
        let mut machine = Machine::new();
        machine.general[RSP] = environment.stack;
        machine.general[RDI] = argument;
        let fault = |at: usize, kind| self.fault(at, kind);
        machine.push(environment.memory, RETURN).map_err(|kind| fault(0, kind))?;
        let before = machine.clone();
        let last = self.run_from(0, &mut machine, environment)?;
        let preserved = |register, expected, found| match expected == found {
            true => Ok(()),
            false => Err(fault(last, FaultKind::NotPreserved { register, expected, found })),
        };
        for (n, register) in PRESERVED {
            preserved(register, before.general[n], machine.general[n])?;
        }
        preserved("rsp", environment.stack, machine.general[RSP])?;
        preserved("mxcsr", u64::from(before.mxcsr), u64::from(machine.mxcsr))?;
        Ok(machine.general[0])
    }

    /// Executes the instructions in order, from the first of the code to the last.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn run_straight(
        &self,
        machine: &mut Machine,
        environment: &mut Environment<'_, '_>,
    ) -> Result<(), Fault> {
        for at in 0..self.ops.len() {
            let next = self.step(at, machine, environment);
            next.map_err(|kind| self.fault(at, kind))?;
        }
        Ok(())
    }

    #[cold]
    fn fault(&self, at: usize, kind: FaultKind) -> Fault {
        let instruction = self.instructions.get(at);
        Fault {
            offset: instruction.map_or(0, |inst| (inst.ip() - self.base) as usize),
            instruction: instruction.map(text).unwrap_or_default(),
            kind,
        }
    }

    /// Runs until the code returns to its caller. Returns the index of the last instruction.
    fn run_from(
        &self,
        mut at: usize,
        machine: &mut Machine,
        environment: &mut Environment<'_, '_>,
    ) -> Result<usize, Fault> {
        for executed in 0..environment.steps {
            let next = self.step(at, machine, environment);
            match next.map_err(|kind| self.fault(at, kind))? {
                Next::Following => at += 1,
                Next::Op(target) => at = target as usize,
                Next::Left => {
                    environment.steps -= executed + 1;
                    return Ok(at);
                }
            }
            if at >= self.ops.len() {
                return Err(self.fault(at - 1, FaultKind::Target(self.address_after(at - 1))));
            }
        }
        Err(self.fault(at, FaultKind::Steps(environment.steps)))
    }

    fn address_after(&self, at: usize) -> u64 {
        self.instructions.get(at).map_or(self.base, iced_x86::Instruction::next_ip)
    }

    /// Returns the index of the instruction at an address.
    fn target(&self, address: u64) -> Result<u32, FaultKind> {
        let number = self.by_offset.get(&address.wrapping_sub(self.base));
        number.copied().ok_or(FaultKind::Target(address))
    }

    #[inline]
    fn step(
        &self,
        at: usize,
        machine: &mut Machine,
        environment: &mut Environment<'_, '_>,
    ) -> Result<Next, FaultKind> {
        let memory = &mut *environment.memory;
        match self.ops[at] {
            Op::Vector(ref inst) => machine.vector(memory, inst)?,
            Op::StoreVector { address, src, from, size, aligned, mask } => {
                machine.store_vector(memory, address, (src, from, size), aligned, mask)?;
            }
            Op::CompareToMask { predicate, dst, a, b, mask } => {
                machine.compare_to_mask(memory, predicate, dst, (a, b), mask)?;
            }
            Op::Mask { op, dst, a, b } => machine.mask_op(op, dst, a, b),
            Op::MoveMask { dst, src } => {
                machine.masks[usize::from(dst)] = machine.masks[usize::from(src)] & 0xffff;
            }
            Op::LoadMask { dst, address } => {
                let mut bytes = [0; 2];
                memory.load(machine.address(address), &mut bytes)?;
                machine.masks[usize::from(dst)] = u64::from(u16::from_le_bytes(bytes));
            }
            Op::StoreMask { address, src } => {
                let bytes = (machine.masks[usize::from(src)] as u16).to_le_bytes();
                memory.store(machine.address(address), &bytes)?;
            }
            Op::MaskToGeneral { dst, src } => {
                machine.general[usize::from(dst)] = machine.masks[usize::from(src)] & 0xffff;
            }
            Op::SignsToMask { dst, src, size } => {
                machine.masks[usize::from(dst)] = machine.signs(src, size);
            }
            Op::MaskToVector { dst, src, size } => machine.mask_to_vector(dst, src, size),
            Op::SignsToGeneral { dst, src, size } => {
                machine.general[usize::from(dst)] = machine.signs(src, size);
            }
            Op::Alu { op, width, dst, src } => machine.alu(memory, (op, width), dst, src)?,
            Op::Mov { width, dst, src } => {
                let value = machine.get(memory, src, width)?;
                machine.set(memory, dst, width, value)?;
            }
            Op::Lea { dst, address } => {
                let address = machine.address(address);
                machine.set(memory, Operand::Register(dst), Width::W64, address)?;
            }
            Op::ShiftLeft { width, dst, bits } => machine.shift_left(width, dst, bits),
            Op::MovIf { condition, negated, dst, src } => {
                if machine.holds(condition, negated) {
                    machine.general[usize::from(dst)] = machine.general[usize::from(src)];
                }
            }
            Op::JumpIf { condition, negated, target } => {
                if machine.holds(condition, negated) {
                    return Ok(Next::Op(target));
                }
            }
            Op::Jump { target } => return Ok(Next::Op(target)),
            Op::Call { target } => {
                machine.push(memory, self.address_after(at))?;
                return Ok(Next::Op(target));
            }
            Op::CallIndirect { address } => {
                let function = memory.load_u64(machine.address(address))?;
                self.call_host(function, machine, environment)?;
            }
            Op::Return => {
                let address = machine.pop(memory)?;
                return if address == RETURN {
                    Ok(Next::Left)
                } else {
                    self.target(address).map(Next::Op)
                };
            }
            Op::Push(register) => {
                machine.push(memory, machine.general[usize::from(register)])?;
            }
            Op::Pop(register) => {
                let value = machine.pop(memory)?;
                machine.set(memory, Operand::Register(register), Width::W64, value)?;
            }
            Op::LoadMxcsr(address) => {
                let mxcsr = machine.load(memory, machine.address(address), Width::W32)? as u32;
                if mxcsr & MXCSR != MXCSR || mxcsr & !MXCSR_ALLOWED != 0 {
                    return Err(FaultKind::Mxcsr(mxcsr));
                }
                machine.mxcsr = mxcsr;
            }
            Op::StoreMxcsr(address) => {
                memory.store(machine.address(address), &machine.mxcsr.to_le_bytes())?;
            }
            Op::ZeroUpper => machine.zero_upper(),
            Op::Nop => {}
            Op::Padding => return Err(FaultKind::Padding),
        }
        Ok(Next::Following)
    }

    /// Calls a host function, and overwrites the registers that it need not preserve.
    fn call_host(
        &self,
        function: u64,
        machine: &mut Machine,
        environment: &mut Environment<'_, '_>,
    ) -> Result<(), FaultKind> {
        let pointer = machine.general[RSP];
        if !pointer.is_multiple_of(16) {
            return Err(FaultKind::StackAlignment(pointer));
        }
        let memory = &mut *environment.memory;
        // The call overwrites the stack below the stack pointer.
        memory.set_stack_pointer(pointer.wrapping_sub(256));
        let overwritten = memory.store(pointer.wrapping_sub(256), &[0x5a; 256]);
        memory.set_stack_pointer(pointer);
        overwritten?;
        let result = environment.host.call(function, machine.general[RDI], memory);
        let Some(result) = result else { return Err(FaultKind::Target(function)) };
        machine.clobber(2);
        machine.general[0] = result;
        Ok(())
    }
}
