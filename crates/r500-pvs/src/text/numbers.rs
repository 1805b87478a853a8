//! Numbers as constant expressions, whose grammar is that of all languages ([`r500_text::expression`]), and their names.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use r500_text::expression::{
    self, Environment, Expression, ExpressionError, Function, Mark, Operator, Precedence,
};

use super::error::SyntaxError;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Named {
    Number(f64),
    Macro(Rc<Macro>),
}

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    pub(super) name: String,
    /// In lower case.
    pub(super) parameters: Vec<String>,
    pub(super) body: String,
    /// The line of its body in its file, from 1.
    pub(super) line: usize,
}

/// The names that a statement can use: scopes, the outermost first. Names are in lower case.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    pub(super) scopes: Vec<HashMap<String, Named>>,
}

impl Names {
    /// Returns what a name stands for, and how many scopes there are up to that of its definition.
    pub(super) fn find(&self, name: &str) -> Option<(&Named, usize)> {
        let name = name.to_ascii_lowercase();
        let mut scopes = self.scopes.iter().enumerate().rev();
        scopes.find_map(|(place, scope)| Some((scope.get(&name)?, place + 1)))
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        match self.find(name)? {
            (Named::Number(value), _) => Some(*value),
            _ => None,
        }
    }
}

/// Returns the value of an expression at the start of a text, and where it ends.
///
/// # Errors
/// [`SyntaxError`] with the place in `text`.
pub(super) fn number_at(text: &str, at: usize, names: &Names) -> Result<(f64, usize), SyntaxError> {
    let mut reader = Reader { text, at, names, word: at..at };
    let parsed = expression::parse(&mut reader)?;
    let end = reader.at;
    let span = at..at + text[at..end].trim_end().len();
    let value = parsed.number(Environment::CONSTANT);
    let value = value.map_err(|message| SyntaxError::new(span.clone(), message))?;
    if !value.is_finite() && !parsed.has_infinity() {
        let message = format!("the value of this expression is {value}");
        return Err(SyntaxError::new(span, message).help("write `inf` or `nan` if that is meant"));
    }
    Ok((value, end))
}

/// Returns the value of a text that is one expression.
///
/// # Errors
/// [`SyntaxError`] with the place in `text`.
pub(super) fn number(text: &str, names: &Names) -> Result<f64, SyntaxError> {
    let (value, end) = number_at(text, 0, names)?;
    let rest = &text[end..];
    if rest.trim().is_empty() {
        return Ok(value);
    }
    let start = end + rest.len() - rest.trim_start().len();
    Err(SyntaxError::new(start..text.len(), format!("`{}` after the number", rest.trim())))
}

/// Returns the value of a text that is a whole number up to `max`, by itself or as an expression.
pub(super) fn whole(text: &str, max: u32, names: &Names) -> Option<u32> {
    let value = match integer(text) {
        Some(value) => value.into(),
        None => number(text, names).ok()?,
    };
    whole_value(value, max)
}

/// Returns a value as a whole number up to `max`, if it is one.
pub(super) fn whole_value(value: f64, max: u32) -> Option<u32> {
    (value.fract() == 0.0 && (0.0..=f64::from(max)).contains(&value)).then_some(value as u32)
}

/// Returns a number as text that is an operand of any expression.
pub(super) fn operand(value: f64) -> String {
    if value.is_sign_negative() { format!("({value})") } else { value.to_string() }
}

/// Parses a whole number, decimal or hexadecimal.
pub(super) fn integer(text: &str) -> Option<u32> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    hex.map_or_else(|| text.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    names: &'a Names,
    /// The last word.
    word: Range<usize>,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text.as_bytes().get(self.at).copied()
    }

    fn take_while(&mut self, is: impl Fn(u8) -> bool) -> Range<usize> {
        let rest = self.text.as_bytes()[self.at..].iter();
        let end = self.at + rest.take_while(|byte| is(**byte)).count();
        std::mem::replace(&mut self.at, end)..end
    }
}

impl expression::Reader for Reader<'_> {
    type Error = SyntaxError;

    fn operator(&mut self, precedence: Precedence) -> Option<Operator> {
        let operator = match (self.peek()?, precedence) {
            (b'+', Precedence::Sum) => Operator::Add,
            (b'-', Precedence::Sum) => Operator::Subtract,
            (b'*', Precedence::Product) => Operator::Multiply,
            (b'/', Precedence::Product) => Operator::Divide,
            _ => return None,
        };
        self.at += 1;
        Some(operator)
    }

    fn mark(&mut self, mark: Mark) -> bool {
        let found = self.peek()
            == Some(match mark {
                Mark::Open => b'(',
                Mark::Close => b')',
                Mark::Comma => b',',
                Mark::Minus => b'-',
            });
        self.at += usize::from(found);
        found
    }

    fn number(&mut self) -> Result<Option<f64>, SyntaxError> {
        if !matches!(self.peek(), Some(b'0'..=b'9' | b'.')) {
            return Ok(None);
        }
        let start = self.at;
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let hex = self.text[start..].get(..2).is_some_and(|head| head.eq_ignore_ascii_case("0x"));
        self.take_while(|byte| word(byte) || byte == b'.' && !hex);
        let exponent = !hex && self.text[start..self.at].ends_with(['e', 'E']);
        if exponent && matches!(self.text.as_bytes().get(self.at), Some(b'+' | b'-')) {
            self.at += 1;
            self.take_while(word);
        }
        let text = &self.text[start..self.at];
        let value = match hex {
            true => integer(text).map(f64::from),
            false => text.parse().ok(),
        };
        let wrong = || SyntaxError::new(start..self.at, format!("`{text}` is not a number"));
        value.map(Some).ok_or_else(wrong)
    }

    fn word(&mut self) -> Option<String> {
        self.peek()?;
        self.word = self.take_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        (!self.word.is_empty()).then(|| self.text[self.word.clone()].to_owned())
    }

    fn name(&mut self, word: &str) -> Option<Expression> {
        let value = self.names.number(word).or(match word.to_ascii_lowercase().as_str() {
            "inf" => Some(f64::INFINITY),
            "nan" => Some(f64::NAN),
            _ => None,
        });
        value.map(Expression::Number)
    }

    fn error(&mut self, error: ExpressionError) -> SyntaxError {
        let next = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        let here = self.at..self.at + next;
        match error {
            ExpressionError::UnknownName(_) => {
                let functions: Vec<&str> = Function::of_numbers().map(|(name, ..)| name).collect();
                SyntaxError::new(self.word.clone(), error.to_string()).help(format!(
                    "`DEF name = 1 ;` before gives a number a name; there are pi, {}",
                    functions.join(", ")
                ))
            }
            ExpressionError::Arguments { .. } => {
                SyntaxError::new(self.word.clone(), error.to_string())
            }
            ExpressionError::NoValue => SyntaxError::new(here, "expected a number"),
            _ => SyntaxError::new(here, error.to_string()),
        }
    }
}
