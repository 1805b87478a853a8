//! The checker accepts the allocator's code and reports mutations of it: every bug that the code generator once had, and others.

#![allow(clippy::unwrap_used, clippy::panic)]

use crate::Effort;
use crate::random_units::with_unit;
use crate::x86::compile::{lower_unit, schedule_groups};
use crate::x86::level::Level;
use r500_lir::regalloc::allocate;
use r500_lir::regalloc::{Fault, check};
use r500_lir::{
    Class, Label, LirFunction, MachCode, MachInst, Mem, MemOperand, Op, Opcode, RegMem, Region,
};

/// A function and its machine code.
type Allocated = (LirFunction, MachCode);

fn allocated(seed: u64, level: Level, effort: Effort) -> Allocated {
    let doublings = u32::try_from(seed % 2).unwrap();
    let function =
        with_unit(seed, |unit| schedule_groups(lower_unit(unit, level), level, effort, doublings));
    let listing = allocate(&function, level.machine());
    (function, listing)
}

/// Returns the checker's results for AVX-512 code with one mutation each, of which there is at least one.
fn faults_of(change: impl Fn(&mut Vec<MachInst>, usize) -> bool) -> Vec<Result<(), Fault>> {
    let mut results = Vec::new();
    for seed in 0..24 {
        let (function, listing) = allocated(seed, Level::Avx512, Effort::Full);
        let mut changes = 0;
        for at in 0..listing.insts.len() {
            let mut insts = listing.insts.clone();
            if !change(&mut insts, at) {
                continue;
            }
            let changed = MachCode { insts, ..listing.clone() };
            results.push(check(&function, Level::Avx512.machine(), &changed));
            changes += 1;
            if changes == 20 {
                break;
            }
        }
    }
    assert!(results.len() > 10, "few places for the change");
    results
}

fn all_reported(change: impl Fn(&mut Vec<MachInst>, usize) -> bool) {
    for result in faults_of(change) {
        result.unwrap_err();
    }
}

/// Checks mutations that may be harmless because nothing reads the changed value, or another location holds it.
fn most_reported(change: impl Fn(&mut Vec<MachInst>, usize) -> bool) {
    let results = faults_of(change);
    let reported = results.iter().filter(|result| result.is_err()).count();
    assert!(reported * 100 >= results.len() * 70, "{reported} of {}", results.len());
}

#[test]
fn what_the_allocator_gives_is_right() {
    for (seed, level) in (0..60).flat_map(|seed| [(seed, Level::Avx2), (seed, Level::Avx512)]) {
        for effort in [Effort::Quick, Effort::Full] {
            let (function, listing) = allocated(seed, level, effort);
            assert_eq!(
                check(&function, level.machine(), &listing),
                Ok(()),
                "seed {seed}, {level:?}"
            );
        }
    }
}

