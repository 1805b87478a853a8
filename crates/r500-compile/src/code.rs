//! The compiler's form of a program: operations on virtual registers, in structured flow.
//!
//! A register has up to four components. Most are written once; those that hold a variable over branches and loops, once in each branch
//! and at the end of each pass. An operation computes some components of its register; each of its operands has a component for each.

use std::fmt;

use r500_glsl::Span;
pub(crate) use r500_opt::vertex::machine::Register;

use crate::arithmetic::{Alu, FetchKind};
use crate::points::Origin;

/// Where a component comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Atom {
    /// The bits of a number without its sign.
    Literal(u32),
    Register(Register, u8),
    /// A channel of a vector of a uniform.
    Uniform(u16, u8),
    /// A channel of the vector that a register counts from another one; of vertices.
    Relative(Relative, u8),
}

/// A vector of a uniform whose number a register has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Relative {
    /// The vector that 0 stands for.
    pub(crate) base: u16,
    pub(crate) index: (Register, u8),
    /// The uniform's first vector, and how many it has.
    pub(crate) array: (u16, u16),
}

/// A component with the modifier of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Component {
    pub(crate) atom: Atom,
    pub(crate) abs: bool,
    pub(crate) negate: bool,
}

impl Component {
    pub(crate) fn literal(value: f32) -> Self {
        let bits = value.to_bits();
        Self { atom: Atom::Literal(bits & 0x7fff_ffff), abs: false, negate: bits >> 31 != 0 }
    }

    pub(crate) const fn register(register: Register, component: u8) -> Self {
        Self { atom: Atom::Register(register, component), abs: false, negate: false }
    }

    pub(crate) const fn uniform(constant: u16, channel: u8) -> Self {
        Self { atom: Atom::Uniform(constant, channel), abs: false, negate: false }
    }

    /// Returns the number, if it is known.
    pub(crate) fn value(self) -> Option<f32> {
        match self.atom {
            Atom::Literal(bits) => Some(f32::from_bits(bits | u32::from(self.negate) << 31)),
            _ => None,
        }
    }

    pub(crate) fn negated(self) -> Self {
        Self { negate: !self.negate, ..self }
    }

    pub(crate) fn absolute(self) -> Self {
        let abs = !matches!(self.atom, Atom::Literal(_));
        Self { atom: self.atom, abs, negate: false }
    }

    /// Returns the component of a register that is read: its own, or that of its index.
    pub(crate) fn register_read(self) -> Option<(Register, u8)> {
        match self.atom {
            Atom::Register(register, component) => Some((register, component)),
            Atom::Relative(relative, _) => Some(relative.index),
            Atom::Uniform(..) | Atom::Literal(_) => None,
        }
    }

    /// Returns what it is a channel of, as its first channel; `None` of a number.
    pub(crate) fn vector(self) -> Option<Atom> {
        match self.atom {
            Atom::Register(register, _) => Some(Atom::Register(register, 0)),
            Atom::Uniform(n, _) => Some(Atom::Uniform(n, 0)),
            Atom::Relative(relative, _) => Some(Atom::Relative(relative, 0)),
            Atom::Literal(_) => None,
        }
    }

    /// Returns the register's component, if there is no modifier.
    pub(crate) fn plain(self) -> Option<(Register, u8)> {
        self.in_register().filter(|_| !self.negate && !self.abs)
    }

    /// Returns whether one source of an instruction can give them: numbers only, or components of one register or constant with one
    /// modifier, and numbers that a swizzle has.
    pub(crate) fn are_of_one_source(value: &[Self]) -> bool {
        let Some(first) = value.iter().find(|component| component.value().is_none()) else {
            return true;
        };
        value.iter().all(|component| match component.atom {
            Atom::Literal(bits) => {
                !first.abs
                    && component.negate == first.negate
                    && matches!(f32::from_bits(bits), 0.0 | 0.5 | 1.0)
            }
            _ => {
                first.vector() == component.vector()
                    && (first.abs, first.negate) == (component.abs, component.negate)
            }
        })
    }

