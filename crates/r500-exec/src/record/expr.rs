//! Expressions over the state of a machine, for breakpoints, searches and printing.
//!
//! Values are numbers or booleans, one to four channels wide. Operations work channel by channel; a value with
//! one channel is broadcast. As a condition, an expression holds if any of its channels is true (or not 0).

use std::sync::Arc;

use r500_numerics::{Decimal, Decimals};

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr<V> {
    /// A number.
    Number(f32),
    /// A boolean.
    Bool(bool),
    /// A register or another part of the state.
    Variable(V),
    /// `-x`.
    Neg(Box<Self>),
    /// `|x|`.
    Abs(Box<Self>),
    /// Arithmetic in float32.
    Arithmetic(Arithmetic, Box<Self>, Box<Self>),
    /// A comparison of numbers: with NaN false, except [`Comparison::Ne`].
    Compare(Comparison, Box<Self>, Box<Self>),
    /// Whether numbers belong to a class.
    Is(FpClass, Box<Self>),
    /// Logical NOT.
    Not(Box<Self>),
    /// Logical AND.
    And(Box<Self>, Box<Self>),
    /// Logical OR.
    Or(Box<Self>, Box<Self>),
    /// Whether all channels are true: one channel.
    All(Box<Self>),
    /// Some channels of a value that is known for each position of a run.
    Series(Arc<Series>, Channels),
}

/// The values of something at the positions of a run that are not a part of the machine's state: a variable of a source.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name; series with the same name are equal.
    pub name: String,
    /// Whether its values are booleans, not numbers.
    pub is_bool: bool,
    /// Its number of channels, 1 to 4.
    pub width: usize,
    /// The value at each position that has one; others are NaN or false.
    pub values: Vec<Option<[f32; 4]>>,
}

impl PartialEq for Series {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Series {
    fn value(&self, position: usize, channels: Channels) -> Value {
        let value = self.values.get(position).copied().flatten();
        let none = if self.is_bool { 0.0 } else { f32::NAN };
        match channels.numbers(value.unwrap_or([none; 4])) {
            Value::Numbers(value, count) if self.is_bool => {
                Value::Bools(value.map(|channel| channel != 0.0), count)
            }
            value => value,
        }
    }
}

/// A part of the state of a [`Machine`](super::Machine) that an expression names.
pub trait Operand: Clone + PartialEq {
    /// Returns whether its values are booleans, not numbers.
    fn is_bool(&self) -> bool;

    /// Returns its number of channels, 1 to 4.
    fn width(&self) -> usize;
}

/// One to four channels in any order: 0 red to 3 alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels {
    channels: [u8; 4],
    count: u8,
}

/// An arithmetic operator: `+ - * /`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named by what they do")]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named by what they do")]
pub enum Comparison {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// A class of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FpClass {
    /// Not a number.
    Nan,
    /// An infinity.
    Infinite,
    /// Neither NaN nor infinite.
    Finite,
    /// A subnormal number.
    Denormal,
    /// 0 or -0.
    Zero,
    /// The sign bit is set.
    Negative,
}

/// The value of an expression: one to four channels.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// Numbers.
    Numbers([f32; 4], usize),
    /// Booleans.
    Bools([bool; 4], usize),
}

impl Channels {
    /// All channels: red, green, blue, alpha.
    pub const ALL: Self = Self { channels: [0, 1, 2, 3], count: 4 };

    /// Returns the given channels (0 to 3 each); `None` if there are none, more than four, or other numbers.
    #[must_use]
    pub fn new(list: &[u8]) -> Option<Self> {
        if list.is_empty() || list.len() > 4 || list.iter().any(|&channel| channel > 3) {
            return None;
        }
        let mut channels = [0; 4];
        channels[..list.len()].copy_from_slice(list);
        Some(Self { channels, count: u8::try_from(list.len()).ok()? })
    }

    /// Returns the channels in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.channels[..usize::from(self.count)].iter().map(|&channel| usize::from(channel))
    }

    /// Returns these channels of a register.
    #[must_use]
    pub fn numbers(self, register: [f32; 4]) -> Value {
        Value::Numbers(self.channels.map(|c| register[usize::from(c)]), usize::from(self.count))
    }

    /// Returns these channels of a mask, red in bit 0, as booleans.
    #[must_use]
    pub fn bits(self, mask: u8) -> Value {
        Value::Bools(self.channels.map(|channel| mask >> channel & 1 != 0), usize::from(self.count))
    }
}

