//! The formatter: standard spacing and indentation. Tokens, comments and line breaks are preserved.
//!
//! | element | layout |
//! | --- | --- |
//! | lines | as written; a statement longer than [`WIDTH`] columns continues on the next line, after `:`, then after commas |
//! | empty lines | one at a time, none at the beginning and the end |
//! | indentation | four spaces a block of `IF`, `LOOP`, `REP`, and a body of `.macro`, `.rept`; a subroutine from its label to its `RETURN`; continuation lines four more |
//! | space | one between words, around `=` `:` `->` and the `*` of an output modifier, before `;`, after commas; none inside brackets and around the operators of expressions |
//! | tables | consecutive directives of equal width keep their columns |
//! | trailing comments | aligned on consecutive lines |
//!
//! Line breaks have no meaning in the language, but they matter for readability and for `-- r500: allow(…)` comments:
//! lines are never joined, and never broken between statements.

mod comment;
mod indent;
mod space;
mod table;

use std::collections::HashSet;

use crate::ide::{Statement, statements};
use crate::source::Span;
use r500_text::raw_tokens::{RawToken, RawTokenKind, raw_tokens, text_start};

/// Greatest width of a line of code, if it can be broken.
pub const WIDTH: usize = 110;

/// Limit of words, marks, strings and comments in a source to format: the layout takes some hundred bytes of memory for
/// each. A program that fills the processor has some ten thousand.
pub const MAX_TOKENS: usize = 500_000;

/// Why a source cannot be formatted: it is not a sequence of words, marks, strings and comments, so other spacing might
/// change its meaning, or it is too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unformatted {
    /// Where.
    pub span: Span,
    /// The reason.
    pub reason: &'static str,
}

impl std::fmt::Display for Unformatted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.reason)
    }
}

impl std::error::Error for Unformatted {}

/// Formats a source. It need not assemble: included fragments can be formatted too.
///
/// # Errors
/// If it has an unterminated string, bytes that start no word, or more than [`MAX_TOKENS`] tokens.
///
/// ```
/// let source = b"src0.rgb=temp[0]:temp[1].rgb=MAD src0.rgb,src0.111 src0.000;-- as it is";
/// let wanted = b"src0.rgb = temp[0] : temp[1].rgb = MAD src0.rgb, src0.111 src0.000 ; -- as it is\n";
/// assert_eq!(r500_asm::format(source).as_deref(), Ok(&wanted[..]));
/// ```
pub fn format(source: &[u8]) -> Result<Vec<u8>, Unformatted> {
    // Before the tokens are collected: in a binary file, each byte is one.
    sound(source)?;
    let all: Vec<RawToken> = raw_tokens(source).collect();
    let code: Vec<RawToken> =
        all.iter().copied().filter(|p| p.kind != RawTokenKind::Comment).collect();
    let statements = statements(source, &code);
    let source = Source { text: source, code: &code, statements: &statements };
    let mut lines = source.lines(&all);
    comment::align(&mut lines);
    let out = source.write(&lines);
    // Formatting must never change a token.
    let same = raw_tokens(&out)
        .map(|raw_token| trimmed(&out[raw_token.range()]))
        .eq(all.iter().map(|raw_token| trimmed(&source.text[raw_token.range()])));
    Ok(if same { out } else { source.text.to_vec() })
}

/// The source to format.
struct Source<'a> {
    text: &'a [u8],
    /// Its tokens without comments.
    code: &'a [RawToken],
    statements: &'a [Statement],
}

/// A line of the result.
struct Line {
    /// Columns of indentation.
    indent: usize,
    /// Its words and marks.
    code: Vec<u8>,
    comment: Option<Comment>,
}

/// The comment of a line.
struct Comment {
    text: Vec<u8>,
    /// Its original column, and the original space before it.
    column: usize,
    gap: usize,
    /// Spaces to write before it.
    space: usize,
}

impl Line {
    fn is_empty(&self) -> bool {
        self.code.is_empty() && self.comment.is_none()
    }

    /// Columns of indentation and code.
    fn width(&self) -> usize {
        self.indent + columns(&self.code, 0)
    }
}

