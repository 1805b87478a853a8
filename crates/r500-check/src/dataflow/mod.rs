//! Dataflow analysis of register channels along the paths of one pixel: liveness, reaching
//! definitions and definite initialisation.
//!
//! A pixel executes every instruction on its own path, whatever the other pixels of its group do,
//! provided that the program is [structured](crate::graph::Structure). Otherwise a pixel may be
//! inactive at any instruction that its group runs, and every write is conditional
//! ([`Dataflow::writes_are_conditional`]). Predicated writes, and writes to an address with aL that
//! is not known exactly, are conditional too. Registers of inactive pixels that MDH, MDV and
//! implicit levels of detail read count as read wherever those pixels may be inactive.
//!
//! The paths are those of voting pixels. An uncovered pixel without a vote (`IGNORE_UNCOVERED`)
//! follows the others, and its registers are visible through quad differences only:
//! [`Liveness::of`] accounts for that, [`Liveness::of_covered`] does not.
//!
//! [`DefiniteInit`] is context-sensitive: every RETURN continues after its own CALL. Liveness and
//! reaching definitions are context-insensitive: a RETURN continues after any call of its
//! subroutine, which over-approximates.

mod call_graph;
mod channel_set;
mod definite_init;
mod liveness;
mod reaching_defs;

use r500_isa::TEMPORARIES;

use crate::graph::{AlRange, Graph, Node, Structure};
use call_graph::CallGraph;
use r500_isa::{Access, InstInfo};

pub use channel_set::{ChannelId, ChannelSet};
pub use definite_init::DefiniteInit;
pub use liveness::Liveness;
pub use reaching_defs::Definition;

/// The control-flow edges of a pixel and the effects of each instruction on registers.
#[derive(Debug)]
pub struct Dataflow {
    effects: Vec<Effects>,
    /// Successors of instruction `i`: `next[first[i]..first[i + 1]]`.
    next: Vec<u32>,
    first: Vec<u32>,
    start: usize,
    ends: Vec<bool>,
    reached: Vec<bool>,
    neighbours: ChannelSet,
    inactive_writes: ChannelSet,
    writes_are_conditional: bool,
    calls: CallGraph,
    /// Edges of the group that uncovered pixels follow without a vote; empty if there are none.
    uncovered_edges: Vec<(usize, usize)>,
}

/// The effects of an instruction: may and must sets of channels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effects {
    /// Channels that the instruction may read.
    pub may_read: ChannelSet,
    /// Channels that every execution reads.
    pub must_read: ChannelSet,
    /// Channels that the instruction may write.
    pub may_write: ChannelSet,
    /// Channels that every execution writes.
    pub must_write: ChannelSet,
}

impl Dataflow {
    /// Builds the dataflow graph: the pixel edges of a structured program, or the edges of the
    /// group if the program is unstructured.
    #[must_use]
    pub fn new(graph: &Graph, structure: Option<&Structure>) -> Self {
        let count = graph.len();
        let edges: Vec<(usize, usize)> = match structure {
            Some(structure) => structure.pixel_edges(graph),
            None => {
                let inside = graph.edges().iter().filter_map(|edge| match edge.to {
                    Node::Instruction(to) => Some((edge.from, to)),
                    _ => None,
                });
                inside.collect()
            }
        };
        let mut first = vec![0u32; count + 1];
        let mut next = Vec::with_capacity(edges.len());
        let mut edges = edges.into_iter().peekable();
        for at in 0..count {
            while let Some((_, to)) = edges.next_if(|edge| edge.0 == at) {
                if to < count {
                    next.push(u32::try_from(to).unwrap_or(0));
                }
            }
            first[at + 1] = u32::try_from(next.len()).unwrap_or(u32::MAX);
        }
        let start = graph.window().start;
        let (mut quad, mut ignores) = (false, false);
        let mut flow = Self {
            effects: Vec::with_capacity(count),
            reached: Vec::new(),
            next,
            first,
            start,
            ends: (0..count).map(|at| Some(at) == graph.window().end).collect(),
            neighbours: ChannelSet::EMPTY,
            inactive_writes: ChannelSet::EMPTY,
            writes_are_conditional: structure.is_none(),
            calls: CallGraph::of(structure, start, count),
            uncovered_edges: Vec::new(),
        };
        flow.reached = flow.reach();
        flow.find_functions();
        for (at, step) in graph.infos.iter().enumerate() {
            let al = graph.abstract_state(at).map(|visit| visit.al);
            let effects = al.map_or_else(Effects::default, |al| Effects::of(step, al));
            if al.is_some() {
                let apart = structure.is_none_or(|s| s.divergent[at]);
                quad |= step.reads_quad;
                ignores |= graph.flows[at].is_some_and(|flow| flow.ignore_uncovered);
                if step.reads_quad && apart {
                    flow.neighbours.union(&effects.may_read);
                }
                if step.write_inactive {
                    flow.inactive_writes.union(&effects.may_write);
                }
            }
            flow.effects.push(effects);
        }
        for edge in graph.edges() {
            match edge.to {
                Node::Instruction(to) if quad && ignores => {
                    flow.uncovered_edges.push((edge.from, to))
                }
                Node::Instruction(_) => {}
                _ => flow.ends[edge.from] = true,
            }
        }
        flow
    }

