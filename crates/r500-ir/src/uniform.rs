//! Uniforms: symbolic program constants.
//!
//! A constant is *specialised*, that is its value is folded, or a [`Uniform`], a value that the caller of the function provides. A
//! function with uniforms is valid for all values of their constants within the ranges that its builder assumed.

use r500_isa::CONSTANTS;

use crate::Value;

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
