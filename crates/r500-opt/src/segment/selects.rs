//! Select folding: a select on a truth value becomes a select on the condition of that truth value.
//!
//! | before | after | exact because |
//! | --- | --- | --- |
//! | `t = CMP 0 1 x; … CMP a b -t` | `… CMP a b x` | `-t >= 0` exactly if `t` is 0, and that exactly if `x >= 0` |
//! | `t = CMP 1 0 x; … CMP a b -t` | `… CMP b a x` | likewise; a NaN gives 0 in `t` and the second operand after the change |
//! | `t = CMP 1 0 x; … CND a b t` | `… CMP a b x` | `t > 1/2` exactly if `t` is 1 |
//!
//! The same holds for truth values computed by CND. A truth value folds only if all of its readers fold, so that it is
//! dead.

use super::copies::is_operand;
use super::ir::{Arg, Atom, Finish, LaneOp, Modifier, Op, OpId, OpKind, Read, SegmentIr, ValId};

/// The rewrite of a select.
#[derive(Clone, Debug)]
struct Fold {
    select: LaneOp,
    /// Whether the selected operands are swapped.
    swap: bool,
    condition: Arg,
}

/// Folds selects on truth values. Returns whether anything changed.
pub(crate) fn fold(ir: &mut SegmentIr) -> bool {
    let mut folds: Vec<Option<Fold>> =
        (0..ir.ops.len()).map(|at| fold_of(ir, &ir.ops[at])).collect();
    // Each iteration drops at least one fold.
    while let Some(at) = (0..folds.len()).find(|&at| {
        folds[at].is_some() && !conditions(&ir.ops[at]).all(|value| folds_away(ir, &folds, value))
    }) {
        folds[at] = None;
    }
    let mut changed = false;
    for (op, fold) in ir.ops.iter_mut().zip(folds) {
        let Some(fold) = fold else { continue };
        op.kind = OpKind::Lanes(fold.select);
        op.args[2] = fold.condition;
        if fold.swap {
            op.args.swap(0, 1);
        }
        changed = true;
    }
    changed
}

/// Returns the values that a select uses as conditions.
fn conditions(op: &Op) -> impl Iterator<Item = ValId> + '_ {
    op.args[2].lanes.iter().flatten().filter_map(|read| match *read {
        Read::Atom(Atom::Value(value)) => Some(value),
        _ => None,
    })
}

/// Returns whether all uses of a truth value are conditions that fold.
fn folds_away(ir: &SegmentIr, folds: &[Option<Fold>], value: ValId) -> bool {
    let reads = |arg: &Arg| {
        let mut atoms = arg.lanes.iter().flatten().flat_map(|read| match *read {
            Read::Atom(atom) => [atom, atom],
            Read::Presub(_, a, b) => [a, b],
        });
        atoms.any(|atom| atom == Atom::Value(value))
    };
    let needed = |at: OpId| {
        let op = &ir.ops[at];
        !op.dead
            && op
                .args
                .iter()
                .enumerate()
                .any(|(n, arg)| reads(arg) && (n != 2 || folds[at].is_none()))
    };
    ir.values[value].sinks.is_empty() && !(0..ir.ops.len()).any(needed)
}

fn fold_of(ir: &SegmentIr, op: &Op) -> Option<Fold> {
    let (OpKind::Lanes(select @ (LaneOp::Cmp | LaneOp::Cnd)), false) = (op.kind, op.dead) else {
        return None;
    };
    let mut fold: Option<Fold> = None;
    for (lane, read) in op.args[2].lanes.iter().enumerate() {
        let Some(read) = *read else { continue };
        let Read::Atom(Atom::Value(value)) = read else { return None };
        let truth = Truth::of(ir, value)?;
        let [first, second] =
            truth.values.map(|value| chooses_first(select, op.args[2].modifier, value));
        if first == second {
            return None;
        }
        let fold = fold.get_or_insert_with(|| Fold {
            select: truth.select,
            swap: second,
            condition: Arg { modifier: truth.modifier, ..Arg::default() },
        });
        let same = fold.select == truth.select
            && fold.swap == second
            && fold.condition.modifier == truth.modifier;
        if !same {
            return None;
        }
        fold.condition.lanes[lane] = Some(truth.condition);
    }
    fold.filter(|fold| is_operand(ir, op, &fold.condition))
}

/// Returns whether a select takes its first operand for a condition of this value.
fn chooses_first(select: LaneOp, modifier: Modifier, value: f32) -> bool {
    let value = if modifier.abs { value.abs() } else { value };
    let value = if modifier.neg { -value } else { value };
    if select == LaneOp::Cmp { value >= 0.0 } else { value > 0.5 }
}

/// A truth value: a select between two literals.
struct Truth {
    select: LaneOp,
    condition: Read,
    modifier: Modifier,
    values: [f32; 2],
}

impl Truth {
    fn of(ir: &SegmentIr, value: ValId) -> Option<Self> {
        let data = &ir.values[value];
        let (op, lane) = (&ir.ops[data.op], usize::from(data.lane));
        let OpKind::Lanes(select @ (LaneOp::Cmp | LaneOp::Cnd)) = op.kind else { return None };
        if op.finish[usize::from(lane == 3)] != Finish::PLAIN {
            return None;
        }
        let number = |arg: &Arg| {
            let number = match arg.lanes[lane] {
                Some(Read::Atom(Atom::Zero)) => 0.0,
                Some(Read::Atom(Atom::Half)) => 0.5,
                Some(Read::Atom(Atom::One)) => 1.0,
                _ => return None,
            };
            Some(if arg.modifier.neg { -number } else { number })
        };
        Some(Self {
            select,
            condition: op.args[2].lanes[lane]?,
            modifier: op.args[2].modifier,
            values: [number(&op.args[0])?, number(&op.args[1])?],
        })
    }
}