impl<V: Operand> Expr<V> {
    /// Evaluates the expression at a position with the values of variables.
    pub(super) fn evaluate(&self, position: usize, variable: &impl Fn(&V) -> Value) -> Value {
        let one = |expr: &Self| expr.evaluate(position, variable);
        match self {
            Self::Series(series, channels) => series.value(position, *channels),
            Self::Number(number) => Value::number(*number),
            Self::Bool(value) => Value::bool(*value),
            Self::Variable(place) => variable(place),
            Self::Neg(x) => one(x).map(|x| -x),
            Self::Abs(x) => one(x).map(f32::abs),
            Self::Arithmetic(op, a, b) => one(a).zip(one(b), |a, b| op.apply(a, b)),
            Self::Compare(op, a, b) => one(a).test_with(one(b), |a, b| op.holds(a, b)),
            Self::Is(class, x) => one(x).test(|x| class.has(x)),
            Self::Not(x) => one(x).logic(one(x), |x, _| !x),
            Self::And(a, b) => one(a).logic(one(b), |a, b| a && b),
            Self::Or(a, b) => one(a).logic(one(b), |a, b| a || b),
            Self::All(x) => {
                let (bools, count) = one(x).bools();
                Value::bool(bools[..count].iter().all(|&value| value))
            }
        }
    }

    /// Returns whether its values are booleans, not numbers.
    #[must_use]
    pub fn is_bool(&self) -> bool {
        match self {
            Self::Number(_) | Self::Neg(_) | Self::Abs(_) | Self::Arithmetic(..) => false,
            Self::Variable(place) => place.is_bool(),
            Self::Series(series, _) => series.is_bool,
            _ => true,
        }
    }

    /// Replaces series by those of another run; a series without one has no values.
    pub fn replace_series(&mut self, with: &impl Fn(&str) -> Option<Arc<Series>>) {
        match self {
            Self::Series(series, _) => {
                let none = || Arc::new(Series { values: Vec::new(), ..Series::clone(series) });
                *series = with(&series.name).unwrap_or_else(none);
            }
            Self::Number(_) | Self::Bool(_) | Self::Variable(_) => {}
            Self::Neg(x) | Self::Abs(x) | Self::Is(_, x) | Self::Not(x) | Self::All(x) => {
                x.replace_series(with);
            }
            Self::Arithmetic(_, a, b)
            | Self::Compare(_, a, b)
            | Self::And(a, b)
            | Self::Or(a, b) => {
                a.replace_series(with);
                b.replace_series(with);
            }
        }
    }

    /// Returns the name of a series in it that has no value at a position; `None` if there is none.
    pub(super) fn unknown_at(&self, position: usize) -> Option<&str> {
        match self {
            Self::Series(series, _) => {
                let known = matches!(series.values.get(position), Some(Some(_)));
                (!known).then_some(&*series.name)
            }
            Self::Number(_) | Self::Bool(_) | Self::Variable(_) => None,
            Self::Neg(x) | Self::Abs(x) | Self::Is(_, x) | Self::Not(x) | Self::All(x) => {
                x.unknown_at(position)
            }
            Self::Arithmetic(_, a, b)
            | Self::Compare(_, a, b)
            | Self::And(a, b)
            | Self::Or(a, b) => a.unknown_at(position).or_else(|| b.unknown_at(position)),
        }
    }

    /// Returns the number of channels.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Number(_) | Self::Bool(_) | Self::All(_) => 1,
            Self::Variable(place) => place.width(),
            Self::Series(_, channels) => channels.iter().len(),
            Self::Neg(x) | Self::Abs(x) | Self::Is(_, x) | Self::Not(x) => x.width(),
            Self::Arithmetic(_, a, b)
            | Self::Compare(_, a, b)
            | Self::And(a, b)
            | Self::Or(a, b) => wider(a.width(), b.width()),
        }
    }
}

impl Arithmetic {
    fn apply(self, a: f32, b: f32) -> f32 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
        }
    }
}

