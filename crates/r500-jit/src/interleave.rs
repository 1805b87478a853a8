//! Two groups of pixels at once.
//!
//! Most programs are chains of operations that wait for each other, three or four beside each other
//! at best: the processor has time for more. So every operation is there twice, for the first half of a
//! chunk and for the second. Branches and loops are common to both: they go where either wants to.

use crate::op::{
    Arm, Assign, Branch, Carried, Class, Given, Kind, Merge, Node, Op, Program, Repeat, V,
};

/// A program for two groups.
pub(crate) fn interleave(program: Program, mask_class: Class) -> Program {
    let mut both = Twice { twins: vec![None; program.classes.len()], program, mask_class };
    let body = std::mem::take(&mut both.program.body);
    both.program.body = both.nodes(body);
    both.program.groups = 2;
    both.program
}

struct Twice {
    program: Program,
    mask_class: Class,
    /// The second group's value of each.
    twins: Vec<Option<V>>,
}

impl Twice {
    fn twin(&mut self, v: V) -> V {
        if let Some(twin) = self.twins.get(v.index()).copied().flatten() {
            return twin;
        }
        let twin = match self.program.given(v) {
            // The same for all pixels.
            Some(Given::Const(_)) => v,
            Some(Given::Slot(slot, part)) => {
                let given = Given::Slot(slot, part + 1);
                self.program.given_as(self.program.class(v), Some(given))
            }
            None => self.program.fresh(self.program.class(v)),
        };
        if self.program.numbers.contains(&v) {
            self.program.numbers.insert(twin);
        }
        if let Some(place) = self.twins.get_mut(v.index()) {
            *place = Some(twin);
        }
        twin
    }

    fn nodes(&mut self, nodes: Vec<Node>) -> Vec<Node> {
        let mut all = Vec::new();
        for node in nodes {
            match node {
                Node::Ops(ops) => {
                    let both = ops.iter().flat_map(|op| [*op, self.op(*op)]).collect();
                    all.push(Node::Ops(both));
                }
                Node::Spend(_) => all.push(node),
                Node::Branch(branch) => self.branch(branch, &mut all),
                Node::Repeat(repeat) => all.push(self.repeat(repeat)),
            }
        }
        all
    }

    fn op(&mut self, op: Op) -> Op {
        let kind = match op.kind {
            Kind::Store(slot, part) => Kind::Store(slot, part + 1),
            Kind::Covered(part) => Kind::Covered(part + 1),
            Kind::Uncover(part) => Kind::Uncover(part + 1),
            kind => kind,
        };
        let args = op.args.map(|v| v.map(|v| self.twin(v)));
        Op { kind, dst: op.dst.map(|v| self.twin(v)), args, ..op }
    }

    /// The pixels of either group, as a mask and the operation that makes it.
    fn either(&mut self, mask: V) -> (V, Op) {
        let twin = self.twin(mask);
        let either = self.program.fresh(self.mask_class);
        let args = [Some(mask), Some(twin), None];
        (either, Op { kind: Kind::MaskOr, dst: Some(either), args, origin: 0 })
    }

    fn branch(&mut self, branch: Branch, to: &mut Vec<Node>) {
        let mut tests = Vec::new();
        let mut arms = Vec::new();
        let merges = (branch.merges.iter())
            .flat_map(|merge| {
                let before = merge.before.map(|before| self.twin(before));
                [*merge, Merge { var: self.twin(merge.var), before }]
            })
            .collect();
        for arm in branch.arms {
            let (mask, test) = self.either(arm.mask);
            tests.push(test);
            let body = self.nodes(arm.body);
            let assign = (arm.assign.iter())
                .flat_map(|assign| {
                    let Assign { old, new, from } = *assign;
                    let [old, new, from] = [old, new, from].map(|v| self.twin(v));
                    [*assign, Assign { old, new, from }]
                })
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
                let [var, init, next, out] = [var, init, next, out].map(|v| self.twin(v));
                [*carried, Carried { var, init, next, out }]
            })
            .collect();
        let mut body = self.nodes(repeat.body);
        let again = repeat.again.map(|again| {
            let (again, test) = self.either(again);
            body.push(Node::Ops(vec![test]));
            again
        });
        Node::Repeat(Repeat { carried, body, again, ..repeat })
    }
}
