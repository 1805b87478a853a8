//! Debugger expressions: parsing of breakpoint conditions and watched values.
//!
//! ```text
//! temp[2].r is nan          temp[0].g > 0.5           not alu_result
//! active and pred.r         all(abs(temp[3].rgb) < 1) out[0].a - 1 is negative
//! ```
//!
//! | text | meaning |
//! | --- | --- |
//! | `temp[2]`, `temp[2].rgb`, `t2.x` | a temporary, some channels of it in any order |
//! | `const[3]`, `c3.a`, a constant's name | a float constant |
//! | `out[0]`, `o0.r`, `depth` | outputs as last written |
//! | `pred`, `pred.r`, `alu_result` | predicate bits, the ALU result: booleans |
//! | `active`, `covered`, `killed` | whether the pixel executes the next instruction, will be stored, was killed: booleans |
//! | `address`, `step`, `aL`, `loops`, `passes`, `calls`, `x`, `y` | position of the run, and pixel coordinates |
//! | `1.5`, `-2`, `1e-3`, `inf`, `0x3f800000`, `true`, `false` | numbers (float32, or their bits), booleans |
//! | `+ - * /`, `abs(…)` | arithmetic |
//! | `< <= > >= == !=` | comparisons |
//! | `… is nan`, `inf`, `finite`, `denormal`, `zero`, `negative`; `is not …` | classes of numbers |
//! | `and or not` or `&& \|\| !`, `all(…)`, `any(…)`, `( )` | logic |
//!
//! Operations work channel by channel; a single channel is broadcast. A condition is true if any of its channels is.
//! Words are case-insensitive. A word of this list takes precedence over a constant of that name. A variable of the source that the program
//! was compiled from, such as `color.rgb` or `lights[1].place`, takes precedence over both.

mod lexer;
mod names;
mod parser;
mod printer;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use r500_exec::record::Expr;
use r500_exec::record::expr::Series;
use r500_program::Uniform;

use self::parser::Parser;

pub use self::printer::Written;
pub use self::vocabulary::{Bank, Vector, Vocabulary};

/// A parse error and its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// The bytes in error; empty at the end of the text if something is missing there.
    pub span: Range<usize>,
    /// The problem, and a possible remedy.
    pub message: String,
}

impl ExpressionError {
    /// Returns the text with the location marked, on two lines, and the message on a third.
    #[must_use]
    pub fn render(&self, text: &str) -> String {
        let before = text.get(..self.span.start).unwrap_or(text).chars().count();
        let marked = text.get(self.span.clone()).map_or(0, |marked| marked.chars().count()).max(1);
        let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("  {shown}\n  {}{}\n{}", " ".repeat(before), "^".repeat(marked), self.message)
    }
}

/// What words mean besides those of the machine.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// The named constants of the program.
    pub constants: &'a [Uniform],
    /// Returns the values of a variable of the source, `color` or `lights[1].place`, in the run that is inspected.
    pub variables: &'a dyn Fn(&str) -> Option<Arc<Series>>,
}

impl<'a> Names<'a> {
    /// Returns the names of a program without a source.
    #[must_use]
    pub fn of_constants(constants: &'a [Uniform]) -> Self {
        Self { constants, variables: &|_| None }
    }
}

/// Parses an expression: numbers or booleans, over the state of a machine. `names` are the named constants of the program.
///
/// # Errors
/// [`ExpressionError`] for the first error.
pub fn parse<V: Vocabulary>(text: &str, names: &[Uniform]) -> Result<Expr<V>, ExpressionError> {
    parse_with(text, Names::of_constants(names))
}

/// Parses an expression, in which variables of a source have names, too.
///
/// # Errors
/// [`ExpressionError`] for the first error.
pub fn parse_with<V: Vocabulary>(text: &str, names: Names<'_>) -> Result<Expr<V>, ExpressionError> {
    let tokens = lexer::tokens(text)?;
    let mut parser = Parser { text, names, tokens, at: 0, depth: 0, vocabulary: PhantomData };
    let expr = parser.or()?;
    match parser.peek() {
        None => Ok(expr.expr),
        Some(token) => Err(token.error(format!("`{}` is not expected here", token.text(text)))),
    }
}

/// Parses a condition: an expression with boolean values.
///
/// # Errors
/// [`ExpressionError`] for the first error; a numeric expression is one.
pub fn parse_condition<V: Vocabulary>(
    text: &str,
    names: &[Uniform],
) -> Result<Expr<V>, ExpressionError> {
    parse_condition_with(text, Names::of_constants(names))
}

/// Parses a condition, in which variables of a source have names, too.
///
/// # Errors
/// As of [`parse_condition`].
pub fn parse_condition_with<V: Vocabulary>(
    text: &str,
    names: Names<'_>,
) -> Result<Expr<V>, ExpressionError> {
    let expr = parse_with(text, names)?;
    if expr.is_bool() {
        return Ok(expr);
    }
    let message = "this is a number, no condition; compare it, such as with `> 0.5` or `is nan`";
    Err(ExpressionError { span: lexer::trimmed(text), message: message.to_owned() })
}
