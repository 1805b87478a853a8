//! Liveness: which values are still wanted.

use super::{ChannelSet, Dataflow};

/// The channels whose values some pixel may still read, or that it leaves behind.
#[derive(Clone, Debug)]
pub struct Liveness {
    before: Vec<ChannelSet>,
    behind: Vec<ChannelSet>,
}

impl Liveness {
    /// The liveness of a program. At its end, outputs and depth are live.
    ///
    /// It holds for every pixel of a quad that is touched, covered or not: what is dead can be
    /// changed without a difference to any result.
    #[must_use]
    pub fn of(flow: &Dataflow) -> Self {
        Self::solve(flow, &flow.carried)
    }

    /// The liveness of a program for pixels that have a say in its decisions: all of them, unless
    /// some are uncovered and `IGNORE_UNCOVERED` is used.
    #[must_use]
    pub fn of_covered(flow: &Dataflow) -> Self {
        Self::solve(flow, &[])
    }

    /// Where pixels may be `carried` along by the group, no write is certain.
    fn solve(flow: &Dataflow, carried: &[(usize, usize)]) -> Self {
        let count = flow.len();
        let mut live =
            Self { before: vec![ChannelSet::EMPTY; count], behind: vec![ChannelSet::EMPTY; count] };
        let outputs = ChannelSet::outputs();
        for at in 0..count {
            if flow.ends[at] {
                live.behind[at] = outputs;
            }
            if flow.reached[at] {
                live.behind[at].add(&flow.neighbours);
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &(from, to) in carried {
                let before = live.before[to];
                changed |= live.behind[from].add(&before);
            }
            for at in (0..count).rev().filter(|&at| flow.reached[at]) {
                let mut behind = live.behind[at];
                for next in flow.successors(at) {
                    behind.add(&live.before[next]);
                }
                live.behind[at] = behind;
                if carried.is_empty() {
                    behind.remove(&flow.kills(at));
                }
                behind.add(&flow.effects[at].reads);
                changed |= live.before[at].add(&behind);
            }
        }
        live
    }

    /// Channels that are live before an instruction. Outputs and depth are where what stands in them
    /// may be what is left in the end.
    #[must_use]
    pub fn before(&self, at: usize) -> &ChannelSet {
        &self.before[at]
    }

    /// Channels that are live behind an instruction. A write of any other has no effect, unless the
    /// instruction writes for inactive pixels.
    #[must_use]
    pub fn behind(&self, at: usize) -> &ChannelSet {
        &self.behind[at]
    }
}
