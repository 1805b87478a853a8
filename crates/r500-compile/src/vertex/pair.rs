//! Pairs: an operation of the math engine is executed with one of the vector engine.
//!
//! The second operation of an instruction writes a component of one of four alternate temporaries. So its readers must have room for one
//! more address, and the pair must fit into one instruction.

use std::collections::HashMap;

use r500_pvs::{MathOp, VectorOp};

use super::machine::{Code, Dst, Dual, Inst, Op, Place, Src};
use crate::code::Register;

/// Alternate temporaries that second operations write, and components of one.
const REGISTERS: usize = 4;

/// Pairs operations, each with the nearest one that takes it.
pub(super) fn pair(code: &mut Code) {
    let mut at = 0;
    while at < code.insts.len() {
        match partner(&code.insts, at) {
            Some(partner) => {
                join(&mut code.insts, at, partner);
                // The next instruction is at this place now.
            }
            None => at += 1,
        }
    }
}

/// Returns the register that an operation of the math engine alone writes.
fn scalar(inst: &Inst) -> Option<(MathOp, Register)> {
    match (inst.op, inst.dst, &inst.lanes[..]) {
        // A power has two scalars, which would have to be in one register.
        (Op::Math(op), Dst::Register(Place::Temporary(register)), [0])
            if op != MathOp::POWER_FUNC_FF && !inst.saturate =>
        {
            Some((op, register))
        }
        _ => None,
    }
}

fn reads(inst: &Inst, place: Place) -> bool {
    inst.read().any(|src| src.place == Some(place))
}

/// Returns the instruction that takes the operation at `at`.
fn partner(insts: &[Inst], at: usize) -> Option<usize> {
    let inst = &insts[at];
    let (_, register) = scalar(inst)?;
    let place = Place::Temporary(register);
    let users: Vec<usize> = (at + 1..insts.len()).filter(|n| reads(&insts[*n], place)).collect();
    let is_alternate = |src: &Src| matches!(src.place, Some(Place::Alternate(_)));
    if users.iter().any(|n| insts[*n].read().any(is_alternate)) {
        return None;
    }
    // It may be executed from after its operand on, until before its first reader.
    let operand = inst.sources[0].place;
    let writes = |other: &Inst| match other.dst {
        Dst::Register(place) if Some(place) == operand => true,
        _ => other.dual.as_ref().is_some_and(|d| operand == Some(Place::Alternate(d.register))),
    };
    let first = (0..at).rfind(|n| writes(&insts[*n])).map_or(0, |n| n + 1);
    // An alternate temporary that it reads is not kept for longer.
    let last = match operand {
        Some(Place::Alternate(_)) => at,
        _ => users.first().copied().unwrap_or(insts.len()),
    };
    let mut order: Vec<usize> = (first..last).filter(|n| *n != at).collect();
    order.sort_by_key(|n| n.abs_diff(at));
    order
        .into_iter()
        .take(MOST_DISTANT)
        .find(|n| takes(&insts[*n], inst) && has_room(insts, at, *n))
}

/// Most instructions that are tried: far ones would keep values in registers for long.
const MOST_DISTANT: usize = 24;

/// Returns whether an instruction and an operation of the math engine fit together.
fn takes(inst: &Inst, math: &Inst) -> bool {
    let is_vector = matches!(inst.op, Op::Dot | Op::Vector(_));
    let two = inst.sources.len() <= 2 && inst.op != Op::Vector(VectorOp::MULTIPLY_ADD);
    let writes_alternate = matches!(inst.dst, Dst::Register(Place::Alternate(_)));
    if !is_vector || !two || writes_alternate || inst.dual.is_some() {
        return false;
    }
    let Some((op, register)) = scalar(math) else { return false };
    let mut both = inst.clone();
    both.dual = Some(Dual { op, register, source: math.sources[0].clone(), span: math.span });
    both.fits()
}

/// Returns whether a component of the four alternate temporaries is free while the result is needed.
fn has_room(insts: &[Inst], at: usize, partner: usize) -> bool {
    let mut spans: HashMap<Register, (usize, usize)> = HashMap::new();
    for (n, inst) in insts.iter().enumerate() {
        if let Some(dual) = &inst.dual {
            spans.insert(dual.register, (n, n));
        }
        for src in inst.read() {
            if let Some(Place::Alternate(register)) = src.place
                && let Some(span) = spans.get_mut(&register)
            {
                span.1 = n;
            }
        }
    }
    let Some((_, register)) = scalar(&insts[at]) else { return false };
    let place = Place::Temporary(register);
    let last = (at..insts.len()).rfind(|n| reads(&insts[*n], place)).unwrap_or(at);
    let overlapping = spans.values().filter(|(from, to)| *from <= last && *to >= partner).count();
    // Each takes an alternate temporary of its own.
    overlapping < REGISTERS
}

/// Moves the operation at `at` into the instruction `partner`; its readers read the alternate temporary.
#[expect(clippy::expect_used, reason = "the caller has found a partner for a scalar")]
fn join(insts: &mut Vec<Inst>, at: usize, partner: usize) {
    let math = insts.remove(at);
    let (op, register) = scalar(&math).expect("an operation of the math engine");
    let partner = if partner > at { partner - 1 } else { partner };
    let old = Place::Temporary(register);
    for inst in insts.iter_mut() {
        let sources = inst.sources.iter_mut().chain(inst.dual.iter_mut().map(|d| &mut d.source));
        for src in sources.filter(|src| src.place == Some(old)) {
            src.place = Some(Place::Alternate(register));
            debug_assert!(src.components().all(|c| c == 0), "a scalar has one component");
        }
    }
    let source = math.sources.into_iter().next().expect("the math engine has a source");
    insts[partner].dual = Some(Dual { op, register, source, span: math.span });
}
