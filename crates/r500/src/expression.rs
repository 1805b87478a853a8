//! The text of what a debugger asks: conditions of breakpoints, expressions to print.
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

use std::fmt;
use std::ops::Range;

use r500_exec::record::Expr;
use r500_exec::record::expr::{Arithmetic, Channels, Comparison, FpClass, Variable};
use r500_isa::{CONSTANTS, TARGETS, TEMPORARIES};
use r500_program::Uniform;

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
    let tokens = tokens(text)?;
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
    Err(ExpressionError { span: trimmed(text), message: message.to_owned() })
}

/// The words that stand for a place of one channel.
const WORDS: [(&str, Variable); 15] = [
    ("depth", Variable::Depth),
    ("alu_result", Variable::AluResult),
    ("alu", Variable::AluResult),
    ("active", Variable::Active),
    ("covered", Variable::Covered),
    ("killed", Variable::Killed),
    ("al", Variable::Al),
    ("address", Variable::Address),
    ("pc", Variable::Address),
    ("step", Variable::Step),
    ("loops", Variable::Loops),
    ("passes", Variable::Iterations),
    ("calls", Variable::Calls),
    ("x", Variable::X),
    ("y", Variable::Y),
];

const CLASSES: [(&str, FpClass); 9] = [
    ("nan", FpClass::Nan),
    ("inf", FpClass::Infinite),
    ("infinite", FpClass::Infinite),
    ("infinity", FpClass::Infinite),
    ("finite", FpClass::Finite),
    ("denormal", FpClass::Denormal),
    ("subnormal", FpClass::Denormal),
    ("zero", FpClass::Zero),
    ("negative", FpClass::Negative),
];

/// Parentheses inside each other, at most: what is read is also walked over, level by level.
const DEPTH: usize = 64;
/// Bytes of a text, at most.
const LENGTH: usize = 4096;

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Word,
    Number(f32),
    /// Anything else, as its characters.
    Sign(&'static str),
}

/// An expression and where it stands.
struct Part {
    expr: Expr,
    span: Range<usize>,
}

struct Parser<'a> {
    text: &'a str,
    names: &'a [Uniform],
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

type Parsed<T = Part> = Result<T, ExpressionError>;

