//! Who reads what who wrote: liveness and definitions, channel by channel, along the paths of one
//! pixel.
//!
//! A pixel executes everything on its own path, whatever the group around it does, as long as the
//! program is [structured](crate::graph::Structure). Otherwise a pixel may sleep through any
//! instruction that its group runs, and every write is one that may not happen
//! ([`Dataflow::is_weak`]). A predicated write, and one through aL that may land elsewhere, may not
//! happen either. What MDH, MDV and implicit levels of detail read of sleeping neighbours counts as
//! read wherever those may sleep.
//!
//! The paths are those of pixels that have a say. An uncovered pixel that `IGNORE_UNCOVERED` denies it
//! is carried along by the others, and what it computes shows only through quad differences:
//! [`Liveness::of`] allows for that, [`Liveness::of_covered`] does not.
//!
//! What [`Written`] says holds for ways on which every RETURN leads back behind its own CALL. Liveness
//! and definitions let a RETURN lead behind any call of its subroutine, which may find more than there
//! is, never less.

mod calls;
mod definitions;
mod liveness;
mod registers;
mod written;

use r500_isa::TEMPORARIES;

use crate::graph::{AlRange, Graph, Node, Structure};
use crate::step::{Access, Step};
use calls::Calls;

pub use definitions::Definition;
pub use liveness::Liveness;
pub use registers::{Channel, ChannelSet};
pub use written::Written;

/// The paths of a pixel through a program, and what happens to registers on them.
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
    weak: bool,
    calls: Calls,
    /// Ways of the group, where uncovered pixels may be carried along; empty where none are.
    carried: Vec<(usize, usize)>,
}

/// What an instruction does to registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effects {
    /// Channels that it may read.
    pub reads: ChannelSet,
    /// Channels that it reads for certain, where it is executed.
    pub needs: ChannelSet,
    /// Channels that it may write.
    pub writes: ChannelSet,
    /// Channels that it writes for certain, where it is executed.
    pub sure: ChannelSet,
}

impl Dataflow {
    /// The paths through a program: of a structured one those of its statements, else all that its
    /// group can go.
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
            weak: structure.is_none(),
            calls: Calls::of(structure, start, count),
            carried: Vec::new(),
        };
        flow.reached = flow.reach();
        flow.find_functions();
        for (at, step) in graph.steps.iter().enumerate() {
            let al = graph.visit(at).map(|visit| visit.al);
            let effects = al.map_or_else(Effects::default, |al| Effects::of(step, al));
            if al.is_some() {
                let apart = structure.is_none_or(|s| s.divergent[at]);
                quad |= step.quad;
                ignores |= graph.flows[at].is_some_and(|flow| flow.ignore_uncovered);
                if step.quad && apart {
                    flow.neighbours.add(&effects.reads);
                }
                if step.write_inactive {
                    flow.inactive_writes.add(&effects.writes);
                }
            }
            flow.effects.push(effects);
        }
        for edge in graph.edges() {
            match edge.to {
                Node::Instruction(to) if quad && ignores => flow.carried.push((edge.from, to)),
                Node::Instruction(_) => {}
                _ => flow.ends[edge.from] = true,
            }
        }
        flow
    }

    /// What an instruction does to registers; nothing for one that is never reached.
    #[must_use]
    pub fn effects(&self, at: usize) -> &Effects {
        &self.effects[at]
    }

    /// Instructions that a pixel may execute next.
    pub fn successors(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let (from, to) = (self.first[at] as usize, self.first[at + 1] as usize);
        self.next[from..to].iter().map(|&next| next as usize)
    }

    /// Whether some pixel may execute an instruction.
    #[must_use]
    pub fn reaches(&self, at: usize) -> bool {
        self.reached[at]
    }

    /// Whether a pixel may sleep through any instruction, so that no write is certain.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.weak
    }

    /// Channels of sleeping neighbours that some instruction may read.
    #[must_use]
    pub fn neighbours(&self) -> &ChannelSet {
        &self.neighbours
    }

    /// What an instruction overwrites for certain on the path of a pixel that comes to it.
    fn kills(&self, at: usize) -> ChannelSet {
        if self.weak { ChannelSet::EMPTY } else { self.effects[at].sure }
    }

    /// Ways on inside a function. A call goes on behind itself, whatever the subroutine does.
    fn inside<'a>(&'a self, calls: &'a Calls, at: usize) -> impl Iterator<Item = usize> + 'a {
        let behind = calls.called(at).map(|_| at + 1).filter(|&behind| behind < self.len());
        self.successors(at).filter(move |&to| !calls.crosses(at, to)).chain(behind)
    }

    fn find_functions(&mut self) {
        if self.calls.calls.is_empty() {
            return;
        }
        let none = Calls::of(None, self.start, 0);
        let mut calls = std::mem::replace(&mut self.calls, none);
        calls.spread(|calls, at| self.inside(calls, at).collect::<Vec<_>>().into_iter());
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
    fn of(step: &Step, al: AlRange) -> Self {
        let mut effects = Self::default();
        for access in step.reads.iter() {
            let exact = spread(access, al, |temp| effects.reads.insert_temp(temp, access.mask));
            if let Some(temp) = exact {
                effects.needs.insert_temp(temp, access.sure);
            }
        }
        for access in step.writes.iter() {
            let exact = spread(access, al, |temp| effects.writes.insert_temp(temp, access.mask));
            if let Some(temp) = exact {
                effects.sure.insert_temp(temp, access.sure);
            }
        }
        for bit in 0..4u8 {
            let has = |mask: u8| mask >> bit & 1 != 0;
            if has(step.predicate_reads) {
                effects.reads.insert(Channel::Predicate(bit));
                effects.needs.insert(Channel::Predicate(bit));
            }
            if has(step.predicate_writes) {
                effects.writes.insert(Channel::Predicate(bit));
            }
            if has(step.predicate_sure) {
                effects.sure.insert(Channel::Predicate(bit));
            }
            for (half, (target, mask)) in step.outputs.into_iter().enumerate() {
                if has(mask) {
                    effects.writes.insert(Channel::Output(target, bit));
                    if step.outputs_sure[half] {
                        effects.sure.insert(Channel::Output(target, bit));
                    }
                }
            }
        }
        if step.alu_result_read {
            effects.reads.insert(Channel::AluResult);
            effects.needs.insert(Channel::AluResult);
        }
        if step.alu_result_write {
            // The predicate does not gate it (open).
            effects.writes.insert(Channel::AluResult);
            effects.sure.insert(Channel::AluResult);
        }
        if step.depth {
            effects.writes.insert(Channel::Depth);
            if step.depth_sure {
                effects.sure.insert(Channel::Depth);
            }
        }
        effects
    }
}

/// Calls `each` with every temporary that an access may name; the temporary, if there is just one.
pub(crate) fn spread(access: &Access, al: AlRange, mut each: impl FnMut(u8)) -> Option<u8> {
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
