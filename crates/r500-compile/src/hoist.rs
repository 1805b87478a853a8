//! Short ways of branches are executed before the branch, by all pixels: `if (c) { a } else { x = 1.0; }` is `x = 1.0; if (c) { a }` if `a`
//! sets `x` without reading it. This saves the ELSE, and what is executed before the branch may share instructions with what is there.

use std::collections::HashSet;

use crate::code::{Code, Node, Op, Register, Routine, each, exits, reads};

/// Most operations that are executed in vain.
const MOST: usize = 2;

/// Hoists the shorter way of each branch, if it can be.
pub(crate) fn hoist(routine: &mut Routine) {
    in_list(&mut routine.nodes);
}

fn in_list(nodes: &mut Vec<Node>) {
    let mut at = 0;
    while at < nodes.len() {
        let mut hoisted = Vec::new();
        match &mut nodes[at] {
            Node::If(condition, yes, no, _) => {
                in_list(yes);
                in_list(no);
                if can_be(no, yes) && !writes_condition(no, condition.test.register_read()) {
                    hoisted.append(no);
                } else if can_be(yes, no) && !writes_condition(yes, condition.test.register_read())
                {
                    hoisted.append(yes);
                    std::mem::swap(yes, no);
                    *condition = condition.not();
                }
            }
            Node::Loop(_, body, _) => in_list(body),
            _ => {}
        }
        let count = hoisted.len();
        nodes.splice(at..at, hoisted);
        at += count + 1;
    }
}

fn writes_condition(way: &[Node], test: Option<(Register, u8)>) -> bool {
    way.iter().any(|node| {
        matches!(node, Node::Op(op)
            if test.is_some_and(|(register, c)| op.register == register && op.lanes.contains(&c)))
    })
}

/// Returns whether a way can be executed before the other one: the other one sets all that it sets, reads nothing of that, and does not
/// leave in between.
fn can_be(way: &[Node], other: &[Node]) -> bool {
    let is_short = !way.is_empty() && way.len() <= MOST && !other.is_empty();
    let is_pure = |node: &Node| match node {
        Node::Op(op) => !matches!(op.code, Code::Alu(alu) if alu.is_difference()),
        _ => false,
    };
    if !is_short || !way.iter().all(is_pure) || exits(other) {
        return false;
    }
    let places = |op: &Op| op.lanes.iter().map(|c| (op.register, *c)).collect::<Vec<_>>();
    let mut set: HashSet<(Register, u8)> = HashSet::new();
    for node in other {
        match node {
            Node::Op(op) => set.extend(places(op)),
            Node::Fetch(fetch) => {
                let lanes = (0..4).filter(|c| fetch.lanes[usize::from(*c)]);
                set.extend(lanes.map(|c| (fetch.register, c)));
            }
            _ => {}
        }
    }
    let mut read = HashSet::new();
    each(other, &mut |node| {
        reads(node, &mut |register, c| {
            read.insert((register, c));
        });
    });
    way.iter().all(|node| {
        let Node::Op(op) = node else { return false };
        places(op).iter().all(|place| set.contains(place) && !read.contains(place))
    })
}
