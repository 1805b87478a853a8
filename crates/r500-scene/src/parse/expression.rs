//! Values of constants in the text of a scene. Their grammar is that of all languages ([`r500::text::expression`]).

use r500::text::expression::{
    self, Environment, Expression, ExpressionError, Function, Mark, Operator, Precedence, Reader,
    Value,
};

use super::{Parsed, Parser, Wrong, at};

pub(super) const HELP: &str = "values are numbers, `(1, 0, 0, 1)`, `time`, `aspect`, and products such as `perspective(60, aspect, 0.1, 100) * translate(0, 0, -3)`";

impl Parser<'_> {
    /// Parses an expression that does not depend on a frame.
    pub(super) fn constant(&mut self, help: &'static str) -> Parsed<Value> {
        self.space();
        let begin = self.at;
        let expression = self.expression()?;
        let span = self.since(begin);
        if expression.moves() {
            return Err(at(span, "this cannot depend on the time".to_owned(), help));
        }
        let value = expression.value(Environment::CONSTANT);
        value.map_err(|message| at(span, message, help))
    }

    /// Parses an expression.
    pub(super) fn expression(&mut self) -> Parsed<Expression> {
        expression::parse(self)
    }
}

impl Reader for Parser<'_> {
    type Error = Wrong;

    fn operator(&mut self, precedence: Precedence) -> Option<Operator> {
        let operator = match (self.peek()?, precedence) {
            ('+', Precedence::Sum) => Operator::Add,
            ('-', Precedence::Sum) => Operator::Subtract,
            ('*', Precedence::Product) => Operator::Multiply,
            ('/', Precedence::Product) => Operator::Divide,
            _ => return None,
        };
        self.at += 1;
        Some(operator)
    }

    fn mark(&mut self, mark: Mark) -> bool {
        self.optional(match mark {
            Mark::Open => '(',
            Mark::Close => ')',
            Mark::Comma => ',',
            Mark::Minus => '-',
        })
    }

    fn number(&mut self) -> Parsed<Option<f64>> {
        match self.peek() {
            Some(c) if c.is_ascii_digit() || c == '.' => Ok(Some(Self::number(self, HELP)?.0)),
            _ => Ok(None),
        }
    }

    fn word(&mut self) -> Option<String> {
        let (name, span) = self.name(HELP).ok()?;
        self.word = span;
        Some(name)
    }

    fn name(&mut self, word: &str) -> Option<Expression> {
        match word.to_ascii_lowercase().as_str() {
            "time" => Some(Expression::Time),
            "aspect" => Some(Expression::Aspect),
            _ => None,
        }
    }

    fn error(&mut self, error: ExpressionError) -> Wrong {
        match error {
            ExpressionError::UnknownName(name) => {
                let known: Vec<&str> = Function::names().collect();
                let known = known.join(", ");
                let message = format!("there is no `{name}`; there are time, aspect, pi, {known}");
                at(self.word.clone(), message, HELP)
            }
            ExpressionError::Arguments { .. } => at(self.word.clone(), error.to_string(), HELP),
            ExpressionError::NoValue => self.wrong("expected a name", HELP),
            _ => self.wrong(&error.to_string(), HELP),
        }
    }
}
