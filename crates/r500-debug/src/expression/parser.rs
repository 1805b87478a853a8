//! Recursive-descent parser: each function parses one level of precedence and checks widths and types.

use std::marker::PhantomData;
use std::ops::Range;

use r500_exec::record::Expr;
use r500_exec::record::expr::{Arithmetic, Channels, Comparison};

use super::lexer::{Token, TokenKind};
use super::names::CLASSES;
use super::vocabulary::Vocabulary;
use super::{ExpressionError, Names};

/// Returns a question for the known name that is most similar to a word; empty if none is similar enough.
fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    r500_asm::closest(word, known)
        .map_or_else(String::new, |name| format!("did you mean `{name}`? "))
}

/// Limit of nested parentheses, because evaluation is recursive.
const DEPTH: usize = 64;
/// A parsed expression and its location.
pub(super) struct Part<V> {
    pub(super) expr: Expr<V>,
    span: Range<usize>,
}

pub(super) struct Parser<'a, V> {
    pub(super) text: &'a str,
    pub(super) names: Names<'a>,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) vocabulary: PhantomData<V>,
}

type Parsed<T> = Result<T, ExpressionError>;

impl<V: Vocabulary> Parser<'_, V> {
    pub(super) fn or(&mut self) -> Parsed<Part<V>> {
        let mut left = self.and()?;
        while self.takes_word("or") || self.takes("||") {
            let right = self.and()?;
            left = logic(Expr::Or, left, right)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Part<V>> {
        let mut left = self.not()?;
        while self.takes_word("and") || self.takes("&&") {
            let right = self.not()?;
            left = logic(Expr::And, left, right)?;
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed<Part<V>> {
        let start = self.here();
        if !self.takes_word("not") && !self.takes("!") {
            return self.comparison();
        }
        let part = self.nested(Self::not)?;
        truth(&part)?;
        Ok(Part { span: start..part.span.end, expr: Expr::Not(Box::new(part.expr)) })
    }

    fn comparison(&mut self) -> Parsed<Part<V>> {
        let left = self.sum()?;
        if self.takes_word("is") {
            return self.class(left);
        }
        const SIGNS: [(&str, Comparison); 6] = [
            ("<=", Comparison::Le),
            (">=", Comparison::Ge),
            ("==", Comparison::Eq),
            ("!=", Comparison::Ne),
            ("<", Comparison::Lt),
            (">", Comparison::Gt),
        ];
        let Some(&(_, op)) = SIGNS.iter().find(|(sign, _)| self.takes(sign)) else {
            if let Some(token) = self.peek().filter(|token| token.kind == TokenKind::Sign("=")) {
                return Err(
                    token.error("nothing is assigned here; write `==` to compare".to_owned())
                );
            }
            return Ok(left);
        };
        let right = self.sum()?;
        let equality = matches!(op, Comparison::Eq | Comparison::Ne);
        // Booleans can be compared for equality; other comparisons need numbers.
        if !(equality && left.expr.is_bool() && right.expr.is_bool()) {
            number(&left)?;
            number(&right)?;
        }
        let part = pair(|a, b| Expr::Compare(op, a, b), left, right)?;
        if let Some(token) = self.peek()
            && SIGNS.iter().any(|(sign, _)| token.kind == TokenKind::Sign(sign))
        {
            let message = "comparisons do not chain; write `a < b and b < c`";
            return Err(token.error(message.to_owned()));
        }
        Ok(part)
    }

    /// Parses the class after `is`.
    fn class(&mut self, left: Part<V>) -> Parsed<Part<V>> {
        number(&left)?;
        let negated = self.takes_word("not");
        let words = || CLASSES.map(|(word, _)| word).join(", ");
        let missing = || format!("`is` wants one of {}", words());
        let Some(token) = self.next() else { return Err(self.missing(missing())) };
        let word = token.text(self.text).to_ascii_lowercase();
        let found = CLASSES.iter().find(|(name, _)| *name == word);
        let Some(&(_, class)) = found else {
            let near = suggestion(&word, CLASSES.iter().map(|(name, _)| *name));
            return Err(token.error(format!("{near}{}", missing())));
        };
        let is = Expr::Is(class, Box::new(left.expr));
        let expr = if negated { Expr::Not(Box::new(is)) } else { is };
        Ok(Part { expr, span: left.span.start..token.span.end })
    }

    fn sum(&mut self) -> Parsed<Part<V>> {
        let operators = [("+", Arithmetic::Add), ("-", Arithmetic::Subtract)];
        self.left_associative(&operators, Self::product)
    }

    fn product(&mut self) -> Parsed<Part<V>> {
        let operators = [("*", Arithmetic::Multiply), ("/", Arithmetic::Divide)];
        self.left_associative(&operators, Self::unary)
    }

    /// Parses operands with any of these left-associative operators between them.
    fn left_associative(
        &mut self,
        operators: &[(&str, Arithmetic)],
        operand: fn(&mut Self) -> Parsed<Part<V>>,
    ) -> Parsed<Part<V>> {
        let mut left = operand(self)?;
        while let Some(&(_, op)) = operators.iter().find(|(sign, _)| self.takes(sign)) {
            let right = operand(self)?;
            left = arithmetic(op, left, right)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Part<V>> {
        let start = self.here();
        if self.takes("-") {
            let part = self.nested(Self::unary)?;
            number(&part)?;
            return Ok(Part { span: start..part.span.end, expr: Expr::Neg(Box::new(part.expr)) });
        }
        if self.takes("+") {
            return self.nested(Self::unary);
        }
        self.primary()
    }

    fn primary(&mut self) -> Parsed<Part<V>> {
        let Some(token) = self.next() else {
            let message = "something is missing here: a register, a number, a word";
            return Err(self.missing(message.to_owned()));
        };
        let span = token.span.clone();
        match token.kind {
            TokenKind::Number(number) => Ok(Part { expr: Expr::Number(number), span }),
            TokenKind::Sign("(") => {
                let part = self.nested(Self::or)?;
                let end = self.expect(")")?;
                Ok(Part { expr: part.expr, span: span.start..end })
            }
            TokenKind::Sign(sign) => {
                let message =
                    format!("`{sign}` is not expected here: a register, a number or a word is");
                Err(token.error(message))
            }
            TokenKind::Word => self.word(&token),
        }
    }

    fn word(&mut self, token: &Token) -> Parsed<Part<V>> {
        let written = token.text(self.text);
        let word = written.to_ascii_lowercase();
        let span = token.span.clone();
        let plain = |expr| Ok(Part { expr, span: span.clone() });
        match word.as_str() {
            "true" => return plain(Expr::Bool(true)),
            "false" => return plain(Expr::Bool(false)),
            "inf" => return plain(Expr::Number(f32::INFINITY)),
            "nan" => {
                let message = "nothing is equal to NaN; write `… is nan`";
                return Err(token.error(message.to_owned()));
            }
            "abs" | "all" | "any" => return self.function(&word, &span),
            _ => {}
        }
        if let Some(part) = self.variable(token)? {
            return Ok(part);
        }
        if let Some(vector) = V::VECTORS.iter().find(|vector| vector.name == word) {
            let (channels, span) = self.channels(span, 4)?;
            return Ok(Part { expr: Expr::Variable((vector.operand)(channels)), span });
        }
        if let Some((_, place)) = V::WORDS.iter().find(|(name, _)| *name == word) {
            return plain(Expr::Variable(*place));
        }
        if let Some(part) = self.register(token, &word)? {
            return Ok(part);
        }
        let Some(uniform) = self.names.constants.iter().find(|uniform| uniform.name == written)
        else {
            return Err(token.error(self.unknown(written)));
        };
        let first = uniform.channel.min(3);
        let width = uniform.channels.clamp(1, 4 - first);
        let (channels, span) = self.channels(span, width)?;
        let moved: Vec<u8> =
            channels.iter().filter_map(|c| u8::try_from(c).ok()).map(|c| c + first).collect();
        let channels = Channels::new(&moved).unwrap_or(channels);
        Ok(Part { expr: Expr::Variable(V::constant(uniform.constant, channels)), span })
    }

    /// Parses a variable of the source, with its members and elements and with channels; `None` if it is none.
    fn variable(&mut self, token: &Token) -> Parsed<Option<Part<V>>> {
        // The longest name: members and channels look the same.
        let start = self.at;
        let mut name = token.text(self.text).to_owned();
        let mut found = (self.names.variables)(&name).map(|series| (series, start));
        while let Some(more) = self.part_of_name() {
            name.push_str(&more);
            if let Some(series) = (self.names.variables)(&name) {
                found = Some((series, self.at));
            }
        }
        self.at = found.as_ref().map_or(start, |(_, at)| *at);
        let Some((series, _)) = found else { return Ok(None) };
        let width = u8::try_from(series.width).unwrap_or(4);
        let (channels, span) = self.channels(token.span.start..self.last_end(), width)?;
        Ok(Some(Part { expr: Expr::Series(series, channels), span }))
    }

    /// Parses `.member` or `[2]`.
    fn part_of_name(&mut self) -> Option<String> {
        let start = self.at;
        let sign = self.next()?;
        let part = self.next().map(|token| token.text(self.text).to_owned());
        let name = match (sign.kind, part) {
            (TokenKind::Sign("."), Some(part)) => Some(format!(".{part}")),
            (TokenKind::Sign("["), Some(part)) if self.takes("]") => Some(format!("[{part}]")),
            _ => None,
        };
        if name.is_none() {
            self.at = start;
        }
        name
    }

    /// Parses `abs(…)`, `all(…)`, `any(…)`.
    fn function(&mut self, word: &str, span: &Range<usize>) -> Parsed<Part<V>> {
        self.expect("(")?;
        let part = self.nested(Self::or)?;
        let span = span.start..self.expect(")")?;
        let expr = match word {
            "abs" => {
                number(&part)?;
                Expr::Abs(Box::new(part.expr))
            }
            "all" => {
                truth(&part)?;
                Expr::All(Box::new(part.expr))
            }
            _ => {
                truth(&part)?;
                // any(x) = not all(not x).
                let none = Expr::All(Box::new(Expr::Not(Box::new(part.expr))));
                Expr::Not(Box::new(none))
            }
        };
        Ok(Part { expr, span })
    }

    /// Parses a register with channels, such as `temp[2].rg` or `t2.rg`; `None` if the word is not a register.
    fn register(&mut self, token: &Token, word: &str) -> Parsed<Option<Part<V>>> {
        let digits = |prefix: &str| {
            word.strip_prefix(prefix)
                .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        };
        let found = V::BANKS.iter().find_map(|bank| {
            if word == bank.name {
                Some((bank, None))
            } else {
                digits(bank.short?).map(|digits| (bank, Some(digits.to_owned())))
            }
        });
        let Some((bank, digits)) = found else { return Ok(None) };
        let (name, last) = (bank.name, bank.count - 1);
        let (number, index) = match digits {
            Some(digits) => (digits.parse().ok(), token.span.clone()),
            None => {
                self.expect("[")?;
                let missing = || format!("`{name}[…]` wants a number from 0 to {last}");
                let Some(index) = self.next() else { return Err(self.missing(missing())) };
                let number =
                    index.text(self.text).parse::<usize>().map_err(|_| index.error(missing()))?;
                self.expect("]")?;
                (Some(number), index.span)
            }
        };
        let number = number.filter(|&number| number <= last).and_then(|n| u8::try_from(n).ok());
        let Some(number) = number else {
            let message = format!("there is no such register: {name}[0] to {name}[{last}]");
            return Err(ExpressionError { span: index, message });
        };
        let (channels, span) = self.channels(token.span.start..self.last_end(), 4)?;
        let place = (bank.operand)(number, channels);
        Ok(Some(Part { expr: Expr::Variable(place), span }))
    }

    /// Parses channels such as `.rgb` after a register of `width` channels; without a suffix, returns all of them.
    fn channels(&mut self, span: Range<usize>, width: u8) -> Parsed<(Channels, Range<usize>)> {
        if !self.takes(".") {
            let all: Vec<u8> = (0..width).collect();
            return Ok((Channels::new(&all).unwrap_or(Channels::ALL), span));
        }
        let wanted = || "channels are one to four letters of rgba or xyzw".to_owned();
        let Some(token) = self.next() else { return Err(self.missing(wanted())) };
        let letters: Option<Vec<u8>> = token
            .text(self.text)
            .bytes()
            .map(|letter| match letter.to_ascii_lowercase() {
                b'r' | b'x' => Some(0),
                b'g' | b'y' => Some(1),
                b'b' | b'z' => Some(2),
                b'a' | b'w' => Some(3),
                _ => None,
            })
            .collect();
        let letters = letters.unwrap_or_default();
        if letters.iter().any(|&letter| letter >= width) {
            return Err(token.error(format!("this has only {width} channels")));
        }
        match Channels::new(&letters) {
            Some(channels) => Ok((channels, span.start..token.span.end)),
            None => Err(token.error(wanted())),
        }
    }

    fn unknown(&self, written: &str) -> String {
        // Of several names of an operand the first one.
        let first = |n: &usize| {
            let (_, operand) = &V::WORDS[*n];
            V::WORDS[..*n].iter().all(|(_, other)| other != operand)
        };
        let words: Vec<&str> = (0..V::WORDS.len()).filter(first).map(|n| V::WORDS[n].0).collect();
        let vector = V::VECTORS.first().map(|vector| vector.name);
        let names = || self.names.constants.iter().map(|name| name.name.as_str());
        let constants = if self.names.constants.is_empty() {
            String::new()
        } else {
            let shown: Vec<&str> = names().take(16).collect();
            format!("; the program's constants are {}", shown.join(", "))
        };
        let registers = V::BANKS.iter().map(|bank| bank.name).chain(vector);
        let near = suggestion(written, registers.chain(words.iter().copied()).chain(names()));
        let banks: String = V::BANKS.iter().map(|bank| format!("{}[N], ", bank.name)).collect();
        let vector = vector.map_or_else(String::new, |name| format!("{name}, "));
        format!(
            "there is no `{written}`; {near}there are {banks}{vector}{}{constants}",
            words.join(", ")
        )
    }

    /// Parses a nested expression, up to the depth limit.
    fn nested<T>(&mut self, parse: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH {
            return Err(self.missing(format!("this is nested more than {DEPTH} levels deep")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += usize::from(token.is_some());
        token
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found =
            self.peek().is_some_and(|t| matches!(t.kind, TokenKind::Sign(found) if found == sign));
        self.at += usize::from(found);
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let text = self.text;
        let found = self.peek().is_some_and(|token| {
            token.kind == TokenKind::Word && token.text(text).eq_ignore_ascii_case(word)
        });
        self.at += usize::from(found);
        found
    }

    /// Consumes a sign. Returns its end.
    fn expect(&mut self, sign: &str) -> Parsed<usize> {
        if self.takes(sign) {
            return Ok(self.last_end());
        }
        Err(self.missing(format!("`{sign}` is missing here")))
    }

    /// Returns the start of the next token.
    fn here(&self) -> usize {
        self.peek().map_or(self.text.len(), |token| token.span.start)
    }

    /// Returns the end of the last token.
    fn last_end(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |token| token.span.end)
    }

    /// Returns an error at the next token, or at the end.
    fn missing(&self, message: String) -> ExpressionError {
        match self.peek() {
            Some(token) => token.error(message),
            None => {
                let end = self.text.trim_end().len();
                ExpressionError { span: end..end, message }
            }
        }
    }
}

/// Makes an expression of two.
type Binary<V> = fn(Box<Expr<V>>, Box<Expr<V>>) -> Expr<V>;

fn logic<V: Vocabulary>(make: Binary<V>, left: Part<V>, right: Part<V>) -> Parsed<Part<V>> {
    truth(&left)?;
    truth(&right)?;
    pair(make, left, right)
}

fn arithmetic<V: Vocabulary>(op: Arithmetic, left: Part<V>, right: Part<V>) -> Parsed<Part<V>> {
    number(&left)?;
    number(&right)?;
    pair(|a, b| Expr::Arithmetic(op, a, b), left, right)
}

fn pair<V: Vocabulary>(
    make: impl Fn(Box<Expr<V>>, Box<Expr<V>>) -> Expr<V>,
    left: Part<V>,
    right: Part<V>,
) -> Parsed<Part<V>> {
    let span = left.span.start..right.span.end;
    let (a, b) = (left.expr.width(), right.expr.width());
    if a != b && a != 1 && b != 1 {
        let message = format!("one side has {a} channels, the other {b}");
        return Err(ExpressionError { span, message });
    }
    Ok(Part { expr: make(Box::new(left.expr), Box::new(right.expr)), span })
}

fn number<V: Vocabulary>(part: &Part<V>) -> Parsed<()> {
    if !part.expr.is_bool() {
        return Ok(());
    }
    let message = "this is true or false, no number; it stands alone, or with `not`, `and`, `or`";
    Err(ExpressionError { span: part.span.clone(), message: message.to_owned() })
}

fn truth<V: Vocabulary>(part: &Part<V>) -> Parsed<()> {
    if part.expr.is_bool() {
        return Ok(());
    }
    let message =
        "this is a number, not true or false; compare it, such as with `> 0.5` or `is nan`";
    Err(ExpressionError { span: part.span.clone(), message: message.to_owned() })
}
