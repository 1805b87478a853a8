//! Fusion of a product and a sum into MAD.
//!
//! `t = MAD a b 0; y = MAD t 1 c` becomes `y = MAD a b c`. The product of MAD is rounded before its sum, so both
//! round twice, in the same places. They differ in the sign of a zero, where `c` is -0 and the product is too: only
//! where that is not [demanded](super::demand). The sum must be the only reader of the product.

use super::copies::is_operand;
use super::demand::{ZeroSigns, is_never_negative_zero};
use super::ir::{Arg, Atom, Finish, LaneOp, Modifier, Op, OpId, OpKind, Read, SegmentIr, ValId};

/// Fuses products with sums. Returns whether anything changed.
pub(crate) fn fuse(ir: &mut SegmentIr) -> bool {
    let mut changed = false;
    let mut signs = ZeroSigns::of(ir);
    for at in 0..ir.ops.len() {
        let fused = [0, 1].into_iter().find_map(|factor| fused(ir, &signs, at, factor));
        if let Some(args) = fused {
            ir.ops[at].args = args;
            signs = ZeroSigns::of(ir);
            changed = true;
        }
    }
    changed
}

/// Returns the operands of the MAD that replaces a sum, one of whose factors is a product.
fn fused(ir: &SegmentIr, signs: &ZeroSigns, at: OpId, factor: usize) -> Option<Vec<Arg>> {
    let op = &ir.ops[at];
    if op.dead || op.kind != OpKind::Lanes(LaneOp::Mad) {
        return None;
    }
    let (product, one, sum) = (&op.args[factor], &op.args[1 - factor], op.args[2]);
    if product.modifier.abs || one.modifier.neg {
        return None;
    }
    let mut args = [Arg::default(); 2];
    let mut found: Option<OpId> = None;
    for lane in (0..4).filter(|&lane| op.results[lane].is_some()) {
        let Some(Read::Atom(Atom::Value(value))) = product.lanes[lane] else { return None };
        if one.lanes[lane] != Some(Read::Atom(Atom::One)) {
            return None;
        }
        let data = ir.values[value];
        let (source, theirs) = (&ir.ops[data.op], usize::from(data.lane));
        if *found.get_or_insert(data.op) != data.op || !is_product(source, theirs) {
            return None;
        }
        let exact = is_never_negative_zero(&sum, lane)
            || op.finish[usize::from(lane == 3)].clamp
            || op.results[lane].is_some_and(|result| !signs.demands(result));
        if !exact || !is_only_read_by(ir, value, at) {
            return None;
        }
        for (arg, read) in args.iter_mut().zip(&source.args) {
            arg.lanes[lane] = read.lanes[theirs];
            arg.modifier = read.modifier;
        }
    }
    found?;
    args[0].modifier.neg ^= product.modifier.neg;
    let fits = args.iter().all(|arg| is_operand(ir, op, arg));
    // Copies are left to copy coalescing.
    let zero = sum.lanes.iter().flatten().all(|read| *read == Read::Atom(Atom::Zero));
    (fits && !zero).then(|| vec![args[0], args[1], sum])
}

/// Returns whether a lane of an operation is a product.
fn is_product(op: &Op, lane: usize) -> bool {
    op.kind == OpKind::Lanes(LaneOp::Mad)
        && op.finish[usize::from(lane == 3)] == Finish::PLAIN
        && op.args[2].lanes[lane] == Some(Read::Atom(Atom::Zero))
        && op.args[2].modifier == Modifier::default()
}

fn is_only_read_by(ir: &SegmentIr, value: ValId, reader: OpId) -> bool {
    let mut ops = ir.ops.iter().enumerate();
    ir.values[value].sinks.is_empty()
        && !ops.any(|(at, op)| at != reader && !op.dead && op.reads(value))
}
