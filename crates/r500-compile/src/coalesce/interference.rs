//! Which components of registers may not share a place: one is written while the other one has a value that is read later.
//!
//! A copy does not make its source and what it writes interfere: both have the same bits.

use std::collections::HashMap;

use super::IsOne;
use crate::code::{Code, Node, Op, Register, Routine, reads};

/// Components of a register.
const COMPONENTS: usize = 4;

/// A set of numbers below a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn has(&self, n: usize) -> bool {
        self.0[n / 64] >> (n % 64) & 1 != 0
    }

    fn insert(&mut self, n: usize) {
        self.0[n / 64] |= 1 << (n % 64);
    }

    fn remove(&mut self, n: usize) {
        self.0[n / 64] &= !(1 << (n % 64));
    }

    /// Adds the members of another set. Returns whether there are new ones.
    fn extend(&mut self, other: &Self) -> bool {
        let mut grown = false;
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            grown |= other & !*word != 0;
            *word |= other;
        }
        grown
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let of_word = |(n, word): (usize, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| n * 64 + bit)
        };
        self.0.iter().enumerate().flat_map(of_word)
    }
}

/// The registers that copies name, and the interference of their components.
pub(super) struct Interference {
    numbers: HashMap<Register, usize>,
    rows: Vec<Bits>,
    /// The components of each register that the program names.
    used: Vec<u8>,
}

impl Interference {
    /// Finds it for some registers.
    pub(super) fn of(routine: &Routine, registers: &[Register], is_one: IsOne<'_>) -> Self {
        let mut numbers = HashMap::new();
        for register in registers {
            let next = numbers.len();
            numbers.entry(*register).or_insert(next);
        }
        let count = numbers.len() * COMPONENTS;
        let graph =
            Self { used: vec![0; numbers.len()], rows: vec![Bits::new(count); count], numbers };
        let mut walk = Walk { graph, routine, is_one, records: true };
        walk.list(&routine.nodes, Bits::new(count), None);
        let mut graph = walk.graph;
        for n in 0..count {
            // Each pair has been noted for one of both.
            let row = graph.rows[n].clone();
            row.iter().for_each(|other| graph.rows[other].insert(n));
        }
        graph
    }

    fn number(&self, register: Register, component: u8) -> Option<usize> {
        Some(self.numbers.get(&register)? * COMPONENTS + usize::from(component))
    }

    /// Returns the components of a register that the program names.
    pub(super) fn used(&self, register: Register) -> impl Iterator<Item = u8> + use<> {
        let used = self.numbers.get(&register).map_or(0, |n| self.used[*n]);
        (0..COMPONENTS as u8).filter(move |c| used >> c & 1 != 0)
    }

    /// Returns whether two components may share a place.
    pub(super) fn may_share(&self, a: (Register, u8), b: (Register, u8)) -> bool {
        match (self.number(a.0, a.1), self.number(b.0, b.1)) {
            (Some(a), Some(b)) => !self.rows[a].has(b),
            _ => false,
        }
    }

    /// Notes that a component of a register is now one of another.
    #[expect(clippy::expect_used, reason = "only registers that copies name are merged")]
    pub(super) fn merge(&mut self, from: (Register, u8), to: (Register, u8)) {
        let number = |graph: &Self, place: (Register, u8)| {
            graph.number(place.0, place.1).expect("a register that a copy names has a number")
        };
        let (gone, stays) = (number(self, from), number(self, to));
        let row = self.rows[gone].clone();
        row.iter().for_each(|other| self.rows[other].insert(stays));
        self.rows[stays].extend(&row);
        self.used[stays / COMPONENTS] |= 1 << (stays % COMPONENTS);
    }
}

/// What is alive where loops are left.
struct Exits {
    /// After the loop.
    after: Bits,
    /// Where its next pass begins, or after it.
    next: Bits,
}

/// A walk from the end of the program to its start.
struct Walk<'a> {
    graph: Interference,
    routine: &'a Routine,
    is_one: IsOne<'a>,
    /// Whether pairs are noted; not while what a loop keeps alive is not known.
    records: bool,
}

impl Walk<'_> {
    /// Returns what is alive before nodes after which `live` is.
    fn list(&mut self, nodes: &[Node], mut live: Bits, exits: Option<&Exits>) -> Bits {
        for node in nodes.iter().rev() {
            match node {
                Node::If(_, yes, no, _) => {
                    let other = self.list(no, live.clone(), exits);
                    live = self.list(yes, live, exits);
                    live.extend(&other);
                }
                Node::Loop(_, body, _) => live = self.repeat(body, live),
                Node::Break(_) => live = exits.map_or(live, |exits| exits.after.clone()),
                Node::Continue(_) => live = exits.map_or(live, |exits| exits.next.clone()),
                Node::Op(op) => self.op(op, &mut live),
                Node::Fetch(fetch) => {
                    let lanes = (0..COMPONENTS as u8).filter(|c| fetch.lanes[usize::from(*c)]);
                    self.define(fetch.register, lanes, &mut live, |_| None);
                }
                Node::Kill(..) | Node::Output(..) => {}
            }
            self.read(node, &mut live);
        }
        live
    }

    fn repeat(&mut self, body: &[Node], after: Bits) -> Bits {
        let records = std::mem::replace(&mut self.records, false);
        let mut exits = Exits { next: after.clone(), after };
        loop {
            let head = self.list(body, exits.next.clone(), Some(&exits));
            if !exits.next.extend(&head) {
                break;
            }
        }
        self.records = records;
        if records {
            self.list(body, exits.next.clone(), Some(&exits));
        }
        exits.next
    }

    fn op(&mut self, op: &Op, live: &mut Bits) {
        if !(self.is_one)(self.routine, op) {
            // The first of several instructions writes before the last one reads.
            self.operands(op, live);
        }
        let lanes = op.lanes.clone();
        self.define(op.register, lanes.iter().copied(), live, |lane| {
            let n = lanes.iter().position(|other| *other == lane)?;
            if op.code == Code::Copy { op.operands[0][n].plain() } else { None }
        });
    }

    fn operands(&mut self, op: &Op, live: &mut Bits) {
        for (register, c) in op.operands.iter().flatten().filter_map(|c| c.register_read()) {
            self.note(register, c, live);
        }
    }

    fn read(&mut self, node: &Node, live: &mut Bits) {
        let mut read = Vec::new();
        reads(node, &mut |register, c| read.push((register, c)));
        read.into_iter().for_each(|(register, c)| self.note(register, c, live));
    }

    fn note(&mut self, register: Register, component: u8, live: &mut Bits) {
        if let Some(n) = self.graph.number(register, component) {
            live.insert(n);
            self.graph.used[n / COMPONENTS] |= 1 << component;
        }
    }

    /// Some components of a register are written; `copied` is what they are copies of.
    fn define(
        &mut self,
        register: Register,
        lanes: impl Iterator<Item = u8> + Clone,
        live: &mut Bits,
        copied: impl Fn(u8) -> Option<(Register, u8)>,
    ) {
        for lane in lanes.clone() {
            let Some(n) = self.graph.number(register, lane) else { return };
            self.graph.used[n / COMPONENTS] |= 1 << lane;
            if self.records {
                let source = copied(lane).and_then(|(register, c)| self.graph.number(register, c));
                let mut others = live.clone();
                others.remove(n);
                source.into_iter().for_each(|source| others.remove(source));
                self.graph.rows[n].extend(&others);
            }
        }
        for n in lanes.filter_map(|lane| self.graph.number(register, lane)) {
            live.remove(n);
        }
    }
}
