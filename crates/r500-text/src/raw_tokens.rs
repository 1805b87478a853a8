//! Raw tokens of a source: words, marks, strings and comments, without interpretation.

use std::ops::Range;

/// The kind of a raw token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawTokenKind {
    /// Letters, digits and `_`.
    Word,
    /// A string in double quotes.
    Text,
    /// `--` to the end of the line.
    Comment,
    /// Any other byte.
    Mark(u8),
}

/// A raw token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawToken {
    /// What it is.
    pub kind: RawTokenKind,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

impl RawToken {
    /// Returns its bytes.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns whether it is a given word, ignoring case.
    #[must_use]
    pub fn is(self, source: &[u8], word: &str) -> bool {
        self.kind == RawTokenKind::Word
            && source[self.range()].eq_ignore_ascii_case(word.as_bytes())
    }
}

/// Returns the start of the text of a source, after a byte order mark.
#[must_use]
pub fn text_start(source: &[u8]) -> usize {
    const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
    if source.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

/// Returns the tokens of a source, in order, without white space and byte order mark.
pub fn raw_tokens(source: &[u8]) -> impl Iterator<Item = RawToken> + '_ {
    let mut at = text_start(source);
    std::iter::from_fn(move || {
        while source.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let start = at;
        let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let kind = match *source.get(at)? {
            b if word(&b) => {
                at += source[at..].iter().take_while(|b| word(b)).count();
                RawTokenKind::Word
            }
            b'-' if source.get(at + 1) == Some(&b'-') => {
                at += source[at..].iter().take_while(|b| **b != b'\n').count();
                RawTokenKind::Comment
            }
            b'"' => {
                at += 1;
                while let Some(&b) = source.get(at).filter(|b| **b != b'\n') {
                    // As in the language: `\"` does not end a string.
                    let pair = b == b'\\' && source.get(at + 1).is_some_and(|b| *b != b'\n');
                    at += 1 + usize::from(pair);
                    if b == b'"' {
                        break;
                    }
                }
                RawTokenKind::Text
            }
            b => {
                at += 1;
                RawTokenKind::Mark(b)
            }
        };
        Some(RawToken { kind, start, end: at })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_in_strings_and_comments_are_not_tokens() {
        let source = b"NAME \"a -- \\\" b\" ; -- c ; \"d\nx-- e";
        let kinds: Vec<RawTokenKind> = raw_tokens(source).map(|raw_token| raw_token.kind).collect();
        let semicolon = RawTokenKind::Mark(b';');
        let wanted = [
            RawTokenKind::Word,
            RawTokenKind::Text,
            semicolon,
            RawTokenKind::Comment,
            RawTokenKind::Word,
            RawTokenKind::Comment,
        ];
        assert_eq!(kinds, wanted);
        assert!(
            raw_tokens(source)
                .all(|raw_token| raw_token.start < raw_token.end && raw_token.end <= source.len())
        );
    }
}
