//! Tokens of the source, comments and spaces left out.

use crate::diagnostic::{Diagnostic, Diagnostics, Span};

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tok {
    Ident(Box<str>),
    Int(i64),
    Float(f32),
    /// An operator or a bracket.
    Punct(&'static str),
    /// A character that is not of the language.
    Other(char),
    End,
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) span: Span,
    /// Whether it is the first of its line.
    pub(crate) begins_line: bool,
    /// Whether a space or a comment is before it.
    pub(crate) after_space: bool,
}

impl Token {
    pub(crate) fn is(&self, punct: &str) -> bool {
        matches!(self.tok, Tok::Punct(found) if found == punct)
    }

    pub(crate) fn ident(&self) -> Option<&str> {
        match &self.tok {
            Tok::Ident(name) => Some(name),
            _ => None,
        }
    }
}

/// Longest first.
const PUNCTUATION: [&str; 46] = [
    "<<=", ">>=", "++", "--", "<=", ">=", "==", "!=", "&&", "||", "^^", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "<<", ">>", "##", "(", ")", "[", "]", "{", "}", ".", ",", ";", ":",
    "?", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~",
];

/// Returns all tokens; the last one is [`Tok::End`].
pub(crate) fn tokens(source: &str, diagnostics: &mut Diagnostics) -> Vec<Token> {
    let mut lexer = Lexer { source, at: 0, diagnostics, begins_line: true, after_space: false };
    let mut all = Vec::new();
    loop {
        lexer.skip_space();
        let start = lexer.at;
        let tok = lexer.token();
        let span = Span::new(start as u32, lexer.at as u32);
        let is_end = tok == Tok::End;
        let (begins_line, after_space) = (lexer.begins_line, lexer.after_space);
        all.push(Token { tok, span, begins_line, after_space });
        (lexer.begins_line, lexer.after_space) = (false, false);
        if is_end {
            return all;
        }
    }
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    diagnostics: &'a mut Diagnostics,
    begins_line: bool,
    after_space: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let taken = if rest.starts_with("\\\n") {
                2
            } else if rest.starts_with("\\\r\n") {
                3
            } else if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(length) => {
                        let length = length + 4;
                        self.begins_line |= rest[..length].contains('\n');
                        length
                    }
                    None => {
                        let span = Span::new(self.at as u32, self.at as u32 + 2);
                        let error = Diagnostic::error(span, "the comment has no end");
                        let length = rest.len();
                        let end = Span::new(self.source.len() as u32, self.source.len() as u32);
                        self.diagnostics.add(error.fix("write `*/` after it", end, "*/"));
                        length
                    }
                }
            } else {
                match rest.chars().next() {
                    Some('\n') => {
                        self.begins_line = true;
                        1
                    }
                    Some(c) if c.is_whitespace() || c == '\u{feff}' => c.len_utf8(),
                    _ => return,
                }
            };
            self.after_space = true;
            self.at += taken;
        }
    }

    fn token(&mut self) -> Tok {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Tok::End };
        let starts_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        if first.is_ascii_alphabetic() || first == '_' {
            let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
            let length = rest.find(word).unwrap_or(rest.len());
            let name = rest[..length].into();
            self.at += length;
            return Tok::Ident(name);
        }
        if starts_number(rest) || first == '.' && starts_number(&rest[1..]) {
            return self.number();
        }
        if let Some(found) = PUNCTUATION.iter().find(|punct| rest.starts_with(**punct)) {
            self.at += found.len();
            return Tok::Punct(found);
        }
        if first == '#' {
            self.at += 1;
            return Tok::Punct("#");
        }
        self.at += first.len_utf8();
        Tok::Other(first)
    }

    fn number(&mut self) -> Tok {
        let rest = self.rest();
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let start = self.at;
        if rest.len() > 1 && rest.as_bytes()[0] == b'0' && matches!(rest.as_bytes()[1], b'x' | b'X')
        {
            let text = &rest[2..];
            let length = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
            let value = i64::from_str_radix(&text[..length], 16).ok();
            self.at += 2 + length;
            return self.integer(start, value);
        }
        let mut length = digits(rest);
        let mut is_float = false;
        if rest[length..].starts_with('.') {
            is_float = true;
            length += 1;
            length += digits(&rest[length..]);
        }
        if rest[length..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[length + 1..].starts_with(['+', '-']));
            let exponent = digits(&rest[length + 1 + sign..]);
            if exponent > 0 {
                is_float = true;
                length += 1 + sign + exponent;
            }
        }
        let text = rest[..length].to_owned();
        self.at += length;
        let suffixed = self.rest().starts_with(['f', 'F']);
        if is_float || suffixed {
            self.at += usize::from(suffixed);
            self.end_number(start);
            return Tok::Float(text.parse().unwrap_or(f32::NAN));
        }
        let is_octal = text.len() > 1 && text.starts_with('0');
        let value = i64::from_str_radix(&text, if is_octal { 8 } else { 10 }).ok();
        self.integer(start, value)
    }

    fn integer(&mut self, start: usize, value: Option<i64>) -> Tok {
        if self.rest().starts_with(['u', 'U']) {
            self.at += 1;
        }
        self.end_number(start);
        match value.filter(|value| *value <= i64::from(u32::MAX)) {
            Some(value) => Tok::Int(value),
            None => {
                let span = Span::new(start as u32, self.at as u32);
                let message = "this integer has more than 32 bits or a wrong digit";
                self.diagnostics.add(Diagnostic::error(span, message));
                Tok::Int(0)
            }
        }
    }

    fn end_number(&mut self, start: usize) {
        let rest = self.rest();
        let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        let length = rest.find(word).unwrap_or(rest.len());
        if length > 0 {
            self.at += length;
            let span = Span::new(start as u32, self.at as u32);
            let message = format!("`{}` is not a number", &self.source[span.range()]);
            self.diagnostics.add(Diagnostic::error(span, message));
        }
    }
}
