//! Identities of masks and selects.

use crate::{ALL, Inst, NONE, Opcode, Operand};

/// Returns the operand that an operation returns unchanged, if there is one.
pub(super) fn unchanged_operand(inst: &Inst) -> Option<Operand> {
    match (inst.opcode, inst.args) {
        (Opcode::Select, [ALL, a, _]) | (Opcode::Select, [NONE, _, a]) => Some(a),
        (Opcode::Select, [_, a, b]) if a == b => Some(a),
        (Opcode::And, [ALL, a, _] | [a, ALL, _]) | (Opcode::Or, [NONE, a, _] | [a, NONE, _]) => {
            Some(a)
        }
        (Opcode::And | Opcode::Or, [a, b, _]) if a == b => Some(a),
        (Opcode::AndNot, [a, NONE, _]) => Some(a),
        _ => None,
    }
}

/// Removes operands of a select that its own mask hides: `%m ? (%m ? %x : %y) : %b` → `%m ? %x : %b`, and likewise on the false side.
/// Returns whether there were any.
pub(super) fn remove_hidden(inst: &mut Inst, def_of: impl Fn(Operand) -> Option<Inst>) -> bool {
    let mut changed = false;
    if inst.opcode == Opcode::Select {
        let mask = inst.args[0];
        for side in [1, 2] {
            if let Some(Inst { opcode: Opcode::Select, args }) = def_of(inst.args[side])
                && args[0] == mask
            {
                inst.args[side] = args[side];
                changed = true;
            }
        }
    }
    changed
}
