//! Two groups of pixels at once.
//!
//! Most programs are chains of operations that wait for each other, three or four beside each other
//! at best: the processor has time for more. So every operation is there twice, for one vector of pixels
//! and for the next: the second half of a chunk, or, where one holds a chunk, the next chunk. Branches and
//! loops are uniform to interleaver: they go where or_masks wants to. What is the same in interleaver, made of nothing but
//! constants, is computed once.

use crate::op::{
    Arm, Assign, Branch, Carried, Class, Given, Kind, Merge, Node, Op, Paint, Program, Ramp,
    Repeat, V,
};

/// A program for twice as many groups.
pub(crate) fn interleave(program: Program, mask_class: Class) -> Program {
    let uniform = UniformValues::of(&program);
    let groups = program.groups.max(1);
    let copies = vec![None; program.classes.len()];
    let mut interleaver = Interleaver { copies, uniform, groups, program, mask_class };
    let body = std::mem::take(&mut interleaver.program.body);
    interleaver.program.body = interleaver.nodes(body);
    interleaver.program.groups = 2 * groups;
    interleaver.program
}

/// Which values are the same in interleaver groups.
struct UniformValues(Vec<bool>);

impl UniformValues {
    fn of(program: &Program) -> Self {
        let slot = |given: &Option<Given>| matches!(given, Some(Given::Slot(..)));
        let mut uniform = Self(program.given.iter().map(|given| !slot(given)).collect());
        // What goes from pass to pass takes back what was believed of it.
        while uniform.nodes(&program.body) {}
        uniform
    }

    fn holds(&self, v: V) -> bool {
        self.0.get(v.index()).copied().unwrap_or(false)
    }

    /// A value is the same if others are. Whether that is new.
    fn keep(&mut self, v: V, same: bool) -> bool {
        match self.0.get_mut(v.index()) {
            Some(uniform) => !same && std::mem::replace(uniform, false),
            None => false,
        }
    }

