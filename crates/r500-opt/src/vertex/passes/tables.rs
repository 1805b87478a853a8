//! Folding: values that are 0, 1 or -1 become numbers of operands, and what depends on one truth value is computed from it by one sum.
//!
//! A truth value is the result of a comparison, 0 or 1. An operation on one truth value and numbers has two results, which are computed here as
//! the interpreter does. If a sum of the truth value (or its negation, or 0) and 0, 1 or -1 has the same two, it replaces the operation.

use r500_pvs::VectorOp;

use super::attempt;
use crate::vertex::facts::{Facts, Table, evaluate};
use crate::vertex::ir::{Block, Kind, Node, Part, Target, Value};

/// Folds. Returns whether anything changed.
pub(in crate::vertex) fn fold(block: &mut Block) -> bool {
    let facts = Facts::of(block);
    let mut changed = false;
    for at in (0..block.nodes.len()).rev() {
        let count = block.nodes.len();
        let Some(node) = block.nodes.get(at) else { continue };
        let mut folded = node.clone();
        let reads = |node: &Node| -> Vec<Value> {
            let mut all: Vec<Value> = node.read_values().collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let is_better = |sum: &Node| {
            let (new, old) = (reads(sum), reads(node));
            new.len() <= old.len() && new != old || sum.sources.len() < node.sources.len()
        };
        match sum(node, &facts).filter(is_better) {
            Some(sum) => folded = sum,
            None => {
                for part in folded.sources.iter_mut().flatten() {
                    if let Some(number) = known(*part, &facts) {
                        *part = number;
                    }
                }
            }
        }
        let is_same = folded.sources == node.sources && folded.kind == node.kind;
        if !is_same {
            changed |= attempt(block, |block| block.nodes[at] = folded);
            if block.nodes.len() != count {
                return true;
            }
        }
    }
    changed
}

/// Returns the number, or the truth value, that an operand is.
fn known(part: Part, facts: &Facts) -> Option<Part> {
    let value = part.value()?;
    let table = facts.part(part).table?;
    if let Some(number) = table.number() {
        return [Part::ZERO, Part::ONE]
            .into_iter()
            .flat_map(|part| [part, Part { negate: true, ..part }])
            .find(|part| part.number().map(f32::to_bits) == Some(number.to_bits()));
    }
    let root = table.root.filter(|root| *root != value)?;
    let negated = Part { negate: true, ..Part::of(root) };
    match () {
        () if table.is([0.0, 1.0]) => Some(Part::of(root)),
        () if table.is([-0.0, -1.0]) => Some(negated),
        () => None,
    }
}

/// Returns the sum of truth values and numbers that an operation is.
fn sum(node: &Node, facts: &Facts) -> Option<Node> {
    let Kind::Lanes(op) = node.kind else { return None };
    if matches!(op, VectorOp::FLT2FIX_DX | VectorOp::FLT2FIX_DX_RND) || node.is_addressed() {
        return None;
    }
    let terms: Option<Vec<[Part; 2]>> =
        node.lanes.iter().enumerate().map(|(n, _)| lane_sum(node, op, n, facts)).collect();
    let terms = terms?;
    let sources = [0, 1].map(|k| terms.iter().map(|lane| lane[k]).collect());
    let kind = Kind::Lanes(VectorOp::ADD);
    debug_assert!(node.target != Target::Values(crate::vertex::ir::File::Address));
    Some(Node { kind, sources: sources.to_vec(), saturate: false, ..node.clone() })
}

fn lane_sum(node: &Node, op: VectorOp, lane: usize, facts: &Facts) -> Option<[Part; 2]> {
    let tables: Option<Vec<Table>> =
        node.operands(lane).iter().map(|part| facts.part(*part).table).collect();
    let table = evaluate(op, &tables?, node.saturate)?;
    let root = table.root.map(Part::of);
    let negated = root.map(|root| Part { negate: true, ..root });
    let numbers = [Part::ZERO, Part::ONE, Part { negate: true, ..Part::ONE }];
    for first in [Some(Part::ZERO), root, negated].into_iter().flatten() {
        for second in numbers {
            let operands = [first, second].map(|part| facts.part(part).table);
            if let [Some(a), Some(b)] = operands
                && evaluate(VectorOp::ADD, &[a, b], false).is_some_and(|sum| sum.is(table.values))
            {
                return Some([first, second]);
            }
        }
    }
    None
}
