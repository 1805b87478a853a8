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
        let count = flow.len();
        let mut written =
            Self { maybe: vec![ChannelSet::EMPTY; count], always: vec![ChannelSet::ALL; count] };
        // A neighbour's WRITE_INACTIVE reaches pixels on any path.
        let mut at_start = *inputs;
        at_start.add(&flow.inactive_writes);
        written.maybe[flow.start] = at_start;
        written.always[flow.start] = *inputs;
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
                for next in flow.successors(at) {
                    changed |= written.maybe[next].add(&maybe);
                    changed |= written.always[next].keep(&always);
                }
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