impl Comparison {
    fn holds(self, a: f32, b: f32) -> bool {
        match self {
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
            Self::Eq => a == b,
            Self::Ne => a != b,
        }
    }
}

impl FpClass {
    fn has(self, x: f32) -> bool {
        match self {
            Self::Nan => x.is_nan(),
            Self::Infinite => x.is_infinite(),
            Self::Finite => x.is_finite(),
            Self::Denormal => x.is_subnormal(),
            Self::Zero => x == 0.0,
            Self::Negative => x.is_sign_negative(),
        }
    }
}

/// A number as the shortest decimal that reads back the same; several channels in parentheses.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Numbers([x, ..], 1) => write!(f, "{}", Decimal(*x)),
            Self::Numbers(x, count) => write!(f, "{}", Decimals(&x[..*count])),
            Self::Bools([x, ..], 1) => write!(f, "{x}"),
            Self::Bools(x, count) => {
                let words: Vec<String> = x[..*count].iter().map(bool::to_string).collect();
                write!(f, "({})", words.join(", "))
            }
        }
    }
}

impl Value {
    /// Returns whether another value is equal, bit for bit.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Numbers(a, n), Self::Numbers(b, m)) => {
                n == m && a[..*n].iter().zip(&b[..*n]).all(|(a, b)| a.to_bits() == b.to_bits())
            }
            (Self::Bools(a, n), Self::Bools(b, m)) => n == m && a[..*n] == b[..*n],
            _ => false,
        }
    }

    /// Returns a number.
    #[must_use]
    pub fn number(number: f32) -> Self {
        Self::Numbers([number; 4], 1)
    }

    /// Returns a boolean.
    #[must_use]
    pub fn bool(value: bool) -> Self {
        Self::Bools([value; 4], 1)
    }

    /// Converts to numbers: a boolean is 1 or 0.
    fn numbers(self) -> ([f32; 4], usize) {
        match self {
            Self::Numbers(numbers, count) => (numbers, count),
            Self::Bools(bools, count) => (bools.map(|x| if x { 1.0 } else { 0.0 }), count),
        }
    }

    /// Returns whether it holds as a condition: any channel is true, or not 0.
    #[must_use]
    pub fn holds(self) -> bool {
        let (bools, count) = self.bools();
        bools[..count].contains(&true)
    }

    /// Converts to booleans: a number is true if it is not 0.
    fn bools(self) -> ([bool; 4], usize) {
        match self {
            Self::Numbers(numbers, count) => (numbers.map(|x| x != 0.0), count),
            Self::Bools(bools, count) => (bools, count),
        }
    }

    fn map(self, f: impl Fn(f32) -> f32) -> Self {
        let (numbers, count) = self.numbers();
        Self::Numbers(numbers.map(f), count)
    }

    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let (a, b, count) = pair(self.numbers(), other.numbers());
        Self::Numbers([0, 1, 2, 3].map(|i| f(a[i], b[i])), count)
    }

    fn test(self, f: impl Fn(f32) -> bool) -> Self {
        let (numbers, count) = self.numbers();
        Self::Bools(numbers.map(f), count)
    }

    fn test_with(self, other: Self, f: impl Fn(f32, f32) -> bool) -> Self {
        let (a, b, count) = pair(self.numbers(), other.numbers());
        Self::Bools([0, 1, 2, 3].map(|i| f(a[i], b[i])), count)
    }

    fn logic(self, other: Self, f: impl Fn(bool, bool) -> bool) -> Self {
        let (a, b, count) = pair(self.bools(), other.bools());
        Self::Bools([0, 1, 2, 3].map(|i| f(a[i], b[i])), count)
    }
}

/// Returns two values with a common width: a single channel is broadcast, else the smaller width applies.
fn pair<T: Copy>((a, n): ([T; 4], usize), (b, m): ([T; 4], usize)) -> ([T; 4], [T; 4], usize) {
    let spread = |x: [T; 4], count: usize| if count == 1 { [x[0]; 4] } else { x };
    (spread(a, n), spread(b, m), wider(n, m))
}

fn wider(n: usize, m: usize) -> usize {
    match (n, m) {
        (1, m) => m,
        (n, 1) => n,
        (n, m) => n.min(m),
    }
}
