//! Copy coalescing: the operation that computes the source of a copy replaces the copy, with its output modifier and
//! clamp.
//!
//! | before | after | exact because |
//! | --- | --- | --- |
//! | `t = f x; y = clamp MAD t 1 0` | `y = clamp f x` | the clamp gives +0 for zeros of both signs |
//! | `t = f x; y = MAD t 2 0` | `y = 2.0 * f x` | a power of two scales without rounding, as OMOD does |
//! | `t = f x; y = MAD t 1 0` | `y = f x` | they differ in the sign of a zero only: `f` has none, or it is not [demanded](super::demand) |
//! | `t = f x; y = MAX t t` | `y = f x` | the result of `f` is finished already |
//!
//! The copy must be the only reader of all results of the operation, which is then dead.

use r500_isa::InlineConst;
use r500_isa::values::Omod;

use super::copies::is_operand;
use super::demand::{ZeroSigns, has_no_negative_zero};
use super::ir::{Arg, Atom, Finish, LaneOp, Modifier, Op, OpId, OpKind, Read, SegmentIr, ValId};

/// Coalesces copies with the operations of their sources. Returns whether anything changed.
pub(crate) fn coalesce(ir: &mut SegmentIr) -> bool {
    let mut changed = false;
    let mut signs = ZeroSigns::of(ir);
    for at in 0..ir.ops.len() {
        while let Some(Coalesced { from, lanes, op }) = coalesced(ir, &signs, at) {
            let is_whole = ir.ops[at].mask() == lanes;
            let (stays, gone) = if is_whole { (at, from) } else { (from, at) };
            for value in op.results.iter().flatten() {
                ir.values[*value].op = stays;
            }
            ir.ops[stays] = op;
            if is_whole {
                ir.ops[gone].dead = true;
                ir.ops[gone].results = [None; 4];
            } else {
                let left = ir.ops[gone].results.iter_mut().enumerate();
                left.filter(|(lane, _)| lanes >> lane & 1 != 0).for_each(|(_, slot)| *slot = None);
            }
            signs = ZeroSigns::of(ir);
            changed = true;
        }
    }
    changed
}

/// An operation in place of a copy.
struct Coalesced {
    /// What computed the source of the copy.
    from: OpId,
    /// The lanes of the copy that it replaces.
    lanes: u8,
    op: Op,
}

/// Returns the operation that replaces a copy and the operation of its source; for a copy to an output from several operations, one that
/// replaces some of its lanes.
fn coalesced(ir: &SegmentIr, signs: &ZeroSigns, at: OpId) -> Option<Coalesced> {
    let op = &ir.ops[at];
    if op.dead {
        return None;
    }
    let is_selection = matches!(op.kind, OpKind::Lanes(LaneOp::Min | LaneOp::Max));
    let (copied, omod) = match op.kind {
        OpKind::Lanes(LaneOp::Mad) => copied_by(op)?,
        _ if is_selection => selected_by(op)?,
        _ => return None,
    };
    let mut sources: Vec<OpId> = Vec::new();
    for from in copied.iter().flatten().map(|value| ir.values[*value].op) {
        if !sources.contains(&from) {
            sources.push(from);
        }
    }
    let is_output = |value: &ValId| ir.values[*value].sinks.is_output();
    if sources.len() > 1 && !op.results.iter().flatten().all(is_output) {
        return None;
    }
    sources.into_iter().find_map(|from| {
        let of_it = |value: &ValId| ir.values[*value].op == from;
        let copied = copied.map(|value| value.filter(of_it));
        let lanes =
            (0..4).filter(|&lane| copied[lane].is_some()).fold(0, |mask, lane| mask | 1 << lane);
        let new = coalesced_with(ir, signs, at, from, (copied, omod))?;
        Some(Coalesced { from, lanes, op: new })
    })
}

