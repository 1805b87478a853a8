//! Suppression of lints by comments: `-- r500: allow(R5032) because …`.
//!
//! | comment | scope |
//! | --- | --- |
//! | `-- r500: allow(CODE, …)` after other text | the instructions on its line |
//! | `-- r500: allow(CODE, …)` on its own line | the instruction around it, else the next one |
//! | `-- r500: allow-file(CODE, …)` | the whole program |
//!
//! A code is its number or its name. Text after the closing bracket is ignored.

use r500_asm::{Assembly, Span};
use r500_check::{LintCode, Location};

use r500_text::raw_tokens::{RawTokenKind, raw_tokens};

/// Limit of codes and unreadable comments in a source; a program has at most 65,536 instructions.
const MAX_CODES: usize = 10_000;

/// The scope of a suppression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// The whole program.
    Program,
    /// The instructions in a span.
    Lines {
        /// The span of the comment's line, or of the instruction.
        span: Span,
    },
    /// No instruction.
    Nothing,
}

/// A suppressed code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The code.
    pub code: LintCode,
    /// Its scope.
    pub covers: Covers,
    /// Span of the code in the comment.
    pub span: Span,
}

/// The suppressions of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allows {
    /// The suppressions, in source order.
    pub list: Vec<Allow>,
    /// Comments that begin with `r500:` and cannot be parsed: span and message.
    pub wrong: Vec<(Span, String)>,
}

impl Allows {
    /// Returns the suppressions in a source and in the files that it includes.
    #[must_use]
    pub fn of(assembly: &Assembly) -> Self {
        let mut allows = Self::default();
        for (number, file) in (0u32..).zip(&assembly.files.list) {
            // Most sources have no suppressions and need not be tokenised.
            if !file.bytes.windows(5).any(|bytes| bytes.eq_ignore_ascii_case(b"r500:")) {
                continue;
            }
            let mut before = 0;
            for piece in raw_tokens(&file.bytes) {
                if piece.kind != RawTokenKind::Comment {
                    before = piece.end;
                    continue;
                }
                let text = &file.bytes[piece.range()];
                let line = file.bytes[..piece.start].iter().rposition(|b| *b == b'\n');
                let line = line.map_or(0, |at| at + 1);
                let span = |start: usize, end: usize| Span {
                    file: number,
                    start: u32::try_from(start).unwrap_or(u32::MAX),
                    end: u32::try_from(end).unwrap_or(u32::MAX),
                };
                let place = span(piece.start, piece.end);
                let covers = || {
                    if before > line {
                        let line = span(line, piece.start);
                        return lines(
                            assembly,
                            |of| of.start < line.end && of.end > line.start,
                            line,
                        );
                    }
                    statement(assembly, place)
                };
                allows.comment(text, place, covers);
                if allows.codes() == MAX_CODES {
                    let why = format!("what follows is not read: {MAX_CODES} codes at most");
                    allows.wrong.push((place, why));
                    return allows;
                }
            }
        }
        allows
    }

    /// Counts codes and unreadable comments.
    fn codes(&self) -> usize {
        self.list.len() + self.wrong.len()
    }

    /// Returns the index of the suppression that covers a lint.
    #[must_use]
    pub fn covering(&self, code: LintCode, place: &Location, assembly: &Assembly) -> Option<usize> {
        let at = place.index().and_then(|index| assembly.spans.get(index));
        self.list.iter().position(|allow| {
            allow.code == code
                && match (allow.covers, at) {
                    (Covers::Program, _) => true,
                    (Covers::Lines { span }, Some(at)) => {
                        at.file == span.file && at.start < span.end && at.end > span.start
                    }
                    _ => false,
                }
        })
    }

    /// Parses a comment, if it is addressed to r500.
    fn comment(&mut self, text: &[u8], place: Span, covers: impl Fn() -> Covers) {
        let text = String::from_utf8_lossy(text);
        let Some(head) = text.find(|c: char| c != '-' && !c.is_whitespace()) else { return };
        let Some(tag) = text.get(head..head + 5) else { return };
        if !tag.eq_ignore_ascii_case("r500:") {
            return;
        }
        let rest = text[head + 5..].trim_start();
        let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next();
        let word = word.unwrap_or_default();
        let whole = word.eq_ignore_ascii_case("allow-file");
        if !whole && !word.eq_ignore_ascii_case("allow") {
            let why = "only `allow(CODE)` and `allow-file(CODE)` follow `r500:`".to_owned();
            return self.wrong.push((place, why));
        }
        let behind = rest[word.len()..].trim_start();
        let inside = behind.strip_prefix('(').and_then(|inside| inside.split_once(')'));
        let Some((inside, _)) = inside else {
            let why = format!("codes in brackets must follow `{word}`");
            return self.wrong.push((place, why));
        };
        let covers = if whole { Covers::Program } else { covers() };
        let base = inside.as_ptr() as usize - text.as_ptr() as usize;
        let mut none = true;
        for name in inside.split(|c: char| c == ',' || c.is_whitespace()) {
            if name.is_empty() {
                continue;
            }
            if self.codes() == MAX_CODES {
                return;
            }
            none = false;
            // In a comment that is not UTF-8, positions are unknown.
            let at = base + (name.as_ptr() as usize - inside.as_ptr() as usize);
            let exact = matches!(text, std::borrow::Cow::Borrowed(_));
            let start = place.start + u32::try_from(at).unwrap_or(0);
            let end = start + u32::try_from(name.len()).unwrap_or(0);
            let span = if exact { Span { start, end, ..place } } else { place };
            match LintCode::find(name) {
                Some(code) => self.list.push(Allow { code, covers, span }),
                None => self.wrong.push((span, format!("there is no code `{name}`"))),
            }
        }
        if none {
            self.wrong.push((place, format!("`{word}` without a code")));
        }
    }
}

