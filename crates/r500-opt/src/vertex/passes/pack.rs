//! Vectorisation: two operations that write lanes of one register or output become one.
//!
//! Lanes of different operations can be together if one operation computes both: a copy is also a sum with +0, a product with 1 or a
//! multiply-add; a sum is a multiply-add with 1 if no -0 is lost; 0 and 1 are results of every operation on numbers.

use r500_pvs::{VectorOp, component};

use super::attempt;
use crate::vertex::facts::Facts;
use crate::vertex::ir::{Block, File, Kind, Node, Part, Target};

/// Operations that are tried for one.
const NEAR: usize = 48;

/// Joins operations. Returns whether anything changed.
pub(in crate::vertex) fn join(block: &mut Block) -> bool {
    let facts = Facts::of(block);
    for first in 0..block.nodes.len() {
        for second in (first + 1..block.nodes.len()).take(NEAR) {
            let [a, b] = [&block.nodes[first], &block.nodes[second]];
            let Some(joined) = joined(a, b, &facts) else { continue };
            let count = block.nodes.len();
            for (place, other) in places(block, first, second) {
                let mut trial = block.clone();
                let joins = attempt(&mut trial, |block| {
                    block.nodes[place] = joined.clone();
                    block.nodes.remove(other);
                });
                if joins && trial.nodes.len() < count {
                    *block = trial;
                    return true;
                }
            }
        }
    }
    false
}

/// Returns where the joined operation may be, with the place of the other one: at the first if the second's operands are there, at the second
/// if nothing reads the first's results before.
fn places(block: &Block, first: usize, second: usize) -> Vec<(usize, usize)> {
    let between = &block.nodes[first..second];
    let writes = |node: &Node, value| node.lanes.iter().any(|lane| lane.value == value);
    let is_late = block.nodes[second]
        .read_values()
        .any(|value| between.iter().any(|node| writes(node, value)));
    let is_read = between[1..]
        .iter()
        .chain([&block.nodes[second]])
        .flat_map(Node::read_values)
        .any(|value| writes(&block.nodes[first], value));
    let up = (!is_late).then_some((first, second));
    let down = (!is_read).then_some((second, first));
    up.into_iter().chain(down).collect()
}

/// Returns the operation that computes the lanes of two.
fn joined(a: &Node, b: &Node, facts: &Facts) -> Option<Node> {
    let is_same_target = match (a.target, b.target) {
        (Target::Values(File::Address), _) => false,
        (Target::Output(m), Target::Output(n)) => {
            m == n
                && !b.lanes.iter().any(|lane| a.lanes.iter().any(|own| own.channel == lane.channel))
        }
        (a, b) => a == b,
    };
    let fits = a.lanes.len() + b.lanes.len() <= 4 && !a.is_addressed() && !b.is_addressed();
    if !is_same_target || !fits || a.saturate != b.saturate {
        return None;
    }
    let (Kind::Lanes(left), Kind::Lanes(right)) = (a.kind, b.kind) else { return None };
    let ops = [left, right, VectorOp::MULTIPLY_ADD];
    ops.iter().enumerate().filter(|(n, op)| !ops[..*n].contains(op)).find_map(|(_, op)| {
        let (a, b) = (as_op(a, *op, facts)?, as_op(b, *op, facts)?);
        let sources = a.sources.iter().zip(&b.sources).map(|(a, b)| [&a[..], b].concat()).collect();
        Some(Node {
            kind: Kind::Lanes(*op),
            target: a.target,
            lanes: [&a.lanes[..], &b.lanes].concat(),
            sources,
            saturate: a.saturate,
            origins: [&a.origins[..], &b.origins].concat(),
        })
    })
}

/// Returns an operation as another one that gives the same bits.
fn as_op(node: &Node, op: VectorOp, facts: &Facts) -> Option<Node> {
    if node.kind == Kind::Lanes(op) {
        return Some(node.clone());
    }
    let count = r500_pvs::Op::Vector(op).sources();
    let mut sources = vec![Vec::new(); count];
    for n in 0..node.lanes.len() {
        let operands = lane_as_op(node, n, op, facts)?;
        sources.iter_mut().zip(operands).for_each(|(parts, part)| parts.push(part));
    }
    Some(Node { kind: Kind::Lanes(op), sources, ..node.clone() })
}

fn lane_as_op(node: &Node, lane: usize, op: VectorOp, facts: &Facts) -> Option<Vec<Part>> {
    let operands = node.operands(lane);
    // The node saturates in either form.
    let numbers: Option<Vec<f32>> = operands.iter().map(|part| part.number()).collect();
    let Kind::Lanes(own) = node.kind else { return None };
    if let Some(numbers) = numbers {
        let number = |n: usize| numbers.get(n).copied().unwrap_or(0.0);
        let wanted = component(own, [number(0), number(1), number(2)], false)?;
        return of_numbers(op, wanted);
    }
    if let Some(copied) = node.copied(lane) {
        return match op {
            VectorOp::ADD => Some(vec![copied, Part::ZERO]),
            VectorOp::MULTIPLY => Some(vec![copied, Part::ONE]),
            VectorOp::MULTIPLY_ADD => Some(vec![Part::ZERO, Part::ZERO, copied]),
            _ => None,
        };
    }
    let is_positive = |part: Part| facts.part(part).is_positive;
    match (own, op, &operands[..]) {
        (VectorOp::ADD, VectorOp::MULTIPLY_ADD, [a, b]) if is_positive(*a) || is_positive(*b) => {
            Some(vec![*a, Part::ONE, *b])
        }
        (VectorOp::MULTIPLY, VectorOp::MULTIPLY_ADD, [a, b])
            if facts.is_product_positive(*a, *b) =>
        {
            Some(vec![*a, *b, Part::ZERO])
        }
        _ => None,
    }
}

/// Returns operands 0 and 1 with which an operation gives a number.
fn of_numbers(op: VectorOp, wanted: f32) -> Option<Vec<Part>> {
    let count = r500_pvs::Op::Vector(op).sources();
    (0..1_u32 << count).find_map(|choice| {
        let part = |n: usize| if choice >> n & 1 != 0 { Part::ONE } else { Part::ZERO };
        let number = |n: usize| if n < count && choice >> n & 1 != 0 { 1.0 } else { 0.0 };
        let value = component(op, [number(0), number(1), number(2)], false)?;
        (value.to_bits() == wanted.to_bits()).then(|| (0..count).map(part).collect())
    })
}