    pub(crate) fn in_register(self) -> Option<(Register, u8)> {
        match self.atom {
            Atom::Register(register, component) => Some((register, component)),
            _ => None,
        }
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.value() {
            return write!(f, "{value:?}");
        }
        f.write_str(if self.negate { "-" } else { "" })?;
        let bar = if self.abs { "|" } else { "" };
        match self.atom {
            Atom::Register(register, c) => write!(f, "{bar}v{}.{c}{bar}", register.0),
            Atom::Uniform(n, c) => write!(f, "{bar}c{n}.{c}{bar}"),
            Atom::Relative(Relative { base, index: (register, of), .. }, c) => {
                write!(f, "{bar}c[{base} + v{}.{of}].{c}{bar}", register.0)
            }
            Atom::Literal(_) => Ok(()),
        }
    }
}

/// A value: its components.
pub(crate) type Value = Vec<Component>;

/// A condition: a component that is at least 0, or with `negated` is not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Condition {
    pub(crate) test: Component,
    pub(crate) negated: bool,
}

impl Condition {
    pub(crate) fn known(value: bool) -> Self {
        Self { test: Component::literal(0.0), negated: !value }
    }

    pub(crate) fn not(self) -> Self {
        Self { negated: !self.negated, ..self }
    }

    /// Returns whether it holds, if that is known.
    pub(crate) fn value(self) -> Option<bool> {
        let value = self.test.value()?;
        // A denormal counts as zero.
        let holds = value >= 0.0 || value == 0.0 || value.is_subnormal();
        Some(holds != self.negated)
    }
}

/// What an operation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    /// By components.
    Alu(Alu),
    /// Limited to 0..1.
    MadSat,
    /// The bits of the only operand.
    Copy,
    /// The sum of products of all components of two operands, of which there are 2 to 4.
    Dot,
}

/// An operation.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) code: Code,
    pub(crate) register: Register,
    /// The components that it writes.
    pub(crate) lanes: Vec<u8>,
    /// A component for each lane; of [`Code::Dot`] all that are summed.
    pub(crate) operands: Vec<Value>,
    pub(crate) origin: Origin,
}

/// A fetch into a register with four components.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    pub(crate) kind: FetchKind,
    pub(crate) register: Register,
    /// The components that are read.
    pub(crate) lanes: [bool; 4],
    /// Four components of one register, without modifiers.
    pub(crate) strq: [(Register, u8); 4],
    /// d/dx and d/dy, in the same way.
    pub(crate) gradients: Option<[[(Register, u8); 4]; 2]>,
    pub(crate) origin: Origin,
}

/// Where an output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Color(u8),
    Depth,
    /// Of a vertex: a vector of those that the lowering lists.
    Vertex(u16),
}

/// A step of a program.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Op(Op),
    Fetch(Fetch),
    /// Ends pixels where one of the components is below 0. All are of one register, without modifiers.
    Kill(Vec<(Register, u8)>, Origin),
    Output(Target, Value, Origin),
    If(Condition, Vec<Self>, Vec<Self>, Origin),
    /// Passes, 255 at most; the number is exact if nothing breaks.
    Loop(u8, Vec<Self>, Origin),
    Break(Origin),
    Continue(Origin),
}

/// What the allocation must know of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One component, in alpha.
    Alpha,
    /// One to three components, in the colours.
    Colors,
    /// Four components of one temporary.
    Whole,
    /// Four components of one temporary that holds an input when the program starts.
    Input(u8),
}

/// A program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routine {
    pub(crate) nodes: Vec<Node>,
    pub(crate) shapes: Vec<Shape>,
}

impl Routine {
    pub(crate) fn shape(&self, register: Register) -> Shape {
        self.shapes[register.0 as usize]
    }
}

