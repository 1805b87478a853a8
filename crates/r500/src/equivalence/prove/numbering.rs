//! Value numbers: canonical nodes of both programs in one table.
//!
//! A number stands for one structure of operations, so equal numbers are equal values. The table compares nodes
//! in full; nothing is identified by a hash.

use std::collections::BTreeMap;

use r500_ir::{ConstantChannel, Fetch, Inst, MulFlags, Opcode};
use r500_isa::values::TexOp;

/// The number of a value.
pub(super) type Number = u32;

/// The structure of a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    /// The same bits in every lane.
    Constant(u32),
    /// A channel of an input.
    Input(u8, u8),
    /// A channel of a program constant.
    Uniform(u8, u8),
    /// An operation that is none of the others, with its flags, and its arguments.
    Op(Opcode, Vec<Number>),
    /// All of these masks, some of them inverted; in order.
    All(Vec<(Number, bool)>),
    /// Any of these masks; in order.
    Any(Vec<Number>),
    /// The second in the lanes of the first, the third in others.
    Select(Number, Number, Number),
    /// A texel: unit, operation and `UNSCALED`; coordinates, gradients and lanes; channel.
    Texel(u8, u8, bool, Vec<Number>, u8),
    /// A loop parameter, in the body: number of the loop, round of the refinement, class.
    Param(u32, u32, u32),
    /// A loop parameter, after the loop.
    Exit(u32, u32),
    /// A value that no lane uses.
    Unused,
}

const NONE: Node = Node::Constant(0);
const EVERY: Node = Node::Constant(!0);

/// The table.
#[derive(Debug, Default)]
pub(super) struct Table {
    numbers: BTreeMap<Node, Number>,
    nodes: Vec<Node>,
}

impl Table {
    /// Returns the number of a node.
    #[expect(clippy::expect_used, reason = "the limits on programs bound the number of nodes")]
    pub(super) fn intern(&mut self, node: Node) -> Number {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let number = Number::try_from(self.nodes.len()).expect("fewer than 2^32 nodes");
        self.nodes.push(node.clone());
        self.numbers.insert(node, number);
        number
    }

    fn node(&self, number: Number) -> &Node {
        &self.nodes[number as usize]
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn constant(&mut self, bits: u32) -> Number {
        self.intern(Node::Constant(bits))
    }

    pub(super) fn uniform(&mut self, source: ConstantChannel) -> Number {
        self.intern(Node::Uniform(source.constant, source.channel))
    }

    /// Returns the number of an operation on numbered arguments.
    pub(super) fn inst(&mut self, inst: &Inst, args: &[Number]) -> Number {
        match inst.opcode {
            Opcode::Input { input, channel } => self.intern(Node::Input(input, channel)),
            Opcode::Select => self.select(args[0], args[1], args[2]),
            Opcode::And => self.all(&[(args[0], false), (args[1], false)]),
            Opcode::AndNot => self.all(&[(args[0], false), (args[1], true)]),
            Opcode::Or => self.any(&[args[0], args[1]]),
            Opcode::Mul(flags) => self.product(flags, Opcode::Mul, args),
            Opcode::Mad(flags, sign) => self.product(flags, |flags| Opcode::Mad(flags, sign), args),
            Opcode::Add | Opcode::Eq | Opcode::Ne => {
                let mut args = args.to_vec();
                args.sort_unstable();
                self.intern(Node::Op(inst.opcode, args))
            }
            Opcode::Sub
            | Opcode::Neg
            | Opcode::Abs
            | Opcode::NegAbs
            | Opcode::Min(_)
            | Opcode::Max(_)
            | Opcode::Flush
            | Opcode::Clamp01
            | Opcode::Frc
            | Opcode::Rcp
            | Opcode::Rsq
            | Opcode::Ex2
            | Opcode::Ln2
            | Opcode::Sin
            | Opcode::Cos
            | Opcode::QuadBroadcast(_)
            | Opcode::Lt
            | Opcode::Ge => self.intern(Node::Op(inst.opcode, args.to_vec())),
        }
    }

    /// A product, of which `opcode` makes the operation: factors in order, each with its zero rule.
    fn product(
        &mut self,
        flags: MulFlags,
        opcode: impl FnOnce(MulFlags) -> Opcode,
        args: &[Number],
    ) -> Number {
        let mut factors = [(args[0], flags.zero_a), (args[1], flags.zero_b)];
        factors.sort_unstable();
        let [(a, zero_a), (b, zero_b)] = factors;
        let mut ordered = vec![a, b];
        ordered.extend(args.get(2));
        self.intern(Node::Op(opcode(MulFlags { zero_a, zero_b, ..flags }), ordered))
    }

    /// Conjunction of masks, each perhaps inverted.
    pub(super) fn all(&mut self, masks: &[(Number, bool)]) -> Number {
        let (none, every) = (self.intern(NONE), self.intern(EVERY));
        let mut literals = Vec::new();
        let mut work: Vec<(Number, bool)> = masks.to_vec();
        while let Some((mask, inverted)) = work.pop() {
            match (self.node(mask).clone(), inverted) {
                (Node::All(inner), false) => work.extend(inner),
                // None of several masks: each of them inverted.
                (Node::Any(inner), true) => work.extend(inner.into_iter().map(|mask| (mask, true))),
                (Node::All(inner), true) if inner.len() == 1 => {
                    work.extend(inner.into_iter().map(|(mask, inverted)| (mask, !inverted)));
                }
                _ if (mask == every && !inverted) || (mask == none && inverted) => {}
                _ if (mask == none && !inverted) || (mask == every && inverted) => return none,
                _ => literals.push((mask, inverted)),
            }
        }
        literals.sort_unstable();
        literals.dedup();
        if literals.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return none;
        }
        match literals[..] {
            [] => every,
            [(mask, false)] => mask,
            _ => self.intern(Node::All(literals)),
        }
    }

