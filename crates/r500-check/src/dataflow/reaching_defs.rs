//! Reaching definitions and uses, computed on demand.

use super::{ChannelId, Dataflow};

/// A definition that may reach a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Definition {
    /// The value at the start of the program: an input, or undefined.
    Start,
    /// A write by the instruction with this index.
    At(usize),
}

impl Dataflow {
    /// Returns the definitions of a channel that may reach an instruction, in ascending order.
    /// Takes time linear in the program length.
    ///
    /// Writes of other pixels under `WRITE_INACTIVE` are not followed: they reach a pixel at any
    /// point.
    #[must_use]
    pub fn definitions(&self, at: usize, channel: ChannelId) -> Vec<Definition> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.len()];
        for from in (0..self.len()).filter(|&from| self.reached[from]) {
            for to in self.successors(from) {
                before[to].push(from);
            }
        }
        let mut found = Vec::new();
        let mut seen = vec![false; self.len()];
        let mut work = vec![at];
        let mut started = false;
        while let Some(here) = work.pop() {
            started |= here == self.start;
            for &from in &before[here] {
                if std::mem::replace(&mut seen[from], true) {
                    continue;
                }
                if self.effects[from].may_write.contains(channel) {
                    found.push(Definition::At(from));
                }
                if !self.kills(from).contains(channel) {
                    work.push(from);
                }
            }
        }
        if started {
            found.push(Definition::Start);
        }
        found.sort_unstable();
        found
    }

    /// Returns the instructions that may read the value that an instruction writes into a channel,
    /// in ascending order. Takes time linear in the program length.
    #[must_use]
    pub fn uses(&self, at: usize, channel: ChannelId) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen = vec![false; self.len()];
        let mut work: Vec<usize> = self.successors(at).collect();
        while let Some(here) = work.pop() {
            if std::mem::replace(&mut seen[here], true) {
                continue;
            }
            if self.effects[here].may_read.contains(channel) {
                found.push(here);
            }
            if !self.kills(here).contains(channel) {
                work.extend(self.successors(here));
            }
        }
        found.sort_unstable();
        found
    }
}
