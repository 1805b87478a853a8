//! Products of products with numbers become one, where no bit of the result differs: `x * 4.0 * 6.0` is `x * 24.0`.

use std::collections::HashMap;

use crate::arithmetic::Alu;
use crate::code::{Code, Component, Node, Register, Routine, each, reads, written};

/// Folds the factors of products that nothing else reads.
pub(crate) fn fold(routine: &mut Routine) {
    let mut folds = Folds::default();
    each(&routine.nodes, &mut |node| {
        reads(node, &mut |register, c| *folds.reads.entry((register, c)).or_default() += 1);
        written(node)
            .into_iter()
            .for_each(|register| *folds.writes.entry(register).or_default() += 1);
    });
    folds.list(&mut routine.nodes);
}

#[derive(Default)]
struct Folds {
    /// Nodes that write each register.
    writes: HashMap<Register, usize>,
    /// How often each component is read.
    reads: HashMap<(Register, u8), usize>,
    /// The product that each component is, of a component and a number.
    products: HashMap<(Register, u8), (Component, f32)>,
}

impl Folds {
    fn list(&mut self, nodes: &mut [Node]) {
        for node in nodes {
            match node {
                Node::Op(op) if op.code == Code::Alu(Alu::Mad) => {
                    let lanes: Option<Vec<[Component; 2]>> = (0..op.lanes.len())
                        .map(|lane| self.folded(op.operands[0][lane], op.operands[1][lane]))
                        .collect();
                    for (lane, [of, factor]) in lanes.into_iter().flatten().enumerate() {
                        (op.operands[0][lane], op.operands[1][lane]) = (of, factor);
                    }
                    for (lane, c) in op.lanes.iter().enumerate() {
                        let parts = [0, 1, 2].map(|n: usize| op.operands[n][lane]);
                        self.note((op.register, *c), parts);
                    }
                }
                Node::If(_, yes, no, _) => {
                    self.list(yes);
                    self.list(no);
                }
                Node::Loop(_, body, _) => self.list(body),
                _ => {}
            }
        }
    }

    /// Returns whether a register has one value in the whole program.
    fn is_constant(&self, register: Register) -> bool {
        self.writes.get(&register).is_none_or(|writes| *writes == 1)
    }

    fn note(&mut self, (register, c): (Register, u8), [a, b, added]: [Component; 3]) {
        let Some((of, factor)) = with_number(a, b) else { return };
        let stays = |of: Component| of.register_read().is_none_or(|(of, _)| self.is_constant(of));
        if added.value() == Some(0.0) && self.is_constant(register) && stays(of) {
            self.products.insert((register, c), (of, factor));
        }
    }

    /// Returns the factors of a product without the product that one of them is.
    fn folded(&self, a: Component, b: Component) -> Option<[Component; 2]> {
        let (of, factor) = with_number(a, b)?;
        let place = of.plain()?;
        let &(of, first) = self.products.get(&place)?;
        let is_only_reader = self.reads.get(&place) == Some(&1);
        (is_only_reader && is_exact_product(first, factor))
            .then(|| [of, Component::literal(first * factor)])
    }
}

/// Returns the factor that is not a number, and the one that is.
fn with_number(a: Component, b: Component) -> Option<(Component, f32)> {
    match (a.value(), b.value()) {
        (None, Some(factor)) => Some((a, factor)),
        (Some(factor), None) => Some((b, factor)),
        _ => None,
    }
}

/// Returns whether a product with two numbers, one after the other, has the bits of that with their product: one is a power of two, which
/// does not round, and neither makes anything smaller, so that nothing is flushed to zero in between.
fn is_exact_product(a: f32, b: f32) -> bool {
    let is_power = |x: f32| x.to_bits() & 0x007f_ffff == 0;
    a.abs() >= 1.0 && b.abs() >= 1.0 && (is_power(a) || is_power(b)) && (a * b).is_finite()
}
