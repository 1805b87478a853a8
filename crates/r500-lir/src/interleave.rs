//! Unroll and jam: interleaves two groups of pixels.
//!
//! Most programs are dependence chains, three or four of them in parallel at best, which leaves execution units idle. So every operation is
//! duplicated, for one vector of pixels and for the next one: the second half of a chunk, or, where a vector is a chunk, the next chunk.
//! Branches and loops are uniform for both groups: an arm runs if either group has a lane in its mask. Uniform values, which depend on
//! constants only, are computed once.

use std::collections::HashSet;

use crate::fuel_is_uniform;
use crate::{
    Arm, Branch, Class, Interpolant, LirFunction, Loop, LoopParam, MemOperand, Op, Opcode, Phi,
    PhiMove, PixelRows, Region, StoreColor, VReg,
};

/// Doubles the number of interleaved groups. If `apart`, and the groups together would count other instructions than one by one, each group
/// counts its own.
pub fn interleave(function: LirFunction, mask_class: Class, apart: bool) -> LirFunction {
    let separate_fuel_counts = apart && !fuel_is_uniform(&function.body);
    let full_masks = full_masks(&function);
    let uniform = UniformValues::of(&function);
    let groups = function.groups.max(1);
    let copies = vec![None; function.classes.len()];
    let mut interleaver = Interleaver {
        copies,
        uniform,
        groups,
        function,
        mask_class,
        separate_fuel_counts,
        full_masks,
        active: None,
    };
    let body = std::mem::take(&mut interleaver.function.body);
    interleaver.function.body = interleaver.nodes(body);
    interleaver.function.groups = 2 * groups;
    interleaver.function.separate_fuel_counts = separate_fuel_counts;
    interleaver.function
}

/// Uniformity analysis: which values are equal in both groups.
struct UniformValues(Vec<bool>);

impl UniformValues {
    fn of(function: &LirFunction) -> Self {
        let slot = |operand: &Option<MemOperand>| matches!(operand, Some(MemOperand::Slot(..)));
        let mut uniform =
            Self(function.mem_operands.iter().map(|operand| !slot(operand)).collect());
        // Loop-carried values may break the optimistic assumption; iterate to the fixed point.
        while uniform.nodes(&function.body) {}
        uniform
    }

    fn holds(&self, v: VReg) -> bool {
        self.0[v.index()]
    }

    /// Clears a value's uniformity unless `same`. Returns whether that changed it.
    fn keep(&mut self, v: VReg, same: bool) -> bool {
        match self.0.get_mut(v.index()) {
            Some(uniform) => !same && std::mem::replace(uniform, false),
            None => false,
        }
    }

    /// Clears the uniformity of values that depend on the group. Returns whether anything changed.
    fn nodes(&mut self, nodes: &[Region]) -> bool {
        let mut changed = false;
        for node in nodes {
            match node {
                Region::Ops(ops) => {
                    for op in ops {
                        let of_pixels = matches!(
                            op.opcode,
                            Opcode::LoadCoverage(_)
                                | Opcode::Interpolant(_)
                                | Opcode::LoadPixels(_)
                        );
                        let same = !of_pixels && op.args().all(|v| self.holds(v));
                        changed |= op.dst.is_some_and(|dst| self.keep(dst, same));
                    }
                }
                Region::ConsumeFuel(_) => {}
                Region::Branch(branch) => {
                    for phi in &branch.phis {
                        let same = phi.incoming.is_none_or(|before| self.holds(before));
                        changed |= self.keep(phi.var, same);
                    }
                    for arm in &branch.arms {
                        changed |= self.nodes(&arm.body);
                        // All values of a phi share one location, so they are all duplicated or none.
                        for &PhiMove { old, new, from } in &arm.assign {
                            let same = [old, new, from].iter().all(|v| self.holds(*v));
                            changed |= self.keep(old, same);
                            changed |= self.keep(new, same);
                        }
                    }
                }
                Region::Loop(repeat) => {
                    changed |= self.nodes(&repeat.body);
                    for LoopParam { var, init, next, out } in &repeat.params {
                        let same = self.holds(*init) && self.holds(*next);
                        changed |= self.keep(*var, same);
                        changed |= self.keep(*out, same);
                    }
                }
            }
        }
        changed
    }
}

