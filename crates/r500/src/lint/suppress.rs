//! Findings that a source allows: `-- r500: allow(R5032) because …`.
//!
//! | comment | what it allows the codes for |
//! | --- | --- |
//! | `-- r500: allow(CODE, …)` after something | the instructions on its line |
//! | `-- r500: allow(CODE, …)` on a line of its own | the instruction that it stands in, else the next one |
//! | `-- r500: allow-file(CODE, …)` | the whole program |
//!
//! A code is its number or its name. What follows the closing bracket is for people.

use r500_asm::{Assembly, Span};
use r500_check::{LintCode, Location};

use r500_asm::raw_tokens::{RawTokenKind, raw_tokens};

/// Codes, and comments that cannot be understood, of a source at most; a program has 65,536 instructions at most.
const MAX_CODES: usize = 10_000;

/// What a comment covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covers {
    /// Everything.
    Program,
    /// The instructions that stand there.
    Lines {
        /// From the beginning of its line, or of the instruction, to the end of either.
        span: Span,
    },
    /// No instruction: nothing stands where it would be.
    Nothing,
}

/// A code that a comment allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The code.
    pub code: LintCode,
    /// Where.
    pub covers: Covers,
    /// The place of the code in the comment.
    pub span: Span,
}

/// What the comments of a source allow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allows {
    /// In the order of the source.
    pub list: Vec<Allow>,
    /// Comments that begin with `r500:` and cannot be understood: the place, and why.
    pub wrong: Vec<(Span, String)>,
}

impl Allows {
    /// Returns what the comments of a source, and of the files that it includes, allow.
    #[must_use]
    pub fn of(assembly: &Assembly) -> Self {
        let mut allows = Self::default();
        for (number, file) in (0u32..).zip(&assembly.files.list) {
            // Most sources allow nothing; then there is nothing to cut up.
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

    /// Codes, and comments that cannot be understood.
    fn codes(&self) -> usize {
        self.list.len() + self.wrong.len()
    }

    /// Returns the allowance that covers a finding.
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

    /// Takes a comment, if it is for this.
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
            // Where the comment is no UTF-8, places in it are not known.
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

/// Returns all that covers instructions of some kind; from the first to the last of them.
fn lines(assembly: &Assembly, of: impl Fn(&Span) -> bool, place: Span) -> Covers {
    let mut found = assembly.spans.iter().filter(|span| span.file == place.file && of(span));
    match found.next() {
        Some(_) => Covers::Lines { span: place },
        None => Covers::Nothing,
    }
}

/// Returns the instruction that a comment stands in, or the next one.
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

    /// Returns which instructions a source allows which codes for; -1 for the whole program, -2 for
    /// none.
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
        // On the line where an instruction ends, and inside one.
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
    fn other_comments_say_nothing() {
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
    fn mistakes_are_found() {
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
