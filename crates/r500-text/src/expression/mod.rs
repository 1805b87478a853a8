//! Constant expressions: the one grammar and evaluator of fragment programs, vertex programs and scenes.
//!
//! Numbers are doubles; functions are those of `libm`, so that a source has the same constants on every platform. The
//! user of a value rounds it once, to its own format. [`parse()`] reads the tokens of any language through a [`Reader`].

mod parse;

pub use parse::{ExpressionError, MAX_DEPTH, Mark, Precedence, Reader, factor, parse, resume};

/// An expression, which is evaluated for each frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// Seconds.
    Time,
    /// Width of the target by its height.
    Aspect,
    /// A vector of two to four numbers.
    Vector(Vec<Self>),
    /// A function of numbers.
    Call(Function, Vec<Self>),
    /// The negative value.
    Negate(Box<Self>),
    /// An operation on two values.
    Binary(Operator, Box<Self>, Box<Self>),
}

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// A value. Matrices are rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A vector.
    Vector([f64; 4]),
    /// A matrix, by rows.
    Matrix([[f64; 4]; 4]),
}

macro_rules! functions {
    ($($name:ident $text:literal $arguments:literal $what:literal;)*) => {
        /// A function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Function {
            $(#[doc = $what] $name,)*
        }

        impl Function {
            /// Name, arguments and meaning of each.
            const TABLE: &[(Self, &str, usize, &str)] = &[$((Self::$name, $text, $arguments, $what),)*];
        }
    };
}

functions! {
    Sin "sin" 1 "sine of an angle in radians";
    Cos "cos" 1 "cosine of an angle in radians";
    Tan "tan" 1 "tangent of an angle in radians";
    Sqrt "sqrt" 1 "square root";
    Exp2 "exp2" 1 "2 to the power of x";
    Log2 "log2" 1 "logarithm to base 2";
    Pow "pow" 2 "x to the power of y";
    Abs "abs" 1 "magnitude";
    Floor "floor" 1 "greatest whole number that is not greater";
    Ceil "ceil" 1 "least whole number that is not less";
    Round "round" 1 "nearest whole number; halves away from 0";
    Mod "mod" 2 "x - y*floor(x/y)";
    Min "min" 2 "the lesser of two";
    Max "max" 2 "the greater of two";
    Identity "identity" 0 "the matrix that changes nothing";
    Translate "translate" 3 "moves by x, y, z";
    Scale "scale" 3 "scales by x, y, z";
    Rotate "rotate" 4 "rotates about the axis x, y, z by degrees, counter-clockwise if the axis points at the viewer";
    Perspective "perspective" 4 "projects: vertical angle of view in degrees, aspect, nearest and farthest distance";
    Orthographic "orthographic" 4 "projects without perspective: half the height of the view, aspect, nearest and farthest distance";
}

impl Function {
    /// Returns the function of a name, ignoring case, and how many arguments it has.
    #[must_use]
    pub fn from_name(name: &str) -> Option<(Self, usize)> {
        let found = Self::TABLE.iter().find(|(_, text, ..)| text.eq_ignore_ascii_case(name));
        found.map(|(function, _, arguments, _)| (*function, *arguments))
    }

    /// Returns the names of all functions.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::TABLE.iter().map(|(_, text, ..)| *text)
    }

    /// Returns the functions whose value is a number: names, how many arguments they have, meanings.
    pub fn of_numbers() -> impl Iterator<Item = (&'static str, usize, &'static str)> {
        let matrices = Self::TABLE.iter().position(|(f, ..)| *f == Self::Identity);
        let count = matrices.unwrap_or(Self::TABLE.len());
        Self::TABLE.iter().take(count).map(|(_, text, arguments, what)| (*text, *arguments, *what))
    }
}

/// What expressions depend on.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// Seconds.
    pub time: f64,
    /// Width of the target by its height.
    pub aspect: f64,
}

impl Environment {
    /// That of expressions that depend on no frame.
    pub const CONSTANT: Self = Self { time: 0.0, aspect: 1.0 };
}

impl Expression {
    /// Returns whether the value depends on the time.
    #[must_use]
    pub fn moves(&self) -> bool {
        match self {
            Self::Time => true,
            Self::Number(_) | Self::Aspect => false,
            Self::Vector(parts) | Self::Call(_, parts) => parts.iter().any(Self::moves),
            Self::Negate(inner) => inner.moves(),
            Self::Binary(_, a, b) => a.moves() || b.moves(),
        }
    }

