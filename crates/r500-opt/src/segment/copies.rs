//! Copy propagation and value numbering.
//!
//! | before | after | exact because |
//! | --- | --- | --- |
//! | `y = MAX x x; … y` | `… x` | the bits are the same |
//! | `y = MAD x 1 0; … y` | `… x` | they differ in the sign of a zero only, which the reader does not [demand](super::demand) |
//! | `y = f x; z = f x; … z` | `… y` | equal operations on equal operands give equal bits |
//!
//! A reader changes only where its operand remains one: colours of one register, alpha of one register, one
//! modifier.

use std::collections::BTreeMap;

use super::demand::ZeroSigns;
use super::form::{Arg, Atom, Finish, Form, Kind, LaneOp, Modifier, Op, Read, ValId};

/// What a value may be replaced by.
#[derive(Clone, Copy, Debug)]
struct Copy {
    atom: Atom,
    modifier: Modifier,
    /// The sign of a zero is that of the source.
    exact: bool,
}

/// Replaces reads of copies and of values that were computed before. Returns whether anything changed.
pub(crate) fn propagate(form: &mut Form) -> bool {
    let signs = ZeroSigns::of(form);
    let mut copies: Vec<Option<Copy>> = vec![None; form.values.len()];
    let mut known: BTreeMap<Key, ValId> = BTreeMap::new();
    let mut changed = false;
    for at in 0..form.ops.len() {
        if form.ops[at].dead {
            continue;
        }
        for index in 0..form.ops[at].args.len() {
            if let Some(arg) = replaced(form, &signs, &copies, at, index) {
                form.ops[at].args[index] = arg;
                changed = true;
            }
        }
        let op = &form.ops[at];
        for lane in 0..4 {
            let Some(value) = op.results[lane] else { continue };
            copies[value] = copy_of(op, lane);
            if let Some(key) = key_of(op, lane) {
                let first = *known.entry(key).or_insert(value);
                if first != value && copies[value].is_none() {
                    let modifier = Modifier::default();
                    copies[value] = Some(Copy { atom: Atom::Value(first), modifier, exact: true });
                }
            }
        }
    }
    changed
}

/// Returns an operand with its reads replaced, if all of it remains legal.
fn replaced(
    form: &Form,
    signs: &ZeroSigns,
    copies: &[Option<Copy>],
    at: usize,
    index: usize,
) -> Option<Arg> {
    let op = &form.ops[at];
    let arg = &op.args[index];
    let raw = matches!(op.kind, Kind::Lanes(lanes) if lanes.selects())
        && op.finish.iter().any(|finish| finish.omod == 7);
    if raw || op.is_texture() && form.divergent {
        return None;
    }
    let mut new = *arg;
    let mut modifier = None;
    let mut changed = false;
    for (lane, slot) in new.lanes.iter_mut().enumerate() {
        let Some(read) = *slot else { continue };
        let Read::Atom(atom) = read else { return None };
        let mut own = arg.modifier;
        if let Atom::Value(value) = atom
            && let Some(copy) = copies[value]
            && (copy.exact || !signs.shows(op, index, lane))
        {
            *slot = Some(Read::Atom(copy.atom));
            own = arg.modifier.after(copy.modifier);
            changed = true;
        }
        if *modifier.get_or_insert(own) != own {
            return None;
        }
    }
    new.modifier = modifier?;
    (changed && is_operand(form, op, &new)).then_some(new)
}