    /// Disjunction of masks.
    pub(super) fn any(&mut self, masks: &[Number]) -> Number {
        let (none, every) = (self.intern(NONE), self.intern(EVERY));
        let mut found = Vec::new();
        let mut work = masks.to_vec();
        while let Some(mask) = work.pop() {
            match self.node(mask) {
                Node::Any(inner) => work.extend(inner.iter().copied()),
                _ if mask == none => {}
                _ if mask == every => return every,
                _ => found.push(mask),
            }
        }
        found.sort_unstable();
        found.dedup();
        match found[..] {
            [] => none,
            [mask] => mask,
            _ => self.intern(Node::Any(found)),
        }
    }

    /// `mask ? yes : no`.
    pub(super) fn select(&mut self, mask: Number, yes: Number, no: Number) -> Number {
        let (none, every) = (self.intern(NONE), self.intern(EVERY));
        if mask == every || yes == no {
            return yes;
        }
        if mask == none {
            return no;
        }
        // Lanes of the mask are decided in the arms, too.
        let yes = match *self.node(yes) {
            Node::Select(inner, value, _) if inner == mask => value,
            _ => yes,
        };
        let no = match *self.node(no) {
            Node::Select(inner, _, value) if inner == mask => value,
            _ => no,
        };
        // One inverted mask: the arms change places.
        if let Node::All(literals) = self.node(mask)
            && let [(inner, true)] = literals[..]
        {
            return self.select(inner, no, yes);
        }
        if yes == no {
            return yes;
        }
        self.intern(Node::Select(mask, yes, no))
    }

    /// Returns the first operands in which two nodes of the same operation differ; `None` where the operations
    /// themselves do.
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
            (Node::Texel(u, o, s, a, c), Node::Texel(v, p, t, b, d))
                if (u, o, s, c) == (v, p, t, d) =>
            {
                differing(a, b)
            }
            _ => None,
        }
    }

    /// A channel of a texel.
    pub(super) fn texel(&mut self, fetch: &Fetch, reads: Vec<Number>, channel: u8) -> Number {
        let op = TexOp::code(fetch.op);
        self.intern(Node::Texel(fetch.unit, op, fetch.unscaled, reads, channel))
    }
}