impl Parser<'_> {
    fn or(&mut self) -> Parsed {
        let mut left = self.and()?;
        while self.takes_word("or") || self.takes("||") {
            let right = self.and()?;
            left = logic(Expr::Or, left, right)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed {
        let mut left = self.not()?;
        while self.takes_word("and") || self.takes("&&") {
            let right = self.not()?;
            left = logic(Expr::And, left, right)?;
        }
        Ok(left)
    }

    fn not(&mut self) -> Parsed {
        let start = self.here();
        if !self.takes_word("not") && !self.takes("!") {
            return self.comparison();
        }
        let part = self.nested(Self::not)?;
        truth(&part)?;
        Ok(Part { span: start..part.span.end, expr: Expr::Not(Box::new(part.expr)) })
    }

    fn comparison(&mut self) -> Parsed {
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
            if let Some(token) = self.peek().filter(|token| token.kind == Kind::Sign("=")) {
                return Err(
                    token.error("nothing is assigned here; write `==` to compare".to_owned())
                );
            }
            return Ok(left);
        };
        let right = self.sum()?;
        let equality = matches!(op, Comparison::Eq | Comparison::Ne);
        // Two truths can be equal; else numbers are compared.
        if !(equality && left.expr.is_bool() && right.expr.is_bool()) {
            number(&left)?;
            number(&right)?;
        }
        let part = pair(|a, b| Expr::Compare(op, a, b), left, right)?;
        if let Some(token) = self.peek()
            && SIGNS.iter().any(|(sign, _)| token.kind == Kind::Sign(sign))
        {
            let message = "comparisons do not chain; write `a < b and b < c`";
            return Err(token.error(message.to_owned()));
        }
        Ok(part)
    }

    /// Returns what follows `is`.
    fn class(&mut self, left: Part) -> Parsed {
        number(&left)?;
        let negated = self.takes_word("not");
        let words = || CLASSES.map(|(word, _)| word).join(", ");
        let missing = || format!("`is` wants one of {}", words());
        let Some(token) = self.next() else { return Err(self.missing(missing())) };
        let word = token.text(self.text).to_ascii_lowercase();
        let found = CLASSES.iter().find(|(name, _)| *name == word);
        let Some(&(_, class)) = found else { return Err(token.error(missing())) };
        let is = Expr::Is(class, Box::new(left.expr));
        let expr = if negated { Expr::Not(Box::new(is)) } else { is };
        Ok(Part { expr, span: left.span.start..token.span.end })
    }

    fn sum(&mut self) -> Parsed {
        let mut left = self.product()?;
        loop {
            let op = match () {
                () if self.takes("+") => Arithmetic::Add,
                () if self.takes("-") => Arithmetic::Subtract,
                () => return Ok(left),
            };
            let right = self.product()?;
            left = arithmetic(op, left, right)?;
        }
    }

    fn product(&mut self) -> Parsed {
        let mut left = self.unary()?;
        loop {
            let op = match () {
                () if self.takes("*") => Arithmetic::Multiply,
                () if self.takes("/") => Arithmetic::Divide,
                () => return Ok(left),
            };
            let right = self.unary()?;
            left = arithmetic(op, left, right)?;
        }
    }

    fn unary(&mut self) -> Parsed {
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

    fn primary(&mut self) -> Parsed {
        let Some(token) = self.next() else {
            let message = "something is missing here: a register, a number, a word";
            return Err(self.missing(message.to_owned()));
        };
        let span = token.span.clone();
        match token.kind {
            Kind::Number(number) => Ok(Part { expr: Expr::Number(number), span }),
            Kind::Sign("(") => {
                let part = self.nested(Self::or)?;
                let end = self.expect(")")?;
                Ok(Part { expr: part.expr, span: span.start..end })
            }
            Kind::Sign(sign) => {
                let message =
                    format!("`{sign}` is not expected here: a register, a number or a word is");
                Err(token.error(message))
            }
            Kind::Word => self.word(&token),
        }
    }

    fn word(&mut self, token: &Token) -> Parsed {
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
            "pred" | "predicate" => {
                let (channels, span) = self.channels(span, 4)?;
                return Ok(Part { expr: Expr::Variable(Variable::Predicate(channels)), span });
            }
            _ => {}
        }
        if let Some((_, place)) = WORDS.iter().find(|(name, _)| *name == word) {
            return plain(Expr::Variable(*place));
        }
        if let Some(part) = self.register(token, &word)? {
            return Ok(part);
        }
        let Some(uniform) = self.names.iter().find(|uniform| uniform.name == written) else {
            return Err(token.error(self.unknown(written)));
        };
        let first = uniform.channel.min(3);
        let width = uniform.channels.clamp(1, 4 - first);
        let (channels, span) = self.channels(span, width)?;
        let moved: Vec<u8> =
            channels.iter().filter_map(|c| u8::try_from(c).ok()).map(|c| c + first).collect();
        let channels = Channels::new(&moved).unwrap_or(channels);
        Ok(Part { expr: Expr::Variable(Variable::Const(uniform.constant, channels)), span })
    }

    /// `abs(…)`, `all(…)`, `any(…)`.
    fn function(&mut self, word: &str, span: &Range<usize>) -> Parsed {
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
                // Some channel is true where not all are false.
                let none = Expr::All(Box::new(Expr::Not(Box::new(part.expr))));
                Expr::Not(Box::new(none))
            }
        };
        Ok(Part { expr, span })
    }

    /// `temp[2].rg`, `t2.rg` and their like; `None` if the word is not a register.
    fn register(&mut self, token: &Token, word: &str) -> Parsed<Option<Part>> {
        const BANKS: [(&str, usize); 3] =
            [("temp", TEMPORARIES), ("const", CONSTANTS), ("out", TARGETS)];
        let digits = |prefix: &str| {
            word.strip_prefix(prefix)
                .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        };
        let found = BANKS.iter().find_map(|&(bank, count)| {
            if word == bank {
                Some((bank, count, None))
            } else {
                digits(&bank[..1]).map(|digits| (bank, count, Some(digits.to_owned())))
            }
        });
        let Some((bank, count, digits)) = found else { return Ok(None) };
        let (number, index) = match digits {
            Some(digits) => (digits.parse().ok(), token.span.clone()),
            None => {
                self.expect("[")?;
                let missing = || format!("`{bank}[…]` wants a number from 0 to {}", count - 1);
                let Some(index) = self.next() else { return Err(self.missing(missing())) };
                let number =
                    index.text(self.text).parse::<usize>().map_err(|_| index.error(missing()))?;
                self.expect("]")?;
                (Some(number), index.span)
            }
        };
        let number = number.filter(|&number| number < count).and_then(|n| u8::try_from(n).ok());
        let Some(number) = number else {
            let message = format!("there is no such register: {bank}[0] to {bank}[{}]", count - 1);
            return Err(ExpressionError { span: index, message });
        };
        let (channels, span) = self.channels(token.span.start..self.behind(), 4)?;
        let place = match bank {
            "temp" => Variable::Temp(number, channels),
            "const" => Variable::Const(number, channels),
            _ => Variable::Out(number, channels),
        };
        Ok(Some(Part { expr: Expr::Variable(place), span }))
    }

    /// `.rgb` after a register of `width` channels; all of them if nothing is there.
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
        let words: Vec<&str> = WORDS
            .iter()
            .map(|(word, _)| *word)
            .filter(|word| !["alu", "pc"].contains(word))
            .collect();
        let names: Vec<&str> = self.names.iter().take(16).map(|name| name.name.as_str()).collect();
        let names = if names.is_empty() {
            String::new()
        } else {
            format!("; the program's constants are {}", names.join(", "))
        };
        format!(
            "there is no `{written}`; there are temp[N], const[N], out[N], pred, {}{names}",
            words.join(", ")
        )
    }

    /// Something inside something, as far as that is allowed.
    fn nested<T>(&mut self, parse: impl Fn(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH {
            return Err(self.missing(format!("this is nested more than {DEPTH} levels deep")));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += usize::from(token.is_some());
        token
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found =
            self.peek().is_some_and(|t| matches!(t.kind, Kind::Sign(found) if found == sign));
        self.at += usize::from(found);
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let text = self.text;
        let found = self.peek().is_some_and(|token| {
            token.kind == Kind::Word && token.text(text).eq_ignore_ascii_case(word)
        });
        self.at += usize::from(found);
        found
    }

    /// Takes a sign; gives where it ends.
    fn expect(&mut self, sign: &str) -> Parsed<usize> {
        if self.takes(sign) {
            return Ok(self.behind());
        }
        Err(self.missing(format!("`{sign}` is missing here")))
    }

    /// Returns where the token to come starts.
    fn here(&self) -> usize {
        self.peek().map_or(self.text.len(), |token| token.span.start)
    }

    /// Returns where the last token ends.
    fn behind(&self) -> usize {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(0, |token| token.span.end)
    }

    /// Returns an error at the token to come, or at the end.
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

fn logic(make: fn(Box<Expr>, Box<Expr>) -> Expr, left: Part, right: Part) -> Parsed {
    truth(&left)?;
    truth(&right)?;
    pair(make, left, right)
}

fn arithmetic(op: Arithmetic, left: Part, right: Part) -> Parsed {
    number(&left)?;
    number(&right)?;
    pair(|a, b| Expr::Arithmetic(op, a, b), left, right)
}

fn pair(make: impl Fn(Box<Expr>, Box<Expr>) -> Expr, left: Part, right: Part) -> Parsed {
    let span = left.span.start..right.span.end;
    let (a, b) = (left.expr.width(), right.expr.width());
    if a != b && a != 1 && b != 1 {
        let message = format!("one side has {a} channels, the other {b}");
        return Err(ExpressionError { span, message });
    }
    Ok(Part { expr: make(Box::new(left.expr), Box::new(right.expr)), span })
}

fn number(part: &Part) -> Parsed<()> {
    if !part.expr.is_bool() {
        return Ok(());
    }
    let message = "this is true or false, no number; it stands alone, or with `not`, `and`, `or`";
    Err(ExpressionError { span: part.span.clone(), message: message.to_owned() })
}

fn truth(part: &Part) -> Parsed<()> {
    if part.expr.is_bool() {
        return Ok(());
    }
    let message =
        "this is a number, not true or false; compare it, such as with `> 0.5` or `is nan`";
    Err(ExpressionError { span: part.span.clone(), message: message.to_owned() })
}

impl Token {
    fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.span.clone()).unwrap_or_default()
    }

    fn error(&self, message: String) -> ExpressionError {
        ExpressionError { span: self.span.clone(), message }
    }
}

