//! Code written by hand: what a call gives it, what it may do, who pays; and where code lies.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(target_os = "linux")]
use std::{
    fs,
    path::Path,
    sync::Arc,
    sync::atomic::{AtomicUsize, Ordering},
};

use iced_x86::code_asm::*;
use r500_exec::{Bindings, Cancel, Draw, Limits, Options, RunError, Shader};
#[cfg(target_os = "linux")]
#[cfg(target_os = "linux")]
use r500_fast::NativeCode;
#[cfg(target_os = "linux")]
use r500_fast::Simd;
use r500_fast::codegen::{
    BatchOffsets, Capabilities, CompileUnit, Compiler, Footprint, Kernel, LinearInterpolant,
    ResourceLayout, TexelView,
};
use r500_fast::codegen::{ColorTargets, Fuel, TargetPlane};
use r500_isa::Instruction;
use r500_program::{Job, Program};

use super::*;
#[cfg(target_os = "linux")]
use crate::{
    Effort, Groups, Settings,
    x86::kernel::{Backend, CompiledKernel},
};

/// A unit of so many slots, all read, of so many chunks.
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

/// Code as pages, for slots of so many chunks.
fn pages(mut code: CodeAssembler, slots: u32, chunks: u32) -> ExecMemory {
    let code = code.assemble(0).unwrap();
    let assembly = Assembly { code, ..Assembly::default() };
    with_unit(slots, chunks, |unit| ExecMemory::new(&assembly, MemoryBounds::of(unit), Level::Avx2))
        .unwrap()
}

/// Slot 1 = slot 0 + slot 0, with eight lanes at a time.
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

/// Spends seven instructions, again and again, as often as slot 0 says in its first lane.
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

/// Calls `f` with the budget of a drawing.
pub(crate) fn with_budget<T>(options: &Options<'_>, f: impl FnOnce(&mut Fuel<'_>) -> T) -> T {
    let code = vec![Instruction([0x78101, 0, 0x80, 0x00db_0220, 0x00c1_8003, 0x0049_0000])];
    let job = Job::from_program(Program::from_code(code));
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(&job, [4, 4]).unwrap();
    let draw = Draw::new(&shader, &bindings, options).unwrap();
    f(&mut Fuel::new(&draw, [4, 8]))
}

/// Calls code with slots, with a budget that it need not keep to.
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
    // Within a grant, over several, and to the last instruction.
    for times in [1, 1428, 1429, 30_000] {
        let all = 7 * u64::from(times);
        assert_eq!(call(times, &Options::default()), Ok((all, 99)));
        assert_eq!(call(times, &limited(all)), Ok((all, 99)));
        let error = RunError::Instructions { address: 99, pixel: [4, 8], limit: all - 1 };
        assert_eq!(call(times, &limited(all - 1)), Err(error));
    }
    // As good as endless.
    let cancel = Cancel::default();
    cancel.cancel();
    let options = Options { cancel: Some(&cancel), ..limited(u64::MAX) };
    assert_eq!(call(u32::MAX, &options), Err(RunError::Cancelled));
    let limit = std::time::Duration::from_millis(5);
    let mut options = limited(u64::MAX);
    options.limits.time = Some(limit);
    assert_eq!(call(u32::MAX, &options), Err(RunError::Time { limit }));
}

/// The protection of the mapping that an address is in.
#[cfg(target_os = "linux")]
fn protection(address: usize) -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
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

/// Memory between inaccessible pages.
#[cfg(target_os = "linux")]
struct Guarded {
    memory: MmapMut,
    first: usize,
    length: usize,
}

#[cfg(target_os = "linux")]
impl Guarded {
    const PAGE: usize = 4096;