/// Returns `place` as scope if an instruction that `of` selects is in its file.
fn lines(assembly: &Assembly, of: impl Fn(&Span) -> bool, place: Span) -> Covers {
    let mut found = assembly.spans.iter().filter(|span| span.file == place.file && of(span));
    match found.next() {
        Some(_) => Covers::Lines { span: place },
        None => Covers::Nothing,
    }
}

/// Returns the instruction around a comment, or the next one.
fn statement(assembly: &Assembly, place: Span) -> Covers {
    let here = assembly.spans.iter().filter(|span| span.file == place.file);
    let next = here.filter(|span| span.end > place.start).min_by_key(|span| span.start);
    next.map_or(Covers::Nothing, |span| Covers::Lines { span: *span })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use r500_asm::{Options, assemble};

    use super::*;

    /// Returns the instruction indices that each suppression of a source covers; -1 for the whole program, -2 for none.
    fn allowed(source: &str) -> Vec<(&'static str, Vec<i32>)> {
        let assembly = assemble(source.as_bytes(), Options::default());
        assert!(assembly.is_ok(), "{:?}", assembly.diagnostics);
        let covered = |covers| match covers {
            Covers::Program => vec![-1],
            Covers::Nothing => vec![-2],
            Covers::Lines { span } => (0i32..)
                .zip(&assembly.spans)
                .filter(|(_, at)| at.start < span.end && at.end > span.start)
                .map(|(n, _)| n)
                .collect(),
        };
        let list = Allows::of(&assembly).list.into_iter();
        list.map(|allow| (allow.code.info().number, covered(allow.covers))).collect()
    }

    fn wrong(source: &str) -> Vec<(String, String)> {
        let assembly = assemble(source.as_bytes(), Options::default());
        let text = |span| String::from_utf8_lossy(assembly.files.bytes(span)).into_owned();
        let wrong = Allows::of(&assembly).wrong.into_iter();
        wrong.map(|(span, why)| (text(span), why)).collect()
    }

    #[test]
    fn after_an_instruction_or_before_it() {
        assert_eq!(allowed(": ; : ; -- r500: allow(R5038)\n: ;"), [("R5038", vec![0, 1])]);
        assert_eq!(
            allowed(": ;\n  -- r500: allow(dead-write) why\n\n: ;\n: ;"),
            [("R5038", vec![1])]
        );
        // At the end of an instruction's line, and inside an instruction.
        assert_eq!(allowed("src0.rgb = 1\n: ; --- R500: Allow( r5038 )"), [("R5038", vec![0])]);
        assert_eq!(
            allowed(": ;\nsrc0.rgb = 1\n-- r500: allow(R5038)\n: ;\n: ;"),
            [("R5038", vec![1])]
        );
        assert_eq!(allowed(": ;\n-- r500: allow(R5038)"), [("R5038", vec![-2])]);
        assert_eq!(allowed("NAME \"x\" ; -- r500: allow(R5038)\n: ;"), [("R5038", vec![-2])]);
    }

    #[test]
    fn the_whole_program() {
        let source = ": ;\n-- r500: allow-file(R5052, R5038) it is a fragment\n";
        assert_eq!(allowed(source), [("R5052", vec![-1]), ("R5038", vec![-1])]);
    }

    #[test]
    fn other_comments_suppress_nothing() {
        for source in [
            "-- allow(R5038)",
            "-- see r500: allow(R5038)",
            "--",
            "-- r500",
            "NAME \"-- r500: allow(x)\" ;",
        ] {
            assert_eq!((allowed(source), wrong(source)), (vec![], vec![]), "{source}");
        }
    }

    #[test]
    fn codes_are_counted() {
        let (lines, codes) = ("-- r500: allow-file(R5038)\n", "R5038,");
        let one = format!("-- r500: allow-file({})", codes.repeat(MAX_CODES + 10));
        for source in [lines.repeat(MAX_CODES + 10), one] {
            let assembly = assemble(source.as_bytes(), Options::default());
            let allows = Allows::of(&assembly);
            assert_eq!(allows.list.len(), MAX_CODES);
            assert!(matches!(&allows.wrong[..], [(_, why)] if why.contains("not read")));
        }
    }

    #[test]
    fn malformed_suppressions_are_reported() {
        let one = |source: &str| {
            let [(text, why)] =
                <[_; 1]>::try_from(wrong(source)).unwrap_or_else(|w| panic!("{w:?}"));
            format!("{text}: {why}")
        };
        assert_eq!(one("-- r500: allow(R5038, R9999)"), "R9999: there is no code `R9999`");
        assert!(one("-- r500: deny(R5038)").contains("only `allow(CODE)`"));
        assert!(one("-- r500: allow R5038").contains("codes in brackets"));
        assert!(one("-- r500: allow(R5038").contains("codes in brackets"));
        assert!(one("-- r500: allow()").contains("without a code"));
        assert!(one("-- r500:").contains("only `allow(CODE)`"));
        assert_eq!(wrong("-- r500: allow(\u{e9}, \u{1f600})").len(), 2);
    }
}