/// Former bug: vector moves preceded mask moves, so that a vector overwrote the slot of a mask.
#[test]
fn a_vector_stored_over_a_mask_that_is_still_to_be_read_is_reported() {
    // The shortest example: a loop that swaps a mask in the frame for a vector in the same slot.
    let mut function = LirFunction::default();
    let [x, y] = [(); 2].map(|()| function.fresh(Class::Vector));
    let [m, n] = [(); 2].map(|()| function.fresh(Class::Mask));
    let op = |opcode, dst, args| Op { opcode, dst: Some(dst), args, origin: 0 };
    let less = Opcode::Cmp(r500_lir::Relation::Lt);
    function.body = vec![Region::Ops(vec![
        op(Opcode::Interpolant(r500_lir::Interpolant { number: 0, part: 0 }), x, [None; 3]),
        op(less, m, [Some(x), Some(x), None]),
        op(Opcode::Copy, y, [Some(x), None, None]),
        op(Opcode::MaskAnd, n, [Some(m), Some(m), None]),
        Op { opcode: Opcode::Store(0, 0), dst: None, args: [Some(y), None, None], origin: 0 },
        Op { opcode: Opcode::StoreCoverage(0), dst: None, args: [Some(y), None, None], origin: 0 },
    ])];
    let (mask, vector, slot) = (Class::Mask, Class::Vector, Mem::Stack(0));
    let [ramp, cmp, copy, and, store, uncover] = {
        let reg = |register| Some(RegMem::Register(register));
        let op = |opcode, dst, args| MachInst::Op { opcode, dst, args, origin: 0 };
        [
            op(Opcode::Interpolant(r500_lir::Interpolant { number: 0, part: 0 }), 0, [None; 3]),
            op(less, 0, [reg(0), reg(0), None]),
            op(Opcode::Copy, 1, [reg(0), None, None]),
            op(Opcode::MaskAnd, 1, [reg(3), reg(3), None]),
            op(Opcode::Store(0, 0), 0, [reg(2), None, None]),
            op(Opcode::StoreCoverage(0), 0, [reg(2), None, None]),
        ]
    };
    let to_frame = MachInst::Store { class: mask, to: slot, from: 0 };
    let read = MachInst::Load { class: mask, dst: 3, from: slot };
    let overwrite = MachInst::Store { class: vector, to: slot, from: 1 };
    let reload = MachInst::Load { class: vector, dst: 2, from: slot };
    let listing = |moves: [MachInst; 2]| MachCode {
        insts: [
            vec![MachInst::Label(Label(0)), ramp, cmp, to_frame, copy],
            moves.to_vec(),
            vec![reload, and, store, uncover, MachInst::NextGroup(Label(0))],
        ]
        .concat(),
        labels: 1,
        stack: 1,
        groups: 1,
        sources: (0..6).collect(),
        ..MachCode::default()
    };
    assert_eq!(check(&function, Level::Avx512.machine(), &listing([read, overwrite])), Ok(()));
    let fault = check(&function, Level::Avx512.machine(), &listing([overwrite, read])).unwrap_err();
    assert!(fault.what.contains("is read as Mask, holds Vector"), "{fault}");
}

/// Former bug: when no register was found, the first one was used, whatever it held.
#[test]
fn a_result_in_the_first_register_in_place_of_its_own_is_reported() {
    most_reported(|insts, at| match &mut insts[at] {
        MachInst::Op { dst, opcode, .. } if *dst != 0 && !matches!(opcode, Opcode::Store(..)) => {
            *dst = 0;
            true
        }
        _ => false,
    });
}

/// Former bug: a value without a location was read as the constant zero.
#[test]
fn zero_in_place_of_a_value_is_reported() {
    most_reported(|insts, at| match &mut insts[at] {
        MachInst::Op {
            args: [_, Some(place @ RegMem::Register(_)), _],
            opcode: Opcode::Add,
            ..
        } => {
            *place = RegMem::Memory(Mem::Const(0));
            true
        }
        _ => false,
    });
}

/// Former bug: lanes of a constant were read, of which the pool has one only with AVX-512.
#[test]
fn lanes_of_a_constant_are_reported() {
    let results = faults_of(|insts, at| match &mut insts[at] {
        MachInst::Op { args: [Some(place), ..], opcode: Opcode::LoadTexel(_), .. } => {
            *place = RegMem::Memory(Mem::Const(64));
            true
        }
        _ => false,
    });
    for result in results {
        let fault = result.unwrap_err();
        assert!(fault.what.contains("reads the constant 0x40"), "{fault}");
    }
}

