//! Uniforms of a draw: constants that change without a lift.

use r500_exec::{Draw, DrawKey};
use r500_ir::{ConstantChannel, Function, Range};
use r500_lift::SymbolicConstants;

/// The uniforms of a function, their values, and the ranges of symbolic constants.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uniforms {
    pub(crate) symbolic: SymbolicConstants,
    sources: Vec<ConstantChannel>,
    values: Vec<f32>,
}

impl Uniforms {
    /// Returns the uniforms of a function that was lifted with these symbolic constants.
    pub(crate) fn new(symbolic: SymbolicConstants, function: &Function, draw: &Draw<'_>) -> Self {
        let sources = function.uniforms.iter().map(|uniform| uniform.source).collect();
        Self { symbolic, sources, values: function.uniform_values(draw.bindings.constants()) }
    }

    /// Returns the values, in the function's order.
    pub(crate) fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns whether the function is valid for the constants of a draw: each changed one is symbolic, and within its range.
    pub(crate) fn allow(&self, key: &DrawKey, draw: &Draw<'_>) -> bool {
        changed_channels(key, draw).all(|(source, _, now)| {
            self.symbolic.range(source).is_some_and(|range| range.contains(Range::of(now)))
        })
    }

    /// Sets the values from a draw.
    pub(crate) fn set(&mut self, draw: &Draw<'_>) {
        for (value, source) in self.values.iter_mut().zip(&self.sources) {
            *value = source.value(draw.bindings.constants());
        }
    }
}

/// Returns the channels of constants whose values differ between the key and a draw, with both values.
pub(crate) fn changed_channels(
    key: &DrawKey,
    draw: &Draw<'_>,
) -> impl Iterator<Item = (ConstantChannel, f32, f32)> {
    key.changed_constants(draw).flat_map(|(constant, last, now)| {
        let constant = u8::try_from(constant).expect("bindings have 256 constants at most");
        (0..4u8).filter_map(move |channel| {
            let (last, now) = (last[usize::from(channel)], now[usize::from(channel)]);
            let source = ConstantChannel { constant, channel };
            (last.to_bits() != now.to_bits()).then_some((source, last, now))
        })
    })
}
