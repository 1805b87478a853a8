//! Merging of TEXKILL instructions.
//!
//! | before | after | exact because |
//! | --- | --- | --- |
//! | `TEXKILL x x x x; … TEXKILL y y y y` | `TEXKILL x x y y` | a pixel is killed if any of the four is less than 0, wherever that is decided |
//! | `t = CMP a b x; y = MAD -t 1 0; TEXKILL y` | `y = CMP -a -b x; TEXKILL y` | they differ in the sign of a zero only, which does not kill |
//!
//! The operand of TEXKILL is one register, so all tested values must be in different channels of it.

use super::copies::{copy_of, key_of};
use super::ir::{Arg, Atom, LaneOp, Modifier, Op, OpId, OpKind, Read, SegmentIr, ValId};

/// Merges TEXKILL instructions and simplifies their operands. Returns whether anything changed.
pub(crate) fn merge(ir: &mut SegmentIr) -> bool {
    let kills: Vec<OpId> =
        (0..ir.ops.len()).filter(|&at| !ir.ops[at].dead && ir.ops[at].is_kill()).collect();
    let mut changed = false;
    let mut open: Option<OpId> = None;
    for &kill in &kills {
        if let Some(earlier) = open
            && narrow(ir, &[earlier, kill])
        {
            ir.ops[earlier].dead = true;
            changed = true;
        }
        open = Some(kill);
    }
    for &kill in &kills {
        changed |= !ir.ops[kill].dead && narrow(ir, &[kill]);
    }
    for value in 0..ir.values.len() {
        changed |= negate(ir, value);
    }
    changed
}

/// Rewrites the last of some kills to test the values of all of them, each in one channel of a common register. Returns
/// whether its operand changed.
fn narrow(ir: &mut SegmentIr, kills: &[OpId]) -> bool {
    let mut numbers: Vec<Vec<Atom>> = Vec::new();
    for read in kills.iter().flat_map(|&kill| ir.ops[kill].args[0].lanes).flatten() {
        let Read::Atom(atom) = read else { return false };
        match numbers.iter_mut().find(|known| same(ir, known[0], atom)) {
            Some(known) if known.contains(&atom) => {}
            Some(known) => known.push(atom),
            None => numbers.push(vec![atom]),
        }
    }
    for atoms in &mut numbers {
        atoms.sort_by_key(|&atom| !is_in_lane_of_source(ir, atom));
    }
    let mut chosen = Vec::new();
    if numbers.len() > 4 || !choose(ir, &numbers, &mut chosen) {
        return false;
    }
    let Some((&last, &first)) = kills.last().zip(chosen.first()) else { return false };
    let lanes = [0, 1, 2, 3].map(|n| Some(Read::Atom(chosen.get(n).copied().unwrap_or(first))));
    let changed = ir.ops[last].args[0].lanes != lanes;
    ir.ops[last].args[0].lanes = lanes;
    changed
}

/// Chooses an atom for each tested value, all in one register and in different channels.
fn choose(ir: &SegmentIr, numbers: &[Vec<Atom>], chosen: &mut Vec<Atom>) -> bool {
    let Some(atoms) = numbers.get(chosen.len()) else { return true };
    for &atom in atoms {
        let place = place(ir, atom);
        let fits = |other: &Atom| {
            let other = self::place(ir, *other);
            matches!((place, other), (Some((a, x)), Some((b, y))) if a == b && x != y)
        };
        if place.is_some() && chosen.iter().all(fits) {
            chosen.push(atom);
            if choose(ir, numbers, chosen) {
                return true;
            }
            chosen.pop();
        }
    }
    false
}

/// Returns the register and channel of an atom that TEXKILL can read.
fn place(ir: &SegmentIr, atom: Atom) -> Option<(u8, u8)> {
    match atom {
        Atom::Entry(temp, channel) => Some((temp, channel)),
        Atom::Value(value) => ir.values[value].home.map(|home| (home, ir.values[value].lane)),
        _ => None,
    }
}

/// Returns whether two atoms have the same value number.
fn same(ir: &SegmentIr, a: Atom, b: Atom) -> bool {
    let key = |atom: Atom| {
        let Atom::Value(value) = atom else { return None };
        let data = &ir.values[value];
        key_of(ir, &ir.ops[data.op], usize::from(data.lane))
    };
    a == b || key(a).is_some_and(|known| key(b) == Some(known))
}

/// Returns whether a copy is in the lane of its source.
fn is_in_lane_of_source(ir: &SegmentIr, atom: Atom) -> bool {
    let Atom::Value(value) = atom else { return true };
    let lane = ir.values[value].lane;
    match copied(ir, value) {
        Some((source, _)) => ir.values[source].lane == lane,
        None => true,
    }
}

/// Returns the source and modifier of a copy.
fn copied(ir: &SegmentIr, value: ValId) -> Option<(ValId, Modifier)> {
    let data = &ir.values[value];
    let copy = copy_of(&ir.ops[data.op], usize::from(data.lane))?;
    match copy.atom {
        Atom::Value(source) => Some((source, copy.modifier)),
        _ => None,
    }
}

/// Negates the operands of a select instead of its result, if only kills read the negated result.
fn negate(ir: &mut SegmentIr, value: ValId) -> bool {
    let (data, Some((source, modifier))) = (ir.values[value], copied(ir, value)) else {
        return false;
    };
    let from = ir.values[source];
    let other = &ir.ops[from.op];
    let select = matches!(other.kind, OpKind::Lanes(LaneOp::Cmp | LaneOp::Cnd));
    let suits = select
        && modifier.neg
        && !modifier.abs
        && !ir.ops[data.op].dead
        && ir.ops[data.op].mask().count_ones() == 1
        && other.finish[usize::from(from.lane == 3)] == super::ir::Finish::PLAIN
        && data.sinks.is_empty()
        && from.sinks.is_empty()
        && readers(ir, value).all(Op::is_kill)
        && readers(ir, source).count() == 1;
    if !suits {
        return false;
    }
    let (to, lane) = (usize::from(data.lane), usize::from(from.lane));
    let moved = |(index, arg): (usize, &Arg)| {
        let neg = arg.modifier.neg != (index < 2);
        let mut moved = Arg { modifier: Modifier { neg, ..arg.modifier }, ..Arg::default() };
        moved.lanes[to] = arg.lanes[lane];
        moved
    };
    let (kind, args) = (other.kind, other.args.iter().enumerate().map(moved).collect());
    let op = &mut ir.ops[data.op];
    (op.kind, op.args) = (kind, args);
    true
}

fn readers(ir: &SegmentIr, value: ValId) -> impl Iterator<Item = &Op> {
    let reads = move |op: &&Op| !op.dead && op.reads(value);
    ir.ops.iter().filter(reads)
}
