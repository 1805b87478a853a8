//! Code that violates a rule: each fault, with the instruction that causes it.
#![allow(clippy::unwrap_used)]

use iced_x86::IcedError;
use iced_x86::code_asm::*;
use r500_x86_emu::{
    AccessKind, Environment, Fault, FaultKind, Host, Memory, Name, Program, Refusal, RegionBytes,
};

/// A function that stores to its argument and returns the address at which it was called.
struct Function(u64);

impl Host for Function {
    fn call(&mut self, address: u64, argument: u64, memory: &mut Memory<'_>) -> Option<u64> {
        memory.store(argument, &[7; 8]).ok()?;
        (address == self.0).then_some(address)
    }
}

/// Runs code with 64 bytes for loads and, 128 bytes after their start, 64 bytes for stores. The memory starts 4 bytes
/// after a multiple of 64. Returns the result, and the stored bytes.
fn run(
    write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>,
) -> (Result<u64, Fault>, [u8; 64]) {
    let mut a = CodeAssembler::new(64).unwrap();
    write(&mut a).unwrap();
    let program = Program::decode(&a.assemble(0x1000).unwrap(), 0x1000).unwrap();
    let (input, mut output) = ([1; 64], [0; 64]);
    let mut memory = Memory::new();
    let at = memory.reserve(4);
    memory.map(at, Name::of("input"), RegionBytes::Load(&input));
    memory.map(at + 128, Name::of("output"), RegionBytes::LoadStore(&mut output));
    let stack = memory.map_stack(4096);
    let mut environment =
        Environment { memory: &mut memory, host: &mut Function(0x7777), stack, steps: 1000 };
    let result = program.run(at, &mut environment);
    drop(memory);
    (result, output)
}

