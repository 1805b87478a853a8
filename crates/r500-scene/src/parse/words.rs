//! Words, numbers and symbols of a scene, and what follows an error.

use std::ops::Range;

use super::{MAX_SIDE, Parsed, Parser, Wrong, at};
use crate::SceneError;

impl Parser<'_> {
    /// Parses `320x240`.
    pub(super) fn size(&mut self, help: &'static str) -> Parsed<[u32; 2]> {
        self.space();
        let begin = self.at;
        let rest = &self.text[begin..];
        let end = rest.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(rest.len());
        let word = &rest[..end];
        let side = |text: &str| text.parse().ok().filter(|n| (1..=MAX_SIDE).contains(n));
        let size = word.split_once(['x', 'X']).and_then(|(w, h)| Some([side(w)?, side(h)?]));
        self.at = begin + end;
        let message = || format!("`{word}` is not a size: width x height, 1 to {MAX_SIDE} each");
        size.ok_or_else(|| at(begin..begin + end, message(), help))
    }

    /// Parses a whole number below a limit.
    pub(super) fn whole(&mut self, limit: u32, help: &'static str) -> Parsed<u32> {
        self.space();
        let begin = self.at;
        let rest = &self.text[begin..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end].parse().ok().filter(|number| *number < limit);
        self.at = begin + end;
        let end = begin + end.max(rest.chars().next().map_or(0, char::len_utf8));
        number.ok_or_else(|| {
            at(begin..end, format!("expected a whole number from 0 to {}", limit - 1), help)
        })
    }

    /// Parses a number.
    pub(super) fn number(&mut self, help: &'static str) -> Parsed<(f64, Range<usize>)> {
        self.space();
        let begin = self.at;
        let rest = &self.text.as_bytes()[begin..];
        let mut end = 0;
        while let Some(byte) = rest.get(end) {
            let exponent = end > 0 && matches!(rest[end - 1], b'e' | b'E');
            let sign = matches!(byte, b'+' | b'-') && (end == 0 || exponent);
            if !(byte.is_ascii_digit()
                || *byte == b'.'
                || sign
                || end > 0 && matches!(byte, b'e' | b'E'))
            {
                break;
            }
            end += 1;
        }
        let text = &self.text[begin..begin + end];
        match text.parse() {
            Ok(number) => {
                self.at = begin + end;
                Ok((number, begin..self.at))
            }
            Err(_) => {
                let length = self.text[begin..].chars().next().map_or(0, char::len_utf8);
                Err(at(begin..begin + end.max(length), "expected a number".to_owned(), help))
            }
        }
    }

    /// Parses the 32 bits of a hexadecimal or decimal number.
    pub(super) fn bits(&mut self, help: &'static str) -> Parsed<u32> {
        self.space();
        let begin = self.at;
        let rest = &self.text[begin..];
        let word = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let text = &rest[..word];
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let value = match hex {
            Some(digits) if !digits.is_empty() => u32::from_str_radix(digits, 16).ok(),
            _ => text.parse().ok(),
        };
        self.at = begin + word;
        let end = begin + word.max(rest.chars().next().map_or(0, char::len_utf8));
        value.ok_or_else(|| at(begin..end, "expected 32 bits, such as 0xff".to_owned(), help))
    }

    /// Parses a float32: a decimal, or its bits as `0x7fc00000`.
    pub(super) fn float(&mut self, help: &'static str) -> Parsed<(f32, Range<usize>)> {
        self.space();
        let begin = self.at;
        if self.text[begin..].starts_with("0x") {
            let bits = self.bits(help)?;
            return Ok((f32::from_bits(bits), begin..self.at));
        }
        let (_, span) = self.number(help)?;
        // Rounded once.
        match self.text[span.clone()].parse() {
            Ok(value) => Ok((value, span)),
            Err(_) => Err(at(span, "expected a number".to_owned(), help)),
        }
    }

    /// Parses a name.
    pub(super) fn name(&mut self, help: &'static str) -> Parsed<(String, Range<usize>)> {
        self.space();
        let begin = self.at;
        let rest = &self.text[begin..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            return Err(self.wrong("expected a name", help));
        }
        self.at = begin + end;
        Ok((rest[..end].to_owned(), begin..self.at))
    }

    /// Parses a text in quotes, if there is one.
    pub(super) fn string(&mut self) -> Parsed<Option<(String, Range<usize>)>> {
        if self.peek() != Some('"') {
            return Ok(None);
        }
        let begin = self.at;
        let rest = &self.text[begin + 1..];
        let line = rest.lines().next().unwrap_or_default();
        let Some(end) = line.find('"') else {
            return Err(at(begin..begin + 1, "the name has no end".to_owned(), "end it with `\"`"));
        };
        self.at = begin + end + 2;
        Ok(Some((rest[..end].to_owned(), begin..self.at)))
    }

    /// Returns what was read since a place, without white space at the end.
    pub(super) fn since(&self, begin: usize) -> Range<usize> {
        begin..begin + self.text[begin..self.at].trim_end().len()
    }

    /// Consumes a word of the language, if it is next.
    pub(super) fn keyword(&mut self, word: &str) -> bool {
        self.space();
        let rest = &self.text[self.at..];
        let is = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        let ends = rest
            .get(word.len()..)
            .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        if is && ends {
            self.at += word.len();
        }
        is && ends
    }

    pub(super) fn symbol(&mut self, symbol: char, help: &'static str) -> Parsed<()> {
        match self.optional(symbol) {
            true => Ok(()),
            false => Err(self.wrong(&format!("expected `{symbol}`"), help)),
        }
    }

    /// Consumes a symbol, if it is next.
    pub(super) fn optional(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(symbol);
        if found {
            self.at += symbol.len_utf8();
        }
        found
    }

    pub(super) fn end(&mut self, help: &'static str) -> Parsed<()> {
        self.symbol(';', help)
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        self.space();
        self.text[self.at..].chars().next()
    }

    /// Skips white space and comments. Returns whether text follows.
    pub(super) fn more(&mut self) -> bool {
        self.space();
        self.at < self.text.len()
    }

    pub(super) fn space(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.at = self.text.len() - trimmed.len();
            if !trimmed.starts_with("--") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// Returns an error at the next word.
    pub(super) fn wrong(&self, message: &str, help: &'static str) -> Wrong {
        let rest = &self.text[self.at..];
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = word.max(rest.chars().next().map_or(0, char::len_utf8));
        let found = match rest.get(..length) {
            Some("") | None => ", not the end of the text".to_owned(),
            Some(word) => format!(", not `{word}`"),
        };
        at(self.at..self.at + length, format!("{message}{found}"), help)
    }

    pub(super) fn report(&mut self, wrong: Wrong) {
        let Wrong { span, message, help } = wrong;
        self.errors.push(SceneError { span, message, help: help.to_owned() });
    }

    /// Continues after the statement that began at `begin`: after its `;` or its block. The end of the block around it stays.
    pub(super) fn recover(&mut self, begin: usize) {
        let mut depth = 0usize;
        let mut end = self.text.len();
        for (n, c) in self.text[begin..].char_indices() {
            match c {
                ';' if depth == 0 => {
                    end = begin + n + 1;
                    break;
                }
                '{' => depth += 1,
                '}' if depth <= 1 => {
                    end = begin + n + depth;
                    break;
                }
                '}' => depth -= 1,
                _ => {}
            }
        }
        self.at = self.at.max(end);
        self.optional(';');
        if self.at == begin {
            // At least a character, so that reading ends.
            self.at += self.text[begin..].chars().next().map_or(0, char::len_utf8);
        }
    }
}