impl Source<'_> {
    fn lines(&self, all: &[RawToken]) -> Vec<Line> {
        let indents = indent::indents(self);
        let tables = table::tables(self);
        let mut lines: Vec<Line> = Vec::new();
        let mut begun = space::Begun::default();
        let (mut at, mut start, mut next) = (0, 0, 0);
        while start < self.text.len() {
            let rest = &self.text[start..];
            let end = rest.iter().position(|b| *b == b'\n').map_or(self.text.len(), |n| start + n);
            let here = &all[at..at + all[at..].iter().take_while(|p| p.start < end).count()];
            at += here.len();
            let (code, comment) = match here {
                [code @ .., last] if last.kind == RawTokenKind::Comment => (code, Some(*last)),
                code => (code, None),
            };
            let empty = here.is_empty();
            if !(empty && lines.last().is_none_or(Line::is_empty)) {
                let comment = comment.map(|raw_token| self.comment(raw_token, start, code.last()));
                if code.is_empty() {
                    let indent = if empty { 0 } else { indents.comment(self, next, start) };
                    lines.push(Line { indent, code: Vec::new(), comment });
                } else {
                    let range = next..next + code.len();
                    begun.advance(self, range.start);
                    let words = space::SpacedLine::new(self, range.clone(), &begun);
                    self.code_lines(range, &words, &indents, &tables, comment, &mut lines);
                }
            }
            next += code.len();
            start = end + 1;
        }
        while lines.last().is_some_and(Line::is_empty) {
            lines.pop();
        }
        lines
    }

    fn comment(&self, raw_token: RawToken, line: usize, before: Option<&RawToken>) -> Comment {
        let text = trimmed(&self.text[raw_token.range()]).to_vec();
        let end = before.map_or(line, |last| last.end);
        let head = columns(&self.text[line..end], 0);
        let column = columns(&self.text[line..raw_token.start], 0);
        Comment { text, column, gap: column - head, space: 0 }
    }

    /// Breaks a line of code into several if it is too long.
    fn code_lines(
        &self,
        range: std::ops::Range<usize>,
        words: &space::SpacedLine<'_>,
        indents: &indent::Indentation,
        tables: &HashSet<usize>,
        comment: Option<Comment>,
        lines: &mut Vec<Line>,
    ) {
        let indent = indents.of(range.start);
        let whole = match tables.contains(&range.start) {
            true => self.text[self.code[range.start].start..self.code[range.end - 1].end].to_vec(),
            false => words.join(0, words.len()),
        };
        let first = Line { indent, code: whole, comment: None };
        let one = indents.statement(range.start) == indents.statement(range.end - 1);
        if first.width() > WIDTH && one {
            let after = indents.continued(range.start);
            let mut from = 0;
            for to in words.breaks(indent, after) {
                let indent = if from == 0 { indent } else { after };
                lines.push(Line { indent, code: words.join(from, to), comment: None });
                from = to;
            }
        } else {
            lines.push(first);
        }
        if let Some(last) = lines.last_mut() {
            last.comment = comment;
        }
    }

    fn write(&self, lines: &[Line]) -> Vec<u8> {
        let first = self.text.iter().position(|b| *b == b'\n');
        let crlf = first.is_some_and(|at| at > 0 && self.text[at - 1] == b'\r');
        let mut out = Vec::with_capacity(self.text.len() + self.text.len() / 8);
        // A byte order mark and the line ends are preserved.
        out.extend_from_slice(&self.text[..text_start(self.text)]);
        let spaces = |out: &mut Vec<u8>, n: usize| out.resize(out.len() + n, b' ');
        for line in lines {
            if !line.is_empty() {
                spaces(&mut out, line.indent);
            }
            out.extend_from_slice(&line.code);
            if let Some(comment) = &line.comment {
                spaces(&mut out, comment.space);
                out.extend_from_slice(&comment.text);
            }
            out.extend_from_slice(if crlf { b"\r\n" } else { b"\n" });
        }
        out
    }
}

/// Rejects a source that is not a sequence of tokens.
fn sound(text: &[u8]) -> Result<(), Unformatted> {
    let wrong = |start: usize, end: usize, reason| {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Err(Unformatted { span: Span { file: 0, start: offset(start), end: offset(end) }, reason })
    };
    let mut tokens = raw_tokens(text);
    let mut previous: Option<RawToken> = None;
    let (mut current, mut ahead) = (tokens.next(), [tokens.next(), tokens.next()]);
    let mut count = 0;
    while let Some(raw_token) = current {
        count += 1;
        if count > MAX_TOKENS {
            return wrong(
                raw_token.start,
                raw_token.end,
                "a longer source than is laid out (500,000 words and marks)",
            );
        }
        let before = previous.map_or_else(|| text_start(text), |previous| previous.end);
        if let Some(gap) =
            text[before..raw_token.start].iter().position(|b| !b" \t\r\n".contains(b))
        {
            return wrong(before + gap, before + gap + 1, "this byte is neither space nor a word");
        }
        let next = ahead[0].map(|next| &text[next.range()]);
        let touches = ahead[0].is_some_and(|next| next.start == raw_token.end);
        match raw_token.kind {
            RawTokenKind::Text if !closed(&text[raw_token.range()]) => {
                return wrong(raw_token.start, raw_token.end, "a string without an end");
            }
            RawTokenKind::Mark(b'#') => {
                let include = next.is_some_and(|word| word.eq_ignore_ascii_case(b"include"));
                let line = ahead[1].is_some_and(|file| {
                    file.kind == RawTokenKind::Text
                        && !text[raw_token.start..file.start].contains(&b'\n')
                });
                if !include || !line {
                    return wrong(
                        raw_token.start,
                        raw_token.end,
                        "`#` that is not `#include \"file\"`",
                    );
                }
            }
            RawTokenKind::Mark(b'-') if touches && next == Some(b">") => {}
            RawTokenKind::Mark(b'>')
                if previous.is_some_and(|previous| {
                    previous.kind == RawTokenKind::Mark(b'-') && previous.end == raw_token.start
                }) => {}
            RawTokenKind::Mark(b'/') if touches && matches!(next, Some(b"/" | b"*")) => {
                return wrong(
                    raw_token.start,
                    raw_token.end,
                    "no word and no mark of the language",
                );
            }
            RawTokenKind::Mark(b) if !b".,;:=*/|+-!&@[]()".contains(&b) => {
                return wrong(
                    raw_token.start,
                    raw_token.end,
                    "no word and no mark of the language",
                );
            }
            _ => {}
        }
        (previous, current, ahead) = (current, ahead[0], [ahead[1], tokens.next()]);
    }
    Ok(())
}

/// Returns whether a string is terminated: by a quote that is not escaped.
fn closed(string: &[u8]) -> bool {
    let inner = string.strip_suffix(b"\"").filter(|inner| !inner.is_empty());
    inner.is_some_and(|inner| inner.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 0)
}

fn trimmed(text: &[u8]) -> &[u8] {
    text.trim_ascii_end()
}

/// Returns the column after a text: counts characters, with tab stops every eight columns.
fn columns(text: &[u8], from: usize) -> usize {
    text.iter().fold(from, |column, b| match b {
        b'\t' => column / 8 * 8 + 8,
        // Only the first byte of a UTF-8 character counts.
        0x80..=0xbf => column,
        _ => column + 1,
    })
}