fn trimmed(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..text.trim_end().len().max(start)
}

fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
    if text.len() > LENGTH {
        let message = format!("this is longer than {LENGTH} bytes");
        return Err(ExpressionError { span: 0..0, message });
    }
    const SIGNS: [&str; 21] = [
        "<=", ">=", "==", "!=", "&&", "||", "<", ">", "=", "!", "(", ")", "[", "]", ".", ",", "+",
        "-", "*", "/", "|",
    ];
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = &text[at..];
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        // `.5` is a number, the dot of `temp[0].r` is not.
        let behind_dot = rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        let (kind, length) = if c.is_ascii_digit() || c == '.' && behind_dot {
            number_token(rest)
                .map_err(|(length, message)| ExpressionError { span: at..at + length, message })?
        } else if c.is_ascii_alphabetic() || c == '_' {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            (Kind::Word, rest.find(|c| !word(c)).unwrap_or(rest.len()))
        } else if let Some(&sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Kind::Sign(sign), sign.len())
        } else {
            let span = at..at + c.len_utf8();
            let message = format!("`{}` means nothing here", c.escape_default());
            return Err(ExpressionError { span, message });
        };
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    Ok(tokens)
}

/// Returns a number and its length; its length and what is wrong otherwise.
fn number_token(text: &str) -> Result<(Kind, usize), (usize, String)> {
    let bytes = text.as_bytes();
    let mut length = 0;
    while let Some(byte) = bytes.get(length) {
        let behind_e = length > 0 && bytes[length - 1].eq_ignore_ascii_case(&b'e');
        let hex = text.starts_with("0x") || text.starts_with("0X");
        let sign = !hex && behind_e && matches!(byte, b'+' | b'-');
        if !(byte.is_ascii_alphanumeric() || *byte == b'.' && !hex || *byte == b'_' || sign) {
            break;
        }
        length += 1;
    }
    let number = &text[..length];
    let hex = number.strip_prefix("0x").or_else(|| number.strip_prefix("0X"));
    let value = match hex {
        Some(digits) if digits.len() == 8 => {
            u32::from_str_radix(digits, 16).ok().map(f32::from_bits)
        }
        Some(_) => None,
        None => number.parse().ok(),
    };
    match value {
        Some(value) => Ok((Kind::Number(value), length)),
        None => Err((
            length,
            format!("`{number}` is not a number; write a decimal, or float bits as 0x3f800000"),
        )),
    }
}

