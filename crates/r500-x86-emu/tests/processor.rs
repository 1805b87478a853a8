//! Differential tests: every instruction of the emulator, with random operands, against the processor. They compare all
//! registers, flags and memory.
//!
//! Instructions are not listed: of all encodings, those that the emulator decodes are tested. By default, some variants
//! of each are tested; `R500_VARIANTS=1000` tests more, `R500_SEED` others.
#![cfg(all(target_arch = "x86_64", unix))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]
#![allow(unsafe_code, reason = "machine code is called")]

use std::collections::BTreeSet;

use iced_x86::code_asm::*;
use iced_x86::{
    Code, CpuidFeature, Decoder, DecoderOptions, EncodingKind, FlowControl, Instruction,
    MemoryOperand, Mnemonic, OpCodeOperandKind as Kind, OpKind, Register, RoundingControl,
};
use memmap2::{Mmap, MmapMut};
use r500_x86_emu::{Environment, Flags, Lanes, Machine, Memory, Name, Program, RegionBytes};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const SCRATCH: usize = 512;
const FTZ: u32 = 1 << 15;
const DAZ: u32 = 1 << 6;

/// The state that an instruction reads and writes.
#[repr(C, align(64))]
#[derive(Clone, Debug, PartialEq)]
struct State {
    scratch: [u8; SCRATCH],
    vectors: [Lanes; 32],
    masks: [u64; 8],
    general: [u64; 16],
    flags: u64,
    mxcsr: u64,
}

const VECTORS: usize = SCRATCH;
const MASKS: usize = VECTORS + 64 * 32;
const GENERAL: usize = MASKS + 8 * 8;
const FLAGS: usize = GENERAL + 8 * 16;
const MXCSR: usize = FLAGS + 8;

/// Random operands of all kinds.
struct Random(SplitMix64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 32) % end
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }

    /// Returns the bits of a number: special numbers, denormals, numbers whose products and quotients are tiny or too
    /// large, integers.
    fn number(&mut self) -> u32 {
        let sign = (self.next() as u32) & 1 << 31;
        let near = |random: &mut Self, exponent: u32| {
            ((exponent << 23).wrapping_add(random.below(5) as u32).wrapping_sub(2)) & 0x7fff_ffff
        };
        match self.below(12) {
            0 => self.of(&[0.0_f32, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, f32::INFINITY]).to_bits(),
            1 => self.of(&[0x7f80_0000, 0x7fc0_0000, 0xffc1_2345, 0x7f80_0001, 0xff87_6543]),
            2 => sign | (self.next() as u32) & 0x007f_ffff,
            3 => sign | self.of(&[1, 2, 0x007f_ffff, 0x0080_0000, 0x0080_0001, 0x7f7f_ffff]),
            4 => {
                sign | {
                    let exponent = self.of(&[1, 63, 64, 65, 127, 190, 191, 254]);
                    near(self, exponent)
                }
            }
            // Products and quotients at the limit of tiny results, where all bits of the mantissa matter.
            5 => {
                sign | (self.of(&[62, 63, 64, 1, 2, 126]) << 23)
                    | (self.next() as u32) & 0x007f_ffff
            }
            6 => (self.next() as i32 >> self.below(31)).cast_unsigned(),
            7 => ((self.next() as i32 >> self.below(31)) as f32 * 0.5).to_bits(),
            _ => self.next() as u32,
        }
    }

    fn state(&mut self) -> State {
        let mut scratch = [0; SCRATCH];
        for lane in scratch.as_chunks_mut::<4>().0 {
            *lane = self.number().to_le_bytes();
        }
        let flags = (0x0202 | self.next() & 0x08d5) & !0x400;
        State {
            scratch,
            vectors: std::array::from_fn(|_| std::array::from_fn(|_| self.number())),
            masks: std::array::from_fn(|_| self.next()),
            general: std::array::from_fn(|_| match self.below(4) {
                0 => self.of(&[0, 1, u64::MAX, 1 << 63, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]),
                1 => self.number().into(),
                _ => self.next(),
            }),
            flags,
            mxcsr: u64::from(0x1f80 | self.of(&[0, FTZ, DAZ, FTZ | DAZ])),
        }
    }
}

/// Executable code.
struct Executable(Mmap);

impl Executable {
    fn new(code: &[u8]) -> Self {
        let mut memory = MmapMut::map_anon(code.len()).unwrap();
        memory.copy_from_slice(code);
        Self(memory.make_exec().unwrap())
    }

