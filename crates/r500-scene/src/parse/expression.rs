//! The text of expressions.

use super::{Parsed, Parser, at};
use crate::expression::{Environment, Expression, Function, Operator, Value};

/// Limit of the depth of an expression.
const MAX_DEPTH: usize = 64;

pub(super) const HELP: &str = "values are numbers, `(1, 0, 0, 1)`, `time`, `aspect`, and products such as `perspective(60, aspect, 0.1, 100) * translate(0, 0, -3)`";

impl Parser<'_> {
    /// Parses an expression that does not depend on a frame.
    pub(super) fn constant(&mut self, help: &'static str) -> Parsed<Value> {
        self.space();
        let begin = self.at;
        let expression = self.expression(0)?;
        let span = self.since(begin);
        if expression.moves() {
            return Err(at(span, "this cannot depend on the time".to_owned(), help));
        }
        let value = expression.value(Environment { time: 0.0, aspect: 1.0 });
        value.map_err(|message| at(span, message, help))
    }

    /// Parses sums of products.
    pub(super) fn expression(&mut self, depth: usize) -> Parsed<Expression> {
        let mut left = self.product(depth)?;
        let mut parts = 0;
        loop {
            let operator = match self.peek() {
                Some('+') => Operator::Add,
                // A comment is not a difference.
                Some('-') if !self.text[self.at..].starts_with("--") => Operator::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            parts += 1;
            self.shallow(depth + parts)?;
            let right = self.product(depth)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    pub(super) fn product(&mut self, depth: usize) -> Parsed<Expression> {
        let mut left = self.factor(depth + 1)?;
        let mut parts = 0;
        loop {
            let operator = match self.peek() {
                Some('*') => Operator::Multiply,
                Some('/') => Operator::Divide,
                _ => return Ok(left),
            };
            self.at += 1;
            parts += 1;
            self.shallow(depth + parts)?;
            let right = self.factor(depth + 1)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
    }

    pub(super) fn shallow(&self, depth: usize) -> Parsed<()> {
        match depth > MAX_DEPTH {
            true => Err(self.wrong("the expression is too long", HELP)),
            false => Ok(()),
        }
    }

    pub(super) fn factor(&mut self, depth: usize) -> Parsed<Expression> {
        self.shallow(depth)?;
        match self.peek() {
            Some('-') => {
                self.at += 1;
                Ok(Expression::Negate(Box::new(self.factor(depth + 1)?)))
            }
            Some('(') => {
                self.at += 1;
                let mut parts = self.list(depth)?;
                match parts.len() {
                    1 => Ok(parts.remove(0)),
                    2..=4 => Ok(Expression::Vector(parts)),
                    _ => Err(self.wrong("a vector has two to four components", HELP)),
                }
            }
            Some(c) if c.is_ascii_digit() || c == '.' => {
                Ok(Expression::Number(self.number(HELP)?.0))
            }
            _ => {
                let (name, span) = self.name(HELP)?;
                match name.to_ascii_lowercase().as_str() {
                    "time" => return Ok(Expression::Time),
                    "aspect" => return Ok(Expression::Aspect),
                    "pi" => return Ok(Expression::Number(core::f64::consts::PI)),
                    _ => {}
                }
                let Some((function, wanted)) = Function::from_name(&name) else {
                    let known: Vec<&str> = Function::names().collect();
                    let message = format!(
                        "there is no `{name}`; there are time, aspect, pi, {}",
                        known.join(", ")
                    );
                    return Err(at(span, message, HELP));
                };
                self.symbol('(', HELP)?;
                let arguments = self.list(depth)?;
                if arguments.len() != wanted {
                    let message = format!("{name} has {wanted} arguments, not {}", arguments.len());
                    return Err(at(span, message, HELP));
                }
                Ok(Expression::Call(function, arguments))
            }
        }
    }

    /// Parses expressions up to a closing parenthesis.
    pub(super) fn list(&mut self, depth: usize) -> Parsed<Vec<Expression>> {
        let mut parts = Vec::new();
        if self.optional(')') {
            return Ok(parts);
        }
        loop {
            if parts.len() == 4 {
                return Err(self.wrong("there are at most four values", HELP));
            }
            parts.push(self.expression(depth + 1)?);
            if !self.optional(',') {
                self.symbol(')', HELP)?;
                return Ok(parts);
            }
        }
    }
}
