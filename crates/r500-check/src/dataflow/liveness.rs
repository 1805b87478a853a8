//! Liveness analysis of register channels.

use super::{ChannelSet, Dataflow};

/// Live channels before and after each instruction: those that some path reads before they are
/// overwritten, and the outputs at the end.
#[derive(Clone, Debug)]
pub struct Liveness {
    live_in: Vec<ChannelSet>,
    live_out: Vec<ChannelSet>,
}

impl Liveness {
    /// Computes the liveness of a program. Outputs and depth are live at its end.
    ///
    /// The result holds for every pixel of a rasterised quad, covered or not: a dead channel can
    /// hold any value without a change to any result.
    #[must_use]
    pub fn of(flow: &Dataflow) -> Self {
        Self::solve(flow, &flow.uncovered_edges)
    }

    /// Computes the liveness for pixels that vote in branch decisions: all pixels, unless some are
    /// uncovered and `IGNORE_UNCOVERED` is set.
    #[must_use]
    pub fn of_covered(flow: &Dataflow) -> Self {
        Self::solve(flow, &[])
    }

    /// Solves the backward dataflow equations. With `uncovered_edges`, a pixel may follow edges of
    /// the group that it did not vote for, so no write is a must-write.
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
                let mut set = live.live_out[at];
                for next in flow.successors(at) {
                    set.union(&live.live_in[next]);
                }
                live.live_out[at] = set;
                if carried.is_empty() {
                    set.subtract(&flow.kills(at));
                }
                set.union(&flow.effects[at].may_read);
                changed |= live.live_in[at].union(&set);
            }
        }
        live
    }

    /// Returns the channels that are live before an instruction. Outputs and depth are live if
    /// their values may be the final ones.
    #[must_use]
    pub fn live_in(&self, at: usize) -> &ChannelSet {
        &self.live_in[at]
    }

    /// Returns the channels that are live after an instruction. A write of any other channel is
    /// dead, unless the instruction writes for inactive pixels.
    #[must_use]
    pub fn live_out(&self, at: usize) -> &ChannelSet {
        &self.live_out[at]
    }
}
