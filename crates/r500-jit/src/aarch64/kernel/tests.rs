//! Random units on the processor (or in an emulator of it): both forms together compute the unit's results, and the speculative form alone
//! reports its failures.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use r500_exec::Options;
use r500_fast::codegen::ColorTargets;
use r500_ir::Value;

use super::*;
use crate::aarch64::assembly::Assembly;
use crate::aarch64::emit;
use crate::random_units::{Numbers, check, count, with_budget};
use r500_lir::{Class, Opcode};
use r500_lir::{Label, MachCode, MachInst, Mem, RegMem, UnitLayout};

const NUMBERS: [Numbers; 3] = [Numbers::Plain, Numbers::All, Numbers::Edges];

/// Checks a unit's code. Returns whether speculation succeeded.
fn checked(seed: u64, numbers: Numbers, effort: Effort, groups: Groups, speculates: bool) -> bool {
    let mut counted = false;
    check(
        seed,
        numbers,
        seed % 5 < 2,
        &(effort, groups, numbers),
        |unit| {
            let assembly = compile(unit, effort, groups).unwrap();
            let kernel = kernel(&assembly, unit);
            if !speculates {
                kernel.speculation.skip.store(u32::MAX, Ordering::Relaxed);
            }
            (assembly.lanes as usize, kernel)
        },
        |kernel, slots, covered, texels, interpolants, targets| {
            let run = (0, covered.len());
            with_budget(&Options::default(), |fuel| {
                let mut batch = Batch { slots, covered, texels, interpolants, targets, fuel };
                kernel.call(&mut batch, run).unwrap();
            });
            counted = speculates && kernel.speculation.skipped.load(Ordering::Relaxed) == 0;
        },
    );
    counted
}

fn kernel(assembly: &Assembly, unit: &CompileUnit<'_>) -> CompiledKernel {
    CompiledKernel {
        pages: ExecMemory::new(assembly, MemoryBounds::of(unit)).unwrap(),
        changed: Changed::of(unit),
        // As in the tests of other back ends: limits apply to programs.
        fuel_checked: false,
        speculation: Speculation::default(),
    }
}

#[test]
fn random_units_compute_what_they_say() {
    let mut counted = 0;
    let units = count(400);
    for seed in 0..units {
        let effort = [Effort::Quick, Effort::Full][seed as usize % 2];
        let groups = [Groups::One, Groups::Two, Groups::Contest][seed as usize / 2 % 3];
        let numbers = NUMBERS[seed as usize % 3];
        counted += u64::from(checked(seed, numbers, effort, groups, true));
    }
    let some = units / 20..units - units / 20;
    assert!(
        some.contains(&counted),
        "{counted} of {units} units were done by the speculative form"
    );
}

#[test]
fn the_exact_form_is_right_by_itself() {
    for seed in 0..count(200) {
        checked(seed, NUMBERS[seed as usize % 3], Effort::Full, Groups::Contest, false);
    }
}

