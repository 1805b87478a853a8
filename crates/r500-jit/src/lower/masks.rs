//! Which values are masks: the form does not say, but what makes them and what looks at them does.

use std::collections::HashSet;

use r500_exec::codegen::{CompileUnit, PhiMove};
use r500_exec::ir::{Opcode, Operand, Stmt, Value};

/// Values that are masks.
pub(super) type Masks = HashSet<Value>;

/// The masks of a segment.
pub(super) fn find(unit: &CompileUnit<'_>) -> Masks {
    let mut masks = Masks::new();
    // What branches and loops hand on is a mask if what they take is, or the other way round; so till
    // nothing changes.
    loop {
        let before = masks.len();
        for stmt in unit.body {
            look(stmt, &mut masks);
        }
        for PhiMove { value, mask, from, .. } in unit.moves {
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
        Stmt::Def(value, inst) => match inst.opcode {
            Opcode::Lt | Opcode::Ge | Opcode::Eq | Opcode::Ne => _ = masks.insert(*value),
            Opcode::And | Opcode::Or | Opcode::AndNot => {
                masks.insert(*value);
                masks.extend(inst.args().iter().filter_map(|arg| arg.value()));
            }
            Opcode::Select => {
                masks.extend(inst.args[0].value());
                same(&[Operand::Value(*value), inst.args[1], inst.args[2]], masks);
            }
            _ => {}
        },
        Stmt::If(branch) => {
            masks.extend(branch.masks.iter().filter_map(|mask| mask.value()));
            for stmt in branch.arms.iter().flatten() {
                look(stmt, masks);
            }
            for phi in &branch.phis {
                let given = phi.incoming.into_iter().chain(phi.arms.into_iter().flatten());
                let all: Vec<_> = given.chain([Operand::Value(phi.value)]).collect();
                same(&all, masks);
            }
        }
        Stmt::Loop(repeat) => {
            masks.extend(repeat.continue_mask.and_then(Operand::value));
            for stmt in &repeat.body {
                look(stmt, masks);
            }
            for param in &repeat.params {
                same(&[Operand::Value(param.value), param.init, param.next], masks);
            }
        }
        Stmt::Fetch(fetch) => masks.extend(fetch.active.value()),
        Stmt::Discard(mask) => masks.extend(mask.value()),
        Stmt::Stat { .. } | Stmt::GroupHazard(_) | Stmt::ConsumeFuel { .. } => {}
    }
}

/// If one of them is a mask, all are.
fn same(operands: &[Operand], masks: &mut Masks) {
    let values = || operands.iter().filter_map(|operand| operand.value());
    if values().any(|value| masks.contains(&value)) {
        masks.extend(values());
    }
}
