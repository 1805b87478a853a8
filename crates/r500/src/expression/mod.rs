//! Expressions of the debugger, as text: conditions of breakpoints, values to print.
//!
//! ```text
//! temp[2].r is nan          temp[0].g > 0.5           not alu_result
//! active and pred.r         all(abs(temp[3].rgb) < 1) out[0].a - 1 is negative
//! ```
//!
//! | written | is |
//! | --- | --- |
//! | `temp[2]`, `temp[2].rgb`, `t2.x` | a temporary, some channels of it in any order |
//! | `const[3]`, `c3.a`, a constant's name | a float constant |
//! | `out[0]`, `o0.r`, `depth` | outputs as last written |
//! | `pred`, `pred.r`, `alu_result` | predicate bits, the ALU result: truths |
//! | `active`, `covered`, `killed` | whether the pixel executes the coming instruction, will be delivered, was killed: truths |
//! | `address`, `step`, `aL`, `loops`, `passes`, `calls`, `x`, `y` | where the run is and which pixel it is |
//! | `1.5`, `-2`, `1e-3`, `inf`, `0x3f800000`, `true`, `false` | numbers (float32, or their bits), truths |
//! | `+ - * /`, `abs(…)` | arithmetic |
//! | `< <= > >= == !=` | comparisons |
//! | `… is nan`, `inf`, `finite`, `denormal`, `zero`, `negative`; `is not …` | kinds of numbers |
//! | `and or not` or `&& \|\| !`, `all(…)`, `any(…)`, `( )` | logic |
//!
//! Operations work channel by channel, and what has one channel serves for all; a condition holds if
//! any channel of it does. Words take any case. A word of this list wins over a constant of that name.

mod lexer;
mod names;
mod parser;
mod printer;
#[cfg(test)]
mod tests;

use std::ops::Range;

use r500_exec::record::Expr;
use r500_program::Uniform;

use self::parser::Parser;

pub use self::printer::Written;

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExpressionError {
    /// The bytes at fault; empty at the end of the text if something is missing there.
    pub span: Range<usize>,
    /// What is wrong, and what may help.
    pub message: String,
}

impl ExpressionError {
    /// Returns the text with the place marked, on two lines, and the message on a third.
    #[must_use]
    pub fn render(&self, text: &str) -> String {
        let before = text.get(..self.span.start).unwrap_or(text).chars().count();
        let marked = text.get(self.span.clone()).map_or(0, |marked| marked.chars().count()).max(1);
        let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("  {shown}\n  {}{}\n{}", " ".repeat(before), "^".repeat(marked), self.message)
    }
}

/// Reads an expression: numbers or truths. `names` are the named constants of the program.
///
/// # Errors
/// [`ExpressionError`] for the first thing that is wrong.
pub fn parse(text: &str, names: &[Uniform]) -> Result<Expr, ExpressionError> {
    let tokens = lexer::tokens(text)?;
    let mut parser = Parser { text, names, tokens, at: 0, depth: 0 };
    let expr = parser.or()?;
    match parser.peek() {
        None => Ok(expr.expr),
        Some(token) => Err(token.error(format!("`{}` is not expected here", token.text(text)))),
    }
}

/// Reads a condition: an expression that comes to truths.
///
/// # Errors
/// [`ExpressionError`] for the first thing that is wrong, numbers included.
pub fn parse_condition(text: &str, names: &[Uniform]) -> Result<Expr, ExpressionError> {
    let expr = parse(text, names)?;
    if expr.is_bool() {
        return Ok(expr);
    }
    let message = "this is a number, no condition; compare it, such as with `> 0.5` or `is nan`";
    Err(ExpressionError { span: lexer::trimmed(text), message: message.to_owned() })
}
