//! Which values of a program are watched for tiny numbers, so that all others need not be.
//!
//! A value is watched where it is made. If one of those watched is neither zero nor of the size that it is
//! watched for, what was computed counts for nothing.

use std::collections::{BTreeSet, HashMap};

use super::facts::{Fact, Size, Watch, of_result};
use crate::op::{Class, Given, Kind, Node, Op, Program, V};

/// Values to watch, and how.
#[derive(Debug, Default)]
pub(super) struct Watched(HashMap<V, How>);

/// How a value is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct How {
    pub(super) size: Size,
    /// Whether it is not below zero, which makes it easier.
    pub(super) positive: bool,
}

impl Watched {
    /// What is to be watched in a program.
    pub(super) fn of(program: &Program) -> Self {
        let given = program.given.iter().map(|given| match given {
            Some(Given::Const(bits)) => Fact::of(*bits),
            _ => Fact::BITS,
        });
        let mut look = Look { program, facts: given.collect(), watched: Self::default() };
        look.nodes(&program.body);
        look.watched
    }

    /// How a value is watched, if it is.
    pub(super) fn get(&self, v: V) -> Option<How> {
        self.0.get(&v).copied()
    }

    /// All ways in which values are watched, each once.
    pub(super) fn ways(&self) -> BTreeSet<How> {
        self.0.values().copied().collect()
    }
}

struct Look<'a> {
    program: &'a Program,
    facts: Vec<Fact>,
    watched: Watched,
}

impl Look<'_> {
    fn fact(&self, v: V) -> Fact {
        self.facts.get(v.index()).copied().unwrap_or(Fact::BITS)
    }

    fn set(&mut self, v: V, fact: Fact) {
        if let Some(place) = self.facts.get_mut(v.index()) {
            *place = fact;
        }
    }

    fn watch(&mut self, v: V, size: Size) {
        let fact = self.fact(v);
        let how = self.watched.0.entry(v).or_insert(How { size, positive: fact.positive });
        how.size = how.size.max(size);
        self.set(v, fact.watched(size));
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Ops(ops) => ops.iter().for_each(|op| self.op(op)),
                Node::Spend(_) => {}
                // What has a place of its own is the same kind of value all the time.
                Node::Branch(branch) => {
                    for merge in &branch.merges {
                        merge.before.into_iter().for_each(|before| self.keep(before));
                        self.set(merge.var, Fact::KEPT);
                    }
                    for arm in &branch.arms {
                        self.nodes(&arm.body);
                        for assign in &arm.assign {
                            self.keep(assign.from);
                            self.set(assign.new, Fact::KEPT);
                        }
                    }
                }
                Node::Repeat(repeat) => {
                    for carried in &repeat.carried {
                        self.keep(carried.init);
                        self.set(carried.var, Fact::KEPT);
                        self.set(carried.out, Fact::KEPT);
                    }
                    self.nodes(&repeat.body);
                    repeat.carried.iter().for_each(|carried| self.keep(carried.next));
                }
            }
        }
    }

    fn keep(&mut self, v: V) {
        if self.program.class(v) == Class::Vector && !self.fact(v).is_kept() {
            self.watch(v, Size::Large);
        }
    }

    fn op(&mut self, op: &Op) {
        let square = op.kind == Kind::Mul && op.args[0] == op.args[1];
        loop {
            let facts: Vec<Fact> = op.args().map(|v| self.fact(v)).collect();
            let (fact, watch) = match of_result(op.kind, &facts) {
                Ok(fact) => (fact, false),
                Err(Watch::Result) => (Fact { positive: true, ..Fact::BITS }, true),
                Err(Watch::Argument(n, size)) => {
                    // It is as wanted from now on.
                    let Some(v) = op.args[n] else { return };
                    self.watch(v, size);
                    continue;
                }
            };
            let Some(dst) = op.dst else { return };
            let fact = match self.program.powers.get(&dst) {
                Some(&least) if fact.exact => Fact::power(least),
                _ => fact,
            };
            self.set(dst, Fact { positive: fact.positive || square, ..fact });
            if watch {
                self.watch(dst, Size::Large);
            }
            return;
        }
    }
}
