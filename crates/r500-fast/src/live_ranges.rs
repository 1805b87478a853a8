//! Live ranges and linear-scan slot allocation.
//!
//! A value is live from its first write to its last use; a value from before a loop that is used in the loop, to
//! the loop's end. The scan goes over the live ranges by their starts and gives each the lowest slot that is free.

use std::collections::BTreeSet;

use super::linearizer::{Linearizer, VirtualOp, position};
use r500_ir::{EntityMap, Operand, Value};

/// The positions of an op that first writes a value, and of the op that last uses it.
type Span = (u32, u32);

/// The live ranges of the values of a linearised function.
pub(super) struct LiveRanges {
    spans: EntityMap<Value, Option<Span>>,
    /// Copies, by position: source and destination, which may share a slot.
    copies: Vec<(u32, Value, Value)>,
}

impl LiveRanges {
    /// Computes the live ranges of a list of ops.
    pub(super) fn of(linearizer: &Linearizer<'_>) -> Self {
        let mut spans: EntityMap<Value, Option<Span>> =
            EntityMap::filled(linearizer.values.len(), None);
        for &(at, value) in &linearizer.writes {
            let span = spans[value].get_or_insert((at, at));
            span.0 = span.0.min(at);
            span.1 = span.1.max(at);
        }
        for &(at, operand) in &linearizer.uses {
            if let Some(value) = operand.value()
                && let Some(span) = &mut spans[value]
            {
                span.1 = span.1.max(at);
            }
        }
        // A value from before a loop that the loop uses is live to the loop's end. Inner loops come first in the
        // list, so that what they extend is extended by the loops around them too.
        let mut used_in_loop: Vec<Vec<Value>> = vec![Vec::new(); linearizer.loops.len()];
        for &(at, operand) in &linearizer.uses {
            let Some(value) = operand.value() else { continue };
            for (used, &(first, end)) in used_in_loop.iter_mut().zip(&linearizer.loops) {
                if (first..end).contains(&at) {
                    used.push(value);
                }
            }
        }
        for (used, &(first, end)) in used_in_loop.iter().zip(&linearizer.loops) {
            for value in used {
                if let Some(span) = &mut spans[*value]
                    && span.0 < first
                {
                    span.1 = span.1.max(end - 1);
                }
            }
        }
        let copies = linearizer.ops.iter().enumerate().filter_map(|(at, op)| match op {
            VirtualOp::Copy(to, Operand::Value(from)) => Some((position(at), *from, *to)),
            _ => None,
        });
        Self { spans, copies: copies.collect() }
    }

    /// Allocates a slot for each value that is written.
    pub(super) fn allocate(&self) -> SlotAllocation {
        let mut by_start: Vec<(u32, u32, Value)> = (self.spans.iter())
            .filter_map(|(value, span)| span.map(|(start, last)| (start, last, value)))
            .collect();
        by_start.sort_unstable();
        let mut slots: EntityMap<Value, Option<u32>> = EntityMap::filled(self.spans.len(), None);
        // Slots in use, by their last use; of the free ones the lowest is taken first.
        let mut busy = BTreeSet::new();
        let mut free = BTreeSet::new();
        let mut count = 0;
        for (start, last, value) in by_start {
            // An op never writes a slot that it reads: one whose last use is this op is not free yet.
            while let Some(&(until, slot)) = busy.first()
                && until < start
            {
                busy.pop_first();
                free.insert(slot);
            }
            let source = self.coalesce_candidate(start, value).and_then(|from| slots[from]);
            let slot = match source {
                // The source of the copy ends here: the copy stays in its slot.
                Some(slot) if busy.remove(&(start, slot)) => slot,
                _ => free.pop_first().unwrap_or_else(|| {
                    count += 1;
                    count - 1
                }),
            };
            slots[value] = Some(slot);
            busy.insert((last, slot));
        }
        SlotAllocation { slots, count }
    }

    /// Returns the source of the copy that first writes a value, if that copy is the last use of the source.
    fn coalesce_candidate(&self, start: u32, value: Value) -> Option<Value> {
        let copy = self.copies.binary_search_by_key(&start, |(at, ..)| *at).ok()?;
        let (_, from, to) = self.copies[copy];
        let ends = self.spans[from].is_some_and(|(_, last)| last == start);
        (to == value && ends).then_some(from)
    }
}

/// The slot of each value.
pub(super) struct SlotAllocation {
    slots: EntityMap<Value, Option<u32>>,
    /// The number of slots.
    pub(super) count: u32,
}

impl SlotAllocation {
    /// Returns the slot of a value that is defined.
    pub(super) fn of(&self, value: Value) -> u32 {
        self.slots[value].expect("a value that is used is defined")
    }

    /// Gives a value that no op writes a slot of its own, which is returned.
    pub(super) fn reserve(&mut self, value: Value) -> u32 {
        let slot = self.count;
        self.slots[value] = Some(slot);
        self.count += 1;
        slot
    }
}
