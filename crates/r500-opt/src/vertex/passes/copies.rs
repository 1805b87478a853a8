//! Copy propagation: readers of a copy read what it copies; an operation whose results are only copied to an output writes the output.
//!
//! A copy is a sum with +0 or a product with 1. It makes +0 of -0 and of denormals. So a reader may take the operand if that is neither, or if
//! it makes no difference to the reader: factors are flushed, and a product with zero is +0 by the rule of the processor; comparisons take
//! denormals for zeros and do not tell zeros apart; a sum tells them apart only if its other operand is -0.

use r500_pvs::VectorOp;

use super::{attempt, pack, replace_value};
use crate::vertex::facts::Facts;
use crate::vertex::ir::{Block, Kind, Lane, Node, Part, Target, Value};

/// Returns whether an operand's copy has the same bits.
fn is_exact(part: Part, facts: &Facts) -> bool {
    let fact = facts.part(part);
    fact.is_positive && fact.is_flushed
}

/// Returns whether an operation gives the same for an operand, of this source and lane or part, and for its copy.
fn is_insensitive(node: &Node, source: usize, part: usize, facts: &Facts) -> bool {
    let Kind::Lanes(op) = node.kind else { return node.kind == Kind::Dot };
    let other_is_positive = |other: usize| facts.part(node.sources[other][part]).is_positive;
    match op {
        VectorOp::MULTIPLY => true,
        VectorOp::MULTIPLY_ADD if source < 2 => true,
        VectorOp::MULTIPLY_ADD => {
            let [a, b] = [0, 1].map(|n| node.sources[n][part]);
            facts.is_product_positive(a, b)
        }
        VectorOp::ADD => other_is_positive(1 - source),
        VectorOp::FRACTION
        | VectorOp::SET_GREATER_THAN_EQUAL
        | VectorOp::SET_LESS_THAN
        | VectorOp::SET_GREATER_THAN
        | VectorOp::SET_EQUAL
        | VectorOp::SET_NOT_EQUAL => true,
        VectorOp::COND_MUX_EQ | VectorOp::COND_MUX_GT | VectorOp::COND_MUX_GTE => source == 0,
        _ => false,
    }
}

/// Lets readers of copies read what is copied. Returns whether anything changed.
pub(in crate::vertex) fn propagate(block: &mut Block) -> bool {
    let facts = Facts::of(block);
    let mut copies: Vec<(Value, Part)> = Vec::new();
    for node in block.nodes.iter().filter(|node| !node.saturate && !node.is_addressed()) {
        for (n, lane) in node.lanes.iter().enumerate() {
            if matches!(node.target, Target::Values(_))
                && let Some(part) = node.copied(n)
            {
                copies.push((lane.value, part));
            }
        }
    }
    let mut changed = false;
    for at in (0..block.nodes.len()).rev() {
        for source in 0..block.nodes.get(at).map_or(0, |node| node.sources.len()) {
            let node = &block.nodes[at];
            let mut parts = node.sources[source].clone();
            for n in 0..parts.len() {
                let part = parts[n];
                let copied = copies.iter().find(|(value, _)| part.value() == Some(*value));
                if let Some((value, by)) = copied
                    && (is_exact(*by, &facts) || is_insensitive(node, source, n, &facts))
                {
                    replace_value(&mut parts[n..=n], *value, *by);
                }
            }
            if parts == node.sources[source] {
                continue;
            }
            let count = block.nodes.len();
            changed |= attempt(block, |block| block.nodes[at].sources[source] = parts);
            if block.nodes.len() != count {
                return true;
            }
        }
    }
    changed
}

/// Lets operations whose results are only copied to an output write the output. Returns whether anything changed.
pub(in crate::vertex) fn coalesce(block: &mut Block) -> bool {
    let facts = Facts::of(block);
    let (uses, definitions) = (block.uses(), block.definitions());
    for at in 0..block.nodes.len() {
        let node = &block.nodes[at];
        let Target::Output(output) = node.target else { continue };
        let copied: Vec<Option<(usize, Lane, Value)>> = (0..node.lanes.len())
            .map(|n| {
                let part = node.copied(n)?;
                let value = part.value().filter(|_| !part.abs && !part.negate)?;
                let is_same = node.saturate || is_exact(part, &facts);
                let from = definitions[value.0 as usize]?;
                (is_same && uses[value.0 as usize] == 1).then_some((from, node.lanes[n], value))
            })
            .collect();
        // Numbers may be computed with the others then.
        let is_number = |n: usize| node.copied(n).is_some_and(|part| part.number().is_some());
        if (0..node.lanes.len()).any(|n| copied[n].is_none() && !is_number(n)) {
            continue;
        }
        let mut sources: Vec<usize> = copied.iter().flatten().map(|(from, ..)| *from).collect();
        sources.sort_unstable();
        sources.dedup();
        let moved: Option<Vec<(usize, Vec<Lane>)>> = sources
            .into_iter()
            .map(|from| {
                let definition = &block.nodes[from];
                let to = |lane: &Lane| {
                    let copied =
                        copied.iter().flatten().find(|(.., value)| *value == lane.value)?;
                    Some(copied.1)
                };
                let lanes: Option<Vec<Lane>> = definition.lanes.iter().map(to).collect();
                // Lanes of their own operations cannot move.
                let is_fixed = matches!(definition.kind, Kind::Fixed(_));
                (!is_fixed && !definition.is_addressed_write()).then_some((from, lanes?))
            })
            .collect();
        let Some(moved) = moved.filter(|moved| !moved.is_empty()) else { continue };
        let (saturate, origins) = (node.saturate, node.origins.clone());
        let mut trial = block.clone();
        let is_done = attempt(&mut trial, |block| {
            for (from, lanes) in &moved {
                block.nodes[at].retain_lanes(|lane| !lanes.contains(lane));
                let definition = &mut block.nodes[*from];
                (definition.target, definition.lanes) = (Target::Output(output), lanes.clone());
                definition.saturate |= saturate;
                definition.origins.extend(&origins);
            }
        });
        while is_done && pack::join(&mut trial) {}
        if is_done && trial.nodes.len() < block.nodes.len() {
            *block = trial;
            return true;
        }
    }
    false
}