    /// Returns whether a number in it is infinite or NaN.
    #[must_use]
    pub fn has_infinity(&self) -> bool {
        match self {
            Self::Number(x) => !x.is_finite(),
            Self::Time | Self::Aspect => false,
            Self::Vector(parts) | Self::Call(_, parts) => parts.iter().any(Self::has_infinity),
            Self::Negate(inner) => inner.has_infinity(),
            Self::Binary(_, a, b) => a.has_infinity() || b.has_infinity(),
        }
    }

    /// Evaluates to a number.
    ///
    /// # Errors
    /// What does not fit together, or why the value is not a number.
    pub fn number(&self, environment: Environment) -> Result<f64, String> {
        match self.value(environment)? {
            Value::Number(x) => Ok(x),
            Value::Vector(_) => Err("expected a number, not a vector".to_owned()),
            Value::Matrix(_) => Err("expected a number, not a matrix".to_owned()),
        }
    }

    /// Evaluates. Whether this succeeds depends on the kinds of values only, not on the environment.
    ///
    /// # Errors
    /// What does not fit together.
    pub fn value(&self, environment: Environment) -> Result<Value, String> {
        let number = |inner: &Self| inner.number(environment);
        Ok(match self {
            Self::Number(x) => Value::Number(*x),
            Self::Time => Value::Number(environment.time),
            Self::Aspect => Value::Number(environment.aspect),
            Self::Vector(parts) => {
                let mut vector = [0.0, 0.0, 0.0, 1.0];
                for (to, part) in vector.iter_mut().zip(parts) {
                    *to = number(part)?;
                }
                Value::Vector(vector)
            }
            Self::Call(function, arguments) => {
                let mut given = [0.0; 4];
                for (to, argument) in given.iter_mut().zip(arguments) {
                    *to = number(argument)?;
                }
                call(*function, given)
            }
            Self::Negate(inner) => {
                binary(Operator::Multiply, Value::Number(-1.0), inner.value(environment)?)?
            }
            Self::Binary(operator, a, b) => {
                binary(*operator, a.value(environment)?, b.value(environment)?)?
            }
        })
    }
}

fn call(function: Function, [a, b, c, d]: [f64; 4]) -> Value {
    let radians = |degrees: f64| degrees * (core::f64::consts::PI / 180.0);
    match function {
        Function::Sin => Value::Number(libm::sin(a)),
        Function::Cos => Value::Number(libm::cos(a)),
        Function::Tan => Value::Number(libm::tan(a)),
        Function::Sqrt => Value::Number(libm::sqrt(a)),
        Function::Exp2 => Value::Number(libm::exp2(a)),
        Function::Log2 => Value::Number(libm::log2(a)),
        Function::Pow => Value::Number(libm::pow(a, b)),
        Function::Abs => Value::Number(a.abs()),
        Function::Floor => Value::Number(libm::floor(a)),
        Function::Ceil => Value::Number(libm::ceil(a)),
        Function::Round => Value::Number(libm::round(a)),
        Function::Mod => Value::Number(a - b * libm::floor(a / b)),
        Function::Min => Value::Number(if b < a { b } else { a }),
        Function::Max => Value::Number(if b > a { b } else { a }),
        Function::Identity => diagonal([1.0; 4]),
        Function::Scale => diagonal([a, b, c, 1.0]),
        Function::Translate => Value::Matrix([
            [1.0, 0.0, 0.0, a],
            [0.0, 1.0, 0.0, b],
            [0.0, 0.0, 1.0, c],
            [0.0, 0.0, 0.0, 1.0],
        ]),
        Function::Rotate => rotation([a, b, c], radians(d)),
        Function::Perspective => {
            let half = radians(a / 2.0);
            let scale = libm::cos(half) / libm::sin(half);
            Value::Matrix([
                [scale / b, 0.0, 0.0, 0.0],
                [0.0, scale, 0.0, 0.0],
                [0.0, 0.0, (c + d) / (c - d), 2.0 * c * d / (c - d)],
                [0.0, 0.0, -1.0, 0.0],
            ])
        }
        Function::Orthographic => Value::Matrix([
            [1.0 / (a * b), 0.0, 0.0, 0.0],
            [0.0, 1.0 / a, 0.0, 0.0],
            [0.0, 0.0, 2.0 / (c - d), (c + d) / (c - d)],
            [0.0, 0.0, 0.0, 1.0],
        ]),
    }
}

fn diagonal(values: [f64; 4]) -> Value {
    let mut matrix = [[0.0; 4]; 4];
    for (n, value) in values.into_iter().enumerate() {
        matrix[n][n] = value;
    }
    Value::Matrix(matrix)
}