#[test]
fn offsets_that_are_constants_go_to_the_frame() {
    let mut function = LirFunction::default();
    let offset = function.fresh_in_memory(Class::Vector, Some(MemOperand::Const(64)));
    let [texel, other] = [(); 2].map(|()| function.fresh(Class::Vector));
    let fetch = |dst| Op {
        opcode: Opcode::LoadTexel(r500_lir::LoadTexel {
            unit: 0,
            pixel: 0,
            offset: 0,
            tiny: false,
        }),
        dst: Some(dst),
        args: [Some(offset), None, None],
        origin: 0,
    };
    let sum =
        Op { opcode: Opcode::UnpackLo64, dst: Some(function.fresh(Class::Vector)), ..fetch(texel) };
    let sum = Op { args: [Some(texel), Some(offset), None], ..sum };
    let store =
        |v| Op { opcode: Opcode::StoreCoverage(0), dst: None, args: [v, None, None], origin: 0 };
    function.body = vec![Region::Ops(vec![
        fetch(texel),
        fetch(other),
        sum,
        store(sum.dst),
        store(Some(other)),
    ])];
    for level in [Level::Avx2, Level::Avx512] {
        let listing = allocate(&function, level.machine());
        for inst in &listing.insts {
            let MachInst::Op { opcode, args, .. } = inst else { continue };
            let is_constant =
                args.iter().flatten().any(|place| matches!(place, RegMem::Memory(Mem::Const(_))));
            assert!(!is_constant, "{opcode:?} reads {args:?}");
        }
    }
}

#[test]
fn a_slot_that_is_read_as_more_than_was_written_is_reported() {
    all_reported(|insts, at| {
        let MachInst::Load { class: Class::Vector, from: from @ Mem::Stack(_), .. } = insts[at]
        else {
            return false;
        };
        let store = insts[..at].iter_mut().rev().find_map(|inst| match inst {
            MachInst::Store { class, to, .. } if *to == from => Some(class),
            _ => None,
        });
        store.map(|class| *class = Class::Mask).is_some()
    });
}

#[test]
fn a_mask_read_as_a_vector_is_reported() {
    all_reported(|insts, at| match &mut insts[at] {
        MachInst::Op { opcode, .. } if *opcode == Opcode::Blend => {
            *opcode = Opcode::Add;
            true
        }
        _ => false,
    });
    all_reported(|insts, at| match &mut insts[at] {
        MachInst::Test { class, .. } => {
            *class = Class::Vector;
            true
        }
        _ => false,
    });
}

/// Removes a load whose result the next operation reads.
#[test]
fn a_missing_load_is_reported() {
    most_reported(|insts, at| {
        let MachInst::Load { class: Class::Vector, dst, .. } = insts[at] else { return false };
        let reads = matches!(insts.get(at + 1), Some(MachInst::Op { opcode: Opcode::Add | Opcode::Mul, args, .. })
            if args.contains(&Some(RegMem::Register(dst))));
        if reads {
            insts.remove(at);
        }
        reads
    });
}

/// Removes the moves at the end of an arm.
#[test]
fn a_variable_that_an_arm_moves_elsewhere_is_reported() {
    let is_move = |inst: &MachInst| matches!(inst, MachInst::Move { .. } | MachInst::Load { .. });
    most_reported(|insts, at| {
        let is_last = insts.get(at + 1).is_some_and(|inst| matches!(inst, MachInst::Label(_)));
        if !is_last || !is_move(&insts[at]) {
            return false;
        }
        insts.remove(at);
        true
    });
}

#[test]
fn operations_that_are_missing_or_others_are_reported() {
    let is_effect =
        |inst: &MachInst| matches!(inst, MachInst::Op { opcode: Opcode::StoreCoverage(_), .. });
    for seed in 0..40 {
        let (function, mut listing) = allocated(seed, Level::Avx512, Effort::Quick);
        let Some(at) = listing.insts.iter().position(is_effect) else { continue };
        let ops = listing.insts[..at].iter().filter(|inst| matches!(inst, MachInst::Op { .. }));
        listing.sources.remove(ops.count());
        listing.insts.remove(at);
        let fault = check(&function, Level::Avx512.machine(), &listing).unwrap_err();
        assert!(fault.what.contains("is missing"), "{fault}");
    }
    all_reported(|insts, at| match &mut insts[at] {
        MachInst::Op { opcode, .. } if *opcode == Opcode::Sub => {
            *opcode = Opcode::Add;
            true
        }
        _ => false,
    });
}

#[test]
fn a_branch_on_another_test_is_reported() {
    all_reported(|insts, at| {
        let is_test = matches!(insts[at], MachInst::Test { .. });
        if is_test {
            insts.remove(at);
        }
        is_test
    });
}
