//! Comparison folding: the ALU result compares the source of a copy instead of the copy.
//!
//! | before | after | exact because |
//! | --- | --- | --- |
//! | `y = MAD x 1 0`, `y` compared | `x` compared | a comparison with zero does not show the sign of a zero |
//! | `x = f a; y = MAD x 1 0`, `y` compared | `y = f a` | likewise, where nothing else reads `x` |
//! | `y = CMP 0 1 x`, `y == 0` | `x >= 0` | `y` is 0 exactly if `x >= 0`, and 1 for NaN |
//! | `y = CMP 1 0 x`, `y != 0` | `x >= 0` | likewise |

use r500_isa::values::{Compare, Omod};

use super::ir::{Arg, Atom, Finish, LaneOp, Modifier, Op, OpId, OpKind, Read, SegmentIr, ValId};

/// Folds the comparison of a segment. Returns whether anything changed.
pub(crate) fn fold(ir: &mut SegmentIr) -> bool {
    let mut changed = false;
    while let Some(value) = compared(ir) {
        if !(boolean(ir, value) || copy(ir, value) || forward(ir, value)) {
            break;
        }
        changed = true;
    }
    changed
}

fn compared(ir: &SegmentIr) -> Option<ValId> {
    (0..ir.values.len()).find(|&value| {
        ir.values[value].sinks.alu_result.is_some() && !ir.ops[ir.values[value].op].dead
    })
}

fn read(ir: &SegmentIr, value: ValId, arg: usize) -> Option<(Atom, Modifier)> {
    let data = &ir.values[value];
    let arg = ir.ops[data.op].args.get(arg)?;
    match arg.lanes[usize::from(data.lane)] {
        Some(Read::Atom(atom)) => Some((atom, arg.modifier)),
        _ => None,
    }
}

fn is_plain(ir: &SegmentIr, value: ValId) -> bool {
    let value = &ir.values[value];
    ir.ops[value.op].finish[usize::from(value.lane == 3)] == Finish::PLAIN
}

/// Compares the source of a copy instead of the copy, if the source is a result of the segment in a lane that supports
/// comparison.
fn copy(ir: &mut SegmentIr, value: ValId) -> bool {
    let Some((Atom::Value(source), modifier)) = copied(ir, value) else { return false };
    let from = &ir.values[source];
    let suits = modifier == Modifier::default()
        && matches!(from.lane, 0 | 3)
        && from.sinks.alu_result.is_none()
        && !from.sinks.is_output()
        && !ir.ops[from.op].is_texture()
        && ir.ops[from.op]
            .results
            .iter()
            .flatten()
            .all(|&other| ir.values[other].sinks.alu_result.is_none());
    if suits {
        let compare = ir.values[value].sinks.alu_result.take();
        ir.values[source].sinks.alu_result = compare;
    }
    suits
}

/// Replaces a copy by the operation that computes its source, if the copy is the only reader.
fn forward(ir: &mut SegmentIr, value: ValId) -> bool {
    let Some((Atom::Value(source), modifier)) = copied(ir, value) else { return false };
    let (data, from) = (ir.values[value], ir.values[source]);
    let (op, other) = (&ir.ops[data.op], &ir.ops[from.op]);
    let finish = other.finish[usize::from(from.lane == 3)];
    let suits = modifier == Modifier::default()
        && op.mask().count_ones() == 1
        && !data.sinks.is_output()
        && !data.sinks.live_out
        && !is_read(ir, value, None)
        && other.kind_is_lanes()
        && finish.omod != Omod::DISABLED.code()
        && from.sinks.is_empty()
        && !is_read(ir, source, Some(data.op));
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
    let op = &mut ir.ops[data.op];
    (op.kind, op.args) = (kind, args);
    op.finish[usize::from(to == 3)] = finish;
    true
}

/// Returns whether an operation other than `except` reads a value.
fn is_read(ir: &SegmentIr, value: ValId, except: Option<OpId>) -> bool {
    let reads = |op: &Op| op.reads(value);
    let mut ops = ir.ops.iter().enumerate();
    ops.any(|(at, op)| !op.dead && Some(at) != except && reads(op))
}

/// Returns the source and modifier of a copy.
fn copied(ir: &SegmentIr, value: ValId) -> Option<(Atom, Modifier)> {
    let op = &ir.ops[ir.values[value].op];
    if op.kind != OpKind::Lanes(LaneOp::Mad) || !is_plain(ir, value) {
        return None;
    }
    let [a, b, c] = [0, 1, 2].map(|arg| read(ir, value, arg));
    let one = Some((Atom::One, Modifier::default()));
    let source = if b == one { a } else { (a == one).then_some(b)? };
    source.filter(|&(atom, _)| atom != Atom::One && c.is_some_and(|(atom, _)| atom == Atom::Zero))
}

/// Replaces the comparison of a truth value by the comparison that produced it.
fn boolean(ir: &mut SegmentIr, value: ValId) -> bool {
    let at = ir.values[value].op;
    let op = &ir.ops[at];
    let alone = op.mask().count_ones() == 1;
    let sinks = ir.values[value].sinks;
    let only = sinks == super::ir::Sinks { alu_result: sinks.alu_result, ..Default::default() };
    if op.kind != OpKind::Lanes(LaneOp::Cmp)
        || !is_plain(ir, value)
        || !alone
        || !only
        || is_read(ir, value, None)
    {
        return false;
    }
    let plain = |atom| Some((atom, Modifier::default()));
    let (a, b) = (read(ir, value, 0), read(ir, value, 1));
    let fits = match sinks.alu_result {
        Some(Compare::EQ) => a == plain(Atom::Zero) && b == plain(Atom::One),
        Some(Compare::NE) => a == plain(Atom::One) && b == plain(Atom::Zero),
        _ => false,
    };
    if !fits {
        return false;
    }
    let lane = usize::from(ir.values[value].lane);
    let constant = |atom: Atom| {
        let mut arg = Arg::default();
        arg.lanes[lane] = Some(Read::Atom(atom));
        arg
    };
    let compared = ir.ops[at].args[2];
    let op = &mut ir.ops[at];
    op.kind = OpKind::Lanes(LaneOp::Mad);
    op.args = vec![compared, constant(Atom::One), constant(Atom::Zero)];
    ir.values[value].sinks.alu_result = Some(Compare::GE);
    true
}