/// An expression as it would be written, fully parenthesised.
pub struct Written<'a>(pub &'a Expr);

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unary = |f: &mut fmt::Formatter<'_>, before: &str, x: &Expr, after: &str| {
            write!(f, "{before}{}{after}", Written(x))
        };
        let binary = |f: &mut fmt::Formatter<'_>, a: &Expr, sign: &str, b: &Expr| {
            write!(f, "({} {sign} {})", Written(a), Written(b))
        };
        match self.0 {
            Expr::Number(x) if x.is_nan() || x.is_sign_negative() => {
                write!(f, "0x{:08x}", x.to_bits())
            }
            Expr::Number(x) => write!(f, "{x}"),
            Expr::Bool(truth) => write!(f, "{truth}"),
            Expr::Variable(place) => write_place(f, place),
            Expr::Neg(x) => unary(f, "(-", x, ")"),
            Expr::Abs(x) => unary(f, "abs(", x, ")"),
            Expr::Not(x) => unary(f, "(not ", x, ")"),
            Expr::All(x) => unary(f, "all(", x, ")"),
            Expr::Is(class, x) => {
                let word = CLASSES.iter().find(|(_, found)| found == class);
                write!(f, "({} is {})", Written(x), word.map_or("", |(word, _)| word))
            }
            Expr::Arithmetic(op, a, b) => {
                let sign = match op {
                    Arithmetic::Add => "+",
                    Arithmetic::Subtract => "-",
                    Arithmetic::Multiply => "*",
                    Arithmetic::Divide => "/",
                };
                binary(f, a, sign, b)
            }
            Expr::Compare(op, a, b) => {
                let sign = match op {
                    Comparison::Lt => "<",
                    Comparison::Le => "<=",
                    Comparison::Gt => ">",
                    Comparison::Ge => ">=",
                    Comparison::Eq => "==",
                    Comparison::Ne => "!=",
                };
                binary(f, a, sign, b)
            }
            Expr::And(a, b) => binary(f, a, "and", b),
            Expr::Or(a, b) => binary(f, a, "or", b),
        }
    }
}

