//! Dead-code elimination: lanes that nothing reads, and operations without lanes.

use super::form::{Atom, Form};

/// Removes dead lanes and operations. Returns whether anything was removed.
pub(crate) fn eliminate(form: &mut Form) -> bool {
    let mut read = vec![false; form.values.len()];
    let mut changed = false;
    for at in (0..form.ops.len()).rev() {
        let op = &mut form.ops[at];
        if op.dead {
            continue;
        }
        for lane in 0..4 {
            if let Some(value) = op.results[lane]
                && !read[value]
                && form.values[value].sinks.is_empty()
            {
                op.results[lane] = None;
                if op.kind_is_lanes() {
                    op.args.iter_mut().for_each(|arg| arg.lanes[lane] = None);
                }
                changed = true;
            }
        }
        if op.mask() == 0 && !op.is_kill() {
            op.dead = true;
            changed = true;
            continue;
        }
        for atom in op.atoms() {
            if let Atom::Value(value) = atom {
                read[value] = true;
            }
        }
    }
    changed
}