/// Calls `f` with a unit that multiplies slots 0 and 1 into slot 2.
fn with_product_unit<T>(chunks: usize, f: impl FnOnce(&CompileUnit<'_>) -> T) -> T {
    let [reads, writes] = [vec![(Value(0), 0), (Value(1), 1)], vec![(Value(2), 2)]];
    f(&CompileUnit {
        body: &[],
        reads: &reads,
        writes: &writes,
        moves: &[],
        colors: &[],
        stride: (chunks * size_of::<Chunk>()) as u32,
        fuel_checked: false,
        tables: &[],
        interpolants: &[],
        values: &Default::default(),
    })
}

/// Returns the code of such a unit.
fn product_kernel(unit: &CompileUnit<'_>) -> CompiledKernel {
    let class = Class::Vector;
    let args = [Some(RegMem::Register(0)), Some(RegMem::Register(1)), None];
    let product = Some(RegMem::Register(2));
    let insts = vec![
        MachInst::Label(Label(0)),
        MachInst::Load { class, dst: 0, from: Mem::Slot(0, 0) },
        MachInst::Load { class, dst: 1, from: Mem::Slot(1, 0) },
        MachInst::Op { opcode: Opcode::Mul, dst: 2, args, origin: 0 },
        MachInst::Op {
            opcode: Opcode::Store(2, 0),
            dst: 0,
            args: [product, None, None],
            origin: 0,
        },
        MachInst::NextGroup(Label(0)),
    ];
    let code = MachCode { insts, labels: 1, groups: 1, ..MachCode::default() };
    kernel(&emit::emit(&code, &UnitLayout::of(unit)).unwrap(), unit)
}

/// Products next to the smallest normal number, which the processor flushes before it rounds, and products of all magnitudes, compared with
/// double precision.
#[test]
fn products_are_flushed_after_rounding() {
    let mut factors = Vec::new();
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 32) as u32
    };
    for _ in 0..4000 {
        // A significand, and those whose products with it are next to a power of two.
        let a = random() & 0x7f_ffff | 0x80_0000;
        let b = ((1_u64 << 47) / u64::from(a)) as u32;
        for b in [b, b + 1].into_iter().filter(|b| b >> 23 == 1) {
            // Exponents whose sum is that of 2^-126, with either sign.
            let exponent = 1 + random() % 125;
            let of = |bits: u32, exponent: u32| f32::from_bits(bits & 0x7f_ffff | exponent << 23);
            factors.push([of(a, exponent), of(b, 127 - exponent)]);
            factors.push([of(a, exponent), -of(b, 127 - exponent)]);
        }
        factors.push([f32::from_bits(random()), f32::from_bits(random())]);
    }
    factors.resize(factors.len().next_multiple_of(16), [0.0; 2]);
    let chunks = factors.len() / 16;
    let mut slots: Vec<Chunk> = Vec::new();
    for side in 0..2 {
        let column: Vec<f32> = factors.iter().map(|pair| pair[side]).collect();
        slots.extend(column.as_chunks().0);
    }
    slots.resize(3 * chunks, [0.0; 16]);
    let mut covered = vec![[f32::from_bits(!0); 16]; chunks];
    with_product_unit(chunks, |unit| {
        let kernel = product_kernel(unit);
        // Short runs, so that the speculative form completes some.
        for first in 0..chunks {
            kernel.speculation.skip.store(0, Ordering::Relaxed);
            with_budget(&Options::default(), |fuel| {
                let (slots, covered) = (&mut slots[..], &mut covered[..]);
                let targets = ColorTargets::none();
                let (texels, interpolants) = (&[][..], &[][..]);
                let mut batch = Batch { slots, covered, texels, interpolants, targets, fuel };
                kernel.call(&mut batch, (first, first + 1)).unwrap();
            });
        }
    });
    let mut rounded_up = 0;
    for ([x, y], got) in factors.into_iter().zip(slots[2 * chunks..].as_flattened()) {
        let flushed = |x: f32| if x.is_subnormal() { 0.0_f32.copysign(x) } else { x };
        let exact = f64::from(flushed(x)) * f64::from(flushed(y));
        // Rounded with an unbounded exponent.
        let sized = (exact * f64::powi(2.0, 64)) as f32;
        let is_tiny = sized.abs() < f32::exp2(64.0 - 126.0);
        let wanted = if is_tiny { 0.0_f32.copysign(sized) } else { exact as f32 };
        rounded_up += u32::from(!is_tiny && exact.abs() < f64::from(f32::MIN_POSITIVE));
        let same = wanted.is_nan() && got.is_nan() || wanted.to_bits() == got.to_bits();
        assert!(same, "{x:e} * {y:e} is {wanted:e}, not {got:e}");
    }
    assert!(rounded_up > 100, "{rounded_up} are rounded up to the smallest number");
}

#[test]
fn speculation_backs_off_and_comes_back() {
    let speculation = Speculation::default();
    let mut tried = Vec::new();
    for run in 0..80 {
        if speculation.is_profitable() {
            tried.push(run);
            speculation.note(false);
        }
    }
    assert_eq!(tried, [0, 1, 3, 7, 15, 31, 63]);
    let speculation = Speculation::default();
    assert!(speculation.is_profitable());
    speculation.note(false);
    assert!(speculation.is_profitable());
    speculation.note(true);
    assert!((0..50).all(|_| speculation.is_profitable()));
}
