//! Comparison folding: the ALU result compares the source of a copy instead of the copy.
//!
//! | before | after | exact because |
//! | --- | --- | --- |
//! | `y = MAD x 1 0`, `y` compared | `x` compared | a comparison with zero does not show the sign of a zero |
//! | `x = f a; y = MAD x 1 0`, `y` compared | `y = f a` | likewise, where nothing else reads `x` |
//! | `y = CMP 0 1 x`, `y == 0` | `x >= 0` | `y` is 0 exactly if `x >= 0`, and 1 for NaN |
//! | `y = CMP 1 0 x`, `y != 0` | `x >= 0` | likewise |

use r500_isa::values::{Compare, Omod};

use super::form::{Arg, Atom, Finish, Form, Kind, LaneOp, Modifier, Op, OpId, Read, ValId};

/// Folds the comparison of a segment. Returns whether anything changed.
pub(crate) fn fold(form: &mut Form) -> bool {
    let mut changed = false;
    while let Some(value) = compared(form) {
        if !(boolean(form, value) || copy(form, value) || forward(form, value)) {
            break;
        }
        changed = true;
    }
    changed
}

fn compared(form: &Form) -> Option<ValId> {
    (0..form.values.len()).find(|&value| {
        form.values[value].sinks.alu_result.is_some() && !form.ops[form.values[value].op].dead
    })
}

fn read(form: &Form, value: ValId, arg: usize) -> Option<(Atom, Modifier)> {
    let form_value = &form.values[value];
    let arg = form.ops[form_value.op].args.get(arg)?;
    match arg.lanes[usize::from(form_value.lane)] {
        Some(Read::Atom(atom)) => Some((atom, arg.modifier)),
        _ => None,
    }
}

fn is_plain(form: &Form, value: ValId) -> bool {
    let value = &form.values[value];
    form.ops[value.op].finish[usize::from(value.lane == 3)] == Finish::PLAIN
}

/// Compares the source of a copy instead of the copy, if the source is a result of the segment in a lane that supports
/// comparison.
fn copy(form: &mut Form, value: ValId) -> bool {
    let Some((Atom::Value(source), modifier)) = copied(form, value) else { return false };
    let from = &form.values[source];
    let suits = modifier == Modifier::default()
        && matches!(from.lane, 0 | 3)
        && from.sinks.alu_result.is_none()
        && !from.sinks.is_output()
        && !form.ops[from.op].is_texture()
        && form.ops[from.op]
            .results
            .iter()
            .flatten()
            .all(|&other| form.values[other].sinks.alu_result.is_none());
    if suits {
        let compare = form.values[value].sinks.alu_result.take();
        form.values[source].sinks.alu_result = compare;
    }
    suits
}

/// Replaces a copy by the operation that computes its source, if the copy is the only reader.
fn forward(form: &mut Form, value: ValId) -> bool {
    let Some((Atom::Value(source), modifier)) = copied(form, value) else { return false };
    let (data, from) = (form.values[value], form.values[source]);
    let (op, other) = (&form.ops[data.op], &form.ops[from.op]);
    let finish = other.finish[usize::from(from.lane == 3)];
    let suits = modifier == Modifier::default()
        && op.mask().count_ones() == 1
        && !data.sinks.is_output()
        && !data.sinks.live_out
        && !is_read(form, value, None)
        && other.kind_is_lanes()
        && finish.omod != Omod::DISABLED.code()
        && from.sinks.is_empty()
        && !is_read(form, source, Some(data.op));
    if !suits {
        return false;
    }
    let (to, lane) = (usize::from(data.lane), usize::from(from.lane));
    let moved = |arg: &Arg| {
        let mut moved = Arg { modifier: arg.modifier, ..Arg::default() };
        moved.lanes[to] = arg.lanes[lane];
        moved
    };
    let (kind, args) = (other.kind, other.args.iter().map(moved).collect());
    let op = &mut form.ops[data.op];
    (op.kind, op.args) = (kind, args);
    op.finish[usize::from(to == 3)] = finish;
    true
}

/// Returns whether an operation other than `except` reads a value.
fn is_read(form: &Form, value: ValId, except: Option<OpId>) -> bool {
    let reads = |op: &Op| op.atoms().any(|atom| atom == Atom::Value(value));
    let mut ops = form.ops.iter().enumerate();
    ops.any(|(at, op)| !op.dead && Some(at) != except && reads(op))
}

/// Returns the source and modifier of a copy.
fn copied(form: &Form, value: ValId) -> Option<(Atom, Modifier)> {
    let op = &form.ops[form.values[value].op];
    if op.kind != Kind::Lanes(LaneOp::Mad) || !is_plain(form, value) {
        return None;
    }
    let [a, b, c] = [0, 1, 2].map(|arg| read(form, value, arg));
    let one = Some((Atom::One, Modifier::default()));
    let source = if b == one { a } else { (a == one).then_some(b)? };
    source.filter(|&(atom, _)| atom != Atom::One && c.is_some_and(|(atom, _)| atom == Atom::Zero))
}

/// Replaces the comparison of a truth value by the comparison that produced it.
fn boolean(form: &mut Form, value: ValId) -> bool {
    let at = form.values[value].op;
    let op = &form.ops[at];
    let alone = op.mask().count_ones() == 1;
    let sinks = form.values[value].sinks;
    let only = sinks == super::form::Sinks { alu_result: sinks.alu_result, ..Default::default() };
    if op.kind != Kind::Lanes(LaneOp::Cmp)
        || !is_plain(form, value)
        || !alone
        || !only
        || is_read(form, value, None)
    {
        return false;
    }
    let plain = |atom| Some((atom, Modifier::default()));
    let (a, b) = (read(form, value, 0), read(form, value, 1));
    let fits = match sinks.alu_result {
        Some(Compare::EQ) => a == plain(Atom::Zero) && b == plain(Atom::One),
        Some(Compare::NE) => a == plain(Atom::One) && b == plain(Atom::Zero),
        _ => false,
    };
    if !fits {
        return false;
    }
    let lane = usize::from(form.values[value].lane);
    let constant = |atom: Atom| {
        let mut arg = Arg::default();
        arg.lanes[lane] = Some(Read::Atom(atom));
        arg
    };
    let compared = form.ops[at].args[2];
    let op = &mut form.ops[at];
    op.kind = Kind::Lanes(LaneOp::Mad);
    op.args = vec![compared, constant(Atom::One), constant(Atom::Zero)];
    form.values[value].sinks.alu_result = Some(Compare::GE);
    true
}
