//! Where each value is looked at.
//!
//! Places in the program are numbered in its order: one for each operation, one for the head of a
//! branch, its arms and their ends, one for the head of a loop and its end. What is computed before a
//! loop and is looked at in it is looked at again at its end.

use std::collections::{HashMap, HashSet};

use crate::op::{Class, Kind, Node, Program, V};

/// What is looked at where.
#[derive(Debug)]
pub(crate) struct Lives {
    /// Where each value is looked at, in order.
    looks: Vec<Vec<u32>>,
    /// Where each value begins.
    begins: Vec<u32>,
    /// Where texels are.
    offsets: HashSet<V>,
    /// Ends of loops by their heads.
    spans: HashMap<u32, u32>,
    /// All looks, in order.
    all: Vec<(u32, V)>,
    /// How many values that lie nowhere else are alive at each place.
    pressure: Vec<u32>,
    end: u32,
}

impl Lives {
    pub(crate) fn of(program: &Program) -> Self {
        let count = program.classes.len();
        let mut lives = Self {
            looks: vec![Vec::new(); count],
            begins: vec![0; count],
            offsets: HashSet::new(),
            spans: HashMap::new(),
            all: Vec::new(),
            pressure: Vec::new(),
            end: 1,
        };
        lives.nodes(&program.body, program);
        lives.end += 1;
        lives.find_pressure(program);
        lives
    }

    fn nodes(&mut self, nodes: &[Node], program: &Program) {
        for node in nodes {
            match node {
                Node::Ops(ops) => {
                    for op in ops {
                        self.end += 1;
                        op.args().for_each(|v| self.look(v));
                        if let Kind::Texel(_) = op.kind {
                            self.offsets.extend(op.args());
                        }
                        op.dst.into_iter().for_each(|v| self.begin(v));
                    }
                }
                Node::Spend(_) => {}
                Node::Branch(branch) => {
                    self.end += 1;
                    for merge in &branch.merges {
                        merge.before.into_iter().for_each(|v| self.look(v));
                        self.begin(merge.var);
                    }
                    for arm in &branch.arms {
                        self.end += 1;
                        self.look(arm.mask);
                        // Its place is needed at the end, whether anyone looks at it before or not.
                        arm.assign.iter().for_each(|assign| self.look(assign.old));
                        self.nodes(&arm.body, program);
                        self.end += 1;
                        for assign in &arm.assign {
                            self.look(assign.from);
                            self.begin(assign.new);
                        }
                    }
                }
                Node::Repeat(repeat) => {
                    self.end += 1;
                    let start = self.end;
                    for carried in &repeat.carried {
                        self.look(carried.init);
                        self.begin(carried.var);
                        self.look(carried.var);
                    }
                    let first = self.all.len();
                    self.nodes(&repeat.body, program);
                    self.end += 1;
                    let mut outer: Vec<V> = (self.all[first..].iter())
                        .map(|(_, v)| *v)
                        .filter(|v| self.begins[v.index()] < start && program.given(*v).is_none())
                        .collect();
                    outer.sort_unstable();
                    outer.dedup();
                    outer.into_iter().for_each(|v| self.look(v));
                    repeat.again.into_iter().for_each(|v| self.look(v));
                    for carried in &repeat.carried {
                        self.look(carried.next);
                        self.begin(carried.out);
                    }
                    self.spans.insert(start, self.end);
                }
            }
        }
    }

    fn look(&mut self, v: V) {
        let looks = &mut self.looks[v.index()];
        if looks.last() != Some(&self.end) {
            looks.push(self.end);
            self.all.push((self.end, v));
        }
    }

    fn begin(&mut self, v: V) {
        self.begins[v.index()] = self.end;
    }

    fn find_pressure(&mut self, program: &Program) {
        let mut changes = vec![0_i32; self.end as usize + 2];
        for (number, looks) in self.looks.iter().enumerate() {
            let v = V(u32::try_from(number).unwrap_or(u32::MAX));
            let Some(&last) = looks.last() else { continue };
            if program.given(v).is_none() && program.class(v) == Class::Vector {
                changes[self.begins[number] as usize] += 1;
                changes[last as usize + 1] -= 1;
            }
        }
        let mut sum = 0;
        self.pressure = changes
            .into_iter()
            .map(|change| {
                sum += change;
                u32::try_from(sum).unwrap_or(0)
            })
            .collect();
    }

    /// The place behind everything.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// Head and end of the loop with this head.
    pub(crate) fn span(&self, start: u32) -> (u32, u32) {
        (start, self.spans.get(&start).copied().unwrap_or(start))
    }

    /// A value is looked at in one more place.
    pub(crate) fn add(&mut self, v: V, at: u32) {
        let looks = &mut self.looks[v.index()];
        let place = looks.partition_point(|look| *look < at);
        if looks.get(place) != Some(&at) {
            looks.insert(place, at);
        }
    }

    /// The next look behind a place.
    pub(crate) fn next(&self, v: V, at: u32) -> Option<u32> {
        let looks = &self.looks[v.index()];
        looks.get(looks.partition_point(|look| *look <= at)).copied()
    }

    /// Whether anyone looks at a value at a place or behind it.
    pub(crate) fn is_needed_from(&self, v: V, at: u32) -> bool {
        self.looks[v.index()].last().is_some_and(|last| *last >= at)
    }

    /// Whether anyone looks at a value.
    pub(crate) fn is_needed(&self, v: V) -> bool {
        !self.looks[v.index()].is_empty()
    }

    /// Whether anyone looks at a value between two places.
    pub(crate) fn is_used_in(&self, v: V, start: u32, end: u32) -> bool {
        self.next(v, start).is_some_and(|look| look <= end)
    }

    /// Whether a value says where texels are.
    pub(crate) fn is_offset(&self, v: V) -> bool {
        self.offsets.contains(&v)
    }

    /// The most values that are alive at once between two places.
    pub(crate) fn pressure(&self, start: u32, end: u32) -> usize {
        let span = self.pressure.get(start as usize..=end as usize).unwrap_or_default();
        span.iter().copied().max().unwrap_or(0) as usize
    }

    /// What of a kind is looked at between two places, the most often looked at first.
    pub(crate) fn given_in(&self, start: u32, end: u32, kind: impl Fn(V) -> bool) -> Vec<V> {
        let first = self.all.partition_point(|(at, _)| *at <= start);
        let behind = self.all.partition_point(|(at, _)| *at < end);
        let mut counts: HashMap<V, u32> = HashMap::new();
        for (_, v) in self.all.get(first..behind).unwrap_or_default() {
            if kind(*v) {
                *counts.entry(*v).or_default() += 1;
            }
        }
        let mut all: Vec<(V, u32)> = counts.into_iter().collect();
        all.sort_unstable_by_key(|(v, count)| (u32::MAX - count, *v));
        all.into_iter().map(|(v, _)| v).collect()
    }
}
