//! The preprocessor: macros and conditions, on tokens.

use std::collections::HashMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Span, nearest};
use crate::lexer::{Tok, Token, tokens};
use crate::version::Version;

/// Most tokens that macros may make, so that a few lines cannot fill the memory.
const MOST_TOKENS: usize = 1 << 20;
/// Most macros inside of each other.
const MOST_DEPTH: usize = 64;

#[derive(Clone, Debug)]
struct Macro {
    parameters: Option<Vec<Box<str>>>,
    body: Vec<Token>,
}

/// Returns the tokens that are left, and the version.
pub(crate) fn preprocess(source: &str, diagnostics: &mut Diagnostics) -> (Vec<Token>, Version) {
    let all = tokens(source, diagnostics);
    let version = Version::of(&all);
    let mut macros = HashMap::new();
    let number = |value: u16| Macro {
        parameters: None,
        body: vec![Token {
            tok: Tok::Int(i64::from(value)),
            span: Span::default(),
            begins_line: false,
            after_space: true,
        }],
    };
    macros.insert("__VERSION__".into(), number(version.number));
    macros.insert("__FILE__".into(), number(0));
    if version.es {
        macros.insert("GL_ES".into(), number(1));
        macros.insert("GL_FRAGMENT_PRECISION_HIGH".into(), number(1));
    }
    let mut preprocessor =
        Preprocessor { source, macros, diagnostics, out: Vec::new(), open: Vec::new(), depth: 0 };
    preprocessor.run(&all);
    (preprocessor.out, version)
}

/// An open `#if`.
struct Open {
    span: Span,
    /// Whether its lines count now.
    active: bool,
    /// Whether one of its parts did.
    taken: bool,
    has_else: bool,
}

struct Preprocessor<'a> {
    source: &'a str,
    macros: HashMap<Box<str>, Macro>,
    diagnostics: &'a mut Diagnostics,
    out: Vec<Token>,
    open: Vec<Open>,
    depth: usize,
}

const DIRECTIVES: [&str; 14] = [
    "define",
    "undef",
    "if",
    "ifdef",
    "ifndef",
    "else",
    "elif",
    "endif",
    "error",
    "pragma",
    "extension",
    "version",
    "line",
    "include",
];

