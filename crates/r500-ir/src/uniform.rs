//! Uniforms: program constants as symbols, and which of them a lift leaves symbolic.
//!
//! A lift *specialises* a constant, that is folds its value, or makes it a [`Uniform`], a value that the caller of the
//! function gives. A function with uniforms holds for every value of their constants, within the range that the lift
//! assumed of each. Constants that are read by relative address are uniforms too: the lift knows aL.

use std::collections::BTreeMap;

use r500_exec::Bindings;
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
    /// All channels of all constants, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        let constants = (0..CONSTANTS).filter_map(|n| u8::try_from(n).ok());
        constants.flat_map(|constant| (0..4).map(move |channel| Self { constant, channel }))
    }

    /// Returns its value; 0 if it is not bound, as in the reference engine.
    #[must_use]
    pub fn value(self, bindings: &Bindings) -> f32 {
        let constant = bindings.constant(usize::from(self.constant)).unwrap_or_default();
        constant[usize::from(self.channel)]
    }
}

/// A value of a function that is a channel of a program constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Uniform {
    /// The value.
    pub value: Value,
    /// What it stands for.
    pub source: ConstantChannel,
}

/// The channels of program constants that a lift leaves symbolic, each with a range that its values are in. All others
/// are specialised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SymbolicConstants {
    ranges: BTreeMap<ConstantChannel, Range>,
}

impl SymbolicConstants {
    /// None: a lift folds the values of all constants.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// All of them, of which nothing is assumed: a function holds for every value of every constant.
    #[must_use]
    pub fn all() -> Self {
        Self { ranges: ConstantChannel::all().map(|source| (source, Range::ANY)).collect() }
    }

    /// Adds a channel, or changes its range.
    pub fn insert(&mut self, source: ConstantChannel, range: Range) {
        self.ranges.insert(source, range);
    }

    /// Takes a change of a channel into account: it becomes symbolic, in a range that has both values and all that have the same
    /// signs and kinds of number. Returns false if nothing had to change.
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