    fn call<T>(&self, argument: &mut T) -> u64 {
        // SAFETY: the code was assembled by these tests for this convention and for this processor, and accesses only
        // what its argument points to.
        unsafe {
            let entry: extern "sysv64" fn(*mut T) -> u64 = std::mem::transmute(self.0.as_ptr());
            entry(argument)
        }
    }
}

/// Registers that instructions may have as operands. `r15` holds the state, `r14` the scratch memory.
const GENERAL_OPERANDS: [u8; 13] = [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// Returns code that loads all registers, executes an instruction, and stores all registers.
fn around(inst: Instruction, wide: bool) -> Executable {
    let mut a = CodeAssembler::new(64).unwrap();
    for register in [rbx, rbp, r12, r13, r14, r15] {
        a.push(register).unwrap();
    }
    a.sub(rsp, 8).unwrap();
    a.stmxcsr(dword_ptr(rsp)).unwrap();
    a.mov(r15, rdi).unwrap();
    a.mov(r14, rdi).unwrap();
    let vector = |a: &mut CodeAssembler, n: usize, store: bool| {
        let (code, register) = match wide {
            true if store => (Code::EVEX_Vmovups_zmmm512_k1z_zmm, Register::ZMM0 + n as u32),
            true => (Code::EVEX_Vmovups_zmm_k1z_zmmm512, Register::ZMM0 + n as u32),
            false if store => (Code::VEX_Vmovups_ymmm256_ymm, Register::YMM0 + n as u32),
            false => (Code::VEX_Vmovups_ymm_ymmm256, Register::YMM0 + n as u32),
        };
        let at = MemoryOperand::with_base_displ(Register::R15, (VECTORS + 64 * n) as i64);
        let inst = match store {
            true => Instruction::with2(code, at, register),
            false => Instruction::with2(code, register, at),
        };
        a.add_instruction(inst.unwrap()).unwrap();
    };
    let masks = [k0, k1, k2, k3, k4, k5, k6, k7];
    let general = [rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15];
    let at = |offset: usize, n: usize| qword_ptr(r15 + (offset + 8 * n) as i32);
    let count = if wide { 32 } else { 16 };
    (0..count).for_each(|n| vector(&mut a, n, false));
    if wide {
        (0..8).for_each(|n| a.kmovq(masks[n], at(MASKS, n)).unwrap());
    }
    a.push(at(FLAGS, 0)).unwrap();
    a.popfq().unwrap();
    a.ldmxcsr(dword_ptr(r15 + MXCSR as i32)).unwrap();
    for n in GENERAL_OPERANDS.map(usize::from) {
        a.mov(general[n], at(GENERAL, n)).unwrap();
    }
    a.add_instruction(inst).unwrap();
    for n in GENERAL_OPERANDS.map(usize::from) {
        a.mov(at(GENERAL, n), general[n]).unwrap();
    }
    a.stmxcsr(dword_ptr(r15 + MXCSR as i32)).unwrap();
    a.pushfq().unwrap();
    a.pop(at(FLAGS, 0)).unwrap();
    if wide {
        (0..8).for_each(|n| a.kmovq(at(MASKS, n), masks[n]).unwrap());
    }
    (0..count).for_each(|n| vector(&mut a, n, true));
    a.vzeroupper().unwrap();
    a.cld().unwrap();
    a.ldmxcsr(dword_ptr(rsp)).unwrap();
    a.add(rsp, 8).unwrap();
    for register in [r15, r14, r13, r12, rbp, rbx] {
        a.pop(register).unwrap();
    }
    a.ret().unwrap();
    Executable::new(&a.assemble(0).unwrap())
}

/// Returns an instruction of an encoding with random operands; `None` if it has other kinds of operands, or if it does
/// not continue at the next instruction.
fn instruction(code: Code, random: &mut Random) -> Option<Instruction> {
    let info = code.op_code();
    let mut inst = Instruction::default();
    inst.set_code(code);
    let evex = info.encoding() == EncodingKind::EVEX;
    if inst.flow_control() != FlowControl::Next
        || matches!(inst.mnemonic(), Mnemonic::Push | Mnemonic::Pop | Mnemonic::Ldmxcsr)
        || !info.mode64()
        || !matches!(info.encoding(), EncodingKind::Legacy | EncodingKind::VEX | EncodingKind::EVEX)
    {
        return None;
    }
    let memory = random.below(2) == 0;
    for n in 0..info.op_count() {
        let kind = info.op_kind(n);
        let number = random.below(if evex { 32 } else { 16 }) as u32;
        let mask = random.below(8) as u32;
        let general = u32::from(random.of(&GENERAL_OPERANDS));
        let register = match kind {
            Kind::r32_reg | Kind::r32_opcode | Kind::r32_rm => Some(Register::EAX + general),
            Kind::r64_reg | Kind::r64_opcode | Kind::r64_rm => Some(Register::RAX + general),
            Kind::eax => Some(Register::EAX),
            Kind::r32_or_mem if !memory => Some(Register::EAX + general),
            Kind::r64_or_mem if !memory => Some(Register::RAX + general),
            Kind::k_reg | Kind::k_vvvv | Kind::k_rm => Some(Register::K0 + mask),
            Kind::k_or_mem if !memory => Some(Register::K0 + mask),
            Kind::xmm_reg | Kind::xmm_vvvv | Kind::xmm_rm => Some(Register::XMM0 + number),
            Kind::xmm_or_mem if !memory => Some(Register::XMM0 + number),
            Kind::ymm_reg | Kind::ymm_vvvv | Kind::ymm_rm | Kind::ymm_is4 => {
                Some(Register::YMM0 + number)
            }
            Kind::ymm_or_mem if !memory => Some(Register::YMM0 + number),
            Kind::zmm_reg | Kind::zmm_vvvv | Kind::zmm_rm => Some(Register::ZMM0 + number),
            Kind::zmm_or_mem if !memory => Some(Register::ZMM0 + number),
            _ => None,
        };
        if let Some(register) = register {
            inst.set_op_kind(n, OpKind::Register);
            inst.set_op_register(n, register);
            continue;
        }
        let (kind, bits) = match kind {
            Kind::r32_or_mem
            | Kind::r64_or_mem
            | Kind::k_or_mem
            | Kind::xmm_or_mem
            | Kind::ymm_or_mem
            | Kind::zmm_or_mem
            | Kind::mem => {
                inst.set_op_kind(n, OpKind::Memory);
                address(&mut inst, random);
                continue;
            }
            Kind::imm8 => (OpKind::Immediate8, 8),
            Kind::imm32 => (OpKind::Immediate32, 32),
            Kind::imm8sex32 => (OpKind::Immediate8to32, 8),
            Kind::imm8sex64 => (OpKind::Immediate8to64, 8),
            Kind::imm32sex64 => (OpKind::Immediate32to64, 32),
            _ => return None,
        };
        inst.set_op_kind(n, kind);
        let value = random.next() as i64;
        // Most other immediates of rounding instructions are not emulated.
        let value = if random.below(2) == 0 { value & 0b1011 } else { value };
        match bits {
            8 => inst.set_immediate_i32(n, i32::from(value as i8)),
            _ => inst.set_immediate_i32(n, value as i32),
        }
        if kind == OpKind::Immediate8 {
            inst.set_immediate8(value as u8);
        }
    }
    let loads = (0..inst.op_count()).any(|n| inst.op_kind(n) == OpKind::Memory);
    inst.set_is_broadcast(loads && info.can_broadcast() && random.below(2) == 0);
    if info.can_use_op_mask_register() && random.below(2) == 0 {
        inst.set_op_mask(Register::K1 + random.below(7) as u32);
        inst.set_zeroing_masking(info.can_use_zeroing_masking() && random.below(2) == 0);
    }
    if info.can_use_rounding_control() && !loads && random.below(2) == 0 {
        let modes = [RoundingControl::RoundToNearest, RoundingControl::RoundDown];
        inst.set_rounding_control(random.of(&modes));
    }
    Some(inst)
}

/// Sets a memory operand: an address in the first half of the scratch memory, or any address if nothing is loaded.
fn address(inst: &mut Instruction, random: &mut Random) {
    let aligned = matches!(inst.mnemonic(), Mnemonic::Vmovaps);
    let displacement = random.below(SCRATCH as u64 / 4) & if aligned { !63 } else { !0 };
    inst.set_memory_base(Register::R14);
    inst.set_memory_displacement64(displacement);
    inst.set_memory_displ_size(1);
    if inst.mnemonic() == Mnemonic::Lea {
        inst.set_memory_base(Register::RAX + u32::from(random.of(&GENERAL_OPERANDS)));
        inst.set_memory_displacement64(random.next() as i32 as i64 as u64);
        inst.set_memory_displ_size(8);
    }
    if !aligned && random.below(2) == 0 {
        inst.set_memory_index(Register::RCX);
        inst.set_memory_index_scale(random.of(&[1, 2, 4, 8]));
    }
}

/// Compares an instruction in some states.
fn compare(inst: Instruction, program: &Program, wide: bool, random: &mut Random) {
    let native = around(inst, wide);
    for _ in 0..24 {
        let mut before = random.state();
        // `rcx` may be an index.
        before.general[1] = random.below(16);
        let mut native_state = before.clone();
        native.call(&mut native_state);
        let emulated = emulate(program, &before);
        let undefined = undefined_flags(&inst);
        let shown = |state: &State| {
            let mut state = state.clone();
            // Exception flags are not modelled. Of the status flags, those that conditions read are compared.
            state.mxcsr &= !0x3f;
            state.flags &= 0x08c1 & !undefined;
            for n in [4, 14, 15] {
                state.general[n] = 0;
            }
            if !wide {
                state.masks = [0; 8];
                state.vectors[16..].fill([0; 16]);
                state.vectors.iter_mut().for_each(|vector| vector[8..].fill(0));
            }
            state
        };
        let (got, wanted) = (shown(&emulated), shown(&native_state));
        if got != wanted {
            report(&inst, &before, &got, &wanted);
        }
    }
}

/// Returns the flags that the instruction leaves undefined.
fn undefined_flags(inst: &Instruction) -> u64 {
    if inst.mnemonic() == Mnemonic::Shl && inst.immediate8() & 0x3f != 1 { 0x0800 } else { 0 }
}

fn report(inst: &Instruction, before: &State, got: &State, wanted: &State) -> ! {
    let mut text = format!("{inst:?} ({:?}), mxcsr {:#x}", inst.code(), before.mxcsr);
    for n in 0..32 {
        for lane in 0..16 {
            let [b, g, w] = [before, got, wanted].map(|state| state.vectors[n][lane]);
            if g != w {
                text += &format!("\nvector {n} lane {lane}: {b:08x} becomes {g:08x}, not {w:08x}");
                for other in 0..32 {
                    text += &format!(" {:08x}", before.vectors[other][lane]);
                }
            }
        }
    }
    let (g, w) = (got, wanted);
    panic!(
        "{text}\nmasks {:x?}\n{:x?}\ngeneral {:x?}\n{:x?}\nflags {:x} {:x}, mxcsr {:x} {:x}, memory {}",
        g.masks,
        w.masks,
        g.general,
        w.general,
        g.flags,
        w.flags,
        g.mxcsr,
        w.mxcsr,
        g.scratch == w.scratch
    )
}

/// Emulates the instruction.
fn emulate(program: &Program, before: &State) -> State {
    let mut after = before.clone();
    let mut machine = Machine::new();
    let flag = |bit: u32| before.flags >> bit & 1 != 0;
    machine.flags = Flags { carry: flag(0), zero: flag(6), sign: flag(7), overflow: flag(11) };
    (machine.vectors, machine.masks) = (before.vectors, before.masks);
    (machine.general, machine.mxcsr) = (before.general, before.mxcsr as u32);
    let mut memory = Memory::new();
    let scratch = memory.reserve(0);
    memory.map(scratch, Name::of("scratch"), RegionBytes::LoadStore(&mut after.scratch));
    machine.general[14] = scratch;
    let mut environment =
        Environment { memory: &mut memory, host: &mut (), stack: 0, steps: u64::MAX };
    program.run_straight(&mut machine, &mut environment).unwrap();
    drop(memory);
    (after.vectors, after.masks, after.general) = (machine.vectors, machine.masks, machine.general);
    let Flags { carry, zero, sign, overflow } = machine.flags;
    let bits = [(carry, 0), (zero, 6), (sign, 7), (overflow, 11)];
    after.flags = bits.iter().fold(0, |flags, (on, bit)| flags | u64::from(*on) << bit);
    after.mxcsr = machine.mxcsr.into();
    after
}

/// Returns whether this processor has AVX2 with FMA and F16C, and whether it has AVX-512.
fn abilities() -> (bool, bool) {
    let wide = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl");
    let narrow = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c");
    (narrow, wide)
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |text| text.parse().unwrap())
}