impl Preprocessor<'_> {
    fn run(&mut self, all: &[Token]) {
        let mut at = 0;
        while at < all.len() {
            let token = &all[at];
            if token.is("#") && token.begins_line {
                let length = line_length(&all[at + 1..]);
                self.directive(token.span, &all[at + 1..at + 1 + length]);
                at += 1 + length;
            } else if token.tok == Tok::End {
                self.out.push(token.clone());
                at += 1;
            } else if self.is_active() {
                // Up to the next directive: the arguments of a macro may span lines.
                let length = text_length(&all[at..]);
                let expanded = self.expand(&all[at..at + length], &[]);
                self.out.extend(expanded);
                at += length;
            } else {
                at += 1;
            }
            if self.out.len() > MOST_TOKENS {
                let message = "macros make more than a million tokens";
                self.error(token.span, message);
                self.out.truncate(1);
                break;
            }
        }
        if let Some(open) = self.open.pop() {
            let error = Diagnostic::error(open.span, "this `#if` has no `#endif`");
            self.diagnostics.add(error.help("write `#endif` after its last line"));
        }
        if !matches!(self.out.last(), Some(Token { tok: Tok::End, .. })) {
            self.out.extend(all.last().cloned());
        }
    }

    fn is_active(&self) -> bool {
        self.open.iter().all(|open| open.active)
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.add(Diagnostic::error(span, message));
    }

    fn directive(&mut self, hash: Span, line: &[Token]) {
        let Some(first) = line.first() else { return };
        let Some(name) = first.ident() else {
            self.error(first.span, "this is not a directive");
            return;
        };
        let rest = &line[1..];
        let span = hash.to(line.last().map_or(first.span, |last| last.span));
        match name {
            "if" | "ifdef" | "ifndef" => {
                let active = self.is_active() && self.condition(name, first.span, rest);
                self.open.push(Open { span, active, taken: active, has_else: false });
            }
            "elif" | "else" => {
                let outer = self.open.iter().rev().skip(1).all(|open| open.active);
                let Some((taken, has_else)) =
                    self.open.last().map(|open| (open.taken, open.has_else))
                else {
                    self.error(span, format!("`#{name}` without `#if`"));
                    return;
                };
                if has_else {
                    self.error(span, format!("`#{name}` after `#else`"));
                }
                let active =
                    outer && !taken && (name == "else" || self.condition("if", first.span, rest));
                if let Some(open) = self.open.last_mut() {
                    open.active = active;
                    open.taken |= active;
                    open.has_else |= name == "else";
                }
            }
            "endif" => {
                if self.open.pop().is_none() {
                    self.error(span, "`#endif` without `#if`");
                }
            }
            _ if !self.is_active() => {}
            "define" => self.define(first.span, rest),
            "undef" => match rest.first().and_then(Token::ident) {
                Some(name) => drop(self.macros.remove(name)),
                None => self.error(span, "`#undef` needs a name"),
            },
            "error" => {
                let text = &self.source[first.span.after().to(span.after()).range()];
                self.error(span, format!("#error {}", text.trim()));
            }
            "include" => {
                let error = Diagnostic::error(span, "`#include` is not a directive of GLSL");
                self.diagnostics.add(error.help("copy the file's text to this place"));
            }
            "pragma" | "extension" | "version" | "line" => {}
            _ => {
                let error = Diagnostic::error(first.span, format!("`#{name}` is not a directive"));
                self.diagnostics.add(match nearest(name, DIRECTIVES.into_iter()) {
                    Some(near) => error.fix(format!("did you mean `#{near}`?"), first.span, near),
                    None => error,
                });
            }
        }
    }

    fn define(&mut self, directive: Span, line: &[Token]) {
        let Some((name, mut rest)) =
            line.split_first().and_then(|(first, rest)| Some((first.ident()?, rest)))
        else {
            self.error(directive, "`#define` needs a name");
            return;
        };
        let mut parameters = None;
        if rest.first().is_some_and(|token| token.is("(") && !token.after_space) {
            let Some(close) = rest.iter().position(|token| token.is(")")) else {
                self.error(rest[0].span, "the parameters of the macro have no `)`");
                return;
            };
            parameters =
                Some(rest[1..close].iter().filter_map(|t| t.ident()).map(Into::into).collect());
            rest = &rest[close + 1..];
        }
        self.macros.insert(name.into(), Macro { parameters, body: rest.to_vec() });
    }

    fn condition(&mut self, name: &str, span: Span, line: &[Token]) -> bool {
        if name != "if" {
            return match line.first().and_then(Token::ident) {
                Some(of) => self.macros.contains_key(of) == (name == "ifdef"),
                None => {
                    self.error(span, format!("`#{name}` needs a name"));
                    false
                }
            };
        }
        // `defined X` before macros are replaced.
        let mut known = Vec::new();
        let mut at = 0;
        while at < line.len() {
            let token = &line[at];
            if token.ident() == Some("defined") {
                let parenthesis = line.get(at + 1).is_some_and(|next| next.is("("));
                let of = line.get(at + 1 + usize::from(parenthesis));
                let value = of.and_then(Token::ident).map(|of| self.macros.contains_key(of));
                if value.is_none() {
                    self.error(token.span, "`defined` needs a name");
                }
                let tok = Tok::Int(i64::from(value == Some(true)));
                known.push(Token { tok, ..token.clone() });
                at += if parenthesis { 4 } else { 2 };
            } else {
                known.push(token.clone());
                at += 1;
            }
        }
        let line = self.expand(&known, &[]);
        let mut condition = Condition { line: &line, at: 0, depth: 0 };
        match condition.binary(0) {
            Some(value) if condition.at == line.len() => value != 0,
            _ => {
                let place = line.get(condition.at).map_or(span, |token| token.span);
                let error = Diagnostic::error(place, "the condition is not an integer expression");
                self.diagnostics.add(error.help("names that are not macros have no value here"));
                false
            }
        }
    }

    /// Replaces macros. `inside`: those that are being replaced, which stay as they are.
    fn expand(&mut self, line: &[Token], inside: &[Box<str>]) -> Vec<Token> {
        let mut out = Vec::new();
        let mut at = 0;
        while at < line.len() && out.len() <= MOST_TOKENS {
            let token = &line[at];
            at += 1;
            if token.ident() == Some("__LINE__") {
                let before = &self.source[..token.span.start as usize];
                let tok = Tok::Int(before.matches('\n').count() as i64 + 1);
                out.push(Token { tok, ..token.clone() });
                continue;
            }
            let found = token.ident().filter(|name| !inside.iter().any(|open| **open == **name));
            let found = found.and_then(|name| Some((name, self.macros.get(name)?.clone())));
            let Some((name, of)) = found else {
                out.push(token.clone());
                continue;
            };
            let mut arguments = Vec::new();
            let mut place = token.span;
            if let Some(parameters) = &of.parameters {
                if !line.get(at).is_some_and(|next| next.is("(")) {
                    out.push(token.clone());
                    continue;
                }
                let Some((found, length)) = split_arguments(&line[at..]) else {
                    self.error(token.span, format!("the arguments of macro `{name}` have no `)`"));
                    return out;
                };
                place = place.to(line[at + length - 1].span);
                at += length;
                let count = if parameters.is_empty() && found.iter().all(Vec::is_empty) {
                    0
                } else {
                    found.len()
                };
                if count != parameters.len() {
                    let wanted = parameters.len();
                    let arguments = if wanted == 1 { "argument" } else { "arguments" };
                    let message = format!("macro `{name}` takes {wanted} {arguments}, not {count}");
                    self.error(place, message);
                    continue;
                }
                arguments = found;
            }
            if self.depth >= MOST_DEPTH {
                self.error(token.span, "macros are nested too deep");
                return out;
            }
            self.depth += 1;
            let replaced = self.replace(&of, &arguments, inside, place);
            let mut open = inside.to_vec();
            open.push(name.into());
            let expanded = self.expand(&replaced, &open);
            self.depth -= 1;
            out.extend(expanded);
        }
        out
    }

    /// Returns the body of a macro with its arguments.
    fn replace(
        &mut self,
        of: &Macro,
        arguments: &[Vec<Token>],
        inside: &[Box<str>],
        place: Span,
    ) -> Vec<Token> {
        let mut out: Vec<Token> = Vec::new();
        let mut joins = false;
        for (i, token) in of.body.iter().enumerate() {
            if token.is("##") {
                joins = true;
                continue;
            }
            let parameter = token.ident().and_then(|name| {
                of.parameters.as_ref()?.iter().position(|parameter| **parameter == *name)
            });
            let is_joined = joins || of.body.get(i + 1).is_some_and(|next| next.is("##"));
            let with = match parameter.and_then(|n| arguments.get(n)) {
                Some(argument) if is_joined => argument.clone(),
                Some(argument) => {
                    let argument = argument.clone();
                    self.expand(&argument, inside)
                }
                None => vec![Token { span: place, ..token.clone() }],
            };
            let mut with = with.into_iter();
            if joins && let (Some(last), Some(first)) = (out.pop(), with.next()) {
                out.push(join(&last, &first, self.diagnostics));
            }
            joins = false;
            out.extend(with);
            if out.len() > MOST_TOKENS {
                break;
            }
        }
        out
    }
}