struct Interleaver {
    function: LirFunction,
    uniform: UniformValues,
    /// Interleaved groups of the input.
    groups: u32,
    mask_class: Class,
    /// The copy of each value for the second group.
    copies: Vec<Option<VReg>>,
    /// Whether each group counts its own instructions.
    separate_fuel_counts: bool,
    /// Masks with all lanes set.
    full_masks: HashSet<VReg>,
    /// The first group's mask of the active lanes in the current region; `None` if all are active.
    active: Option<VReg>,
}

/// Returns the masks with all lanes set.
fn full_masks(function: &LirFunction) -> HashSet<VReg> {
    let mut masks = HashSet::new();
    function.each_op(|op| masks.extend(op.dst.filter(|_| op.opcode == Opcode::MaskAll)));
    masks
}

impl Interleaver {
    fn copy_of(&mut self, v: VReg) -> VReg {
        if let Some(copy_of) = self.copies.get(v.index()).copied().flatten() {
            return copy_of;
        }
        let copy_of = match self.function.mem_operand(v) {
            _ if self.uniform.holds(v) => v,
            Some(MemOperand::Const(_)) => v,
            Some(MemOperand::Slot(slot, part)) => {
                let operand = MemOperand::Slot(slot, part + self.groups);
                self.function.fresh_in_memory(self.function.class(v), Some(operand))
            }
            None => self.function.fresh(self.function.class(v)),
        };
        if let Some(&least) = self.function.magnitude_bounds.get(&v) {
            self.function.magnitude_bounds.insert(copy_of, least);
        }
        if let Some(place) = self.copies.get_mut(v.index()) {
            *place = Some(copy_of);
        }
        copy_of
    }

    fn nodes(&mut self, nodes: Vec<Region>) -> Vec<Region> {
        let mut all = Vec::new();
        for node in nodes {
            match node {
                Region::Ops(ops) => {
                    let interleaver = ops.iter().flat_map(|op| [Some(*op), self.op(*op)]);
                    all.push(Region::Ops(interleaver.flatten().collect()));
                }
                Region::ConsumeFuel(instructions) => all.push(self.count(instructions)),
                Region::Branch(branch) => self.branch(branch, &mut all),
                Region::Loop(repeat) => self.repeat(repeat, &mut all),
            }
        }
        all
    }

    /// Returns the copy of an operation for the second group; `None` if the operation is uniform.
    fn op(&mut self, op: Op) -> Option<Op> {
        if op.dst.is_some_and(|dst| self.uniform.holds(dst)) {
            return None;
        }
        let next = |part| part + self.groups;
        let opcode = match op.opcode {
            Opcode::Store(slot, part) => Opcode::Store(slot, next(part)),
            Opcode::LoadCoverage(part) => Opcode::LoadCoverage(next(part)),
            Opcode::StoreCoverage(part) => Opcode::StoreCoverage(next(part)),
            Opcode::Interpolant(ramp) => {
                Opcode::Interpolant(Interpolant { part: next(ramp.part), ..ramp })
            }
            Opcode::StoreColor(paint) => {
                Opcode::StoreColor(StoreColor { part: next(paint.part), ..paint })
            }
            Opcode::LoadPixels(rows) => {
                Opcode::LoadPixels(PixelRows { part: next(rows.part), ..rows })
            }
            Opcode::StorePixels(rows) => {
                Opcode::StorePixels(PixelRows { part: next(rows.part), ..rows })
            }
            opcode => opcode,
        };
        let args = op.args.map(|v| v.map(|v| self.copy_of(v)));
        Some(Op { opcode, dst: op.dst.map(|v| self.copy_of(v)), args, ..op })
    }

    /// Returns the union of both groups' masks, and the operation that computes it.
    fn or_masks(&mut self, mask: VReg) -> (VReg, Option<Op>) {
        let copy_of = self.copy_of(mask);
        if copy_of == mask {
            return (mask, None);
        }
        let or_masks = self.function.fresh(self.mask_class);
        let args = [Some(mask), Some(copy_of), None];
        (or_masks, Some(Op { opcode: Opcode::MaskOr, dst: Some(or_masks), args, origin: 0 }))
    }

