//! Coordinates of two fetches in one register: an operation that computes two components for one fetch, and one that does the same for
//! another, become one of four components.

use std::collections::{HashMap, HashSet};

use crate::code::{
    Code, Component, Node, Op, Register, Routine, Shape, Value, each, reads, written,
};

/// Joins operations for coordinates, two by two.
pub(crate) fn pair(routine: &mut Routine) {
    let uses = uses_of(&routine.nodes);
    let mut nodes = std::mem::take(&mut routine.nodes);
    let mut places = HashMap::new();
    in_list(&mut nodes, &uses, routine, &mut places);
    rename(&mut nodes, &places);
    routine.nodes = nodes;
}

/// How a register is used.
#[derive(Clone, Copy, Default)]
struct Uses {
    /// Nodes that write it.
    writes: usize,
    /// Whether something else than a fetch's coordinates reads it.
    is_read: bool,
}

/// Where components of registers are now.
type Places = HashMap<(Register, u8), (Register, u8)>;

fn uses_of(nodes: &[Node]) -> HashMap<Register, Uses> {
    let mut uses: HashMap<Register, Uses> = HashMap::new();
    each(nodes, &mut |node| {
        written(node)
            .into_iter()
            .for_each(|register| uses.entry(register).or_default().writes += 1);
        let mut read = |register, _| uses.entry(register).or_default().is_read = true;
        match node {
            Node::Fetch(fetch) => {
                let gradients = fetch.gradients.iter().flatten().flatten();
                gradients.for_each(|(register, c)| read(*register, *c));
            }
            _ => reads(node, &mut read),
        }
    });
    uses
}

fn in_list(
    nodes: &mut Vec<Node>,
    uses: &HashMap<Register, Uses>,
    routine: &mut Routine,
    places: &mut Places,
) {
    for node in nodes.iter_mut() {
        match node {
            Node::If(_, yes, no, _) => {
                in_list(yes, uses, routine, places);
                in_list(no, uses, routine, places);
            }
            Node::Loop(_, body, _) => in_list(body, uses, routine, places),
            _ => {}
        }
    }
    let mut at = 0;
    while at < nodes.len() {
        if let Some((other, operands)) = partner(nodes, at, uses)
            && let (Node::Op(second), Node::Op(first)) = (nodes.remove(other), &mut nodes[at])
        {
            routine.shapes.push(Shape::Whole);
            let register = Register((routine.shapes.len() - 1) as u32);
            for c in 0..2 {
                places.insert((first.register, c), (register, c));
                places.insert((second.register, c), (register, c + 2));
            }
            (first.register, first.lanes, first.operands) = (register, vec![0, 1, 2, 3], operands);
        }
        at += 1;
    }
}

/// Finds an operation that can be done with the one at a place of a list, and the operands of both.
fn partner(
    nodes: &[Node],
    at: usize,
    uses: &HashMap<Register, Uses>,
) -> Option<(usize, Vec<Value>)> {
    let for_coordinates = |node: &Node| match node {
        Node::Op(op) => {
            let by_components = match op.code {
                Code::Alu(alu) => !alu.is_transcendental() && !alu.is_difference(),
                Code::MadSat | Code::Copy => true,
                Code::Dot => false,
            };
            let uses = uses.get(&op.register).copied().unwrap_or_default();
            by_components && op.lanes == [0, 1] && uses.writes == 1 && !uses.is_read
        }
        _ => false,
    };
    let Node::Op(first) = nodes.get(at).filter(|node| for_coordinates(node))? else { return None };
    let mut changed = HashSet::new();
    for (other, node) in nodes.iter().enumerate().skip(at) {
        if other > at
            && for_coordinates(node)
            && let Node::Op(second) = node
            && second.code == first.code
            && !reads_any(second, &changed)
            && let Some(operands) = joined(first, second)
        {
            return Some((other, operands));
        }
        each(std::slice::from_ref(node), &mut |node| changed.extend(written(node)));
    }
    None
}

/// Returns whether an operation reads one of some registers.
fn reads_any(op: &Op, registers: &HashSet<Register>) -> bool {
    let mut read = op.operands.iter().flatten().filter_map(|c| c.register_read());
    read.any(|(register, _)| registers.contains(&register))
}

/// Returns the operands of both operations, if one source of an instruction can give each.
fn joined(first: &Op, second: &Op) -> Option<Vec<Value>> {
    let both = first.operands.iter().zip(&second.operands);
    let joined: Vec<Value> = both.map(|(a, b)| [a.clone(), b.clone()].concat()).collect();
    joined.iter().all(|value| Component::are_of_one_source(value)).then_some(joined)
}

fn rename(nodes: &mut [Node], places: &Places) {
    for node in nodes {
        match node {
            Node::Fetch(fetch) => {
                for place in &mut fetch.strq {
                    *place = places.get(place).copied().unwrap_or(*place);
                }
            }
            Node::If(_, yes, no, _) => {
                rename(yes, places);
                rename(no, places);
            }
            Node::Loop(_, body, _) => rename(body, places),
            _ => {}
        }
    }
}
