//! Value numbers: canonical nodes of both programs in one table.
//!
//! A number stands for one structure of operations, so equal numbers are equal values. The table compares nodes
//! in full; nothing is identified by a hash.

use std::collections::BTreeMap;

use r500_ir::{AddSign, ConstantChannel, DenormalMode, Fetch, Inst, MulFlags, Opcode};
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
    /// An operation that is none of the following: its name and its flags, and its arguments.
    Op(Code, Vec<Number>),
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

/// An operation with its flags, in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub(super) enum Code {
    /// A product: negated; zero rules of the two factors.
    Mul(bool, bool, bool),
    /// A product and a sum; the last says that the third operand is subtracted.
    Mad(bool, bool, bool, bool),
    Add,
    Sub,
    Neg,
    Abs,
    NegAbs,
    /// Denormals are kept.
    Min(bool),
    Max(bool),
    Flush,
    Clamp01,
    Frc,
    Rcp,
    Rsq,
    Ex2,
    Ln2,
    Sin,
    Cos,
    QuadBroadcast(u8),
    Lt,
    Ge,
    Eq,
    Ne,
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
    pub(super) fn intern(&mut self, node: Node) -> Number {
        if let Some(&number) = self.numbers.get(&node) {
            return number;
        }
        let number = Number::try_from(self.nodes.len()).unwrap_or(Number::MAX);
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
        let kept = |mode: DenormalMode| mode == DenormalMode::Kept;
        let code = match inst.opcode {
            Opcode::Input { input, channel } => return self.intern(Node::Input(input, channel)),
            Opcode::Select => return self.select(args[0], args[1], args[2]),
            Opcode::And => return self.all(&[(args[0], false), (args[1], false)]),
            Opcode::AndNot => return self.all(&[(args[0], false), (args[1], true)]),
            Opcode::Or => return self.any(&[args[0], args[1]]),
            Opcode::Mul(flags) => return self.product(flags, None, args),
            Opcode::Mad(flags, sign) => return self.product(flags, Some(sign), args),
            Opcode::Add => return self.commutative(Code::Add, args),
            Opcode::Eq => return self.commutative(Code::Eq, args),
            Opcode::Ne => return self.commutative(Code::Ne, args),
            Opcode::Sub => Code::Sub,
            Opcode::Neg => Code::Neg,
            Opcode::Abs => Code::Abs,
            Opcode::NegAbs => Code::NegAbs,
            Opcode::Min(mode) => Code::Min(kept(mode)),
            Opcode::Max(mode) => Code::Max(kept(mode)),
            Opcode::Flush => Code::Flush,
            Opcode::Clamp01 => Code::Clamp01,
            Opcode::Frc => Code::Frc,
            Opcode::Rcp => Code::Rcp,
            Opcode::Rsq => Code::Rsq,
            Opcode::Ex2 => Code::Ex2,
            Opcode::Ln2 => Code::Ln2,
            Opcode::Sin => Code::Sin,
            Opcode::Cos => Code::Cos,
            Opcode::QuadBroadcast(corner) => Code::QuadBroadcast(corner),
            Opcode::Lt => Code::Lt,
            Opcode::Ge => Code::Ge,
        };
        self.intern(Node::Op(code, args.to_vec()))
    }

    fn commutative(&mut self, code: Code, args: &[Number]) -> Number {
        let mut args = args.to_vec();
        args.sort_unstable();
        self.intern(Node::Op(code, args))
    }

    /// A product: factors in order, each with its zero rule.
    fn product(&mut self, flags: MulFlags, sign: Option<AddSign>, args: &[Number]) -> Number {
        let mut factors = [(args[0], flags.zero_a), (args[1], flags.zero_b)];
        factors.sort_unstable();
        let [(a, zero_a), (b, zero_b)] = factors;
        let mut ordered = vec![a, b];
        ordered.extend(args.get(2));
        let code = match sign {
            None => Code::Mul(flags.negate, zero_a, zero_b),
            Some(sign) => Code::Mad(flags.negate, zero_a, zero_b, sign == AddSign::Minus),
        };
        self.intern(Node::Op(code, ordered))
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
