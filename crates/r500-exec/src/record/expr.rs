//! Expressions over the state of a pixel, for breakpoints, searches and printing.
//!
//! Values are numbers or booleans, one to four channels wide. Operations work channel by channel; a value with
//! one channel is broadcast. As a condition, an expression holds if any of its channels is true (or not 0).

use r500_isa::{CONSTANTS, TARGETS, TEMPORARIES};

use super::Snapshot;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number.
    Number(f32),
    /// A boolean.
    Bool(bool),
    /// A register or another part of the state.
    Variable(Variable),
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
}

/// A part of the state of a pixel or its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// A temporary, 0 to 127.
    Temp(u8, Channels),
    /// A float constant; 0 if it is not bound.
    Const(u8, Channels),
    /// An output as last written, 0 (A) to 3 (D); 0 if never written.
    Out(u8, Channels),
    /// Depth as last written; 0 if never written.
    Depth,
    /// Predicate bits, booleans.
    Predicate(Channels),
    /// The ALU result, a boolean.
    AluResult,
    /// Whether the pixel executes the next instruction, a boolean.
    Active,
    /// Whether the rasteriser covers it and it was not killed, a boolean.
    Covered,
    /// Whether it was killed, a boolean.
    Killed,
    /// aL.
    Al,
    /// Address of the next instruction.
    Address,
    /// Number of executed steps.
    Step,
    /// Number of running loops.
    Loops,
    /// Remaining iterations of the innermost loop, including the running one; 0 outside.
    Iterations,
    /// Number of addresses on the address stack.
    Calls,
    /// The pixel's column.
    X,
    /// The pixel's row, from the bottom.
    Y,
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

    fn numbers(self, register: [f32; 4]) -> Value {
        Value::Numbers(self.channels.map(|c| register[usize::from(c)]), usize::from(self.count))
    }
}

impl Expr {
    /// Evaluates the expression.
    #[must_use]
    pub fn value(&self, snapshot: &Snapshot<'_>) -> Value {
        let one = |expr: &Self| expr.value(snapshot);
        match self {
            Self::Number(number) => Value::number(*number),
            Self::Bool(value) => Value::bool(*value),
            Self::Variable(place) => place.value(snapshot),
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

    /// Returns whether it holds as a condition: any channel is true, or not 0.
    #[must_use]
    pub fn holds(&self, snapshot: &Snapshot<'_>) -> bool {
        let (bools, count) = self.value(snapshot).bools();
        bools[..count].contains(&true)
    }

    /// Returns whether its values are booleans, not numbers.
    #[must_use]
    pub fn is_bool(&self) -> bool {
        match self {
            Self::Number(_) | Self::Neg(_) | Self::Abs(_) | Self::Arithmetic(..) => false,
            Self::Variable(place) => place.is_bool(),
            _ => true,
        }
    }

    /// Returns the number of channels.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Number(_) | Self::Bool(_) | Self::All(_) => 1,
            Self::Variable(place) => place.width(),
            Self::Neg(x) | Self::Abs(x) | Self::Is(_, x) | Self::Not(x) => x.width(),
            Self::Arithmetic(_, a, b)
            | Self::Compare(_, a, b)
            | Self::And(a, b)
            | Self::Or(a, b) => wider(a.width(), b.width()),
        }
    }
}

impl Variable {
    /// Returns its value.
    #[must_use]
    pub fn value(&self, snapshot: &Snapshot<'_>) -> Value {
        let pixel = snapshot.pixel();
        let count = |n: usize| Value::number(n as f32);
        match *self {
            Self::Temp(n, channels) => {
                let temp = usize::from(n) % TEMPORARIES;
                channels.numbers(pixel.temps.get(temp).copied().unwrap_or_default())
            }
            Self::Const(n, channels) => {
                let constant = usize::from(n) % CONSTANTS;
                channels.numbers(snapshot.setup.bindings.constant(constant).unwrap_or_default())
            }
            Self::Out(n, channels) => channels.numbers(pixel.color[usize::from(n) % TARGETS]),
            Self::Depth => Value::number(pixel.depth.unwrap_or(0.0)),
            Self::Predicate(channels) => Value::Bools(
                channels.channels.map(|channel| pixel.predicate >> channel & 1 != 0),
                usize::from(channels.count),
            ),
            Self::AluResult => Value::bool(pixel.alu_result),
            Self::Active => Value::bool(snapshot.active()),
            Self::Covered => Value::bool(pixel.covered),
            Self::Killed => Value::bool(pixel.killed),
            Self::Al => Value::number(snapshot.al() as f32),
            Self::Address => Value::number(snapshot.address() as f32),
            Self::Step => count(snapshot.position),
            Self::Loops => count(snapshot.state().loops().len()),
            Self::Iterations => {
                Value::number(snapshot.state().loops().last().map_or(0, |frame| frame.count) as f32)
            }
            Self::Calls => count(snapshot.state().calls().len()),
            Self::X => Value::number(pixel.x as f32),
            Self::Y => Value::number(pixel.y as f32),
        }
    }

    fn is_bool(self) -> bool {
        matches!(
            self,
            Self::Predicate(_) | Self::AluResult | Self::Active | Self::Covered | Self::Killed
        )
    }

    fn width(self) -> usize {
        match self {
            Self::Temp(_, channels)
            | Self::Const(_, channels)
            | Self::Out(_, channels)
            | Self::Predicate(channels) => channels.iter().len(),
            _ => 1,
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

    fn number(number: f32) -> Self {
        Self::Numbers([number; 4], 1)
    }

    fn bool(value: bool) -> Self {
        Self::Bools([value; 4], 1)
    }

    /// Converts to numbers: a boolean is 1 or 0.
    fn numbers(self) -> ([f32; 4], usize) {
        match self {
            Self::Numbers(numbers, count) => (numbers, count),
            Self::Bools(bools, count) => (bools.map(|x| if x { 1.0 } else { 0.0 }), count),
        }
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