    /// Returns the effects of an instruction; empty for an unreachable one.
    #[must_use]
    pub fn effects(&self, at: usize) -> &Effects {
        &self.effects[at]
    }

    /// Returns the instructions that a pixel may execute next.
    pub fn successors(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let (from, to) = (self.first[at] as usize, self.first[at + 1] as usize);
        self.next[from..to].iter().map(|&next| next as usize)
    }

    /// Returns whether some pixel may execute an instruction.
    #[must_use]
    pub fn reaches(&self, at: usize) -> bool {
        self.reached[at]
    }

    /// Returns whether a pixel may be inactive at any instruction, so that no write is a
    /// must-write.
    #[must_use]
    pub fn writes_are_conditional(&self) -> bool {
        self.writes_are_conditional
    }

    /// Returns the channels of inactive pixels that some instruction may read.
    #[must_use]
    pub fn neighbours(&self) -> &ChannelSet {
        &self.neighbours
    }

    /// Returns the channels that an instruction always overwrites.
    fn kills(&self, at: usize) -> ChannelSet {
        if self.writes_are_conditional { ChannelSet::EMPTY } else { self.effects[at].must_write }
    }

    /// Returns the successors inside a function. A call continues at the next instruction.
    fn inside<'a>(&'a self, calls: &'a CallGraph, at: usize) -> impl Iterator<Item = usize> + 'a {
        let after_call =
            calls.callee(at).map(|_| at + 1).filter(|&after_call| after_call < self.len());
        self.successors(at).filter(move |&to| !calls.crosses(at, to)).chain(after_call)
    }

    fn find_functions(&mut self) {
        if self.calls.calls.is_empty() {
            return;
        }
        let none = CallGraph::of(None, self.start, 0);
        let mut calls = std::mem::replace(&mut self.calls, none);
        calls.assign_functions(|calls, at| self.inside(calls, at).collect::<Vec<_>>().into_iter());
        self.calls = calls;
    }

    fn len(&self) -> usize {
        self.first.len() - 1
    }

    fn reach(&self) -> Vec<bool> {
        let mut reached = vec![false; self.first.len() - 1];
        let mut work = vec![self.start];
        reached[self.start] = true;
        while let Some(at) = work.pop() {
            for next in self.successors(at) {
                if !std::mem::replace(&mut reached[next], true) {
                    work.push(next);
                }
            }
        }
        reached
    }
}

impl Effects {
    fn of(step: &InstInfo, al: AlRange) -> Self {
        let mut effects = Self::default();
        for access in step.reads.iter() {
            let exact =
                for_each_temp(access, al, |temp| effects.may_read.insert_temp(temp, access.may));
            if let Some(temp) = exact {
                effects.must_read.insert_temp(temp, access.must);
            }
        }
        for access in step.writes.iter() {
            let exact =
                for_each_temp(access, al, |temp| effects.may_write.insert_temp(temp, access.may));
            if let Some(temp) = exact {
                effects.must_write.insert_temp(temp, access.must);
            }
        }
        for bit in 0..4u8 {
            let has = |mask: u8| mask >> bit & 1 != 0;
            if has(step.predicate_reads) {
                effects.may_read.insert(ChannelId::Predicate(bit));
                effects.must_read.insert(ChannelId::Predicate(bit));
            }
            if has(step.predicate_writes) {
                effects.may_write.insert(ChannelId::Predicate(bit));
            }
            if has(step.predicate_must_write) {
                effects.must_write.insert(ChannelId::Predicate(bit));
            }
            for (half, (target, mask)) in step.outputs.into_iter().enumerate() {
                if has(mask) {
                    effects.may_write.insert(ChannelId::Output(target, bit));
                    if step.outputs_unconditional[half] {
                        effects.must_write.insert(ChannelId::Output(target, bit));
                    }
                }
            }
        }
        if step.alu_result_read {
            effects.may_read.insert(ChannelId::AluResult);
            effects.must_read.insert(ChannelId::AluResult);
        }
        if step.alu_result_write {
            // The write is not predicated (open).
            effects.may_write.insert(ChannelId::AluResult);
            effects.must_write.insert(ChannelId::AluResult);
        }
        if step.depth {
            effects.may_write.insert(ChannelId::Depth);
            if step.depth_unconditional {
                effects.must_write.insert(ChannelId::Depth);
            }
        }
        effects
    }
}

/// Calls `each` with every temporary that an access may name. Returns the temporary if there is
/// exactly one.
pub(crate) fn for_each_temp(access: &Access, al: AlRange, mut each: impl FnMut(u8)) -> Option<u8> {
    if !access.relative {
        each(access.addr);
        return Some(access.addr);
    }
    let (min, max) = (i32::from(access.addr) + al.min, i32::from(access.addr) + al.max);
    let last = i32::try_from(TEMPORARIES).unwrap_or(i32::MAX) - 1;
    if al.unknown || min < 0 || max > last {
        (0..=127).for_each(each);
        return None;
    }
    let temp = |n: i32| u8::try_from(n).unwrap_or(0);
    (min..=max).for_each(|n| each(temp(n)));
    (min == max).then(|| temp(min))
}
