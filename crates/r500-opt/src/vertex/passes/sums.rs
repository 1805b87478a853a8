//! Formation of multiply-adds and dot products.
//!
//! A multiply-add rounds its product before its sum, as two instructions do. A dot product is `((a0*b0 + a1*b1) + a2*b2) + a3*b3`, each step
//! rounded, as a product and three multiply-adds are.

use r500_pvs::VectorOp;

use super::attempt;
use crate::vertex::facts::Facts;
use crate::vertex::ir::{Block, Kind, Node, Part, Target};

/// Makes multiply-adds of products and sums. Returns whether anything changed.
pub(in crate::vertex) fn multiply_adds(block: &mut Block) -> bool {
    let facts = Facts::of(block);
    let (uses, definitions) = (block.uses(), block.definitions());
    for at in 0..block.nodes.len() {
        let node = &block.nodes[at];
        if node.kind != Kind::Lanes(VectorOp::ADD) {
            continue;
        }
        for source in 0..2 {
            let addends = &node.sources[1 - source];
            let mut products: [Vec<Part>; 2] = [Vec::new(), Vec::new()];
            let mut origins = node.origins.clone();
            for (part, addend) in node.sources[source].iter().zip(addends) {
                let Some(value) = part.value().filter(|_| !part.abs) else { break };
                let Some(from) = definitions[value.0 as usize] else { break };
                let definition = &block.nodes[from];
                let lane = definition.lanes.iter().position(|lane| lane.value == value);
                let Some(lane) = lane else { break };
                // The negation of a product with zero is -0, the product with a negated factor +0.
                let is_exact = !part.negate || facts.part(*addend).is_positive;
                let is_product =
                    definition.kind == Kind::Lanes(VectorOp::MULTIPLY) && !definition.saturate;
                let is_exact = is_exact && !definition.is_addressed();
                if !is_product || !is_exact || uses[value.0 as usize] != 1 {
                    break;
                }
                let negated = Part { negate: part.negate, abs: false, ..Part::ONE };
                let [a, b] = [0, 1].map(|n| definition.sources[n][lane]);
                products[0].push(Part { negate: a.negate != negated.negate, ..a });
                products[1].push(b);
                origins.extend(&definition.origins);
            }
            if products[0].len() < addends.len() {
                continue;
            }
            let [a, b] = products;
            let sources = vec![a, b, addends.clone()];
            let kind = Kind::Lanes(VectorOp::MULTIPLY_ADD);
            let count = block.nodes.len();
            let fused = Node { kind, sources, origins, ..node.clone() };
            let mut trial = block.clone();
            if attempt(&mut trial, |block| block.nodes[at] = fused) && trial.nodes.len() < count {
                *block = trial;
                return true;
            }
        }
    }
    false
}

/// A product of a sum.
type Product = [Part; 2];

/// Makes dot products of sums of products in one lane. Returns whether anything changed.
pub(in crate::vertex) fn dots(block: &mut Block) -> bool {
    let facts = Facts::of(block);
    let (uses, definitions) = (block.uses(), block.definitions());
    for at in (0..block.nodes.len()).rev() {
        let Some((products, origins)) = sum(block, at, &facts, &uses, &definitions) else {
            continue;
        };
        let node = &block.nodes[at];
        for products in oriented(&products) {
            let sources = [0, 1].map(|k| products.iter().map(|product| product[k]).collect());
            let dot = Node {
                kind: Kind::Dot,
                sources: sources.to_vec(),
                origins: origins.clone(),
                ..node.clone()
            };
            let count = block.nodes.len();
            let mut trial = block.clone();
            if attempt(&mut trial, |block| block.nodes[at] = dot) && trial.nodes.len() < count {
                *block = trial;
                return true;
            }
        }
    }
    false
}

/// Returns the products of the sum that an operation ends, in their order, four with those that are added; and the instructions that
/// compute them.
fn sum(
    block: &Block,
    at: usize,
    facts: &Facts,
    uses: &[usize],
    definitions: &[Option<usize>],
) -> Option<(Vec<Product>, Vec<usize>)> {
    let mut products: Vec<Product> = Vec::new();
    let mut origins: Vec<usize> = Vec::new();
    let mut next = at;
    loop {
        let node = &block.nodes[next];
        let is_part = node.lanes.len() == 1
            && !node.is_addressed()
            && (next == at || !node.saturate && matches!(node.target, Target::Values(_)));
        if !is_part {
            return None;
        }
        origins.extend(&node.origins);
        let operands = node.operands_of_lane(0)?;
        let addend = match (node.kind, &operands[..]) {
            (Kind::Lanes(VectorOp::MULTIPLY), [a, b]) => {
                products.push([*a, *b]);
                None
            }
            (Kind::Lanes(VectorOp::MULTIPLY_ADD), [a, b, c]) => {
                products.push([*a, *b]);
                Some(*c)
            }
            _ => return None,
        };
        let Some(addend) = addend else { break };
        // What another product adds, if it is only read here.
        let previous = addend.value().filter(|value| uses[value.0 as usize] == 1);
        let previous = previous.filter(|_| !addend.abs && !addend.negate);
        let from = previous.and_then(|value| definitions[value.0 as usize]);
        let continues = from.filter(|from| {
            let node = &block.nodes[*from];
            let is_product =
                matches!(node.kind, Kind::Lanes(VectorOp::MULTIPLY | VectorOp::MULTIPLY_ADD));
            let room = if node.kind == Kind::Lanes(VectorOp::MULTIPLY) { 4 } else { 3 };
            is_product
                && products.len() < room
                && !node.saturate
                && node.lanes.len() == 1
                && matches!(node.target, Target::Values(_))
        });
        match continues {
            Some(from) => next = from,
            None => {
                // Times 1: -0 becomes +0.
                let fact = facts.part(addend);
                if !fact.is_positive || products.len() > 3 {
                    return None;
                }
                products.push([addend, Part::ONE]);
                break;
            }
        }
    }
    if products.len() < 2 {
        return None;
    }
    products.reverse();
    // A product with zero first adds nothing to one that is not -0.
    while products.len() < 4 {
        let [a, b] = products[0];
        if !facts.is_product_positive(a, b) {
            return None;
        }
        products.insert(0, [Part::ZERO, Part::ZERO]);
    }
    Some((products, origins))
}

/// Returns the products with factors exchanged, so that those of the first sources, and of the second, may be in one place each.
fn oriented(products: &[Product]) -> Vec<Vec<Product>> {
    (0..1_u32 << products.len().saturating_sub(1))
        .map(|swaps| {
            let swapped = |(n, product): (usize, &Product)| {
                if swaps >> n & 1 != 0 { [product[1], product[0]] } else { *product }
            };
            products.iter().enumerate().map(swapped).collect()
        })
        .collect()
}
