//! Mask inversion: AArch64 has a comparison for "equal" and none for "not equal", but selections take a mask of either polarity.
//!
//! If all uses of a [`Relation::Ne`] mask are selections, the comparison becomes [`Relation::Eq`], and the selections swap their operands.
//! So the zero rule costs two instructions besides the product instead of three.

use std::collections::HashSet;

use r500_lir::{LirFunction, Op, Opcode, Region, Relation, VReg};

/// Inverts masks where that saves an instruction.
pub(super) fn invert(function: &mut LirFunction) {
    let mut masks = HashSet::new();
    each_op(&mut function.body, &mut |op| {
        if let (Opcode::Cmp(Relation::Ne), Some(dst)) = (op.opcode, op.dst) {
            masks.insert(dst);
        }
    });
    if masks.is_empty() {
        return;
    }
    keep_selections(&function.body, &mut masks);
    each_op(&mut function.body, &mut |op| {
        if op.dst.is_some_and(|dst| masks.contains(&dst)) {
            op.opcode = Opcode::Cmp(Relation::Eq);
        }
        let selected = selections(op).find(|n| op.args[*n].is_some_and(|v| masks.contains(&v)));
        if let Some(n) = selected {
            invert_selection(op, n);
        }
    });
}

fn each_op(regions: &mut [Region], f: &mut impl FnMut(&mut Op)) {
    for region in regions {
        match region {
            Region::Ops(ops) => ops.iter_mut().for_each(&mut *f),
            Region::Branch(branch) => {
                branch.arms.iter_mut().for_each(|arm| each_op(&mut arm.body, f));
            }
            Region::Loop(repeat) => each_op(&mut repeat.body, f),
            Region::ConsumeFuel(_) => {}
        }
    }
}

/// Removes masks with other uses from the candidates.
fn keep_selections(regions: &[Region], masks: &mut HashSet<VReg>) {
    for region in regions {
        match region {
            Region::Ops(ops) => ops.iter().for_each(|op| keep_one_selection(op, masks)),
            Region::Branch(branch) => {
                for v in branch.phis.iter().filter_map(|phi| phi.incoming) {
                    masks.remove(&v);
                }
                for arm in &branch.arms {
                    masks.remove(&arm.mask);
                    keep_selections(&arm.body, masks);
                    for assign in &arm.assign {
                        masks.remove(&assign.from);
                    }
                }
            }
            Region::Loop(repeat) => {
                for v in repeat.params.iter().flat_map(|param| [param.init, param.next]) {
                    masks.remove(&v);
                }
                keep_selections(&repeat.body, masks);
                if let Some(v) = &repeat.continue_mask {
                    masks.remove(v);
                }
            }
            Region::ConsumeFuel(_) => {}
        }
    }
}

/// Removes the masks that an operation uses from the candidates, except one that it selects with.
fn keep_one_selection(op: &Op, masks: &mut HashSet<VReg>) {
    let is_mask = |n: &usize| op.args[*n].is_some_and(|v| masks.contains(&v));
    let kept = selections(op).find(is_mask);
    for (n, v) in op.args.iter().enumerate() {
        if Some(n) != kept
            && let Some(v) = v
        {
            masks.remove(v);
        }
    }
}

/// Returns the arguments that may be inverted masks.
fn selections(op: &Op) -> impl Iterator<Item = usize> + use<> {
    let count = match op.opcode {
        Opcode::And | Opcode::MaskAnd => 2,
        Opcode::AndNot | Opcode::MaskAndNot | Opcode::Blend => 1,
        _ => 0,
    };
    0..count
}

/// Inverts an argument of an operation.
fn invert_selection(op: &mut Op, n: usize) {
    // The "and not" operations invert their first argument.
    if n == 1 {
        op.args.swap(0, 1);
    }
    op.opcode = match op.opcode {
        Opcode::And => Opcode::AndNot,
        Opcode::AndNot => Opcode::And,
        Opcode::MaskAnd => Opcode::MaskAndNot,
        Opcode::MaskAndNot => Opcode::MaskAnd,
        Opcode::Blend => {
            op.args.swap(1, 2);
            Opcode::Blend
        }
        opcode => unreachable!("{opcode:?} selects nothing"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use r500_lir::{Arm, Branch, Class};

    const NE: Opcode = Opcode::Cmp(Relation::Ne);
    const EQ: Opcode = Opcode::Cmp(Relation::Eq);

    /// Returns the inverted form of some operations on two or three values each: values 0 and 1 are given, the others are results.
    fn inverted(ops: &[(Opcode, &[u32])], end: Option<u32>) -> Vec<(Opcode, Vec<u32>)> {
        let mut function = LirFunction::default();
        let [_, _] = [(); 2].map(|()| function.fresh(Class::Vector));
        let ops = ops.iter().map(|(opcode, args)| {
            let mut places = [None; 3];
            places.iter_mut().zip(*args).for_each(|(place, v)| *place = Some(VReg(*v)));
            let dst = Some(function.fresh(Class::Vector));
            Op { opcode: *opcode, dst, args: places, origin: 0 }
        });
        let mut body = vec![Region::Ops(ops.collect())];
        body.extend(end.map(|mask| {
            let arm = Arm { mask: VReg(mask), body: Vec::new(), assign: Vec::new() };
            Region::Branch(Branch { phis: Vec::new(), arms: vec![arm] })
        }));
        function.body = body;
        invert(&mut function);
        let mut all = Vec::new();
        function.each_op(|op| all.push((op.opcode, op.args().map(|v| v.0).collect())));
        all
    }

    #[test]
    fn masks_that_only_select_are_inverted() {
        assert_eq!(
            inverted(
                &[
                    (NE, &[0, 1]),
                    (Opcode::And, &[2, 0]),
                    (Opcode::And, &[1, 2]),
                    (Opcode::AndNot, &[2, 1]),
                    (Opcode::Blend, &[2, 0, 1]),
                ],
                None
            ),
            [
                (EQ, vec![0, 1]),
                (Opcode::AndNot, vec![2, 0]),
                (Opcode::AndNot, vec![2, 1]),
                (Opcode::And, vec![2, 1]),
                (Opcode::Blend, vec![2, 1, 0]),
            ]
        );
    }

    #[test]
    fn other_uses_keep_a_mask_as_it_is() {
        for other in [
            (Opcode::AndNot, [1, 2]),
            (Opcode::MaskOr, [2, 1]),
            (Opcode::Xor, [2, 1]),
            (Opcode::And, [2, 2]),
        ] {
            let ops = [(NE, &[0, 1][..]), (Opcode::And, &[2, 0]), (other.0, &other.1)];
            let wanted: Vec<_> =
                ops.iter().map(|(opcode, args)| (*opcode, args.to_vec())).collect();
            assert_eq!(inverted(&ops, None), wanted);
        }
        let ops = [(NE, &[0, 1][..]), (Opcode::And, &[2, 0])];
        let wanted: Vec<_> = ops.iter().map(|(opcode, args)| (*opcode, args.to_vec())).collect();
        assert_eq!(inverted(&ops, Some(2)), wanted);
    }

    #[test]
    fn of_two_masks_one_is_inverted() {
        assert_eq!(
            inverted(&[(NE, &[0, 1]), (NE, &[1, 1]), (Opcode::MaskAnd, &[2, 3])], None),
            [(EQ, vec![0, 1]), (NE, vec![1, 1]), (Opcode::MaskAndNot, vec![2, 3])]
        );
    }
}
