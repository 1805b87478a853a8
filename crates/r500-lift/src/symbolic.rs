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

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: ConstantChannel = ConstantChannel { constant: 0, channel: 0 };

    /// Returns the constants after a channel has had these values.
    fn after(values: &[f32]) -> SymbolicConstants {
        let mut symbolic = SymbolicConstants::none();
        for pair in values.windows(2) {
            symbolic.widen(FIRST, pair[0], pair[1]);
        }
        symbolic
    }

    #[test]
    fn constants_that_stay_are_specialised() {
        assert_eq!(after(&[1.5, 1.5, 1.5]), SymbolicConstants::none());
    }

    #[test]
    fn ranges_of_changing_constants_hold_for_the_values_seen_and_settle() {
        let range = after(&[0.3, 0.37]).range(FIRST).expect("it changed");
        assert!(range.lo > 0.0 && range.contains(Range::of(1e30)), "{range:?}");
        let sequence =
            [0.3, 0.37, -2.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -0.0, 1e-40, 5.0, -1e-41];
        for n in 1..sequence.len() {
            let range = after(&sequence[..=n]).range(FIRST).expect("it changed");
            for x in &sequence[..=n] {
                assert!(range.contains(Range::of(*x)), "{x} in {range:?}");
            }
        }
        assert_eq!(after(&sequence).range(FIRST), Some(Range::ANY));
    }
}
