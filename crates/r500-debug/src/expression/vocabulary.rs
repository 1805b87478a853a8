//! The words of expressions: what a kind of machine calls the parts of its state.

use r500_exec::record::Variable;
use r500_exec::record::expr::{Channels, Operand};
use r500_isa::{CONSTANTS, TARGETS, TEMPORARIES};

/// The operands of a kind of machine, with their names.
pub trait Vocabulary: Operand + Copy + 'static {
    /// Registers with numbers.
    const BANKS: &'static [Bank<Self>];
    /// Registers of four channels without numbers. Of several names the first is printed.
    const VECTORS: &'static [Vector<Self>];
    /// Operands with one channel. Of several names the first is printed.
    const WORDS: &'static [(&'static str, Self)];
    /// The letters of channels that are printed; all of `rgba` and `xyzw` are read.
    const LETTERS: [char; 4];

    /// Returns a float constant.
    fn constant(number: u8, channels: Channels) -> Self;

    /// Returns whether the value never changes.
    fn is_constant(self) -> bool;

    /// Returns the name of a register, such as `temp[3]`, and its channels; `None` of an operand with one channel.
    fn register(self) -> Option<(String, Channels)>;

    /// Returns other channels of the same register; the same operand if it is none.
    #[must_use]
    fn with_channels(self, channels: Channels) -> Self;
}

/// Registers with numbers from 0.
pub struct Bank<V> {
    /// Their name: `temp` of `temp[3]`.
    pub name: &'static str,
    /// What may stand before a number instead: `t` of `t3`.
    pub short: Option<&'static str>,
    /// How many there are, at most 256.
    pub count: usize,
    /// Makes an operand of a number and channels.
    pub operand: fn(u8, Channels) -> V,
}

/// A register of four channels without a number.
pub struct Vector<V> {
    /// Its name.
    pub name: &'static str,
    /// Makes an operand of channels.
    pub operand: fn(Channels) -> V,
}

impl Vocabulary for Variable {
    const BANKS: &'static [Bank<Self>] = &[
        Bank { name: "temp", short: Some("t"), count: TEMPORARIES, operand: Self::Temp },
        Bank { name: "const", short: Some("c"), count: CONSTANTS, operand: Self::Const },
        Bank { name: "out", short: Some("o"), count: TARGETS, operand: Self::Out },
    ];

    const VECTORS: &'static [Vector<Self>] = &[
        Vector { name: "pred", operand: Self::Predicate },
        Vector { name: "predicate", operand: Self::Predicate },
    ];

    const WORDS: &'static [(&'static str, Self)] = &[
        ("depth", Self::Depth),
        ("alu_result", Self::AluResult),
        ("alu", Self::AluResult),
        ("active", Self::Active),
        ("covered", Self::Covered),
        ("killed", Self::Killed),
        ("al", Self::Al),
        ("address", Self::Address),
        ("pc", Self::Address),
        ("step", Self::Step),
        ("loops", Self::Loops),
        ("passes", Self::Iterations),
        ("calls", Self::Calls),
        ("x", Self::X),
        ("y", Self::Y),
    ];

    const LETTERS: [char; 4] = ['r', 'g', 'b', 'a'];

    fn constant(number: u8, channels: Channels) -> Self {
        Self::Const(number, channels)
    }

    fn is_constant(self) -> bool {
        matches!(self, Self::Const(..))
    }

    fn register(self) -> Option<(String, Channels)> {
        match self {
            Self::Temp(n, channels) => Some((format!("temp[{n}]"), channels)),
            Self::Const(n, channels) => Some((format!("const[{n}]"), channels)),
            Self::Out(n, channels) => Some((format!("out[{n}]"), channels)),
            Self::Predicate(channels) => Some(("pred".to_owned(), channels)),
            _ => None,
        }
    }

    fn with_channels(self, channels: Channels) -> Self {
        match self {
            Self::Temp(n, _) => Self::Temp(n, channels),
            Self::Const(n, _) => Self::Const(n, channels),
            Self::Out(n, _) => Self::Out(n, channels),
            Self::Predicate(_) => Self::Predicate(channels),
            other => other,
        }
    }
}
