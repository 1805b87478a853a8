//! Dead-code elimination: lanes that nothing reads, and operations without lanes.

use super::ir::{Atom, SegmentIr};

/// Removes dead lanes and operations. Returns whether anything was removed.
pub(crate) fn eliminate(ir: &mut SegmentIr) -> bool {
    let mut read = vec![false; ir.values.len()];
    let mut changed = false;
    for at in (0..ir.ops.len()).rev() {
        let op = &mut ir.ops[at];
        if op.dead {
            continue;
        }
        for lane in 0..4 {
            if let Some(value) = op.results[lane]
                && !read[value]
                && ir.values[value].sinks.is_empty()
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