#[test]
fn each_instruction_does_what_the_processor_does() {
    let (avx2, wide) = abilities();
    if !avx2 {
        eprintln!("not compared: this processor has no AVX2");
        return;
    }
    let seed = number("R500_SEED", 1);
    let (mut compared, mut left_out) = (BTreeSet::new(), BTreeSet::new());
    for code in Code::values() {
        let mut random = Random(SplitMix64::seed_from_u64(seed << 20 ^ code as u64));
        for _ in 0..number("R500_VARIANTS", 40) {
            let Some(inst) = instruction(code, &mut random) else { break };
            let mut a = CodeAssembler::new(64).unwrap();
            a.add_instruction(inst).unwrap();
            let Ok(bytes) = a.assemble(0) else { continue };
            // Data directives, or an empty encoding.
            if bytes.is_empty() {
                continue;
            }
            let decoded = Decoder::new(64, &bytes, DecoderOptions::NONE).decode();
            let Ok(program) = Program::decode(&bytes, 0) else { continue };
            let narrow = |feature: &CpuidFeature| !format!("{feature:?}").starts_with("AVX512");
            if wide || decoded.cpuid_features().iter().all(narrow) {
                compare(inst, &program, wide, &mut random);
                compared.insert(format!("{:?}", decoded.code()));
            } else {
                left_out.insert(format!("{:?}", decoded.code()));
            }
        }
    }
    eprintln!("{} encodings compared, {} left out", compared.len(), left_out.len());
    // All except control flow, the stack and MXCSR, which have separate tests.
    assert_eq!(compared.len() + left_out.len(), ENCODINGS);
}