/// Returns the token that the texts of two make.
fn join(a: &Token, b: &Token, diagnostics: &mut Diagnostics) -> Token {
    let text = |token: &Token| match &token.tok {
        Tok::Ident(name) => name.to_string(),
        Tok::Int(value) => value.to_string(),
        Tok::Float(value) => format!("{value:?}"),
        Tok::Punct(punct) => (*punct).to_owned(),
        Tok::Other(c) => c.to_string(),
        Tok::End => String::new(),
    };
    let joined = format!("{}{}", text(a), text(b));
    let mut found = tokens(&joined, &mut Diagnostics::default());
    if found.len() != 2 {
        diagnostics.add(Diagnostic::error(a.span, format!("`{joined}` is not a token")));
    }
    Token { span: a.span, begins_line: false, after_space: a.after_space, ..found.swap_remove(0) }
}

/// Returns the arguments of a macro and the number of tokens with both parentheses.
fn split_arguments(line: &[Token]) -> Option<(Vec<Vec<Token>>, usize)> {
    let mut all = vec![Vec::new()];
    let mut depth = 0;
    for (i, token) in line.iter().enumerate() {
        if token.is("(") {
            depth += 1;
            if depth == 1 {
                continue;
            }
        } else if token.is(")") {
            depth -= 1;
            if depth == 0 {
                return Some((all, i + 1));
            }
        } else if token.is(",") && depth == 1 {
            all.push(Vec::new());
            continue;
        }
        all.last_mut()?.push(token.clone());
    }
    None
}

