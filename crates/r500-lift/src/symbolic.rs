//! Symbolic constants: which program constants a lift does not fold.
//!
//! A lift specialises a constant or makes it a [uniform](r500_ir::Uniform). Constants with relative addresses can be uniforms, too: the lift
//! knows aL.

use std::collections::BTreeMap;

use r500_ir::{ConstantChannel, Range};

/// The channels of program constants that a lift leaves symbolic, each with the range of its values. All others are specialised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymbolicConstants {
    ranges: BTreeMap<ConstantChannel, Range>,
}

impl SymbolicConstants {
    /// Returns the empty set: a lift folds the values of all constants.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns all channels, with unbounded ranges: a function is valid for all values of all constants.
    #[must_use]
    pub fn all() -> Self {
        Self { ranges: ConstantChannel::all().map(|source| (source, Range::ANY)).collect() }
    }

    /// Adds a channel, or replaces its range.
    pub fn insert(&mut self, source: ConstantChannel, range: Range) {
        self.ranges.insert(source, range);
    }

    /// Records a change of a channel: it becomes symbolic, with a range of both values and all values of the same signs and classes.
    /// Returns false if nothing had to change.
    pub fn widen(&mut self, source: ConstantChannel, last: f32, now: f32) -> bool {
        let range = match self.range(source) {
            None if last.to_bits() == now.to_bits() => return false,
            None => Range::of(last),
            Some(range) if range.contains(Range::of(now)) => return false,
            Some(range) => range,
        };
        self.insert(source, range.join(Range::of(now)).widen_finite());
        true
    }

    /// Returns the range of a channel; `None` if it is specialised.
    #[must_use]
    pub fn range(&self, source: ConstantChannel) -> Option<Range> {
        self.ranges.get(&source).copied()
    }
}