fn write_place(f: &mut fmt::Formatter<'_>, place: &Variable) -> fmt::Result {
    let letters = |channels: &Channels| -> String {
        channels.iter().map(|c| ["r", "g", "b", "a"][c % 4]).collect()
    };
    match place {
        Variable::Temp(n, channels) => write!(f, "temp[{n}].{}", letters(channels)),
        Variable::Const(n, channels) => write!(f, "const[{n}].{}", letters(channels)),
        Variable::Out(n, channels) => write!(f, "out[{n}].{}", letters(channels)),
        Variable::Predicate(channels) => write!(f, "pred.{}", letters(channels)),
        place => {
            f.write_str(WORDS.iter().find(|(_, found)| found == place).map_or("", |(word, _)| word))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn names() -> Vec<Uniform> {
        let uniform = |name: &str, constant, channel, channels| Uniform {
            name: name.to_owned(),
            constant,
            channel,
            channels,
        };
        vec![uniform("color", 4, 0, 3), uniform("time", 5, 2, 1)]
    }

    fn written(text: &str) -> String {
        Written(&parse(text, &names()).unwrap()).to_string()
    }

    #[test]
    fn what_is_written_is_understood() {
        let rows = [
            ("temp[2].r is NaN", "(temp[2].r is nan)"),
            ("t2.x is not nan", "(not (temp[2].r is nan))"),
            ("temp[0].g > 0.5", "(temp[0].g > 0.5)"),
            ("alu_result", "alu_result"),
            ("ALU", "alu_result"),
            ("pred.r", "pred.r"),
            ("pred", "pred.rgba"),
            ("active", "active"),
            // `and` binds more than `or`, `not` more than both, comparisons more than all.
            ("active or killed and not pred.a", "(active or (killed and (not pred.a)))"),
            ("1 + 2 * 3 - -x < y && !killed", "((((1 + (2 * 3)) - (-x)) < y) and (not killed))"),
            ("(1 + 2) * 3 == 9", "(((1 + 2) * 3) == 9)"),
            ("all(abs(c255.wzyx) <= inf)", "all((abs(const[255].abgr) <= inf))"),
            ("any(t0 == t1)", "(not all((not (temp[0].rgba == temp[1].rgba))))"),
            ("color.b < time", "(const[4].b < const[5].b)"),
            ("color > 0", "(const[4].rgb > 0)"),
            ("o3.a - .5e-1", "(out[3].a - 0.05)"),
            ("depth == 0x3f800000", "(depth == 1)"),
            ("step >= 100 or pc == 12", "((step >= 100) or (address == 12))"),
            ("alu_result == pred.r", "(alu_result == pred.r)"),
        ];
        for (text, wanted) in rows {
            assert_eq!(written(text), wanted, "{text}");
            // What is written again is the same.
            assert_eq!(written(wanted), wanted);
        }
    }

    #[test]
    fn mistakes_are_told_where_they_are() {
        // The text, what is marked in it, and a part of the message.
        let rows = [
            ("temp[128].r > 0", "128", "temp[0] to temp[127]"),
            ("temp[x] > 0", "x", "0 to 127"),
            ("t900 > 0", "t900", "no such register"),
            ("out[4].r > 0", "4", "out[3]"),
            ("temp[0].q > 0", "q", "rgba or xyzw"),
            ("temp[0].rgbar > 0", "rgbar", "one to four"),
            ("time.g > 0", "g", "only 1 channels"),
            ("color.a > 0", "a", "only 3 channels"),
            ("temp[0].r = 1", "=", "write `==`"),
            ("temp[0].r == nan", "nan", "is nan"),
            ("foo > 1", "foo", "there is no `foo`"),
            ("temp[0].r > ", "", "missing"),
            ("temp[0].r is odd", "odd", "nan, inf"),
            ("1 < 2 < 3", "<", "do not chain"),
            ("temp[0].rg > temp[1].rgb", "temp[0].rg > temp[1].rgb", "2 channels"),
            ("alu_result > 0.5", "alu_result", "no number"),
            ("temp[0].r and active", "temp[0].r", "compare it"),
            ("not 3", "3", "compare it"),
            ("abs(active) > 1", "active", "no number"),
            ("(active", "", "`)` is missing"),
            ("active active", "active", "not expected"),
            ("0x3f8 > 1", "0x3f8", "not a number"),
            ("temp[0].r > 1..2", "1..2", "not a number"),
            ("active # x", "#", "means nothing"),
            ("ä", "ä", "means nothing"),
            ("", "", "missing"),
            ("*", "*", "not expected"),
        ];
        for (text, marked, message) in rows {
            let error = parse(text, &names()).unwrap_err();
            assert_eq!(&text[error.span.clone()], marked, "{text}: {error:?}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
        let error = parse_condition(" temp[0].r * 2 ", &[]).unwrap_err();
        assert_eq!(error.span, 1..14);
        assert_eq!(
            error.render(" temp[0].r * 2 "),
            "   temp[0].r * 2 \n   ^^^^^^^^^^^^^\nthis is a number, no condition; compare it, such as \
             with `> 0.5` or `is nan`"
        );
        let deep = format!("{}active{}", "(".repeat(100), ")".repeat(100));
        assert!(parse(&deep, &[]).unwrap_err().message.contains("nested"));
        assert!(parse(&"-".repeat(4000), &[]).is_err());
        assert!(parse(&"1+".repeat(4000), &[]).is_err());
    }

    #[test]
    fn any_text_is_read_or_reported_inside_it() {
        let words = [
            "temp[1]",
            ".rg",
            "t5.x",
            "const",
            "[",
            "]",
            "9",
            "300",
            "1.5",
            "0x3f800000",
            "(",
            ")",
            "+",
            "-",
            "*",
            "/",
            "<",
            ">=",
            "==",
            "=",
            "!",
            "and",
            "||",
            "not",
            "is",
            "nan",
            "negative",
            "all(",
            "abs(",
            "active",
            "pred",
            ".r",
            "color",
            "time",
            "x",
            ".",
            ",",
            " ",
            "ä",
            "1e",
            "0x",
            "depth",
            "alu",
        ];
        let mut dice = 1u64;
        let mut read = 0;
        for _ in 0..50_000 {
            let mut text = String::new();
            loop {
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let roll = (dice >> 33) as usize;
                if roll.is_multiple_of(7) {
                    break;
                }
                text.push_str(words[roll / 7 % words.len()]);
                text.push_str(if (roll / 1000).is_multiple_of(2) { " " } else { "" });
            }
            match parse(&text, &names()) {
                Ok(expr) => {
                    read += 1;
                    let written = Written(&expr).to_string();
                    let again = parse(&written, &names()).unwrap();
                    assert_eq!(format!("{again:?}"), format!("{expr:?}"), "{text}: {written}");
                }
                Err(error) => assert!(text.get(error.span.clone()).is_some(), "{text}: {error:?}"),
            }
        }
        assert!(read > 1000, "{read}");
    }
}