/// Returns the fault of code.
fn fault(write: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Fault {
    run(write).0.unwrap_err()
}

#[test]
fn accesses_out_of_bounds_and_against_permissions_are_refused() {
    let error = fault(|a| {
        a.nop()?;
        a.vmovups(ymm3, ymmword_ptr(rdi + 40))?;
        a.ret()
    });
    assert_eq!((error.offset, error.instruction.as_str()), (1, "vmovups ymm3,[rdi+28h]"));
    let FaultKind::Access(error) = error.kind else { unreachable!("{error}") };
    assert_eq!((error.kind, error.size), (AccessKind::Load, 32));
    assert_eq!(error.refusal, Refusal::OutOfBounds);
    assert_eq!(error.nearest, Some((Name::of("input"), 40, 64)));
    let refusal = |kind| match kind {
        FaultKind::Access(error) => error.refusal,
        other => unreachable!("{other}"),
    };
    let error = fault(|a| a.vmovups(ymmword_ptr(rdi), ymm3));
    assert_eq!(refusal(error.kind), Refusal::Permission);
    let error = fault(|a| a.mov(rax, qword_ptr(rsp - 8)));
    assert_eq!(refusal(error.kind), Refusal::BelowStackPointer);
}

/// Lanes that an opmask excludes are not accessed.
#[test]
fn masked_lanes_do_not_fault() {
    let (result, output) = run(|a| {
        a.mov(dword_ptr(rdi + 128), 0b11)?;
        a.kmovw(k1, word_ptr(rdi + 128))?;
        a.vmovups(zmm1.k1().z(), zmmword_ptr(rdi + 56))?;
        a.vmovups(zmmword_ptr(rdi + 128), zmm1)?;
        a.vzeroupper()?;
        a.xor(eax, eax)?;
        a.ret()
    });
    assert_eq!(result, Ok(0));
    assert_eq!((&output[..8], &output[8..]), (&[1; 8][..], &[0; 56][..]));
    let error = fault(|a| {
        a.mov(dword_ptr(rdi + 128), 0b111)?;
        a.kmovw(k1, word_ptr(rdi + 128))?;
        a.vmovups(zmm1.k1().z(), zmmword_ptr(rdi + 56))
    });
    assert!(matches!(error.kind, FaultKind::Access(_)), "{error}");
}

#[test]
fn aligned_moves_want_alignment() {
    let error = fault(|a| a.vmovaps(ymm1, ymmword_ptr(rdi)));
    assert!(matches!(error.kind, FaultKind::Misaligned { alignment: 32, .. }), "{error}");
}

#[test]
fn what_a_function_preserves_is_asked_for_when_it_returns() {
    let register = |kind| match kind {
        FaultKind::NotPreserved { register, .. } => register,
        other => unreachable!("{other}"),
    };
    let error = fault(|a| {
        a.mov(r13, rdi)?;
        a.ret()
    });
    assert_eq!(register(error.kind), "r13");
    let error = fault(|a| {
        a.sub(rsp, 8)?;
        a.stmxcsr(dword_ptr(rsp))?;
        a.mov(eax, dword_ptr(rsp))?;
        a.or(eax, 0x8040)?;
        a.mov(dword_ptr(rsp), eax)?;
        a.ldmxcsr(dword_ptr(rsp))?;
        a.add(rsp, 8)?;
        a.ret()
    });
    assert_eq!(register(error.kind), "mxcsr");
}

#[test]
fn mxcsr_keeps_its_rounding_mode_and_its_masks() {
    let with = |mxcsr: u32| {
        fault(|a| {
            a.mov(dword_ptr(rdi + 128), mxcsr)?;
            a.ldmxcsr(dword_ptr(rdi + 128))
        })
    };
    // Rounding towards zero; an unmasked exception; a reserved bit.
    for mxcsr in [0x7f80, 0x1f00, 0x0001_1f80] {
        assert_eq!(with(mxcsr).kind, FaultKind::Mxcsr(mxcsr));
    }
}

#[test]
fn control_stays_in_the_code() {
    let error = fault(|a| {
        a.push(rdi)?;
        a.ret()
    });
    assert!(matches!(error.kind, FaultKind::Target(_)), "{error}");
    assert_eq!(error.instruction, "ret");
    assert!(matches!(fault(|a| a.nop()).kind, FaultKind::Target(0x1001)));
    assert_eq!(fault(|a| a.int3()).kind, FaultKind::Padding);
    let endless = fault(|a| {
        let mut top = a.create_label();
        a.set_label(&mut top)?;
        a.jmp(top)
    });
    assert_eq!(endless.kind, FaultKind::Steps(1000));
}

/// Calls `function` with the stack pointer moved by `bytes`.
fn call(a: &mut CodeAssembler, function: i32, bytes: i32) -> Result<(), IcedError> {
    a.mov(qword_ptr(rdi + 136), function)?;
    a.mov(rcx, rdi)?;
    a.lea(rdi, ptr(rdi + 128))?;
    a.sub(rsp, bytes)?;
    a.call(qword_ptr(rcx + 136))?;
    a.add(rsp, bytes)?;
    a.ret()
}

#[test]
fn functions_of_the_host_are_called_by_the_convention() {
    let (result, output) = run(|a| call(a, 0x7777, 8));
    assert_eq!((result, &output[..8]), (Ok(0x7777), &[7; 8][..]));
    let error = fault(|a| call(a, 0x7777, 16));
    assert!(matches!(error.kind, FaultKind::StackAlignment(_)), "{error}");
    assert_eq!(fault(|a| call(a, 0x7778, 8)).kind, FaultKind::Target(0x7778));
    // Registers that a function need not preserve lose their values.
    let (result, _) = run(|a| {
        a.push(rbx)?;
        a.mov(rbx, rdi)?;
        a.mov(qword_ptr(rbx + 136), 0x7777)?;
        a.lea(rdi, ptr(rdi + 128))?;
        a.mov(rcx, rdi)?;
        a.call(qword_ptr(rbx + 136))?;
        a.mov(rax, rcx)?;
        a.pop(rbx)?;
        a.ret()
    });
    assert_eq!(result, Ok(0xdead_0000_0000_0001));
}