/// Number of encodings that the emulator implements and that continue at the next instruction.
const ENCODINGS: usize = 155;

/// Tests conditional jumps after comparisons, calls, and the stack.
#[test]
fn control_goes_where_the_processor_goes() {
    type Jump = fn(&mut CodeAssembler, CodeLabel) -> Result<(), IcedError>;
    use iced_x86::IcedError;
    let jumps: [Jump; 14] = [
        |a, to| a.jo(to),
        |a, to| a.jno(to),
        |a, to| a.jb(to),
        |a, to| a.jae(to),
        |a, to| a.je(to),
        |a, to| a.jne(to),
        |a, to| a.jbe(to),
        |a, to| a.ja(to),
        |a, to| a.js(to),
        |a, to| a.jns(to),
        |a, to| a.jl(to),
        |a, to| a.jge(to),
        |a, to| a.jle(to),
        |a, to| a.jg(to),
    ];
    let mut random = Random(SplitMix64::seed_from_u64(1));
    for (n, jump) in jumps.into_iter().enumerate() {
        let mut a = CodeAssembler::new(64).unwrap();
        let [mut yes, mut end, mut function] = [(); 3].map(|()| a.create_label());
        a.push(rbx).unwrap();
        a.mov(rbx, qword_ptr(rdi)).unwrap();
        a.cmp(rbx, qword_ptr(rdi + 8)).unwrap();
        jump(&mut a, yes).unwrap();
        a.mov(eax, 7).unwrap();
        a.jmp(end).unwrap();
        a.set_label(&mut yes).unwrap();
        a.call(function).unwrap();
        a.set_label(&mut end).unwrap();
        a.pop(rbx).unwrap();
        a.ret().unwrap();
        a.set_label(&mut function).unwrap();
        a.mov(eax, 9).unwrap();
        a.ret().unwrap();
        let code = a.assemble(0).unwrap();
        let (native, program) = (Executable::new(&code), Program::decode(&code, 0).unwrap());
        for _ in 0..500 {
            let mut numbers = [random.next(), random.next()];
            match random.below(4) {
                0 => numbers[1] = numbers[0].wrapping_add(random.below(3)).wrapping_sub(1),
                1 => numbers = numbers.map(|x| x % 3),
                2 => numbers = numbers.map(|x| (1 << 63) ^ (x % 3)),
                _ => {}
            }
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&numbers[0].to_le_bytes());
            bytes[8..].copy_from_slice(&numbers[1].to_le_bytes());
            let mut memory = Memory::new();
            let at = memory.reserve(0);
            memory.map(at, Name::of("numbers"), RegionBytes::Load(&bytes));
            let stack = memory.map_stack(4096);
            let mut environment =
                Environment { memory: &mut memory, host: &mut (), stack, steps: 100 };
            let got = program.run(at, &mut environment).unwrap();
            assert_eq!(got, native.call(&mut numbers), "jump {n}, {numbers:x?}");
        }
    }
}
