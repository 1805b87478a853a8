//! Tokens: words, numbers, signs.

use std::ops::Range;

use super::ExpressionError;

/// Length limit of an expression in bytes.
const LENGTH: usize = 4096;

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TokenKind {
    Word,
    Number(f32),
    /// Any other token, as its characters.
    Sign(&'static str),
}

impl Token {
    pub(super) fn text<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.span.clone()).unwrap_or_default()
    }

    pub(super) fn error(&self, message: String) -> ExpressionError {
        ExpressionError { span: self.span.clone(), message }
    }
}

pub(super) fn trimmed(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..text.trim_end().len().max(start)
}

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ExpressionError> {
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
        let digit_follows = rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        let (kind, length) = if c.is_ascii_digit() || c == '.' && digit_follows {
            number_token(rest)
                .map_err(|(length, message)| ExpressionError { span: at..at + length, message })?
        } else if c.is_ascii_alphabetic() || c == '_' {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            (TokenKind::Word, rest.find(|c| !word(c)).unwrap_or(rest.len()))
        } else if let Some(&sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (TokenKind::Sign(sign), sign.len())
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

/// Returns a number token and its length; on error, its length and the message.
fn number_token(text: &str) -> Result<(TokenKind, usize), (usize, String)> {
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
        Some(value) => Ok((TokenKind::Number(value), length)),
        None => Err((
            length,
            format!("`{number}` is not a number; write a decimal, or float bits as 0x3f800000"),
        )),
    }
}