/// Returns the rotation about an axis of any length (Rodrigues); the identity for an axis of zeros.
fn rotation(axis: [f64; 3], angle: f64) -> Value {
    let length = libm::sqrt(axis.iter().map(|x| x * x).sum());
    if length == 0.0 {
        return diagonal([1.0; 4]);
    }
    let [x, y, z] = axis.map(|part| part / length);
    let (sin, cos) = (libm::sin(angle), libm::cos(angle));
    let rest = 1.0 - cos;
    Value::Matrix([
        [x * x * rest + cos, x * y * rest - z * sin, x * z * rest + y * sin, 0.0],
        [x * y * rest + z * sin, y * y * rest + cos, y * z * rest - x * sin, 0.0],
        [x * z * rest - y * sin, y * z * rest + x * sin, z * z * rest + cos, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ])
}

fn binary(operator: Operator, a: Value, b: Value) -> Result<Value, String> {
    let apply = |a: f64, b: f64| match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
    };
    Ok(match (a, b) {
        (Value::Number(a), Value::Number(b)) => Value::Number(apply(a, b)),
        (Value::Vector(a), Value::Vector(b)) => {
            Value::Vector(std::array::from_fn(|i| apply(a[i], b[i])))
        }
        (Value::Vector(a), Value::Number(b)) => Value::Vector(a.map(|a| apply(a, b))),
        (Value::Number(a), Value::Vector(b)) => Value::Vector(b.map(|b| apply(a, b))),
        (Value::Matrix(a), Value::Matrix(b)) if operator == Operator::Multiply => {
            let cell = |row: usize, column: usize| (0..4).map(|n| a[row][n] * b[n][column]).sum();
            Value::Matrix(std::array::from_fn(|row| {
                std::array::from_fn(|column| cell(row, column))
            }))
        }
        (Value::Matrix(a), Value::Vector(b)) if operator == Operator::Multiply => {
            Value::Vector(a.map(|row| row.iter().zip(b).map(|(a, b)| a * b).sum()))
        }
        (Value::Number(a), Value::Matrix(b)) if operator == Operator::Multiply => {
            Value::Matrix(b.map(|row| row.map(|b| a * b)))
        }
        _ => {
            return Err("these kinds of values cannot be combined: matrices are multiplied by numbers, vectors and matrices".to_owned());
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]

    use super::*;

    fn apply(matrix: Value, point: [f64; 4]) -> [f64; 4] {
        match binary(Operator::Multiply, matrix, Value::Vector(point)) {
            Ok(Value::Vector(vector)) => vector.map(|x| (x * 1e9).round() / 1e9),
            other => panic!("{other:?}"),
        }
    }

    /// A quarter turn about z takes x to y; about y, z to x; about x, y to z.
    #[test]
    fn rotations_are_counter_clockwise() {
        let quarter =
            |axis: [f64; 3], point| apply(rotation(axis, core::f64::consts::FRAC_PI_2), point);
        assert_eq!(quarter([0.0, 0.0, 2.0], [1.0, 0.0, 0.0, 1.0]), [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(quarter([0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(quarter([3.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(apply(rotation([0.0; 3], 1.0), [1.0, 2.0, 3.0, 1.0]), [1.0, 2.0, 3.0, 1.0]);
    }

    /// The nearest distance is at z = -w, the farthest at z = w; half of the angle of view at y = w.
    #[test]
    fn projections_map_the_view_volume() {
        let perspective = call(Function::Perspective, [90.0, 2.0, 1.0, 10.0]);
        assert_eq!(apply(perspective, [2.0, 1.0, -1.0, 1.0]), [1.0, 1.0, -1.0, 1.0]);
        assert_eq!(apply(perspective, [0.0, 0.0, -10.0, 1.0]), [0.0, 0.0, 10.0, 10.0]);
        let orthographic = call(Function::Orthographic, [2.0, 1.5, 1.0, 10.0]);
        assert_eq!(apply(orthographic, [3.0, 2.0, -1.0, 1.0]), [1.0, 1.0, -1.0, 1.0]);
        assert_eq!(apply(orthographic, [0.0, 0.0, -10.0, 1.0])[2], 1.0);
    }

    #[test]
    fn products_apply_the_right_factor_first() {
        let (move_x, double) =
            (call(Function::Translate, [1.0, 0.0, 0.0, 0.0]), call(Function::Scale, [2.0; 4]));
        let product = binary(Operator::Multiply, move_x, double);
        assert_eq!(product.map(|p| apply(p, [1.0, 1.0, 1.0, 1.0])), Ok([3.0, 2.0, 2.0, 1.0]));
        assert!(binary(Operator::Add, move_x, double).is_err());
    }
}