/// Returns the operation that replaces the lanes of a copy that come from another operation.
fn coalesced_with(
    ir: &SegmentIr,
    signs: &ZeroSigns,
    at: OpId,
    from: OpId,
    (copied, omod): ([Option<ValId>; 4], Omod),
) -> Option<Op> {
    let op = &ir.ops[at];
    let is_selection = matches!(op.kind, OpKind::Lanes(LaneOp::Min | LaneOp::Max));
    let first = copied.iter().flatten().copied().next()?;
    let source = &ir.ops[from];
    if source.is_texture() || !only_reader(ir, from, at) {
        return None;
    }
    let half = |lane: usize| usize::from(lane == 3);
    let lane_of = |value: ValId| usize::from(ir.values[value].lane);
    let own = (0..4).find(|&lane| op.results[lane].is_some())?;
    let given = source.finish[half(lane_of(first))];
    let finish = combine(given, op.finish[half(own)], omod)?;
    let lanes = matches!(source.kind, OpKind::Lanes(_));
    let mut new = op.clone();
    new.kind = source.kind;
    new.finish[half(own)] = finish;
    new.args.clone_from(&source.args);
    if lanes {
        new.args.iter_mut().for_each(|arg| arg.lanes = [None; 4]);
    }
    for (lane, value) in copied.iter().enumerate() {
        let Some(value) = *value else {
            new.results[lane] = None;
            continue;
        };
        let theirs = lane_of(value);
        let exact = is_selection
            || finish.clamp
            || has_no_negative_zero(source, theirs)
            || op.results[lane].is_some_and(|result| !signs.demands(result));
        if source.finish[half(theirs)] != given || !exact {
            return None;
        }
        if lanes {
            for (arg, read) in new.args.iter_mut().zip(&source.args) {
                arg.lanes[lane] = read.lanes[theirs];
            }
        }
    }
    let legal = !lanes || new.args.iter().all(|arg| is_operand(ir, &new, arg));
    legal.then_some(new)
}

/// Returns the sources of a copy by lane, and the OMOD that is equivalent to its factor.
fn copied_by(op: &Op) -> Option<([Option<ValId>; 4], Omod)> {
    let [a, b, c] = &op.args[..] else { return None };
    let mut scale = None;
    let mut copied = [None; 4];
    for lane in (0..4).filter(|&lane| op.results[lane].is_some()) {
        let read = |arg: &Arg| match arg.lanes[lane] {
            Some(Read::Atom(atom)) => Some((atom, arg.modifier)),
            _ => None,
        };
        if read(c)? != (Atom::Zero, Modifier::default()) {
            return None;
        }
        let (a, b) = (read(a)?, read(b)?);
        let (source, factor) = match (factor_of(a), factor_of(b)) {
            (None, Some(factor)) => (a, factor),
            (Some(factor), None) => (b, factor),
            _ => return None,
        };
        let (Atom::Value(value), true) = (source.0, source.1 == Modifier::default()) else {
            return None;
        };
        if *scale.get_or_insert(factor) != factor {
            return None;
        }
        copied[lane] = Some(value);
    }
    Some((copied, scale?))
}

/// Returns the sources by lane of MIN or MAX of twice the same.
fn selected_by(op: &Op) -> Option<([Option<ValId>; 4], Omod)> {
    let [a, b, ..] = &op.args[..] else { return None };
    let mut copied = [None; 4];
    for lane in (0..4).filter(|&lane| op.results[lane].is_some()) {
        let plain = Modifier::default();
        match (a.lanes[lane], b.lanes[lane]) {
            (Some(Read::Atom(Atom::Value(x))), Some(Read::Atom(Atom::Value(y))))
                if x == y && (a.modifier, b.modifier) == (plain, plain) =>
            {
                copied[lane] = Some(x);
            }
            _ => return None,
        }
    }
    Some((copied, Omod::MUL1))
}

/// Returns the OMOD that multiplies by a literal.
fn factor_of((atom, modifier): (Atom, Modifier)) -> Option<Omod> {
    if modifier.neg {
        return None;
    }
    let value = match atom {
        Atom::Half => 0.5,
        Atom::One => 1.0,
        Atom::Inline(code) => InlineConst::new(code).value(),
        _ => return None,
    };
    (0..7).map(Omod::new).find(|omod| omod.factor() == Some(value))
}

/// Returns the output modifier and clamp equivalent to `first`, a factor, and `second` in sequence.
fn combine(first: Finish, second: Finish, factor: Omod) -> Option<Finish> {
    let raw = |finish: Finish| finish.omod == Omod::DISABLED.code();
    let scales = [first.omod, factor.code(), second.omod];
    if raw(first) || raw(second) || scales.iter().filter(|&&omod| omod != 0).count() > 1 {
        return None;
    }
    // Scaling a clamped value differs from clamping a scaled value.
    let fits = !first.clamp || (factor.code() == 0 && second.omod == 0);
    let omod = scales.into_iter().max()?;
    fits.then_some(Finish { omod, clamp: first.clamp || second.clamp })
}

/// Returns whether an operation is the only reader of the results of another.
fn only_reader(ir: &SegmentIr, from: OpId, reader: OpId) -> bool {
    let values = || ir.ops[from].results.iter().flatten().copied();
    let reads = |op: &Op| values().any(|value| op.reads(value));
    let mut others = ir.ops.iter().enumerate().filter(|&(at, op)| at != reader && !op.dead);
    values().all(|value| ir.values[value].sinks.is_empty()) && !others.any(|(_, op)| reads(op))
}
