//! Two groups of pixels at once.
//!
//! Most programs are chains of operations that wait for each other, three or four at a time
//! at best: the processor has time for more. So every operation is there twice, for one vector of pixels
//! and for the next: the second half of a chunk, or, where one holds a chunk, the next chunk. Branches and
//! loops are uniform to interleaver: they go where or_masks wants to. What is the same in interleaver, made of nothing but
//! constants, is computed once.

use crate::lir::{
    Arm, Branch, Class, Interpolant, LirFunction, Loop, LoopParam, MemOperand, Op, Opcode, Phi,
    PhiMove, Region, StoreColor, VReg,
};

/// A program for twice as many groups.
pub(crate) fn interleave(function: LirFunction, mask_class: Class) -> LirFunction {
    let uniform = UniformValues::of(&function);
    let groups = function.groups.max(1);
    let copies = vec![None; function.classes.len()];
    let mut interleaver = Interleaver { copies, uniform, groups, function, mask_class };
    let body = std::mem::take(&mut interleaver.function.body);
    interleaver.function.body = interleaver.nodes(body);
    interleaver.function.groups = 2 * groups;
    interleaver.function
}

/// Which values are the same in interleaver groups.
struct UniformValues(Vec<bool>);

impl UniformValues {
    fn of(function: &LirFunction) -> Self {
        let slot = |given: &Option<MemOperand>| matches!(given, Some(MemOperand::Slot(..)));
        let mut uniform = Self(function.given.iter().map(|given| !slot(given)).collect());
        // What goes from pass to pass takes back what was believed of it.
        while uniform.nodes(&function.body) {}
        uniform
    }

    fn holds(&self, v: VReg) -> bool {
        self.0[v.index()]
    }

    /// A value is the same if others are. Whether that is new.
    fn keep(&mut self, v: VReg, same: bool) -> bool {
        match self.0.get_mut(v.index()) {
            Some(uniform) => !same && std::mem::replace(uniform, false),
            None => false,
        }
    }

    /// Takes back what does not hold. Whether anything did not.
    fn nodes(&mut self, nodes: &[Region]) -> bool {
        let mut changed = false;
        for node in nodes {
            match node {
                Region::Ops(ops) => {
                    for op in ops {
                        let same =
                            !matches!(op.opcode, Opcode::LoadCoverage(_) | Opcode::Interpolant(_))
                                && op.args().all(|v| self.holds(v));
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
                        // What is in one place one after the other is there once or twice.
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
    /// Those that there are before.
    groups: u32,
    mask_class: Class,
    /// The second group's value of each.
    copies: Vec<Option<VReg>>,
}

impl Interleaver {
    fn copy_of(&mut self, v: VReg) -> VReg {
        if let Some(copy_of) = self.copies.get(v.index()).copied().flatten() {
            return copy_of;
        }
        let copy_of = match self.function.given(v) {
            _ if self.uniform.holds(v) => v,
            Some(MemOperand::Const(_)) => v,
            Some(MemOperand::Slot(slot, part)) => {
                let given = MemOperand::Slot(slot, part + self.groups);
                self.function.fresh_in_memory(self.function.class(v), Some(given))
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
                Region::ConsumeFuel(_) => all.push(node),
                Region::Branch(branch) => self.branch(branch, &mut all),
                Region::Loop(repeat) => all.push(self.repeat(repeat)),
            }
        }
        all
    }

    /// The second group's; `None` if there is nothing else to do for it.
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
            opcode => opcode,
        };
        let args = op.args.map(|v| v.map(|v| self.copy_of(v)));
        Some(Op { opcode, dst: op.dst.map(|v| self.copy_of(v)), args, ..op })
    }

    /// The pixels of or_masks group, as a mask and the operation that makes it.
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
            let body = self.nodes(arm.body);
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

    fn repeat(&mut self, repeat: Loop) -> Region {
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
        Region::Loop(Loop { params, body, continue_mask, ..repeat })
    }
}
