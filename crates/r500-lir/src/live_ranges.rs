//! Live ranges: the definition and the uses of each value.
//!
//! Program points are numbered in order: one for each operation, one for the head of a branch, its arms and
//! their ends, one for the head of a loop and its end. A value that is defined before a loop and used in it has
//! another use at the end of the loop.

use std::collections::{HashMap, HashSet};

use crate::{Class, LirFunction, Opcode, Region, VReg};

/// The uses of all values.
#[derive(Debug)]
pub struct LiveRanges {
    /// The points of each value's uses, ascending.
    uses: Vec<Vec<u32>>,
    /// The point of each value's definition.
    starts: Vec<u32>,
    /// Values that are offsets of texels.
    offsets: HashSet<VReg>,
    /// The ends of loops by their heads.
    loops: HashMap<u32, u32>,
    /// All uses, in order.
    all: Vec<(u32, VReg)>,
    /// Register pressure by point: the live vectors without a location in memory.
    pressure: Vec<u32>,
    end: u32,
}

impl LiveRanges {
    /// Computes the live ranges of a function.
    pub fn of(function: &LirFunction) -> Self {
        let count = function.classes.len();
        let mut live_ranges = Self {
            uses: vec![Vec::new(); count],
            starts: vec![0; count],
            offsets: HashSet::new(),
            loops: HashMap::new(),
            all: Vec::new(),
            pressure: Vec::new(),
            end: 1,
        };
        live_ranges.nodes(&function.body, function);
        live_ranges.end += 1;
        live_ranges.find_pressure(function);
        live_ranges
    }

    fn nodes(&mut self, nodes: &[Region], function: &LirFunction) {
        for node in nodes {
            match node {
                Region::Ops(ops) => {
                    for op in ops {
                        self.end += 1;
                        op.args().for_each(|v| self.use_at(v));
                        if let Opcode::LoadTexel(_) = op.opcode {
                            self.offsets.extend(op.args());
                        }
                        op.dst.into_iter().for_each(|v| self.start(v));
                    }
                }
                Region::ConsumeFuel(_) => {}
                Region::Branch(branch) => {
                    self.end += 1;
                    for phi in &branch.phis {
                        phi.incoming.into_iter().for_each(|v| self.use_at(v));
                        self.start(phi.var);
                    }
                    for arm in &branch.arms {
                        self.end += 1;
                        self.use_at(arm.mask);
                        // The phi's location is needed at the end of the arm, whether or not the arm reads it.
                        arm.assign.iter().for_each(|assign| self.use_at(assign.old));
                        self.nodes(&arm.body, function);
                        self.end += 1;
                        for assign in &arm.assign {
                            self.use_at(assign.from);
                            self.start(assign.new);
                        }
                    }
                }
                Region::Loop(repeat) => {
                    self.end += 1;
                    let start = self.end;
                    for param in &repeat.params {
                        self.use_at(param.init);
                        self.start(param.var);
                        self.use_at(param.var);
                    }
                    let first = self.all.len();
                    self.nodes(&repeat.body, function);
                    self.end += 1;
                    let mut outer: Vec<VReg> = (self.all[first..].iter())
                        .map(|(_, v)| *v)
                        .filter(|v| {
                            // Constants can be read anywhere, except texel offsets, of which every lane needs to be in memory.
                            self.starts[v.index()] < start
                                && (function.mem_operand(*v).is_none() || self.offsets.contains(v))
                        })
                        .collect();
                    outer.sort_unstable();
                    outer.dedup();
                    outer.into_iter().for_each(|v| self.use_at(v));
                    repeat.continue_mask.into_iter().for_each(|v| self.use_at(v));
                    for param in &repeat.params {
                        self.use_at(param.next);
                        self.start(param.out);
                    }
                    self.loops.insert(start, self.end);
                }
            }
        }
    }

    fn use_at(&mut self, v: VReg) {
        let uses = &mut self.uses[v.index()];
        if uses.last() != Some(&self.end) {
            uses.push(self.end);
            self.all.push((self.end, v));
        }
    }

    fn start(&mut self, v: VReg) {
        self.starts[v.index()] = self.end;
    }

    fn find_pressure(&mut self, function: &LirFunction) {
        let mut changes = vec![0_i32; self.end as usize + 2];
        for (number, uses) in self.uses.iter().enumerate() {
            let v = VReg(u32::try_from(number).expect("values have numbers of 32 bits"));
            let Some(&last) = uses.last() else { continue };
            if function.mem_operand(v).is_none() && function.class(v) == Class::Vector {
                changes[self.starts[number] as usize] += 1;
                changes[last as usize + 1] -= 1;
            }
        }
        let mut sum = 0;
        self.pressure = changes
            .into_iter()
            .map(|change| {
                sum += change;
                u32::try_from(sum).expect("ranges start before they end")
            })
            .collect();
    }

    /// Returns the point after all others.
    pub fn end(&self) -> u32 {
        self.end
    }

    /// Returns the register pressure between two points: the maximum number of live vectors.
    pub fn pressure(&self, start: u32, end: u32) -> usize {
        let range = &self.pressure[start as usize..=end as usize];
        *range.iter().max().expect("a range has a point") as usize
    }
}

/// Queries of register allocation. (In WebAssembly the host allocates registers.)
impl LiveRanges {
    /// Returns the head and the end of the loop with this head.
    pub fn loop_bounds(&self, start: u32) -> (u32, u32) {
        (start, self.loops[&start])
    }

    /// Adds a use.
    pub fn add(&mut self, v: VReg, at: u32) {
        let uses = &mut self.uses[v.index()];
        let place = uses.partition_point(|use_at| *use_at < at);
        if uses.get(place) != Some(&at) {
            uses.insert(place, at);
        }
    }

    /// Returns the next use after a point.
    pub fn next_use(&self, v: VReg, at: u32) -> Option<u32> {
        let uses = &self.uses[v.index()];
        uses.get(uses.partition_point(|use_at| *use_at <= at)).copied()
    }

    /// Returns whether a value has a use at a point or after it.
    pub fn is_used_from(&self, v: VReg, at: u32) -> bool {
        self.uses[v.index()].last().is_some_and(|last| *last >= at)
    }

    /// Returns whether a value has a use.
    pub fn is_used(&self, v: VReg) -> bool {
        !self.uses[v.index()].is_empty()
    }

    /// Returns whether a value has a use between two points.
    pub fn is_used_in(&self, v: VReg, start: u32, end: u32) -> bool {
        self.next_use(v, start).is_some_and(|use_at| use_at <= end)
    }

    /// Returns whether a value is an offset of texels.
    pub fn is_offset(&self, v: VReg) -> bool {
        self.offsets.contains(&v)
    }

    /// Returns the values for which `opcode` holds that are used between two points, those with the most uses first.
    pub fn constants_used_in(
        &self,
        start: u32,
        end: u32,
        opcode: impl Fn(VReg) -> bool,
    ) -> Vec<VReg> {
        let first = self.all.partition_point(|(at, _)| *at <= start);
        let after = self.all.partition_point(|(at, _)| *at < end);
        let mut counts: HashMap<VReg, u32> = HashMap::new();
        for (_, v) in &self.all[first..after] {
            if opcode(*v) {
                *counts.entry(*v).or_default() += 1;
            }
        }
        let mut all: Vec<(VReg, u32)> = counts.into_iter().collect();
        all.sort_unstable_by_key(|(v, count)| (u32::MAX - count, *v));
        all.into_iter().map(|(v, _)| v).collect()
    }
}
