//! Common subexpressions: an operation that an earlier one computes is not computed again.
//!
//! The same operation on the same operands has the same bits. Operands of products and sums are compared in either order.

use std::collections::HashMap;

use r500_pvs::VectorOp;

use super::{attempt, replace_value};
use crate::vertex::ir::{Block, Kind, Node, Part, Target, Value};

/// What a lane computes.
#[derive(PartialEq, Eq, Hash)]
struct Expression {
    kind: Kind,
    saturate: bool,
    operands: Vec<Part>,
}

fn expression(node: &Node, lane: usize) -> Option<Expression> {
    let operands = match node.kind {
        Kind::Lanes(op) => {
            let mut operands = node.operands(lane);
            let commutes = matches!(
                op,
                VectorOp::MULTIPLY
                    | VectorOp::ADD
                    | VectorOp::MULTIPLY_ADD
                    | VectorOp::MULTIPLYX2_ADD
            );
            if commutes && operands[1] < operands[0] {
                operands.swap(0, 1);
            }
            operands
        }
        Kind::Dot | Kind::Scalar(_) => node.sources.concat(),
        Kind::Fixed(_) => return None,
    };
    Some(Expression { kind: node.kind, saturate: node.saturate, operands })
}

/// Reads values that were computed before. Returns whether anything changed.
pub(in crate::vertex) fn eliminate(block: &mut Block) -> bool {
    let mut changed = false;
    let mut at = 0;
    let mut known: HashMap<Expression, Value> = HashMap::new();
    while at < block.nodes.len() {
        let node = &block.nodes[at];
        let is_value = matches!(node.target, Target::Values(_)) && !node.is_addressed_write();
        let mut same: Vec<(Value, Value)> = Vec::new();
        if is_value {
            for (n, lane) in node.lanes.iter().enumerate() {
                let Some(expression) = expression(node, n) else { continue };
                match known.get(&expression) {
                    Some(value) if !block.is_outgoing(lane.value) => {
                        same.push((lane.value, *value))
                    }
                    Some(_) => {}
                    None => {
                        known.insert(expression, lane.value);
                    }
                }
            }
        }
        let count = block.nodes.len();
        if !same.is_empty() && attempt(block, |block| replace(block, &same)) {
            changed = true;
            // Operations before this one may be dead now, so that the next one is elsewhere.
            if block.nodes.len() != count {
                at = 0;
                known.clear();
                continue;
            }
        }
        at += 1;
    }
    changed
}

fn replace(block: &mut Block, same: &[(Value, Value)]) {
    for node in &mut block.nodes {
        for parts in &mut node.sources {
            for (value, by) in same {
                replace_value(parts, *value, Part::of(*by));
            }
        }
    }
}
