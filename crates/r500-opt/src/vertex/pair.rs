//! Pairs: an operation of the math engine is executed with one of the vector engine.
//!
//! The second operation of an instruction writes a component of one of four alternate temporaries. So its readers must have room for one
//! more address, and the pair must fit into one instruction.

use std::collections::HashMap;

use r500_pvs::MathOp;

use super::machine::{Dst, Dual, Inst, Loop, Op, Place, Register, Src};

/// Alternate temporaries that second operations write, and components of one.
const REGISTERS: usize = 4;

/// Pairs operations, each with the nearest one that takes it: where that is, or, if the result is needed before, where the operation of
/// the math engine is. None is moved into or out of a loop.
pub fn pair<O: Clone>(insts: &mut Vec<Inst<O>>, loops: &mut [Loop]) {
    let mut cuts: Vec<usize> = loops.iter().flat_map(|of| [of.first, of.end]).collect();
    cuts.extend([0, insts.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    // For each register the only stretch of straight code that names it.
    let mut stretch_of: HashMap<Register, Option<usize>> = HashMap::new();
    for (n, cut) in cuts.windows(2).enumerate() {
        for register in insts[cut[0]..cut[1]].iter().flat_map(named) {
            let of = stretch_of.entry(register).or_insert(Some(n));
            *of = of.filter(|of| *of == n);
        }
    }
    let mut paired = Vec::new();
    let mut moved = HashMap::from([(0, 0)]);
    for (n, cut) in cuts.windows(2).enumerate() {
        let mut straight = insts[cut[0]..cut[1]].to_vec();
        pair_straight(&mut straight, &|register| stretch_of.get(&register) == Some(&Some(n)));
        paired.extend(straight);
        moved.insert(cut[1], paired.len());
    }
    *insts = paired;
    for of in loops {
        (of.first, of.end) = (moved[&of.first], moved[&of.end]);
    }
}

/// Returns the registers that an instruction names.
fn named<O>(inst: &Inst<O>) -> Vec<Register> {
    let dst = match inst.dst {
        Dst::Register(place) => Some(place),
        Dst::Output(_) | Dst::Address(_) => None,
    };
    let register = |place: Place| match place {
        Place::Temporary(register) | Place::Alternate(register) => Some(register),
        Place::Input(_) | Place::Constant(_) | Place::Relative(..) => None,
    };
    let places = inst.read().filter_map(|src| src.place).chain(dst);
    places.filter_map(register).chain(inst.dual.iter().map(|dual| dual.register)).collect()
}

/// Pairs operations of straight code. `is_local`: whether only this code names a register.
fn pair_straight<O: Clone>(insts: &mut Vec<Inst<O>>, is_local: &dyn Fn(Register) -> bool) {
    let mut at = 0;
    while at < insts.len() {
        let is_candidate = scalar(&insts[at]).is_some_and(|(_, _, register)| is_local(register));
        let Some(math) = Math::of(insts, at).filter(|_| is_candidate) else {
            at += 1;
            continue;
        };
        if let Some(partner) = math.partner(insts) {
            // The next instruction is at this place now.
            join(insts, at, partner);
            continue;
        }
        if let Some(later) = math.hoistable(insts) {
            let vector = insts.remove(later);
            insts.insert(at, vector);
            join(insts, at + 1, at);
        }
        at += 1;
    }
}

/// Returns the register that an operation of the math engine alone writes.
fn scalar<O>(inst: &Inst<O>) -> Option<(MathOp, Place, Register)> {
    match (inst.op, inst.dst, &inst.lanes[..]) {
        _ if inst.is_addressed() || inst.saturate || inst.sources.len() != 1 => None,
        // A power has two scalars, which would have to be in one register.
        (
            Op::Math(op),
            Dst::Register(place @ (Place::Temporary(register) | Place::Alternate(register))),
            [0],
        ) => Some((op, place, register)),
        _ => None,
    }
}

fn reads<O>(inst: &Inst<O>, place: Place) -> bool {
    inst.read().any(|src| src.place == Some(place))
}

/// An operation of the math engine that can be the second one of an instruction.
struct Math<'a, O> {
    inst: &'a Inst<O>,
    at: usize,
    /// The readers of its result.
    users: Vec<usize>,
    /// From where to where results of second operations are needed.
    held: Vec<(usize, usize)>,
}

impl<'a, O: Clone> Math<'a, O> {
    /// Returns the operation at `at`, if all readers of its result have room for an alternate temporary.
    fn of(insts: &'a [Inst<O>], at: usize) -> Option<Self> {
        let (_, place, register) = scalar(&insts[at])?;
        // Nothing else is in the register, also not at the end.
        let is_other = |n: &usize| *n != at && writes(&insts[*n], place);
        if register.number().is_some() || (0..insts.len()).any(|n| is_other(&n)) {
            return None;
        }
        let users: Vec<usize> =
            (at + 1..insts.len()).filter(|n| reads(&insts[*n], place)).collect();
        let is_alternate =
            |src: &Src| src.place != Some(place) && matches!(src.place, Some(Place::Alternate(_)));
        let all_take = !users.iter().any(|n| insts[*n].read().any(is_alternate));
        all_take.then(|| Self { inst: &insts[at], at, users, held: held(insts) })
    }

    /// Returns an instruction that takes it where that is.
    fn partner(&self, insts: &[Inst<O>]) -> Option<usize> {
        // It may be executed from after its operand on, until before its first reader.
        let operand = self.inst.sources[0].place;
        let is_operand = |n: &usize| operand.is_some_and(|place| writes(&insts[*n], place));
        let first = (0..self.at).rfind(is_operand).map_or(0, |n| n + 1);
        // An alternate temporary that it reads is not kept for longer.
        let last = match operand {
            Some(Place::Alternate(_)) => self.at,
            _ => self.users.first().copied().unwrap_or(insts.len()),
        };
        let near = self.at.saturating_sub(MOST_DISTANT)..self.at.saturating_add(MOST_DISTANT);
        let mut order: Vec<usize> = (first.max(near.start)..last.min(near.end))
            .filter(|n| *n != self.at && self.fits(&insts[*n], *n))
            // What it reads is still there.
            .filter(|n| {
                let passed = insts.get(self.at + 1..*n).unwrap_or_default();
                !operand.is_some_and(|place| passed.iter().any(|inst| writes(inst, place)))
            })
            .collect();
        order.sort_by_key(|n| n.abs_diff(self.at));
        order.first().copied()
    }

    /// Returns a later instruction that takes it and may be executed where it is: what that reads is there by then.
    fn hoistable(&self, insts: &[Inst<O>]) -> Option<usize> {
        (self.at + 1..insts.len()).take(MOST_DISTANT).find(|n| {
            let is_late = insts[self.at..*n].iter().any(|inst| inst.conflicts(&insts[*n]));
            !is_late && self.fits(&insts[*n], self.at)
        })
    }

    /// Returns whether an instruction takes it when it is at a place.
    fn fits(&self, inst: &Inst<O>, place: usize) -> bool {
        takes(inst, self.inst) && self.has_room(place)
    }

    /// Returns whether one of the four alternate temporaries is free while the result is needed, from a place on.
    fn has_room(&self, from: usize) -> bool {
        let last = self.users.last().copied().unwrap_or(self.at);
        // Each takes an alternate temporary of its own.
        self.held.iter().filter(|held| held.0 <= last && held.1 >= from).count() < REGISTERS
    }
}

/// Returns from where to where results of second operations are needed.
fn held<O>(insts: &[Inst<O>]) -> Vec<(usize, usize)> {
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
    spans.into_values().collect()
}

/// Returns whether an instruction writes a register.
fn writes<O>(inst: &Inst<O>, place: Place) -> bool {
    inst.dst == Dst::Register(place)
        || inst.dual.as_ref().is_some_and(|dual| place == Place::Alternate(dual.register))
}

/// Most instructions that are tried: far ones would keep values in registers for long.
const MOST_DISTANT: usize = 24;

/// Returns whether an instruction and an operation of the math engine fit together.
fn takes<O: Clone>(inst: &Inst<O>, math: &Inst<O>) -> bool {
    let is_vector = matches!(inst.op, Op::Dot | Op::Vector(_));
    let two = inst.sources.len() <= 2 && !inst.has_macro();
    let writes_alternate = matches!(inst.dst, Dst::Register(Place::Alternate(_)));
    if !is_vector || !two || writes_alternate || inst.dual.is_some() || inst.is_addressed() {
        return false;
    }
    let Some((op, _, register)) = scalar(math) else { return false };
    let mut both = inst.clone();
    both.dual =
        Some(Dual { op, register, source: math.sources[0].clone(), origin: math.origin.clone() });
    both.fits()
}

/// Moves the operation at `at` into the instruction `partner`; its readers read the alternate temporary.
#[expect(clippy::expect_used, reason = "the caller has found a partner for a scalar")]
fn join<O>(insts: &mut Vec<Inst<O>>, at: usize, partner: usize) {
    let math = insts.remove(at);
    let (op, old, register) = scalar(&math).expect("an operation of the math engine");
    let partner = if partner > at { partner - 1 } else { partner };
    for inst in insts.iter_mut() {
        let sources = inst.sources.iter_mut().chain(inst.dual.iter_mut().map(|d| &mut d.source));
        for src in sources.filter(|src| src.place == Some(old)) {
            src.place = Some(Place::Alternate(register));
            debug_assert!(src.components().all(|c| c == 0), "a scalar has one component");
        }
    }
    let source = math.sources.into_iter().next().expect("the math engine has a source");
    insts[partner].dual = Some(Dual { op, register, source, origin: math.origin });
}
