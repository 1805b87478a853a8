//! Hand-written code: the context of a call, bounds checks, fuel; the protection of code pages.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use iced_x86::code_asm::*;
use r500_exec::{Cancel, Limits, Options, RunError};
use r500_fast::codegen::{Chunk, ColorTargets, CompileUnit};

use super::*;
use crate::random_units::with_budget;

/// Calls `f` with a unit of `slots` slots, all read, of `chunks` chunks.
fn with_unit<T>(slots: u32, chunks: u32, f: impl FnOnce(&CompileUnit<'_>) -> T) -> T {
    let reads: Vec<_> = (0..slots).map(|slot| (r500_ir::Value(slot), slot)).collect();
    f(&CompileUnit {
        body: &[],
        reads: &reads,
        writes: &[],
        moves: &[],
        colors: &[],
        stride: chunks * 64,
        fuel_checked: true,
        tables: &[],
        interpolants: &[],
        values: &Default::default(),
    })
}

/// Returns hand-written code in memory, for slots of `chunks` chunks.
fn pages(mut code: CodeAssembler, slots: u32, chunks: u32) -> ExecMemory {
    let code = code.assemble(0).unwrap();
    let assembly = Assembly { code, ..Assembly::default() };
    with_unit(slots, chunks, |unit| ExecMemory::new(&assembly, MemoryBounds::of(unit), Level::Avx2))
        .unwrap()
}

/// Returns code for slot 1 = slot 0 + slot 0, eight lanes at a time.
fn doubling(chunks: u32) -> ExecMemory {
    let mut a = CodeAssembler::new(64).unwrap();
    let mut next = a.create_label();
    a.mov(rax, qword_ptr(rdi)).unwrap();
    a.mov(rcx, qword_ptr(rdi + 8)).unwrap();
    a.mov(rdx, qword_ptr(rdi + 16)).unwrap();
    a.set_label(&mut next).unwrap();
    a.vmovups(ymm0, ymmword_ptr(rax + rcx)).unwrap();
    a.vaddps(ymm0, ymm0, ymm0).unwrap();
    a.vmovups(ymmword_ptr(rax + rcx + chunks * 64), ymm0).unwrap();
    a.add(rcx, 32).unwrap();
    a.cmp(rcx, rdx).unwrap();
    a.jb(next).unwrap();
    a.vzeroupper().unwrap();
    a.xor(eax, eax).unwrap();
    a.ret().unwrap();
    pages(a, 2, chunks)
}

/// Returns code that consumes seven instructions as many times as the first lane of slot 0 says.
fn spending() -> ExecMemory {
    let mut a = CodeAssembler::new(64).unwrap();
    let (mut next, mut enough, mut end) = (a.create_label(), a.create_label(), a.create_label());
    a.push(rbx).unwrap();
    a.push(r12).unwrap();
    a.sub(rsp, 8).unwrap();
    a.mov(rbx, rdi).unwrap();
    a.mov(rax, qword_ptr(rdi)).unwrap();
    a.mov(r12d, dword_ptr(rax)).unwrap();
    a.set_label(&mut next).unwrap();
    a.sub(qword_ptr(rbx + 24), 7).unwrap();
    a.mov(qword_ptr(rbx + 40), 99).unwrap();
    a.jns(enough).unwrap();
    a.mov(rdi, rbx).unwrap();
    a.call(qword_ptr(rbx + 32)).unwrap();
    a.test(rax, rax).unwrap();
    a.jne(end).unwrap();
    a.set_label(&mut enough).unwrap();
    a.dec(r12d).unwrap();
    a.jne(next).unwrap();
    a.xor(eax, eax).unwrap();
    a.set_label(&mut end).unwrap();
    a.add(rsp, 8).unwrap();
    a.pop(r12).unwrap();
    a.pop(rbx).unwrap();
    a.ret().unwrap();
    pages(a, 1, 1)
}

/// Calls code with slots, without a fuel check.
fn call(
    pages: &ExecMemory,
    slots: &mut [Chunk],
    run: (usize, usize),
) -> Result<(u64, u32), RunError> {
    let mut covered = vec![[0.0; 16]; slots.len()];
    with_budget(&Options::default(), |fuel| {
        let targets = ColorTargets::none();
        let batch = &mut Batch {
            slots,
            covered: &mut covered,
            texels: &[],
            interpolants: &[],
            targets,
            fuel,
        };
        pages.call(batch, run, false)
    })
}

fn numbers(chunks: usize) -> Vec<Chunk> {
    (0..chunks).map(|chunk| std::array::from_fn(|lane| (chunk * 16 + lane) as f32)).collect()
}

#[test]
fn a_call_works_on_its_chunks_and_on_no_others() {
    let pages = doubling(5);
    let mut slots = numbers(10);
    assert_eq!(call(&pages, &mut slots, (1, 4)), Ok((0, 0)));
    let wanted: Vec<Chunk> = (numbers(10).into_iter().enumerate())
        .map(|(i, chunk)| match i {
            6..9 => numbers(10)[i - 5].map(|x| x + x),
            _ => chunk,
        })
        .collect();
    assert_eq!(slots, wanted);
    assert_eq!(call(&pages, &mut slots, (2, 2)), Ok((0, 0)));
    assert_eq!(slots, wanted);
}

#[test]
#[should_panic(expected = "slots missing")]
fn slots_must_be_there() {
    let _ = call(&doubling(5), &mut numbers(9), (0, 5));
}

#[test]
#[should_panic(expected = "chunks 3 to 6 of 5")]
fn chunks_must_be_there() {
    let _ = call(&doubling(5), &mut numbers(12), (3, 6));
}

#[test]
fn instructions_are_counted() {
    let pages = spending();
    let mut slots = numbers(1);
    let mut call = |times: u32, options: &Options<'_>| {
        slots[0][0] = f32::from_bits(times);
        with_budget(options, |fuel| {
            let (slots, covered) = (&mut slots[..], &mut [[0.0; 16]][..]);
            let targets = ColorTargets::none();
            pages.call(
                &mut Batch { slots, covered, texels: &[], interpolants: &[], targets, fuel },
                (0, 1),
                true,
            )
        })
    };
    let limited = |instructions| Options {
        limits: Limits { instructions, ..Limits::default() },
        ..Options::default()
    };
    // Within a grant, over several grants, and to the last instruction of the limit.
    for times in [1, 1428, 1429, 30_000] {
        let all = 7 * u64::from(times);
        assert_eq!(call(times, &Options::default()), Ok((all, 99)));
        assert_eq!(call(times, &limited(all)), Ok((all, 99)));
        let error = RunError::Instructions { address: 99, pixel: [4, 8], limit: all - 1 };
        assert_eq!(call(times, &limited(all - 1)), Err(error));
    }
    // Practically endless.
    let cancel = Cancel::default();
    cancel.cancel();
    let options = Options { cancel: Some(&cancel), ..limited(u64::MAX) };
    assert_eq!(call(u32::MAX, &options), Err(RunError::Cancelled));
    let limit = std::time::Duration::from_millis(5);
    let mut options = limited(u64::MAX);
    options.limits.time = Some(limit);
    assert_eq!(call(u32::MAX, &options), Err(RunError::Time { limit }));
}

/// Returns the protection of the mapping that contains an address.
#[cfg(target_os = "linux")]
fn protection(address: usize) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (first, end) = words.next()?.split_once('-')?;
        let range = usize::from_str_radix(first, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        range.contains(&address).then(|| words.next().unwrap_or_default().to_owned())
    })
}

#[cfg(target_os = "linux")]
#[test]
fn code_can_be_executed_and_not_written() {
    let pages = doubling(5);
    assert_eq!(protection(pages.code().as_ptr().addr()).as_deref(), Some("r-xp"));
}
