//! Encoding of operations, except those that are a single instruction: expected words are built with [`encode`], whose own tests compare it
//! with an assembler.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::aarch64::encode::{
    add_imm, add_x, and, bif, bit, bsl, fabs, fcmeq, fcmeq_zero, fcmge, fcmgt, fcmgt_zero, fcvtzs,
    fmul, ld1_lane, ldr, ldr_q, ldr_s, movi, mvn, orr, str_q, umov, vector_of,
};
use r500_lir::{Class, GatherChannel, IntRange, LoadTexel, Relation};
use r500_lir::{MachInst, RegMem};

/// Returns the words of instructions in a mode.
fn words_of(mode: FpMode, insts: &[MachInst]) -> Vec<u32> {
    let code = MachCode { groups: 2, ..MachCode::default() };
    let unit = UnitLayout { stride: 256, units: vec![3, 7], ..UnitLayout::default() };
    let mut emit = Emit::new(&code, &unit, mode, Assembler::default());
    for inst in insts {
        emit.inst(inst).unwrap();
    }
    let length = emit.a.len();
    // Unused labels.
    let [stopped, refill] = [emit.stopped, emit.refill];
    emit.a.bind(stopped);
    emit.a.bind(refill);
    let (bytes, _) = emit.a.finish().unwrap();
    bytes.as_chunks().0[..length].iter().map(|word| u32::from_le_bytes(*word)).collect()
}

fn words(insts: &[MachInst]) -> Vec<u32> {
    words_of(FpMode::Speculative, insts)
}

const fn reg(register: u8) -> RegMem {
    RegMem::Register(register)
}

const ZERO: RegMem = RegMem::Memory(Mem::Const(0));

#[test]
fn comparisons_exchange_sides_and_have_zero_in_them() {
    let cmp = |relation, b| words(&[MachInst::op(Opcode::Cmp(relation), 4, &[reg(1), b])]);
    assert_eq!(cmp(Relation::Lt, reg(2)), [fcmgt(V(4), V(2), V(1))]);
    assert_eq!(cmp(Relation::Le, reg(2)), [fcmge(V(4), V(2), V(1))]);
    assert_eq!(cmp(Relation::Gt, reg(2)), [fcmgt(V(4), V(1), V(2))]);
    assert_eq!(cmp(Relation::Ne, reg(2)), [fcmeq(V(4), V(1), V(2)), mvn(V(4), V(4))]);
    assert_eq!(cmp(Relation::Gt, ZERO), [fcmgt_zero(V(4), V(1))]);
    assert_eq!(cmp(Relation::Ne, ZERO), [fcmeq_zero(V(4), V(1)), mvn(V(4), V(4))]);
}

/// Minima and maxima give the second operand if unordered, for each choice of the result's register.
#[test]
fn minima_and_maxima_are_comparisons_and_selections() {
    let [a, b] = [V(1), V(2)];
    let min = |dst| words(&[MachInst::op(Opcode::Min, dst, &[reg(1), reg(2)])]);
    assert_eq!(min(4), [fcmgt(V(4), b, a), bsl(V(4), a, b)]);
    assert_eq!(min(1), [fcmgt(V(31), b, a), bif(a, b, V(31))]);
    assert_eq!(min(2), [fcmgt(V(31), b, a), bit(b, a, V(31))]);
    let max = |dst, second| words(&[MachInst::op(Opcode::Max, dst, &[reg(1), second])]);
    assert_eq!(max(4, reg(2)), [fcmgt(V(4), a, b), bsl(V(4), a, b)]);
    assert_eq!(max(1, ZERO), [fcmgt_zero(V(31), a), and(a, a, V(31))]);
}

#[test]
fn selections_overwrite_the_operand_that_is_there() {
    let blend = |dst| words(&[MachInst::op(Opcode::Blend, dst, &[reg(1), reg(2), reg(3)])]);
    let [mask, a, b] = [V(1), V(2), V(3)];
    assert_eq!(blend(1), [bsl(mask, a, b)]);
    assert_eq!(blend(2), [bif(a, b, mask)]);
    assert_eq!(blend(3), [bit(b, a, mask)]);
    assert_eq!(blend(4), [orr(V(4), mask, mask), bsl(V(4), a, b)]);
}

