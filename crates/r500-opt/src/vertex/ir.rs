//! The representation that passes rewrite: operations of straight code over values in static single assignment. A value is one component.

use std::collections::BTreeMap;
use std::rc::Rc;

use r500_pvs::{MathOp, Op, VectorOp};

use super::allocate::Channel;

/// A component that an operation computes, or that the code finds in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value(pub(super) u32);

/// A register file for values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum File {
    Temporary,
    Alternate,
    /// The address register.
    Address,
}

/// A component of a register of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) file: File,
    pub(super) number: u8,
    pub(super) channel: u8,
}

impl Cell {
    /// Returns it as a channel; `None` of the address register.
    pub(super) fn as_channel(self) -> Option<Channel> {
        let Self { file, number, channel } = self;
        (file != File::Address).then(|| Channel {
            is_alternate: file == File::Alternate,
            number,
            channel,
        })
    }
}

/// What operations read besides values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Memory {
    Input(u8),
    Constant(u8),
    /// A constant, counted by a value that a component of the address register has.
    Relative(u8, Value, u8),
}

/// A component that an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Atom {
    Zero,
    One,
    Value(Value),
    Memory(Memory, u8),
}

/// A component that an operation reads, with its modifiers: absolute value, then negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Part {
    pub(super) atom: Atom,
    pub(super) abs: bool,
    pub(super) negate: bool,
}

impl Part {
    pub(super) const ZERO: Self = Self { atom: Atom::Zero, abs: false, negate: false };
    pub(super) const ONE: Self = Self { atom: Atom::One, abs: false, negate: false };

    /// Returns the component as it is.
    pub(super) fn of(value: Value) -> Self {
        Self { atom: Atom::Value(value), abs: false, negate: false }
    }

    /// Returns its value, if it has one.
    pub(super) fn value(self) -> Option<Value> {
        match self.atom {
            Atom::Value(value) => Some(value),
            Atom::Zero | Atom::One | Atom::Memory(..) => None,
        }
    }

    /// Returns the number that it is.
    pub(super) fn number(self) -> Option<f32> {
        let number: f32 = match self.atom {
            Atom::Zero => 0.0,
            Atom::One => 1.0,
            Atom::Value(_) | Atom::Memory(..) => return None,
        };
        Some(if self.negate { -number } else { number })
    }

    /// Returns whether it is +0.
    pub(super) fn is_zero(self) -> bool {
        self.number().is_some_and(|number| number.to_bits() == 0)
    }

    /// Returns whether it is 1.
    pub(super) fn is_one(self) -> bool {
        self.number() == Some(1.0)
    }

    /// Returns the modified operand of which this is another modification: this one's modifiers are applied last.
    pub(super) fn applied_to(self, inner: Self) -> Self {
        let abs = self.abs || inner.abs;
        let negate = if self.abs { self.negate } else { self.negate != inner.negate };
        let is_number = matches!(inner.atom, Atom::Zero | Atom::One);
        Self { atom: inner.atom, abs: abs && !is_number, negate }
    }
}

/// How an operation computes its lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Each from the parts of the same number.
    Lanes(VectorOp),
    /// The sum of four products, in every lane; the sources have four parts.
    Dot,
    /// A scalar of scalars, in every lane; the sources have one part.
    Scalar(MathOp),
    /// Lanes have operations of their own: they stay in their channels. The sources have four parts.
    Fixed(Op),
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Values(File),
    Output(u8),
}

/// A lane: the channel that it has, or had in the program, and the value that it computes. Those of outputs are never read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) channel: u8,
    pub(super) value: Value,
}

/// An operation.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) target: Target,
    pub(super) lanes: Vec<Lane>,
    pub(super) sources: Vec<Vec<Part>>,
    pub(super) saturate: bool,
    /// The instructions of the program that it computes.
    pub(super) origins: Vec<usize>,
}