    /// So many bytes of usual numbers, at the start or at the end of what there is.
    fn new(length: usize, at_end: bool) -> Self {
        let room = length.next_multiple_of(Self::PAGE);
        let mut memory = MmapMut::map_anon(room + 2 * Self::PAGE).unwrap();
        let start = memory.as_mut_ptr();
        for guard in [0, Self::PAGE + room] {
            // SAFETY: a page of the mapping, which is this function's own and which nothing refers to.
            unsafe {
                let page = start.add(guard).cast();
                let none = rustix::mm::MprotectFlags::empty();
                rustix::mm::mprotect(page, Self::PAGE, none).unwrap();
            }
        }
        let first = Self::PAGE + if at_end { room - length } else { 0 };
        let mut guarded = Self { memory, first, length };
        for (i, lane) in guarded.get_mut::<f32>().iter_mut().enumerate() {
            *lane = (i % 97) as f32 * 0.37 - 17.0;
        }
        guarded
    }

    /// The memory as numbers in groups of some size.
    fn get_mut<T: Numbers>(&mut self) -> &mut [T] {
        assert!(self.length.is_multiple_of(size_of::<T>()));
        // SAFETY: the bytes lie between the guards, in a mapping that is borrowed as long; `T` is made
        // of floats, which any bytes are; the address is a multiple of its alignment, which the length is as
        // a multiple of its size.
        unsafe {
            let start = self.memory.as_mut_ptr().add(self.first);
            std::slice::from_raw_parts_mut(start.cast(), self.length / size_of::<T>())
        }
    }
}

/// What is made of floats, aligned to no more than a page.
#[cfg(target_os = "linux")]
trait Numbers {}
#[cfg(target_os = "linux")]
impl Numbers for f32 {}
#[cfg(target_os = "linux")]
impl Numbers for LinearInterpolant {}
#[cfg(target_os = "linux")]
impl Numbers for Chunk {}
#[cfg(target_os = "linux")]
impl Numbers for [f32; 4] {}
#[cfg(target_os = "linux")]
impl Numbers for Footprint {}

/// Code for every unit of the corpus, at both ends of memory between inaccessible pages: it keeps to the
/// chunks that it is called for, and writes the slots that it says it does.
#[cfg(target_os = "linux")]
#[test]
fn code_keeps_to_its_slots_and_chunks() {
    let mut units = 0;
    for simd in [Simd::Avx2, Simd::Avx512].into_iter().filter(|simd| simd.is_available()) {
        for effort in [Effort::Quick, Effort::Full] {
            let warden = Warden { simd, effort, seen: AtomicUsize::new(0) };
            for name in fs::read_dir(CORPUS).unwrap().map(|entry| entry.unwrap().path()) {
                if name.extension().is_some_and(|extension| extension == "json") {
                    of_capture(&name, &warden);
                }
            }
            units += warden.seen.load(Ordering::Relaxed);
        }
    }
    if Level::Avx2.is_available() {
        // 53 captures, mostly of one unit, two efforts.
        assert!(units > 100, "{units}");
    }
}

#[cfg(target_os = "linux")]
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/mesa");

/// Has the units of a capture compiled.
#[cfg(target_os = "linux")]
fn of_capture(file: &Path, warden: &Warden) {
    let bytes = fs::read(file).unwrap();
    let job = r500_formats::read(&bytes, None, &r500_formats::Limits::default()).unwrap().remove(0);
    let shader = Shader::new(&job.program).unwrap();
    let bindings = Bindings::new(&job, [64, 64]).unwrap();
    let options = Options::default();
    let draw = Draw::new(&shader, &bindings, &options).unwrap();
    let Ok(function) = r500_ir::lift(&draw) else { return };
    let code = NativeCode::compile(
        &function,
        &[],
        &ResourceLayout::of(&function, &bindings),
        Simd::detect(),
        warden,
    );
    let (compiled, all) = code.coverage();
    assert_eq!(compiled, all, "{}", file.display());
}

/// Checks what code does.
#[cfg(target_os = "linux")]
struct Warden {
    simd: Simd,
    effort: Effort,
    seen: AtomicUsize,
}