#[test]
fn products_are_one_instruction_or_exact() {
    for (dst, a, b) in [(4, 1, 2), (1, 1, 2), (2, 1, 2), (1, 1, 1)] {
        let product = MachInst::op(Opcode::Mul, dst, &[reg(a), reg(b)]);
        assert_eq!(words(&[product]), [fmul(V(dst), V(a), V(b))]);
        let [dst, a, b] = [dst, a, b].map(V);
        let exact = [
            ldr_q(V(31), POOL, 0),
            fmul(V(31), a, V(31)),
            fmul(V(31), V(31), b),
            fabs(V(31), V(31)),
            ldr_q(V(30), POOL, 16),
            fcmeq(V(31), V(31), V(30)),
            movi(V(30), 0x80, 2),
            and(V(31), V(31), V(30)),
            fmul(dst, a, b),
            orr(dst, dst, V(31)),
        ];
        let words = words_of(FpMode::Exact, &[product]);
        let constant = |bits| vector_of(V(30), bits);
        // The assembler decides which constants are immediates.
        assert_eq!(constant(1 << 23), Some(exact[6]));
        let exact: Vec<u32> = match constant(65 << 23) {
            Some(word) => {
                exact.iter().enumerate().map(|(n, w)| if n == 4 { word } else { *w }).collect()
            }
            None => exact.to_vec(),
        };
        assert_eq!(words, exact);
    }
}

#[test]
fn what_is_too_large_becomes_the_least_integer_where_that_matters() {
    let truncate = |range| words(&[MachInst::op(Opcode::Truncate(range), 4, &[reg(4)])]);
    assert_eq!(truncate(IntRange::Integers), [fcvtzs(V(4), V(4))]);
    assert_eq!(
        truncate(IntRange::All),
        [
            movi(V(31), 0x4f, 3),
            fcmgt(V(31), V(31), V(4)),
            fcvtzs(V(4), V(4)),
            movi(V(30), 0x80, 3),
            bif(V(4), V(30), V(31)),
        ]
    );
}

/// Texel addresses are computed once for each vector of offsets.
#[test]
fn texels_of_a_footprint_have_one_address() {
    let texel = |dst, unit, offset| {
        let texel = LoadTexel { unit, pixel: 2, offset, tiny: false };
        MachInst::op(Opcode::LoadTexel(texel), dst, &[reg(9)])
    };
    let address = |x, table| [umov(X(x), V(9), 2), add_x(X(x), table, X(x), 0)];
    let [first, second] = [address(10, TABLES[0]), address(11, TABLES[1])];
    let words = words(&[texel(1, 3, 0), texel(2, 3, 48), texel(9, 7, 0), texel(3, 3, 0)]);
    let wanted = [
        first.to_vec(),
        vec![ldr_q(V(1), X(10), 0), ldr_q(V(2), X(10), 48)],
        second.to_vec(),
        vec![ldr_q(V(9), X(11), 0)],
        address(12, TABLES[0]).to_vec(),
        vec![ldr_q(V(3), X(12), 0)],
    ];
    assert_eq!(words, wanted.concat());
    // A unit whose texels have no register.
    let texel = LoadTexel { unit: 15, pixel: 0, offset: 0, tiny: false };
    let words = self::words(&[MachInst::op(Opcode::LoadTexel(texel), 1, &[reg(9)])]);
    assert_eq!(words[0], ldr(X(9), CONTEXT, 80 + 8 * 15));
}

#[test]
fn single_channels_are_gathered_lane_by_lane() {
    let gather = |offset| {
        let channel = GatherChannel { unit: 3, offset, tiny: false };
        words(&[MachInst::op(Opcode::GatherChannel(channel), 9, &[reg(9)])])
    };
    let addresses: Vec<u32> = (0..4)
        .flat_map(|n| {
            let x = X(10 + n);
            [umov(x, V(9), n), add_x(x, TABLES[0], x, 0)]
        })
        .collect();
    let lanes = |n: u8| ld1_lane(V(9), n, X(10 + n));
    assert_eq!(
        gather(0),
        [addresses.clone(), vec![ldr_s(V(9), X(10), 0), lanes(1), lanes(2), lanes(3)]].concat()
    );
    let far = |n: u8| [add_imm(X(16), X(10 + n), 4, false), ld1_lane(V(9), n, X(16))];
    let rest = [1, 2, 3].map(far).concat();
    assert_eq!(gather(4), [addresses, vec![ldr_s(V(9), X(10), 4)], rest].concat());
}

#[test]
fn what_is_far_away_has_an_address_of_its_own() {
    let load = |from| words(&[MachInst::Load { class: Class::Vector, dst: 1, from }]);
    assert_eq!(load(Mem::Slot(1, 1)), [ldr_q(V(1), SLOTS, 272)]);
    assert_eq!(load(Mem::Stack(4095)), [ldr_q(V(1), SP, 65520)]);
    let far = encode::movz(FAR, 1, 1);
    assert_eq!(load(Mem::Slot(256, 0)), [far, add_x(FAR, SLOTS, FAR, 0), ldr_q(V(1), FAR, 0)]);
    assert_eq!(
        load(Mem::Stack(4096)),
        [
            add_imm(STACK_COPY, SP, 0, false),
            far,
            add_x(FAR, STACK_COPY, FAR, 0),
            ldr_q(V(1), FAR, 0)
        ]
    );
    let store = MachInst::Store { class: Class::Vector, to: Mem::Slot(0, 0), from: 7 };
    assert_eq!(words(&[store]), [str_q(V(7), SLOTS, 0)]);
}
