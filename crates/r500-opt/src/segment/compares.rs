//! Comparison folding: the ALU result comes from what is compared, not from copies of it.
//!
//! | before | after | exact because |
//! | --- | --- | --- |
//! | `y = MAD x 1 0`, `y` compared | `x` compared | a comparison with zero does not show the sign of a zero |
//! | `y = CMP 0 1 x`, `y == 0` | `x >= 0` | `y` is 0 exactly if `x >= 0`, and 1 for NaN |
//! | `y = CMP 1 0 x`, `y != 0` | `x >= 0` | likewise |

use r500_isa::values::Compare;

use super::form::{Arg, Atom, Finish, Form, Kind, LaneOp, Modifier, Read, ValId};

/// Folds the comparison of a segment. Returns whether anything changed.
pub(crate) fn fold(form: &mut Form) -> bool {
    let mut changed = false;
    while let Some(value) = compared(form) {
        if !(boolean(form, value) || copy(form, value)) {
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

/// Moves the comparison from a copy to its source, if the source is a result of the segment in a lane that can
/// be compared.
fn copy(form: &mut Form, value: ValId) -> bool {
    let op = &form.ops[form.values[value].op];
    if op.kind != Kind::Lanes(LaneOp::Mad) || !is_plain(form, value) {
        return false;
    }
    let [Some(a), Some(b), Some(c)] = [0, 1, 2].map(|arg| read(form, value, arg)) else {
        return false;
    };
    let one = (Atom::One, Modifier::default());
    let source = match (a, b) {
        (source, factor) | (factor, source) if factor == one && source != one => source,
        _ => return false,
    };
    let (Atom::Value(source), modifier) = source else { return false };
    let from = &form.values[source];
    let suits = modifier == Modifier::default()
        && c.0 == Atom::Zero
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

/// Replaces the comparison of a truth value by the comparison that made it.
fn boolean(form: &mut Form, value: ValId) -> bool {
    let at = form.values[value].op;
    let op = &form.ops[at];
    let alone = op.mask().count_ones() == 1;
    let sinks = form.values[value].sinks;
    let only = sinks == super::form::Sinks { alu_result: sinks.alu_result, ..Default::default() };
    let read_elsewhere =
        form.ops.iter().any(|op| !op.dead && op.atoms().any(|atom| atom == Atom::Value(value)));
    if op.kind != Kind::Lanes(LaneOp::Cmp)
        || !is_plain(form, value)
        || !alone
        || !only
        || read_elsewhere
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