#[cfg(target_os = "linux")]
impl Compiler for Warden {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn compile(&self, unit: &CompileUnit<'_>) -> Option<Arc<dyn Kernel>> {
        self.seen.fetch_add(1, Ordering::Relaxed);
        let mut machine = None;
        for groups in [Groups::One, Groups::Two, Groups::Contest] {
            let settings = Settings { groups, ..Settings::default() };
            let backend = Backend::new(self.simd, settings).unwrap();
            let kernel = backend.make(unit, self.effort).unwrap().unwrap();
            kernel.begin_contest();
            let chunks = unit.stride as usize / size_of::<Chunk>();
            for at_end in [false, true] {
                for run in [(0, 1), (1, chunks - 2), (chunks - 1, chunks), (0, chunks)] {
                    watched(unit, &kernel, run, at_end);
                }
            }
            machine = Some(kernel);
        }
        Some(Arc::new(machine?))
    }
}

/// Runs code over slots that lie at the start or at the end of what memory there is.
#[cfg(target_os = "linux")]
fn watched(unit: &CompileUnit<'_>, machine: &CompiledKernel, run: (usize, usize), at_end: bool) {
    let chunks = unit.stride as usize / size_of::<Chunk>();
    let moved = || unit.moves.iter().map(|moved| moved.slot as usize);
    let written: Vec<usize> =
        unit.writes.iter().map(|(_, slot)| *slot as usize).chain(moved()).collect();
    let read = unit.reads.iter().map(|(_, slot)| *slot as usize);
    let used = read.chain(written.iter().copied()).map(|slot| slot + 1);
    let mut slots = Guarded::new(used.max().unwrap_or(0) * unit.stride as usize, at_end);
    let slots: &mut [Chunk] = slots.get_mut();
    let mut covered = Guarded::new(unit.stride as usize, at_end);
    let covered: &mut [Chunk] = covered.get_mut();
    let mut tables: Vec<_> = (unit.tables.iter())
        .map(|(unit, table)| {
            let bytes = table.cells as usize * if table.linear { 64 } else { 16 };
            (usize::from(*unit), table, Guarded::new(bytes, at_end))
        })
        .collect();
    let mut cells = [TexelView::NONE; 16];
    for (unit, table, memory) in &mut tables {
        cells[*unit] = match table.linear {
            true => TexelView::Footprints(memory.get_mut()),
            false => TexelView::Texels(memory.get_mut()),
        };
    }
    // Planes are as large as their offsets require.
    let places = (0..chunks as u32).map(|i| [i / 4 * 4, i % 4 * 4]);
    let places = BatchOffsets::in_rows(places, 64).unwrap();
    let mut planes: Vec<_> = (unit.colors.iter())
        .map(|color| (usize::from(color.target), Guarded::new(places.bytes(), at_end)))
        .collect();
    let mut interpolants =
        Guarded::new(size_of_val(unit.interpolants) / 2 * size_of::<LinearInterpolant>(), at_end);
    let (before, before_covered) = (slots.to_vec(), covered.to_vec());
    let limits = Limits { instructions: 100_000, ..Limits::default() };
    let result = with_budget(&Options { limits, ..Options::default() }, |fuel| {
        let mut targets = ColorTargets::none();
        targets.offsets = &places;
        for (target, plane) in &mut planes {
            targets.planes[*target] = TargetPlane::floats(plane.get_mut(), &places);
        }
        let (slots, covered) = (&mut *slots, &mut *covered);
        let interpolants = interpolants.get_mut();
        machine.run(&mut Batch { slots, covered, texels: &cells, interpolants, targets, fuel }, run)
    });
    // Slots of masks have any bits here, so that loops may be endless.
    assert!(matches!(result, Ok(()) | Err(RunError::Instructions { .. })), "{result:?}");
    for (i, (chunk, before)) in slots.iter().zip(&before).enumerate() {
        let may = written.contains(&(i / chunks)) && (run.0..run.1).contains(&(i % chunks));
        if !may {
            assert_eq!(chunk, before, "chunk {} of slot {}, run {run:?}", i % chunks, i / chunks);
        }
    }
    for (i, (chunk, before)) in covered.iter().zip(&before_covered).enumerate() {
        assert!(
            chunk == before || (run.0..run.1).contains(&i),
            "coverage of chunk {i}, run {run:?}"
        );
    }
}