    /// Takes back what does not hold. Whether anything did not.
    fn nodes(&mut self, nodes: &[Node]) -> bool {
        let mut changed = false;
        for node in nodes {
            match node {
                Node::Ops(ops) => {
                    for op in ops {
                        let same = !matches!(op.kind, Kind::Covered(_) | Kind::Ramp(_))
                            && op.args().all(|v| self.holds(v));
                        changed |= op.dst.is_some_and(|dst| self.keep(dst, same));
                    }
                }
                Node::Spend(_) => {}
                Node::Branch(branch) => {
                    for merge in &branch.merges {
                        let same = merge.before.is_none_or(|before| self.holds(before));
                        changed |= self.keep(merge.var, same);
                    }
                    for arm in &branch.arms {
                        changed |= self.nodes(&arm.body);
                        // What is in one place one after the other is there once or twice.
                        for &Assign { old, new, from } in &arm.assign {
                            let same = [old, new, from].iter().all(|v| self.holds(*v));
                            changed |= self.keep(old, same);
                            changed |= self.keep(new, same);
                        }
                    }
                }
                Node::Repeat(repeat) => {
                    changed |= self.nodes(&repeat.body);
                    for Carried { var, init, next, out } in &repeat.carried {
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
    program: Program,
    uniform: UniformValues,
    /// Those that there are before.
    groups: u32,
    mask_class: Class,
    /// The second group's value of each.
    copies: Vec<Option<V>>,
}

impl Interleaver {
    fn copy_of(&mut self, v: V) -> V {
        if let Some(copy_of) = self.copies.get(v.index()).copied().flatten() {
            return copy_of;
        }
        let copy_of = match self.program.given(v) {
            _ if self.uniform.holds(v) => v,
            Some(Given::Const(_)) => v,
            Some(Given::Slot(slot, part)) => {
                let given = Given::Slot(slot, part + self.groups);
                self.program.given_as(self.program.class(v), Some(given))
            }
            None => self.program.fresh(self.program.class(v)),
        };
        if let Some(&least) = self.program.powers.get(&v) {
            self.program.powers.insert(copy_of, least);
        }
        if let Some(place) = self.copies.get_mut(v.index()) {
            *place = Some(copy_of);
        }
        copy_of
    }

    fn nodes(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let mut all = Vec::new();
        for node in nodes {
            match node {
                Node::Ops(ops) => {
                    let interleaver = ops.iter().flat_map(|op| [Some(*op), self.op(*op)]);
                    all.push(Node::Ops(interleaver.flatten().collect()));
                }
                Node::Spend(_) => all.push(node),
                Node::Branch(branch) => self.branch(branch, &mut all),
                Node::Repeat(repeat) => all.push(self.repeat(repeat)),
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
        let kind = match op.kind {
            Kind::Store(slot, part) => Kind::Store(slot, next(part)),
            Kind::Covered(part) => Kind::Covered(next(part)),
            Kind::Uncover(part) => Kind::Uncover(next(part)),
            Kind::Ramp(ramp) => Kind::Ramp(Ramp { part: next(ramp.part), ..ramp }),
            Kind::Paint(paint) => Kind::Paint(Paint { part: next(paint.part), ..paint }),
            kind => kind,
        };
        let args = op.args.map(|v| v.map(|v| self.copy_of(v)));
        Some(Op { kind, dst: op.dst.map(|v| self.copy_of(v)), args, ..op })
    }

    /// The pixels of or_masks group, as a mask and the operation that makes it.
    fn or_masks(&mut self, mask: V) -> (V, Option<Op>) {
        let copy_of = self.copy_of(mask);
        if copy_of == mask {
            return (mask, None);
        }
        let or_masks = self.program.fresh(self.mask_class);
        let args = [Some(mask), Some(copy_of), None];
        (or_masks, Some(Op { kind: Kind::MaskOr, dst: Some(or_masks), args, origin: 0 }))
    }

    fn branch(&mut self, branch: Branch, to: &mut Vec<Node>) {
        let mut tests = Vec::new();
        let mut arms = Vec::new();
        let merges = (branch.merges.iter())
            .flat_map(|merge| {
                let before = merge.before.map(|before| self.copy_of(before));
                let copy_of = Merge { var: self.copy_of(merge.var), before };
                [Some(*merge), Some(copy_of).filter(|copy_of| copy_of.var != merge.var)]
            })
            .flatten()
            .collect();
        for arm in branch.arms {
            let (mask, test) = self.or_masks(arm.mask);
            tests.extend(test);
            let body = self.nodes(arm.body);
            let assign = (arm.assign.iter())
                .flat_map(|assign| {
                    let Assign { old, new, from } = *assign;
                    let [old, new, from] = [old, new, from].map(|v| self.copy_of(v));
                    let copy_of = Assign { old, new, from };
                    [Some(*assign), Some(copy_of).filter(|copy_of| copy_of.new != assign.new)]
                })
                .flatten()
                .collect();
            arms.push(Arm { mask, body, assign });
        }
        to.push(Node::Ops(tests));
        to.push(Node::Branch(Branch { merges, arms }));
    }

    fn repeat(&mut self, repeat: Repeat) -> Node {
        let carried = (repeat.carried.iter())
            .flat_map(|carried| {
                let Carried { var, init, next, out } = *carried;
                let [var, init, next, out] = [var, init, next, out].map(|v| self.copy_of(v));
                let copy_of = Carried { var, init, next, out };
                [Some(*carried), Some(copy_of).filter(|copy_of| copy_of.var != carried.var)]
            })
            .flatten()
            .collect();
        let mut body = self.nodes(repeat.body);
        let again = repeat.again.map(|again| {
            let (again, test) = self.or_masks(again);
            body.push(Node::Ops(test.into_iter().collect()));
            again
        });
        Node::Repeat(Repeat { carried, body, again, ..repeat })
    }
}