impl Node {
    /// Returns all that it reads.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> + '_ {
        self.sources.iter().flatten().copied()
    }

    /// Returns the values that it reads, those of addresses, too.
    pub(super) fn read_values(&self) -> impl Iterator<Item = Value> + '_ {
        self.parts().filter_map(|part| match part.atom {
            Atom::Value(value) | Atom::Memory(Memory::Relative(_, value, _), _) => Some(value),
            Atom::Memory(..) | Atom::Zero | Atom::One => None,
        })
    }

    /// Returns the operands of a lane of an operation by lanes.
    pub(super) fn operands(&self, lane: usize) -> Vec<Part> {
        self.sources.iter().map(|parts| parts[lane]).collect()
    }

    /// Returns the operands of a lane, if the operation is one by lanes.
    pub(super) fn operands_of_lane(&self, lane: usize) -> Option<Vec<Part>> {
        matches!(self.kind, Kind::Lanes(_)).then(|| self.operands(lane))
    }

    /// Returns the operand of a copy: of a lane that computes a sum with +0 or a product with 1 of it.
    pub(super) fn copied(&self, lane: usize) -> Option<Part> {
        let Kind::Lanes(op) = self.kind else { return None };
        match (op, &self.operands(lane)[..]) {
            (VectorOp::ADD, [a, zero]) if zero.is_zero() => Some(*a),
            (VectorOp::ADD, [zero, a]) if zero.is_zero() => Some(*a),
            (VectorOp::MULTIPLY, [a, one]) if one.is_one() => Some(*a),
            (VectorOp::MULTIPLY, [one, a]) if one.is_one() => Some(*a),
            (VectorOp::MULTIPLY_ADD, [a, one, zero]) if one.is_one() && zero.is_zero() => Some(*a),
            (VectorOp::MULTIPLY_ADD, [one, a, zero]) if one.is_one() && zero.is_zero() => Some(*a),
            (VectorOp::MULTIPLY_ADD, [a, b, c]) if a.is_zero() || b.is_zero() => Some(*c),
            _ => None,
        }
    }

    /// Returns whether it writes the address register.
    pub(super) fn is_addressed_write(&self) -> bool {
        self.target == Target::Values(File::Address)
    }

    /// Returns whether it writes or needs the address register.
    pub(super) fn is_addressed(&self) -> bool {
        let is_relative = |part: Part| matches!(part.atom, Atom::Memory(Memory::Relative(..), _));
        self.target == Target::Values(File::Address) || self.parts().any(is_relative)
    }

    /// Removes lanes of an operation.
    pub(super) fn retain_lanes(&mut self, keep: impl Fn(&Lane) -> bool) {
        let kept: Vec<bool> = self.lanes.iter().map(keep).collect();
        if matches!(self.kind, Kind::Lanes(_)) {
            for parts in &mut self.sources {
                let mut kept = kept.iter();
                parts.retain(|_| kept.next() == Some(&true));
            }
        }
        let mut kept = kept.iter();
        self.lanes.retain(|_| kept.next() == Some(&true));
    }
}

/// Straight code.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) nodes: Vec<Node>,
    /// The components of registers that values had in the program.
    pub(super) homes: BTreeMap<Value, Cell>,
    /// What the code finds in registers and reads, or what is read after it.
    pub(super) incoming: Vec<(Cell, Value)>,
    /// What must be in registers at its end.
    pub(super) outgoing: Vec<(Cell, Value)>,
    next: u32,
    /// What rewrites may still cost, which all copies of a block share.
    fuel: Rc<Cell64>,
}

/// A number that copies share.
type Cell64 = std::cell::Cell<u64>;

impl Block {
    /// Gives rewrites a number of steps.
    pub(super) fn refuel(&mut self, steps: u64) {
        self.fuel = Rc::new(Cell64::new(steps));
    }

    /// Takes a step for each operation. Returns whether there were enough.
    pub(super) fn burn(&self) -> bool {
        let left = self.fuel.get().checked_sub(self.nodes.len() as u64 + 1);
        self.fuel.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns a new value.
    pub(super) fn fresh(&mut self) -> Value {
        self.next += 1;
        Value(self.next - 1)
    }

    /// Returns the number of values.
    pub(super) fn values(&self) -> usize {
        self.next as usize
    }

    /// Returns for each value how often it is read; what must be in a register at the end is read once more.
    pub(super) fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.values()];
        let outgoing = self.outgoing.iter().map(|(_, value)| *value);
        let read = self.nodes.iter().flat_map(Node::read_values);
        read.chain(outgoing).for_each(|value| uses[value.0 as usize] += 1);
        uses
    }

    /// Returns for each value the operation that computes it; none of those that the code finds.
    pub(super) fn definitions(&self) -> Vec<Option<usize>> {
        let mut all = vec![None; self.values()];
        for (n, node) in self.nodes.iter().enumerate() {
            node.lanes.iter().for_each(|lane| all[lane.value.0 as usize] = Some(n));
        }
        all
    }

    /// Returns whether a value must be in a register at the end.
    pub(super) fn is_outgoing(&self, value: Value) -> bool {
        self.outgoing.iter().any(|(_, other)| *other == value)
    }
}
