//! Value numbers and decision diagrams: one hash-consed table for the values of both programs.
//!
//! A number denotes one structure, so equal numbers mean equal values. The table compares nodes in full; it does not
//! rely on hashes.
//!
//! Canonical masks are *reduced ordered binary decision diagrams* (ROBDDs) over atoms: comparisons, and mask parameters
//! of loops. A value that depends on masks is such a diagram with values as leaves. Masks are therefore equal as
//! Boolean functions exactly if their numbers are equal, however they were computed; the same holds for selects. Atoms
//! are ordered as they are found from the results, which makes those of one decision neighbours.

use std::collections::{BTreeMap, HashMap};

use crate::{Side, Symbol};
use r500_ir::{AddSign, DemandedFp, DenormalMode, MulFlags, Opcode, Operand, Range, Type, Value};

/// A value number.
pub(super) type Number = u32;

/// Greatest number of nodes in a proof.
const MOST_NODES: usize = 1_000_000;

/// The structure of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    /// A constant: the same bits in every lane.
    Constant(u32),
    /// A channel of a program constant, by its [symbol](crate::Symbol).
    Uniform(Symbol, u8),
    /// A channel of an input, by its index.
    Input(usize),
    /// An operation, lane by lane except for quad broadcasts.
    Op(Opcode, Vec<Number>),
    /// A select: the second value in the lanes of the first, which is an atom; the third in the others.
    Select(Number, Number, Number),
    /// A channel of a texel.
    Texel(Fetched, Vec<Number>, u8),
    /// A loop parameter.
    Carried(Carried),
    /// An undefined value: in lanes that the program does not use.
    Unused,
}

/// The operation of a fetch: unit, opcode, `UNSCALED`, and the program if the programs bind different textures. Operands are four coordinates, four gradients along x, four
/// along y, and the mask of lanes that fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fetched {
    pub(super) unit: u8,
    pub(super) op: u8,
    pub(super) unscaled: bool,
    pub(super) side: Option<Side>,
}

/// The value of a class of loop parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Carried {
    /// The pair of loops.
    pub(super) pair: u32,
    /// The round of the refinement; `None` after the loop.
    pub(super) round: Option<u32>,
    pub(super) class: u32,
    pub(super) is_mask: bool,
}

pub(super) const NONE: Number = 0;
pub(super) const EVERY: Number = 1;
pub(super) const UNUSED: Number = 2;

/// The table of value numbers.
#[derive(Debug)]
pub(super) struct Table {
    numbers: BTreeMap<Node, Number>,
    nodes: Vec<Node>,
    /// Range of each value.
    ranges: Vec<Range>,
    /// Whether all leaves of each diagram are constants.
    constant_leaves: Vec<bool>,
    selected: HashMap<[Number; 3], Number>,
    constrained: HashMap<[Number; 2], Number>,
    /// Operations that are distributed over the leaves of their operands.
    pub(super) distributed: HashMap<(Opcode, Vec<Number>, DemandedFp), Number>,
    /// Rank of each atom in the variable order.
    ranks: HashMap<Number, u32>,
    /// Number of diagram steps. A proof ends when it exceeds its limit.
    steps: usize,
}

impl Default for Table {
    fn default() -> Self {
        let mut table = Self {
            numbers: BTreeMap::new(),
            nodes: Vec::new(),
            ranges: Vec::new(),
            constant_leaves: Vec::new(),
            selected: HashMap::new(),
            constrained: HashMap::new(),
            distributed: HashMap::new(),
            ranks: HashMap::new(),
            steps: 0,
        };
        for (node, number) in
            [(Node::Constant(0), NONE), (Node::Constant(!0), EVERY), (Node::Unused, UNUSED)]
        {
            assert_eq!(table.intern(node), number, "constants come first");
        }
        table
    }
}

impl Table {
    /// Returns the number of a node.
    pub(super) fn intern(&mut self, node: Node) -> Number {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let number = Number::try_from(self.nodes.len()).expect("the number of nodes is limited");
        self.ranges.push(self.range_of(&node));
        self.constant_leaves.push(match node {
            Node::Constant(_) => true,
            Node::Select(_, yes, no) => {
                self.has_constant_leaves(yes) && self.has_constant_leaves(no)
            }
            _ => false,
        });
        self.nodes.push(node.clone());
        self.numbers.insert(node, number);
        number
    }

    pub(super) fn node(&self, number: Number) -> &Node {
        &self.nodes[number as usize]
    }

