//! Which values are masks: the form does not say, but what makes them and what looks at them does.

use std::collections::HashSet;

use r500_exec::ir::{Code, Operand, Stmt, Value};
use r500_exec::native::{Move, Segment};

/// Values that are masks.
pub(super) type Masks = HashSet<Value>;

/// The masks of a segment.
pub(super) fn find(segment: &Segment<'_>) -> Masks {
    let mut masks = Masks::new();
    // What branches and loops hand on is a mask if what they take is, or the other way round; so till
    // nothing changes.
    loop {
        let before = masks.len();
        for stmt in segment.body {
            look(stmt, &mut masks);
        }
        for Move { value, mask, from, .. } in segment.moves {
            masks.extend(mask.and_then(Operand::value));
            same(&[Operand::Value(*value), *from], &mut masks);
        }
        if masks.len() == before {
            return masks;
        }
    }
}

fn look(stmt: &Stmt, masks: &mut Masks) {
    match stmt {
        Stmt::Def(value, op) => match op.code {
            Code::Lt | Code::Ge | Code::Eq | Code::Ne => _ = masks.insert(*value),
            Code::And | Code::Or | Code::AndNot => {
                masks.insert(*value);
                masks.extend(op.args().iter().filter_map(|arg| arg.value()));
            }
            Code::Select => {
                masks.extend(op.args[0].value());
                same(&[Operand::Value(*value), op.args[1], op.args[2]], masks);
            }
            _ => {}
        },
        Stmt::If(branch) => {
            masks.extend(branch.masks.iter().filter_map(|mask| mask.value()));
            for stmt in branch.arms.iter().flatten() {
                look(stmt, masks);
            }
            for merge in &branch.merges {
                let given = merge.before.into_iter().chain(merge.arms.into_iter().flatten());
                let all: Vec<_> = given.chain([Operand::Value(merge.value)]).collect();
                same(&all, masks);
            }
        }
        Stmt::Loop(repeat) => {
            masks.extend(repeat.again.and_then(Operand::value));
            for stmt in &repeat.body {
                look(stmt, masks);
            }
            for carried in &repeat.carried {
                same(&[Operand::Value(carried.value), carried.init, carried.next], masks);
            }
        }
        Stmt::Fetch(fetch) => masks.extend(fetch.active.value()),
        Stmt::Kill(mask) => masks.extend(mask.value()),
        Stmt::Stat { .. } | Stmt::Watch(_) | Stmt::Spend { .. } => {}
    }
}

/// If one of them is a mask, all are.
fn same(operands: &[Operand], masks: &mut Masks) {
    let values = || operands.iter().filter_map(|operand| operand.value());
    if values().any(|value| masks.contains(&value)) {
        masks.extend(values());
    }
}
