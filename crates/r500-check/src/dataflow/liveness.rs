//! Liveness: which values are still wanted.

use super::{ChannelSet, Dataflow};

/// The channels whose values some pixel may still read, or that it leaves behind.
#[derive(Clone, Debug)]
pub struct Liveness {
    live_in: Vec<ChannelSet>,
    live_out: Vec<ChannelSet>,
}

impl Liveness {
    /// The liveness of a program. At its end, outputs and depth are live.
    ///
    /// It holds for every pixel of a quad that is touched, covered or not: what is dead can be
    /// changed without a difference to any result.
    #[must_use]
    pub fn of(flow: &Dataflow) -> Self {
        Self::solve(flow, &flow.uncovered_edges)
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
        let mut live = Self {
            live_in: vec![ChannelSet::EMPTY; count],
            live_out: vec![ChannelSet::EMPTY; count],
        };
        let outputs = ChannelSet::outputs();
        for at in 0..count {
            if flow.ends[at] {
                live.live_out[at] = outputs;
            }
            if flow.reached[at] {
                live.live_out[at].union(&flow.neighbours);
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &(from, to) in carried {
                let before = live.live_in[to];
                changed |= live.live_out[from].union(&before);
            }
            for at in (0..count).rev().filter(|&at| flow.reached[at]) {
                let mut behind = live.live_out[at];
                for next in flow.successors(at) {
                    behind.union(&live.live_in[next]);
                }
                live.live_out[at] = behind;
                if carried.is_empty() {
                    behind.subtract(&flow.kills(at));
                }
                behind.union(&flow.effects[at].may_read);
                changed |= live.live_in[at].union(&behind);
            }
        }
        live
    }

    /// Channels that are live before an instruction. Outputs and depth are where what stands in them
    /// may be what is left in the end.
    #[must_use]
    pub fn live_in(&self, at: usize) -> &ChannelSet {
        &self.live_in[at]
    }

    /// Channels that are live behind an instruction. A write of any other has no effect, unless the
    /// instruction writes for inactive pixels.
    #[must_use]
    pub fn live_out(&self, at: usize) -> &ChannelSet {
        &self.live_out[at]
    }
}