/// Returns whether reads form an operand: one register for colours, one for alpha. Values count by the
/// registers that they are in now.
fn is_operand(form: &Form, op: &Op, arg: &Arg) -> bool {
    let (mut colours, mut alphas, mut inlines) = (Vec::new(), Vec::new(), Vec::new());
    for read in arg.lanes.iter().flatten() {
        let Read::Atom(atom) = *read else { return false };
        let (register, channel) = match atom {
            Atom::Entry(temp, channel) => ((false, temp), channel),
            Atom::Constant(constant, channel) => ((true, constant), channel),
            Atom::Value(value) => {
                let value = &form.values[value];
                let Some(home) = value.home else { return false };
                ((false, home), value.lane)
            }
            Atom::Inline(code) => {
                inlines.push(code);
                continue;
            }
            _ => {
                if op.is_texture() {
                    return false;
                }
                continue;
            }
        };
        if channel < 3 { colours.push(register) } else { alphas.push(register) }
    }
    for list in [&mut colours, &mut alphas] {
        list.sort_unstable();
        list.dedup();
    }
    inlines.sort_unstable();
    inlines.dedup();
    if op.is_texture() {
        let mut all = [colours, alphas].concat();
        all.dedup();
        let plain = arg.modifier == Modifier::default();
        return plain && inlines.is_empty() && all.len() == 1 && !all[0].0;
    }
    let free = 2 - usize::from(!colours.is_empty()) - usize::from(!alphas.is_empty());
    colours.len() <= 1 && alphas.len() <= 1 && inlines.len() <= free
}

/// Returns what a result copies, if it copies.
fn copy_of(op: &Op, lane: usize) -> Option<Copy> {
    let Kind::Lanes(lanes) = op.kind else { return None };
    if op.finish[usize::from(lane == 3)] != Finish::PLAIN {
        return None;
    }
    let read = |index: usize| match op.args[index].lanes[lane] {
        Some(Read::Atom(atom)) => Some((atom, op.args[index].modifier)),
        _ => None,
    };
    match lanes {
        LaneOp::Mad => {
            let (a, b, c) = (read(0)?, read(1)?, read(2)?);
            let one = |(atom, modifier): (Atom, Modifier)| {
                let plain = Modifier { neg: modifier.neg, abs: false };
                (atom == Atom::One || atom == Atom::Inline(ONE)).then_some(plain)
            };
            let copy = |(atom, modifier): (Atom, Modifier), sign: Modifier| Copy {
                atom,
                modifier: sign.after(modifier),
                exact: false,
            };
            if c.0 == Atom::Zero {
                return match (one(a), one(b)) {
                    (_, Some(sign)) => Some(copy(a, sign)),
                    (Some(sign), _) => Some(copy(b, sign)),
                    _ => None,
                };
            }
            let literal = |atom| matches!(atom, Atom::Zero | Atom::Half | Atom::One);
            let product_is_zero =
                literal(a.0) && literal(b.0) && (a.0 == Atom::Zero || b.0 == Atom::Zero);
            product_is_zero.then(|| copy(c, Modifier::default()))
        }
        LaneOp::Min | LaneOp::Max | LaneOp::Cmp | LaneOp::Cnd => {
            let (a, b) = (read(0)?, read(1)?);
            (a == b).then_some(Copy { atom: a.0, modifier: a.1, exact: true })
        }
        LaneOp::Frc => None,
    }
}

/// The inline constant 1.
const ONE: u8 = 0x38;

/// The structure of a computation.
type Key = (Kind, Finish, Vec<(Option<Read>, Modifier)>);

/// Returns the structure of a result; `None` for fetches. Factors are in order: products commute.
fn key_of(op: &Op, lane: usize) -> Option<Key> {
    let finish = op.finish[usize::from(lane == 3)];
    let mut reads: Vec<(Option<Read>, Modifier)> = match op.kind {
        Kind::Lanes(_) => op.args.iter().map(|arg| (arg.lanes[lane], arg.modifier)).collect(),
        Kind::Function(_) => vec![(op.args[0].lanes[3], op.args[0].modifier)],
        Kind::Dot(_) => {
            (op.args.iter()).flat_map(|arg| arg.lanes.map(|read| (read, arg.modifier))).collect()
        }
        Kind::Texture => return None,
    };
    if op.kind == Kind::Lanes(LaneOp::Mad) && reads[1] < reads[0] {
        reads.swap(0, 1);
    }
    Some((op.kind, finish, reads))
}
