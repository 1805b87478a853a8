//! Which channels hold something that was put there.

use super::{ChannelSet, Dataflow};

/// The channels that are written before an instruction is executed, on some path or on every path.
#[derive(Clone, Debug)]
pub struct Written {
    maybe: Vec<ChannelSet>,
    always: Vec<ChannelSet>,
}

impl Written {
    /// What is written when, given what is already at the start.
    ///
    /// A predicated write counts as done in [`Written::always`]: what reads it is usually predicated
    /// the same way.
    #[must_use]
    pub fn of(flow: &Dataflow, inputs: &ChannelSet) -> Self {
        let mut written = Self::since_entry(flow);
        let calls = &flow.calls;
        // What stands at the entry of each function, over all its calls. A neighbour's WRITE_INACTIVE
        // reaches pixels on any path.
        let mut maybe = vec![ChannelSet::EMPTY; calls.entries.len()];
        let mut always = vec![ChannelSet::ALL; calls.entries.len()];
        (maybe[0], always[0]) = (*inputs, *inputs);
        maybe[0].add(&flow.inactive_writes);
        let mut changed = true;
        while changed {
            changed = false;
            for &(at, to) in calls.calls.iter().filter(|call| flow.reached[call.0]) {
                let from = calls.function[at] as usize;
                let (mut more, mut surely) = (written.maybe[at], written.always[at]);
                more.add(&maybe[from]);
                surely.add(&always[from]);
                changed |= maybe[to].add(&more);
                changed |= always[to].keep(&surely);
            }
        }
        for at in (0..flow.len()).filter(|&at| flow.reached[at]) {
            let function = calls.function[at] as usize;
            written.maybe[at].add(&maybe[function]);
            written.always[at].add(&always[function]);
        }
        written
    }

    /// What is written since the function was entered that an instruction is in.
    fn since_entry(flow: &Dataflow) -> Self {
        let count = flow.len();
        let calls = &flow.calls;
        let mut written =
            Self { maybe: vec![ChannelSet::EMPTY; count], always: vec![ChannelSet::ALL; count] };
        calls.entries.iter().for_each(|&entry| written.always[entry] = ChannelSet::EMPTY);
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..count).filter(|&at| flow.reached[at]) {
                let effects = &flow.effects[at];
                let (mut maybe, mut always) = (written.maybe[at], written.always[at]);
                maybe.add(&effects.writes);
                if !flow.weak {
                    always.add(&effects.writes);
                }
                for next in flow.successors(at).filter(|&next| !calls.crosses(at, next)) {
                    changed |= written.maybe[next].add(&maybe);
                    changed |= written.always[next].keep(&always);
                }
                let Some(function) = calls.called(at).filter(|_| at + 1 < count) else { continue };
                let mut wrote = ChannelSet::ALL;
                for &back in calls.returns[function].iter().filter(|&&back| flow.reached[back]) {
                    maybe.add(&written.maybe[back]);
                    wrote.keep(&written.always[back]);
                }
                always.add(&wrote);
                changed |= written.maybe[at + 1].add(&maybe);
                changed |= written.always[at + 1].keep(&always);
            }
        }
        written
    }

    /// Channels that something may have written before an instruction.
    #[must_use]
    pub fn maybe(&self, at: usize) -> &ChannelSet {
        &self.maybe[at]
    }

    /// Channels that every path to an instruction writes.
    #[must_use]
    pub fn always(&self, at: usize) -> &ChannelSet {
        &self.always[at]
    }
}
