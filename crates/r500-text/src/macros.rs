//! Text of macros and repetitions: where a body ends, what the arguments of a use are, which words are parameters.
//!
//! Fragment and vertex programs share these rules. They work on raw tokens, so that the text of a body is read when it
//! is used, and not before.

use std::ops::Range;

use crate::raw_tokens::{RawToken, RawTokenKind, raw_tokens};

/// Limits of the text that macros and repetitions produce. A repetition in a repetition multiplies, so depth alone does
/// not bound the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExpansionLimits {
    /// Greatest nesting of uses of macros and of repetitions (64).
    pub depth: usize,
    /// Number of all uses and iterations (65,536).
    pub count: usize,
    /// Bytes of all bodies and arguments, counted each time they are read (4 MiB).
    pub bytes: usize,
}

impl Default for ExpansionLimits {
    fn default() -> Self {
        Self { depth: 64, count: 1 << 16, bytes: 4 << 20 }
    }
}

/// Limit of the parameters of a macro.
pub const MAX_PARAMETERS: usize = 16;

/// A word that begins or ends a body, written with a point: `.rept`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacroWord {
    /// `.rept`
    Rept,
    /// `.endr`
    Endr,
    /// `.macro`
    Macro,
    /// `.endm`
    Endm,
}

impl MacroWord {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rept, Self::Endr, Self::Macro, Self::Endm];

    /// Returns its spelling, with the point.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Rept => ".rept",
            Self::Endr => ".endr",
            Self::Macro => ".macro",
            Self::Endm => ".endm",
        }
    }

    /// Returns the word with a spelling, without the point, ignoring case.
    #[must_use]
    pub fn from_name(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|word| word.text().as_bytes()[1..].eq_ignore_ascii_case(name))
    }

    /// Returns the word that ends the body, of one that begins it.
    #[must_use]
    pub const fn end(self) -> Option<Self> {
        match self {
            Self::Rept => Some(Self::Endr),
            Self::Macro => Some(Self::Endm),
            Self::Endr | Self::Endm => None,
        }
    }

    /// Returns the word at two tokens: a point, and a word that touches it.
    #[must_use]
    pub fn at(text: &[u8], point: RawToken, word: RawToken) -> Option<Self> {
        let is = point.kind == RawTokenKind::Mark(b'.')
            && word.kind == RawTokenKind::Word
            && point.end == word.start;
        if is { Self::from_name(&text[word.range()]) } else { None }
    }
}

/// Why a body has no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoEnd {
    /// The text ends before.
    Missing,
    /// The end of another kind of body comes first.
    Other(Range<usize>),
}

/// Returns the body that begins at `from`, in the text up to `to`, and where the word that ends it ends.
///
/// # Errors
/// If nothing ends it.
pub fn body(
    text: &[u8],
    from: usize,
    to: usize,
    opener: MacroWord,
) -> Result<(Range<usize>, usize), NoEnd> {
    let mut open = vec![opener];
    let mut last: Option<RawToken> = None;
    for token in tokens(&text[..to], from) {
        let before = last.replace(token);
        let Some((point, word)) = before.and_then(|b| Some((b, MacroWord::at(text, b, token)?)))
        else {
            continue;
        };
        if word.end().is_some() {
            open.push(word);
        } else if open.pop().and_then(MacroWord::end) != Some(word) {
            return Err(NoEnd::Other(point.start..token.end));
        } else if open.is_empty() {
            return Ok((from..point.start, token.end));
        }
    }
    Err(NoEnd::Missing)
}

/// Returns the arguments that begin at `from`: texts between commas that are not in brackets, up to the `;`, and the
/// place of the `;`. `None` if the text up to `to` has none, or if a body begins or ends before.
#[must_use]
pub fn arguments(text: &[u8], from: usize, to: usize) -> Option<(Vec<Range<usize>>, usize)> {
    let mut list = Vec::new();
    // First and last byte of the argument so far; none while it is empty.
    let mut current: Option<Range<usize>> = None;
    let mut depth = 0usize;
    let mut last: Option<RawToken> = None;
    for token in tokens(&text[..to], from) {
        if last.is_some_and(|before| MacroWord::at(text, before, token).is_some()) {
            return None;
        }
        last = Some(token);
        match token.kind {
            RawTokenKind::Comment => continue,
            RawTokenKind::Mark(b';') => {
                if current.is_some() || !list.is_empty() {
                    list.push(current.unwrap_or(token.start..token.start));
                }
                return Some((list, token.start));
            }
            RawTokenKind::Mark(b',') if depth == 0 => {
                list.push(current.take().unwrap_or(token.start..token.start));
                continue;
            }
            RawTokenKind::Mark(b'(' | b'[') => depth += 1,
            RawTokenKind::Mark(b')' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        let start = current.map_or(token.start, |part| part.start);
        current = Some(start..token.end);
    }
    None
}

/// Returns the raw tokens of a text from a place on.
fn tokens(text: &[u8], from: usize) -> impl Iterator<Item = RawToken> + '_ {
    raw_tokens(&text[from..]).map(move |token| RawToken {
        start: token.start + from,
        end: token.end + from,
        ..token
    })
}

/// Returns whether the word at a place in a body can be a parameter: after a point, masks, swizzles and halves, words
/// that only have `letters` or are `none`, are themselves.
#[must_use]
pub fn may_be_parameter(text: &[u8], word: Range<usize>, letters: &[u8]) -> bool {
    let after_point = text[..word.start].trim_ascii_end().last() == Some(&b'.');
    let word = &text[word];
    let suffix = word.eq_ignore_ascii_case(b"none")
        || word.iter().all(|letter| letters.contains(&letter.to_ascii_lowercase()));
    !(after_point && suffix)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn bodies_end_with_their_own_word() {
        let text = b" .rept 2 ; x .endr ; \".endr\" y -- .endr\n.ENDR ; z";
        let (found, end) = body(text, 0, text.len(), MacroWord::Rept).unwrap();
        assert_eq!(&text[found], b" .rept 2 ; x .endr ; \".endr\" y -- .endr\n");
        assert_eq!(&text[end..], b" ; z");
        assert_eq!(body(b"x", 0, 1, MacroWord::Macro), Err(NoEnd::Missing));
        assert_eq!(body(b" .endm", 0, 6, MacroWord::Rept), Err(NoEnd::Other(1..6)));
    }

    #[test]
    fn commas_in_brackets_do_not_separate_arguments() {
        let split = |text: &str| {
            let (list, end) = arguments(text.as_bytes(), 0, text.len())?;
            Some((list.into_iter().map(|part| text[part].to_owned()).collect::<Vec<_>>(), end))
        };
        assert_eq!(split(" ;"), Some((vec![], 1)));
        assert_eq!(split("a ;").unwrap().0, ["a"]);
        assert_eq!(
            split(" min(1, 2) , temp[ 1 ] .r,-- c,;\n ;").unwrap().0,
            ["min(1, 2)", "temp[ 1 ] .r", ""]
        );
        assert_eq!(split("a, b"), None);
        assert_eq!(split("a .endr ;"), None);
    }

    #[test]
    fn suffixes_are_not_parameters() {
        let is = |text: &str, word: &str| {
            let at = text.find(word).unwrap();
            may_be_parameter(text.as_bytes(), at..at + word.len(), b"rgba01h_")
        };
        assert!(is("temp[a]", "a"));
        assert!(!is("src0.a", "a") && !is("src0 . rgb", "rgb") && !is("temp[0].none", "none"));
        assert!(is("temp[0].mask", "mask"));
    }
}
