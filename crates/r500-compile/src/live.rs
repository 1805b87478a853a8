//! Removes what no output depends on.

use crate::code::{Code, Node, Register, Routine, exits, reads};

/// The components of registers that are needed.
struct Needed {
    bits: Vec<u8>,
    changed: bool,
}

impl Needed {
    fn has(&self, register: Register, component: u8) -> bool {
        self.bits[register.0 as usize] >> component & 1 != 0
    }

    fn any(&self, register: Register) -> bool {
        self.bits[register.0 as usize] != 0
    }

    fn add(&mut self, register: Register, component: u8) {
        let bits = &mut self.bits[register.0 as usize];
        self.changed |= *bits >> component & 1 == 0;
        *bits |= 1 << component;
    }
}

/// Removes dead operations, lanes, branches and loops.
pub(crate) fn remove_dead(routine: &mut Routine) {
    let mut needed = Needed { bits: vec![0; routine.shapes.len()], changed: true };
    while needed.changed {
        needed.changed = false;
        mark(&routine.nodes, &mut needed);
    }
    prune(&mut routine.nodes, &needed);
}

/// Returns whether a node does something. Exits count with the loop that they leave.
fn acts(node: &Node, needed: &Needed) -> bool {
    match node {
        Node::Op(op) => op.lanes.iter().any(|lane| needed.has(op.register, *lane)),
        Node::Fetch(fetch) => needed.any(fetch.register),
        Node::Kill(..) | Node::Output(..) => true,
        Node::If(_, yes, no, _) => yes.iter().chain(no).any(|node| acts(node, needed)),
        Node::Loop(_, body, _) => body.iter().any(|node| acts(node, needed)),
        Node::Break(_) | Node::Continue(_) => false,
    }
}

fn mark(nodes: &[Node], needed: &mut Needed) {
    for node in nodes.iter().rev() {
        match node {
            Node::If(_, yes, no, _) => {
                if !acts(node, needed) && !exits(yes) && !exits(no) {
                    continue;
                }
                mark(yes, needed);
                mark(no, needed);
            }
            Node::Loop(_, body, _) => {
                if acts(node, needed) {
                    mark(body, needed);
                }
                continue;
            }
            _ if !acts(node, needed) => continue,
            _ => {}
        }
        match node {
            // Only what the needed lanes read.
            Node::Op(op) if op.code != Code::Dot => {
                for (n, lane) in op.lanes.iter().enumerate() {
                    if needed.has(op.register, *lane) {
                        let parts =
                            op.operands.iter().filter_map(|operand| operand[n].register_read());
                        parts.for_each(|(register, c)| needed.add(register, c));
                    }
                }
            }
            _ => reads(node, &mut |register, c| needed.add(register, c)),
        }
    }
}

fn prune(nodes: &mut Vec<Node>, needed: &Needed) {
    nodes.retain_mut(|node| match node {
        Node::Op(op) => {
            if op.code != Code::Dot {
                let keep: Vec<bool> =
                    op.lanes.iter().map(|lane| needed.has(op.register, *lane)).collect();
                let kept = |n: usize| keep[n];
                for operand in &mut op.operands {
                    let mut n = 0;
                    operand.retain(|_| {
                        n += 1;
                        kept(n - 1)
                    });
                }
                let mut n = 0;
                op.lanes.retain(|_| {
                    n += 1;
                    kept(n - 1)
                });
            }
            op.lanes.iter().any(|lane| needed.has(op.register, *lane))
        }
        Node::Fetch(fetch) => {
            fetch.lanes = std::array::from_fn(|c| needed.has(fetch.register, c as u8));
            needed.any(fetch.register)
        }
        Node::If(_, yes, no, _) => {
            prune(yes, needed);
            prune(no, needed);
            !yes.is_empty() || !no.is_empty()
        }
        Node::Loop(_, body, _) => {
            let is_needed = body.iter().any(|node| acts(node, needed));
            prune(body, needed);
            is_needed
        }
        _ => true,
    });
}
