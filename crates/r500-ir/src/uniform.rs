//! Uniforms: symbolic program constants.
//!
//! A lift *specialises* a constant, that is folds its value, or makes it a [`Uniform`], a value that the caller of the function provides. A
//! function with uniforms is valid for all values of their constants within the ranges that the lift assumed. Constants with relative
//! addresses can be uniforms, too: the lift knows aL.

use std::collections::BTreeMap;

use r500_isa::CONSTANTS;

use crate::{Range, Value};

/// A channel of a program constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstantChannel {
    /// The constant, 0 to 255.
    pub constant: u8,
    /// Red to alpha, 0 to 3.
    pub channel: u8,
}

impl ConstantChannel {
    /// Iterates over all channels of all constants, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        let constants = (0..CONSTANTS).filter_map(|n| u8::try_from(n).ok());
        constants.flat_map(|constant| (0..4).map(move |channel| Self { constant, channel }))
    }

    /// Returns its value, given the constants by number; 0 beyond their end, as in the reference engine.
    #[must_use]
    pub fn value(self, constants: &[[f32; 4]]) -> f32 {
        let constant = constants.get(usize::from(self.constant)).copied().unwrap_or_default();
        constant[usize::from(self.channel)]
    }
}

/// A value of a function that is a channel of a program constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uniform {
    /// The value.
    pub value: Value,
    /// The channel.
    pub source: ConstantChannel,
}

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