    /// Returns whether the proof has exceeded its limits. Numbers created since are not valid.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps > MOST_NODES || self.nodes.len() > MOST_NODES
    }

    /// Counts a step of a recursion over diagrams.
    pub(super) fn step(&mut self) {
        self.steps += 1;
    }

    pub(super) fn constant(&mut self, bits: u32) -> Number {
        self.intern(Node::Constant(bits))
    }

    pub(super) fn range(&self, number: Number) -> Range {
        self.ranges[number as usize]
    }

    pub(super) fn has_constant_leaves(&self, number: Number) -> bool {
        self.constant_leaves[number as usize]
    }

    /// Returns the number as an operand of an [`Inst`].
    pub(super) fn operand(&self, number: Number) -> Operand {
        match *self.node(number) {
            Node::Constant(bits) => Operand::Const(bits),
            _ => Operand::Value(Value(number)),
        }
    }

    fn range_of(&self, node: &Node) -> Range {
        match node {
            Node::Constant(bits) => Range::of(f32::from_bits(*bits)),
            Node::Op(opcode, args) => {
                let mut ranges = [Range::ANY; 3];
                for (range, &arg) in ranges.iter_mut().zip(args) {
                    *range = self.range(arg);
                }
                let range = opcode.range(ranges);
                // The square of a number is not negative, and no product of zero and infinity.
                if let (Opcode::Mul(MulFlags { negate: false, .. }), [a, b]) = (opcode, &args[..])
                    && a == b
                {
                    return Range { lo: 0.0, nan: ranges[0].nan, minus_zero: false, ..range };
                }
                range
            }
            Node::Select(_, yes, no) => self.range(*yes).join(self.range(*no)),
            Node::Uniform(..)
            | Node::Input(_)
            | Node::Texel(..)
            | Node::Carried(_)
            | Node::Unused => Range::ANY,
        }
    }

    /// Returns whether a node is an atom: a mask that is not composed of others.
    fn is_atom(&self, number: Number) -> bool {
        match self.node(number) {
            Node::Op(opcode, _) => opcode.result_type() == Some(Type::Mask),
            Node::Carried(carried) => carried.is_mask,
            _ => false,
        }
    }

    /// Returns the root of a diagram: its atom, and the cofactors for true and false. `None` for a leaf.
    pub(super) fn decision(&self, number: Number) -> Option<[Number; 3]> {
        match *self.node(number) {
            Node::Select(atom, yes, no) => Some([atom, yes, no]),
            _ if self.is_atom(number) => Some([number, EVERY, NONE]),
            _ => None,
        }
    }

    /// Gives an atom the last rank in the variable order, unless it has one. Returns its number.
    pub(super) fn ranked(&mut self, number: Number) -> Number {
        if self.is_atom(number) {
            let next = u32::try_from(self.ranks.len()).expect("the number of nodes is limited");
            self.ranks.entry(number).or_insert(next);
        }
        number
    }

    /// Returns the first atom of these diagrams in the variable order.
    pub(super) fn first_atom(&self, diagrams: &[Number]) -> Option<Number> {
        let atoms = diagrams.iter().filter_map(|&diagram| Some(self.decision(diagram)?[0]));
        atoms.min_by_key(|atom| self.ranks[atom])
    }

    /// Returns the cofactors of a diagram for an atom that does not follow its root.
    pub(super) fn cofactors(&self, diagram: Number, atom: Number) -> [Number; 2] {
        match self.decision(diagram) {
            Some([first, yes, no]) if first == atom => [yes, no],
            _ => [diagram; 2],
        }
    }

    /// Returns the diagram of a decision by an atom that precedes those of both diagrams.
    pub(super) fn decide(&mut self, atom: Number, yes: Number, no: Number) -> Number {
        match (yes, no) {
            _ if yes == no => yes,
            (EVERY, NONE) => atom,
            _ => self.intern(Node::Select(atom, yes, no)),
        }
    }

    /// Returns the diagram of `mask ? yes : no`.
    pub(super) fn select(&mut self, mask: Number, yes: Number, no: Number) -> Number {
        match mask {
            _ if yes == no => return yes,
            EVERY => return yes,
            NONE => return no,
            _ if (yes, no) == (EVERY, NONE) => return mask,
            _ => {}
        }
        if let Some(&known) = self.selected.get(&[mask, yes, no]) {
            return known;
        }
        self.step();
        if self.is_exhausted() {
            return mask;
        }
        let atom = self.first_atom(&[mask, yes, no]).expect("only the constant masks have no atom");
        let [mask_yes, mask_no] = self.cofactors(mask, atom);
        let [yes_yes, yes_no] = self.cofactors(yes, atom);
        let [no_yes, no_no] = self.cofactors(no, atom);
        let (if_so, if_not) =
            (self.select(mask_yes, yes_yes, no_yes), self.select(mask_no, yes_no, no_no));
        let number = self.decide(atom, if_so, if_not);
        self.selected.insert([mask, yes, no], number);
        number
    }

    pub(super) fn and(&mut self, a: Number, b: Number) -> Number {
        self.select(a, b, NONE)
    }

    pub(super) fn not(&mut self, a: Number) -> Number {
        self.select(a, NONE, EVERY)
    }

    /// Returns the generalised cofactor of Coudert and Madre: a diagram that equals the given one in the lanes of
    /// `care`, which is not empty, and is the same for all diagrams that are equal there.
    pub(super) fn constrain(&mut self, diagram: Number, care: Number) -> Number {
        if care == EVERY || self.decision(diagram).is_none() {
            return diagram;
        }
        if let Some(&known) = self.constrained.get(&[diagram, care]) {
            return known;
        }
        self.step();
        if self.is_exhausted() {
            return diagram;
        }
        let atom = self.first_atom(&[diagram, care]).expect("a decision has an atom");
        let [yes, no] = self.cofactors(diagram, atom);
        let number = match self.cofactors(care, atom) {
            [care_yes, NONE] => self.constrain(yes, care_yes),
            [NONE, care_no] => self.constrain(no, care_no),
            [care_yes, care_no] => {
                let (yes, no) = (self.constrain(yes, care_yes), self.constrain(no, care_no));
                self.decide(atom, yes, no)
            }
        };
        self.constrained.insert([diagram, care], number);
        number
    }

    /// Returns the number of an operation on numbered operands without simplification: not a canonical form.
    pub(super) fn raw(&mut self, opcode: Opcode, args: &[Number]) -> Number {
        let opcode = match opcode {
            // The absence of denormals allows a faster comparison and changes no result.
            Opcode::Min(_) => Opcode::Min(DenormalMode::Kept),
            Opcode::Max(_) => Opcode::Max(DenormalMode::Kept),
            // The product is rounded before the sum.
            Opcode::Mad(flags, sign) => {
                let product = self.raw(Opcode::Mul(flags), &args[..2]);
                let sum = match sign {
                    AddSign::Plus => Opcode::Add,
                    AddSign::Minus => Opcode::Sub,
                };
                return self.raw(sum, &[product, args[2]]);
            }
            _ => opcode,
        };
        self.intern(Node::Op(opcode, args.to_vec()))
    }

    /// Returns the canonical form of an operation. Commutative operands are sorted, each factor with its zero rule;
    /// masks are expressed by `Eq`, `Lt` and `Ge`.
    pub(super) fn op(&mut self, opcode: Opcode, mut args: Vec<Number>) -> Number {
        let opcode = match opcode {
            Opcode::Add | Opcode::Eq => {
                args.sort_unstable();
                opcode
            }
            // Different from the other number, or NaN.
            Opcode::Ne => {
                let equal = self.op(Opcode::Eq, args);
                return self.not(equal);
            }
            Opcode::Mul(flags) => Opcode::Mul(ordered(flags, &mut args)),
            _ => opcode,
        };
        let number = self.intern(Node::Op(opcode, args));
        self.ranked(number)
    }

    /// Returns the first operands in which two nodes of the same operation differ; `None` if the operations differ.
    pub(super) fn first_difference(&self, numbers: [Number; 2]) -> Option<[Number; 2]> {
        let [a, b] = numbers.map(|number| self.node(number));
        let differing = |a: &[Number], b: &[Number]| {
            let same_length = a.len() == b.len();
            let found = a.iter().zip(b).find(|(a, b)| a != b);
            found.filter(|_| same_length).map(|(&a, &b)| [a, b])
        };
        match (a, b) {
            (Node::Op(x, a), Node::Op(y, b)) if x == y => differing(a, b),
            (&Node::Select(m, x, y), &Node::Select(n, v, w)) => differing(&[m, x, y], &[n, v, w]),
            (Node::Texel(fetch, a, channel), Node::Texel(other, b, other_channel))
                if (fetch, channel) == (other, other_channel) =>
            {
                differing(a, b)
            }
            _ => None,
        }
    }
}

/// Sorts the factors of a product.
fn ordered(flags: MulFlags, args: &mut [Number]) -> MulFlags {
    if args[0] <= args[1] {
        return flags;
    }
    args.swap(0, 1);
    MulFlags { zero_a: flags.zero_b, zero_b: flags.zero_a, ..flags }
}