impl Routine {
    /// Returns whether an operation is one instruction whatever its temporaries are: each operand reads one source of the colours and one
    /// of alpha at most, with one modifier, and no numbers besides them that need a source.
    pub(crate) fn is_one_instruction(&self, op: &Op) -> bool {
        let source = |component: &Component| match component.atom {
            Atom::Register(register, c) => {
                let alpha = self.shape(register) == Shape::Alpha || c == 3;
                Some((alpha, false, register.0))
            }
            Atom::Uniform(n, c) => Some((c == 3, true, u32::from(n))),
            Atom::Relative(..) => unreachable!("indices in registers are of vertices"),
            Atom::Literal(_) => None,
        };
        op.lanes.len() == 1
            || op.operands.iter().all(|operand| {
                let sources: Vec<(bool, bool, u32)> = operand.iter().filter_map(source).collect();
                let one = |alpha: bool| {
                    let mut of_file = sources.iter().filter(|source| source.0 == alpha);
                    let first = of_file.next();
                    of_file.all(|source| Some(source) == first)
                };
                let mut modifiers =
                    operand.iter().filter(|c| c.value().is_none()).map(|c| (c.abs, c.negate));
                let first = modifiers.next();
                let numbers: Vec<&Component> =
                    operand.iter().filter(|c| c.value().is_some()).collect();
                let swizzled = |c: &&Component| {
                    matches!(c.value(), Some(0.0 | 0.5 | 1.0))
                        && !c.negate
                        && first.is_none_or(|first| first == (false, false))
                };
                let alike = sources.is_empty() && numbers.windows(2).all(|pair| pair[0] == pair[1]);
                one(true)
                    && one(false)
                    && modifiers.all(|own| Some(own) == first)
                    && (alike || numbers.iter().all(swizzled))
            })
    }
}

/// Calls `each` with the operands of a node, not of those inside of it.
pub(crate) fn reads(node: &Node, each: &mut dyn FnMut(Register, u8)) {
    let component = |each: &mut dyn FnMut(Register, u8), component: &Component| {
        if let Some((register, c)) = component.register_read() {
            each(register, c);
        }
    };
    match node {
        Node::Op(op) => op.operands.iter().flatten().for_each(|c| component(each, c)),
        Node::Fetch(fetch) => {
            let gradients = fetch.gradients.iter().flatten().flatten();
            fetch.strq.iter().chain(gradients).for_each(|(register, c)| each(*register, *c));
        }
        Node::Kill(list, _) => list.iter().for_each(|(register, c)| each(*register, *c)),
        Node::Output(_, value, _) => value.iter().for_each(|c| component(each, c)),
        Node::If(condition, ..) => component(each, &condition.test),
        Node::Loop(..) | Node::Break(_) | Node::Continue(_) => {}
    }
}

/// Calls `visit` with nodes and those inside of them.
pub(crate) fn each(nodes: &[Node], visit: &mut dyn FnMut(&Node)) {
    for node in nodes {
        visit(node);
        match node {
            Node::If(_, yes, no, _) => {
                each(yes, visit);
                each(no, visit);
            }
            Node::Loop(_, body, _) => each(body, visit),
            _ => {}
        }
    }
}

/// Returns the register that a node writes, not those inside of it.
pub(crate) fn written(node: &Node) -> Option<Register> {
    match node {
        Node::Op(op) => Some(op.register),
        Node::Fetch(fetch) => Some(fetch.register),
        _ => None,
    }
}

/// Returns whether nodes leave the loop around them or its pass.
pub(crate) fn exits(nodes: &[Node]) -> bool {
    nodes.iter().any(|node| match node {
        Node::Break(_) | Node::Continue(_) => true,
        Node::If(_, yes, no, _) => exits(yes) || exits(no),
        _ => false,
    })
}

/// Returns the number of nodes, with those inside of others.
pub(crate) fn count(nodes: &[Node]) -> usize {
    let mut count = 0;
    each(nodes, &mut |_| count += 1);
    count
}

/// Returns a branch that has as many others around it as `most`, or more.
pub(crate) fn too_deep(nodes: &[Node], most: usize) -> Option<Span> {
    nodes.iter().find_map(|node| match node {
        Node::If(_, _, _, origin) if most == 0 => Some(origin.span),
        Node::If(_, yes, no, _) => too_deep(yes, most - 1).or_else(|| too_deep(no, most - 1)),
        Node::Loop(_, body, _) => too_deep(body, most),
        _ => None,
    })
}
