//! The grammar of expressions, over the tokens of any language.

use super::{Expression, Function, Operator};

/// Limit of the depth of an expression, so that recursion over it is bounded.
pub const MAX_DEPTH: usize = 64;

/// A punctuation mark of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `-` before a factor.
    Minus,
}

/// How strongly an operator binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// `+`, `-`
    Sum,
    /// `*`, `/`
    Product,
}

/// Why tokens are not an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpressionError {
    /// No number, name, function or `(` is next.
    NoValue,
    /// Another mark than this one is next.
    Missing(char),
    /// The expression has more than [`MAX_DEPTH`] levels.
    TooLong,
    /// More than four values in parentheses.
    TooManyValues,
    /// A vector of other than two to four components.
    VectorSize,
    /// The last word is neither a name nor a function.
    UnknownName(String),
    /// The last word is a function with another number of arguments.
    Arguments {
        /// Its name.
        name: String,
        /// The number that it has.
        wanted: usize,
        /// The number that is given.
        given: usize,
    },
}

impl std::fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoValue => f.write_str("expected a value"),
            Self::Missing(mark) => write!(f, "expected `{mark}`"),
            Self::TooLong => f.write_str("the expression is too long"),
            Self::TooManyValues => f.write_str("there are at most four values"),
            Self::VectorSize => f.write_str("a vector has two to four components"),
            Self::UnknownName(name) => write!(f, "there is no `{name}`"),
            Self::Arguments { name, wanted, given } => {
                write!(f, "{name} has {wanted} arguments, not {given}")
            }
        }
    }
}

impl std::error::Error for ExpressionError {}

/// The tokens of a language that has expressions. A method that returns nothing has consumed nothing.
pub trait Reader {
    /// The language's errors.
    type Error;

    /// Consumes an operator, if one of this precedence is next.
    fn operator(&mut self, precedence: Precedence) -> Option<Operator>;

    /// Consumes a mark, if it is next.
    fn mark(&mut self, mark: Mark) -> bool;

    /// Consumes a number, if one is next.
    ///
    /// # Errors
    /// If it is not valid.
    fn number(&mut self) -> Result<Option<f64>, Self::Error>;

    /// Consumes a word, if one is next.
    fn word(&mut self) -> Option<String>;

    /// Returns what the last word stands for in the language, if it names a value.
    fn name(&mut self, word: &str) -> Option<Expression>;

    /// Returns an error at the next token; those about a word at the last word.
    fn error(&mut self, error: ExpressionError) -> Self::Error;

    /// Returns whether the next tokens are a unit of their own, as if in parentheses: the argument of a macro.
    fn open_unit(&mut self) -> bool {
        false
    }

    /// Ends the unit that [`Reader::open_unit`] began.
    fn close_unit(&mut self) {}
}

/// Parses an expression.
///
/// # Errors
/// Those of the reader.
pub fn parse<R: Reader>(reader: &mut R) -> Result<Expression, R::Error> {
    sum(reader, 0)
}

/// Parses the rest of an expression whose first factor is known.
///
/// # Errors
/// Those of the reader.
pub fn resume<R: Reader>(reader: &mut R, first: Expression) -> Result<Expression, R::Error> {
    let first = after(reader, first, Precedence::Product, 0)?;
    after(reader, first, Precedence::Sum, 0)
}

/// Parses a factor: a number, a name, a function, parentheses, each with signs.
///
/// # Errors
/// Those of the reader.
pub fn factor<R: Reader>(reader: &mut R) -> Result<Expression, R::Error> {
    factor_at(reader, 1)
}

fn sum<R: Reader>(reader: &mut R, depth: usize) -> Result<Expression, R::Error> {
    let first = product(reader, depth)?;
    after(reader, first, Precedence::Sum, depth)
}

fn product<R: Reader>(reader: &mut R, depth: usize) -> Result<Expression, R::Error> {
    let first = factor_at(reader, depth + 1)?;
    after(reader, first, Precedence::Product, depth)
}

/// Parses the operators of a precedence that follow a part, with the parts after them.
fn after<R: Reader>(
    reader: &mut R,
    mut left: Expression,
    precedence: Precedence,
    depth: usize,
) -> Result<Expression, R::Error> {
    let mut parts = 0;
    while let Some(operator) = reader.operator(precedence) {
        parts += 1;
        shallow(reader, depth + parts)?;
        let right = match precedence {
            Precedence::Sum => product(reader, depth)?,
            Precedence::Product => factor_at(reader, depth + 1)?,
        };
        left = Expression::Binary(operator, Box::new(left), Box::new(right));
    }
    Ok(left)
}

fn shallow<R: Reader>(reader: &mut R, depth: usize) -> Result<(), R::Error> {
    if depth > MAX_DEPTH { Err(reader.error(ExpressionError::TooLong)) } else { Ok(()) }
}

fn factor_at<R: Reader>(reader: &mut R, depth: usize) -> Result<Expression, R::Error> {
    shallow(reader, depth)?;
    if reader.open_unit() {
        let inner = sum(reader, depth);
        reader.close_unit();
        return inner;
    }
    if reader.mark(Mark::Minus) {
        return Ok(Expression::Negate(Box::new(factor_at(reader, depth + 1)?)));
    }
    if reader.mark(Mark::Open) {
        let mut parts = list(reader, depth)?;
        return match parts.len() {
            1 => Ok(parts.remove(0)),
            2..=4 => Ok(Expression::Vector(parts)),
            _ => Err(reader.error(ExpressionError::VectorSize)),
        };
    }
    if let Some(number) = reader.number()? {
        return Ok(Expression::Number(number));
    }
    let Some(word) = reader.word() else { return Err(reader.error(ExpressionError::NoValue)) };
    if let Some(value) = reader.name(&word) {
        return Ok(value);
    }
    if word.eq_ignore_ascii_case("pi") {
        return Ok(Expression::Number(core::f64::consts::PI));
    }
    let Some((function, wanted)) = Function::from_name(&word) else {
        return Err(reader.error(ExpressionError::UnknownName(word)));
    };
    if !reader.mark(Mark::Open) {
        return Err(reader.error(ExpressionError::Missing('(')));
    }
    let arguments = list(reader, depth)?;
    if arguments.len() != wanted {
        let given = arguments.len();
        return Err(reader.error(ExpressionError::Arguments { name: word, wanted, given }));
    }
    Ok(Expression::Call(function, arguments))
}

/// Parses expressions up to a closing parenthesis.
fn list<R: Reader>(reader: &mut R, depth: usize) -> Result<Vec<Expression>, R::Error> {
    let mut parts = Vec::new();
    if reader.mark(Mark::Close) {
        return Ok(parts);
    }
    loop {
        if parts.len() == 4 {
            return Err(reader.error(ExpressionError::TooManyValues));
        }
        parts.push(sum(reader, depth + 1)?);
        if !reader.mark(Mark::Comma) {
            if !reader.mark(Mark::Close) {
                return Err(reader.error(ExpressionError::Missing(')')));
            }
            return Ok(parts);
        }
    }
}