/// The number of tokens on the rest of a line.
fn line_length(rest: &[Token]) -> usize {
    rest.iter().position(|token| token.begins_line || token.tok == Tok::End).unwrap_or(rest.len())
}

/// The number of tokens before the next directive.
fn text_length(rest: &[Token]) -> usize {
    let ends = |token: &Token| token.tok == Tok::End || token.is("#") && token.begins_line;
    rest.iter().position(ends).unwrap_or(rest.len())
}

/// An integer expression of `#if`.
struct Condition<'a> {
    line: &'a [Token],
    at: usize,
    depth: usize,
}

impl Condition<'_> {
    fn binary(&mut self, least: u8) -> Option<i64> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return None;
        }
        let mut left = self.unary()?;
        while let Some(Token { tok: Tok::Punct(op), .. }) = self.line.get(self.at) {
            let strength = match *op {
                "||" => 1,
                "&&" => 2,
                "|" => 3,
                "^" => 4,
                "&" => 5,
                "==" | "!=" => 6,
                "<" | ">" | "<=" | ">=" => 7,
                "<<" | ">>" => 8,
                "+" | "-" => 9,
                "*" | "/" | "%" => 10,
                _ => break,
            };
            if strength <= least {
                break;
            }
            self.at += 1;
            let right = self.binary(strength)?;
            let shift = u32::try_from(right).ok().filter(|shift| *shift < 32);
            left = match *op {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "<<" => left.wrapping_shl(shift?),
                ">>" => left >> shift?,
                "+" => left.wrapping_add(right),
                "-" => left.wrapping_sub(right),
                "*" => left.wrapping_mul(right),
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        self.depth -= 1;
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > MOST_DEPTH {
            return None;
        }
        let token = self.line.get(self.at)?;
        let value = match token.tok {
            Tok::Int(value) => {
                self.at += 1;
                Some(value)
            }
            Tok::Punct(op) => {
                self.at += 1;
                match op {
                    "!" => Some(i64::from(self.unary()? == 0)),
                    "-" => Some(self.unary()?.wrapping_neg()),
                    "+" => self.unary(),
                    "~" => Some(!self.unary()?),
                    "(" => {
                        let value = self.binary(0)?;
                        let closes = self.line.get(self.at).is_some_and(|token| token.is(")"));
                        self.at += usize::from(closes);
                        closes.then_some(value)
                    }
                    _ => {
                        self.at -= 1;
                        None
                    }
                }
            }
            _ => None,
        };
        self.depth -= 1;
        value
    }
}
