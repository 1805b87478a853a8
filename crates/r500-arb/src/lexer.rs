//! Tokens.

use r500_glsl::{Diagnostic, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A name, an opcode, or a target of textures (`2D`).
    Name,
    /// Digits.
    Integer(u32),
    /// A number with a point or an exponent.
    Number(f32),
    /// A character, or `..`.
    Mark,
    /// The end of the source.
    End,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) span: Span,
}

impl Token<'_> {
    /// Returns whether it is a mark with this text.
    pub(crate) fn is(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }

    /// Returns it for messages.
    pub(crate) fn describe(&self) -> String {
        match self.kind {
            Kind::End => "the end of the source".to_owned(),
            _ => format!("`{}`", self.text),
        }
    }
}

/// Returns the tokens of a program without its first line's header, and one for its end.
pub(crate) fn tokens<'a>(source: &'a str, errors: &mut Vec<Diagnostic>) -> Vec<Token<'a>> {
    let header = source.find("1.0").map_or(0, |at| at + 3);
    let mut all = Vec::new();
    let mut at = header;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let (kind, length) = match c {
            '#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            c if c.is_whitespace() => {
                at += c.len_utf8();
                continue;
            }
            c if is_name(c) && !c.is_ascii_digit() => (Kind::Name, length_of(rest, is_name)),
            '0'..='9' => number(rest),
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(rest),
            '.' if rest.starts_with("..") => (Kind::Mark, 2),
            ',' | ';' | '.' | '[' | ']' | '{' | '}' | '=' | '+' | '-' => (Kind::Mark, 1),
            _ => {
                let span = span(at, c.len_utf8());
                errors.push(Diagnostic::error(span, format!("the language has no `{c}`")));
                at += c.len_utf8();
                continue;
            }
        };
        all.push(Token { kind, text: &rest[..length], span: span(at, length) });
        at += length;
    }
    all.push(Token { kind: Kind::End, text: "", span: span(source.len(), 0) });
    all
}

fn span(at: usize, length: usize) -> Span {
    // A source has at most 1 MiB.
    Span::new(at as u32, (at + length) as u32)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

fn length_of(text: &str, part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !part(c)).unwrap_or(text.len())
}

/// Reads a number, or a target (`1D`) at the start of a text.
#[expect(clippy::expect_used, reason = "a number that is read as another must not compile")]
fn number(text: &str) -> (Kind, usize) {
    let digits = |from: usize| length_of(&text[from..], |c| c.is_ascii_digit());
    let whole = digits(0);
    if text[whole..].starts_with('D') {
        return (Kind::Name, length_of(text, is_name));
    }
    let mut end = whole;
    // `0..3` is a range.
    if text[end..].starts_with('.') && !text[end..].starts_with("..") {
        end += 1;
        end += digits(end);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    match text[..end].parse() {
        Ok(integer) if end == whole => (Kind::Integer(integer), end),
        _ => {
            let value = text[..end].parse();
            (Kind::Number(value.expect("digits with a point and an exponent are a number")), end)
        }
    }
}
