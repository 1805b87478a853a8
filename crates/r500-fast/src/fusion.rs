//! Op fusion: an operation whose result has a single use becomes part of the user's op, if there is a kernel for the pair.

use super::dispatch::Kernel;
use super::dispatch::fused::select_fused;
use super::linearizer::{Linearizer, VirtualOp, position};
use r500_ir::{EntityMap, Inst, Opcode, Operand, Value};
use r500_simd::SimdLevel;

/// The maximum distance of two fused operations, in ops: the operands of the first stay live up to the second.
const WINDOW: usize = 12;

/// Fuses ops. All uses must be known.
pub(super) fn fuse<L: SimdLevel>(level: L, linearizer: &mut Linearizer<'_>) {
    if !L::FUSES {
        return;
    }
    let mut uses: EntityMap<Value, u32> = EntityMap::filled(linearizer.values.len(), 0);
    for value in linearizer.uses.iter().filter_map(|(_, operand)| operand.value()) {
        uses[value] += 1;
    }
    // Former positions of ops that are fused with a later one.
    let mut moved: Vec<u32> = Vec::new();
    for at in 0..linearizer.ops.len() {
        let (value, second) = match linearizer.ops[at] {
            VirtualOp::Def(value, inst) => (value, inst),
            VirtualOp::MaskedMove(value, mask, from) => {
                let args = [mask, from, Operand::Value(value)];
                (value, Inst { opcode: Opcode::Select, args })
            }
            _ => continue,
        };
        let Some((first_at, kernel, operands)) =
            find(level, &linearizer.ops[at.saturating_sub(WINDOW)..at], &second, &uses)
        else {
            continue;
        };
        let first_at = at.saturating_sub(WINDOW) + first_at;
        linearizer.ops[first_at] = VirtualOp::Deleted;
        linearizer.ops[at] = VirtualOp::Fused(value, kernel, operands);
        moved.push(position(first_at));
    }
    if moved.is_empty() {
        return;
    }
    moved.sort_unstable();
    let is_moved = |at: u32| moved.binary_search(&at).is_ok();
    linearizer.writes.retain(|(at, _)| !is_moved(*at));
    linearizer.uses.retain(|(at, _)| {
        let fused = matches!(linearizer.ops.get(*at as usize), Some(VirtualOp::Fused(..)));
        !is_moved(*at) && !fused
    });
    for (at, op) in (0..).zip(&linearizer.ops) {
        if let VirtualOp::Fused(_, _, operands) = op {
            linearizer.uses.extend(operands.iter().map(|operand| (at, *operand)));
        }
    }
}

/// Finds, in reverse order, an operation whose only user is `second`, with a kernel for both.
fn find<L: SimdLevel>(
    level: L,
    before: &[VirtualOp<'_>],
    second: &Inst,
    uses: &EntityMap<Value, u32>,
) -> Option<(usize, Kernel, Vec<Operand>)> {
    // Values that moves change in between.
    let mut changed: Vec<Value> = Vec::new();
    for (at, op) in before.iter().enumerate().rev() {
        match op {
            VirtualOp::Def(value, first) => {
                if uses[*value] != 1 {
                    continue;
                }
                let result = Operand::Value(*value);
                let kept = |arg: &Operand| arg.value().is_none_or(|arg| !changed.contains(&arg));
                if second.args.contains(&result)
                    && first.args.iter().all(kept)
                    && let Some((kernel, operands)) = select_fused(level, first, second, result)
                {
                    return Some((at, kernel, operands));
                }
            }
            VirtualOp::Copy(value, _) | VirtualOp::MaskedMove(value, ..) => changed.push(*value),
            VirtualOp::Fused(value, ..) => changed.push(*value),
            VirtualOp::CanonicalNan(..) | VirtualOp::Deleted => {}
            _ => return None,
        }
    }
    None
}
