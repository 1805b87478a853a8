//! Definite initialisation: which channels have been written before each instruction, on some path
//! or on every path.

use super::{ChannelSet, Dataflow};

/// The channels that are written before an instruction is executed, on some path or on every path.
#[derive(Clone, Debug)]
pub struct DefiniteInit {
    maybe: Vec<ChannelSet>,
    always: Vec<ChannelSet>,
}

impl DefiniteInit {
    /// Solves the forward dataflow equations. `inputs` are the channels written before the program
    /// starts.
    ///
    /// [`DefiniteInit::always`] counts a predicated write as executed: its readers usually have the
    /// same predicate.
    #[must_use]
    pub fn of(flow: &Dataflow, inputs: &ChannelSet) -> Self {
        let mut written = Self::since_entry(flow);
        let calls = &flow.calls;
        // The sets at the entry of each function, joined over all its calls. A WRITE_INACTIVE of
        // another pixel reaches pixels on any path.
        let mut maybe = vec![ChannelSet::EMPTY; calls.entries.len()];
        let mut always = vec![ChannelSet::ALL; calls.entries.len()];
        (maybe[0], always[0]) = (*inputs, *inputs);
        maybe[0].union(&flow.inactive_writes);
        let mut changed = true;
        while changed {
            changed = false;
            for &(at, to) in calls.calls.iter().filter(|call| flow.reached[call.0]) {
                let from = calls.function[at] as usize;
                let (mut more, mut surely) = (written.maybe[at], written.always[at]);
                more.union(&maybe[from]);
                surely.union(&always[from]);
                changed |= maybe[to].union(&more);
                changed |= always[to].intersect(&surely);
            }
        }
        for at in (0..flow.len()).filter(|&at| flow.reached[at]) {
            let function = calls.function[at] as usize;
            written.maybe[at].union(&maybe[function]);
            written.always[at].union(&always[function]);
        }
        written
    }

    /// Computes the sets relative to the entry of each instruction's function.
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
                maybe.union(&effects.may_write);
                if !flow.writes_are_conditional {
                    always.union(&effects.may_write);
                }
                for next in flow.successors(at).filter(|&next| !calls.crosses(at, next)) {
                    changed |= written.maybe[next].union(&maybe);
                    changed |= written.always[next].intersect(&always);
                }
                let Some(function) = calls.callee(at).filter(|_| at + 1 < count) else { continue };
                let mut wrote = ChannelSet::ALL;
                for &back in calls.returns[function].iter().filter(|&&back| flow.reached[back]) {
                    maybe.union(&written.maybe[back]);
                    wrote.intersect(&written.always[back]);
                }
                always.union(&wrote);
                changed |= written.maybe[at + 1].union(&maybe);
                changed |= written.always[at + 1].intersect(&always);
            }
        }
        written
    }

    /// Returns the channels that may have been written before an instruction.
    #[must_use]
    pub fn maybe(&self, at: usize) -> &ChannelSet {
        &self.maybe[at]
    }

    /// Returns the channels that every path to an instruction writes.
    #[must_use]
    pub fn always(&self, at: usize) -> &ChannelSet {
        &self.always[at]
    }
}