    fn branch(&mut self, branch: Branch, to: &mut Vec<Region>) {
        let mut tests = Vec::new();
        let mut arms = Vec::new();
        let phis = (branch.phis.iter())
            .flat_map(|phi| {
                let incoming = phi.incoming.map(|incoming| self.copy_of(incoming));
                let copy = Phi { var: self.copy_of(phi.var), incoming };
                [Some(*phi), Some(copy).filter(|copy| copy.var != phi.var)]
            })
            .flatten()
            .collect();
        for arm in branch.arms {
            let (mask, test) = self.or_masks(arm.mask);
            tests.extend(test);
            let active = self.active.replace(arm.mask);
            let body = self.nodes(arm.body);
            self.active = active;
            let assign = (arm.assign.iter())
                .flat_map(|assign| {
                    let PhiMove { old, new, from } = *assign;
                    let [old, new, from] = [old, new, from].map(|v| self.copy_of(v));
                    let copy = PhiMove { old, new, from };
                    [Some(*assign), Some(copy).filter(|copy| copy.new != assign.new)]
                })
                .flatten()
                .collect();
            arms.push(Arm { mask, body, assign });
        }
        to.push(Region::Ops(tests));
        to.push(Region::Branch(Branch { phis, arms }));
    }

    /// Counts instructions of a region: for each group by its active lanes, or for both together.
    fn count(&mut self, instructions: u32) -> Region {
        let Some(mask) = self.active.filter(|_| self.separate_fuel_counts) else {
            return Region::ConsumeFuel(instructions);
        };
        let args = [Some(mask), Some(self.copy_of(mask)), None];
        let opcode = Opcode::CountFuel(instructions);
        Region::Ops(vec![Op { opcode, dst: None, args, origin: 0 }])
    }

    /// Returns the first group's mask of the active lanes in an iteration: a parameter whose initial value is the mask of the enclosing
    /// region.
    fn active_in(&mut self, repeat: &mut Loop, continue_mask: VReg, to: &mut Vec<Region>) -> VReg {
        let full = &self.full_masks;
        let begins = |init: &VReg| match self.active {
            Some(outer) => *init == outer,
            None => full.contains(init),
        };
        let known =
            repeat.params.iter().find(|param| param.next == continue_mask && begins(&param.init));
        if let Some(param) = known {
            return param.var;
        }
        let [var, out] = [(); 2].map(|()| self.fresh_mask(false));
        let init = match self.active {
            Some(outer) => outer,
            None => {
                let dst = self.fresh_mask(true);
                let args = [None; 3];
                to.push(Region::Ops(vec![Op {
                    opcode: Opcode::MaskAll,
                    dst: Some(dst),
                    args,
                    origin: 0,
                }]));
                dst
            }
        };
        repeat.params.push(LoopParam { var, init, next: continue_mask, out });
        var
    }

    fn fresh_mask(&mut self, is_uniform: bool) -> VReg {
        let v = self.function.fresh(self.mask_class);
        // The values in between are copies for the second group, which are not copied themselves.
        self.copies.resize(v.index() + 1, None);
        self.uniform.0.resize(v.index() + 1, is_uniform);
        v
    }

    fn repeat(&mut self, mut repeat: Loop, to: &mut Vec<Region>) {
        let active = self.active;
        if self.separate_fuel_counts
            && let Some(continue_mask) = repeat.continue_mask
        {
            self.active = Some(self.active_in(&mut repeat, continue_mask, to));
        }
        let params = (repeat.params.iter())
            .flat_map(|param| {
                let LoopParam { var, init, next, out } = *param;
                let [var, init, next, out] = [var, init, next, out].map(|v| self.copy_of(v));
                let copy = LoopParam { var, init, next, out };
                [Some(*param), Some(copy).filter(|copy| copy.var != param.var)]
            })
            .flatten()
            .collect();
        let mut body = self.nodes(repeat.body);
        let continue_mask = repeat.continue_mask.map(|mask| {
            let (either, test) = self.or_masks(mask);
            body.push(Region::Ops(test.into_iter().collect()));
            either
        });
        self.active = active;
        to.push(Region::Loop(Loop { params, body, continue_mask, ..repeat }));
    }
}
