//! Editor services: hover, completion, go to definition, references, rename, semantic tokens,
//! folding.
//!
//! An [`Analysis`] is created after each change of a source; its methods answer queries. Positions are [`Span`]s: bytes
//! of a file, the source itself being file 0; [`lines`] converts them to lines and columns and back. Texts are simple
//! Markdown: paragraphs, lists, `code` and tables. No files are read, and incomplete statements are accepted.
//!
//! ```
//! use r500_asm::Options;
//! use r500_asm::ide::Analysis;
//!
//! let source = b"src0.rgb = temp[0] : temp[1].rgb = MAD src0.rgb src0.111 src0.000 ;";
//! let analysis = Analysis::new(source, Options::default());
//! let hover = analysis.hover(source.iter().position(|b| *b == b'M').unwrap_or(0));
//! assert!(hover.is_some_and(|hover| hover.text.contains("A*B + C")));
//! ```

mod colors;
mod complete;
mod expansions;
mod folds;
mod hints;
mod hover;
mod keyword_docs;
pub mod lines;
mod occurrences;
mod registers;
mod rewrite;
mod selection;
mod signature;
mod statement;
mod symbols;
mod tokens;

use std::sync::Arc;

pub use colors::{ColorConstant, says_color};
pub use complete::{Completion, CompletionKind};
pub use folds::Fold;
pub use hints::{Hint, HintKind};
pub use hover::{Hover, explain_word};
pub use occurrences::{Occurrence, OccurrenceRole};
pub use signature::Signature;
pub use symbols::{Outline, OutlineKind, Renaming};
pub use tokens::{Token, TokenKind};

use crate::assemble::{Assembly, Options, assemble};
use crate::names::{self, Kw};
use crate::source::Span;
use r500_text::raw_tokens::{self, RawToken, RawTokenKind};
pub(crate) use statement::{Head, Statement, begins_line, begins_statement, statements};

/// A text edit: a span and its replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The span to replace; empty for an insertion.
    pub span: Span,
    /// The replacement.
    pub text: String,
}

/// A source, assembled and tokenised, for editor queries.
#[derive(Clone, Debug)]
pub struct Analysis {
    assembly: Assembly,
    text: Arc<[u8]>,
    /// The tokens except comments.
    code: Vec<RawToken>,
    comments: Vec<RawToken>,
    statements: Vec<Statement>,
}

/// A position in its statement.
struct CursorContext<'a> {
    statement: Head,
    /// The tokens of the statement before the position and before the word there.
    before: &'a [RawToken],
    /// The word at or next to the position.
    word: Option<RawToken>,
}

impl Analysis {
    /// Assembles and analyses a source.
    #[must_use]
    pub fn new(source: &[u8], options: Options<'_>) -> Self {
        Self::of(assemble(source, options))
    }

    /// Analyses an assembled source.
    #[must_use]
    pub fn of(assembly: Assembly) -> Self {
        let text: Arc<[u8]> = match assembly.files.list.first() {
            Some(file) => file.bytes.clone(),
            None => Arc::from(&[][..]),
        };
        let (comments, code): (Vec<RawToken>, Vec<RawToken>) = raw_tokens::raw_tokens(&text)
            .partition(|raw_token| raw_token.kind == RawTokenKind::Comment);
        let statements = statements(&text, &code);
        Self { assembly, text, code, comments, statements }
    }

    /// Returns the assembly: the job, the diagnostics, the spans of instructions.
    #[must_use]
    pub fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    /// Returns the source itself.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the comment at or before a position.
    #[must_use]
    pub fn comment(&self, at: usize) -> Option<RawToken> {
        let after = self.comments.partition_point(|raw_token| raw_token.end < at);
        self.comments
            .get(after)
            .copied()
            .filter(|raw_token| raw_token.start < at && at <= raw_token.end)
    }

    /// Returns the index of the instruction at a position.
    #[must_use]
    pub fn instruction(&self, at: usize) -> Option<usize> {
        let inside =
            |span: &Span| span.file == 0 && (span.start as usize) <= at && at < span.end as usize;
        self.assembly.spans.iter().position(inside)
    }

    fn at(&self, at: usize) -> CursorContext<'_> {
        let of = self.statements.partition_point(|s| self.code[s.first].start < at);
        let nothing = CursorContext { statement: Head::Empty, before: &[], word: None };
        let word = self.word(at);
        let Some(statement) = of.checked_sub(1).and_then(|of| self.statements.get(of)) else {
            return CursorContext { word, ..nothing };
        };
        let raw_tokens = &self.code[statement.first..statement.end];
        let complete = match statement.head {
            Head::Label | Head::Include => raw_tokens.len() >= 2,
            _ => raw_tokens.last().is_some_and(|last| last.kind == RawTokenKind::Mark(b';')),
        };
        let ended = raw_tokens.last().is_some_and(|last| last.end <= at) && complete;
        if ended && !(word.is_some() && statement.head == Head::Label) {
            return CursorContext { word, ..nothing };
        }
        let limit = word.map_or(at, |word| word.start);
        let count = raw_tokens.iter().take_while(|raw_token| raw_token.end <= limit).count();
        let before = &raw_tokens[..count];
        // The word at the position may be the apparent first word of the statement.
        let head = if before.is_empty() { Head::Empty } else { statement.head };
        CursorContext { statement: head, before, word }
    }

    /// Returns the word at or next to a position.
    fn word(&self, at: usize) -> Option<RawToken> {
        let after = self.code.partition_point(|raw_token| raw_token.end < at);
        let mut near = self.code[after..].iter().take_while(|raw_token| raw_token.start <= at);
        near.find(|raw_token| raw_token.kind == RawTokenKind::Word).copied()
    }

    fn bytes(&self, raw_token: RawToken) -> &[u8] {
        self.text.get(raw_token.range()).unwrap_or_default()
    }

    fn string(&self, raw_token: RawToken) -> String {
        String::from_utf8_lossy(self.bytes(raw_token)).into_owned()
    }

    fn kw(&self, raw_token: RawToken) -> Kw {
        if raw_token.kind == RawTokenKind::Word {
            names::find(self.bytes(raw_token))
        } else {
            Kw::Ident
        }
    }
}

impl CursorContext<'_> {
    fn last(&self) -> Option<RawToken> {
        self.before.last().copied()
    }

    fn last_is(&self, mark: u8) -> bool {
        self.last().is_some_and(|raw_token| raw_token.kind == RawTokenKind::Mark(mark))
    }

    fn has(&self, mark: u8) -> bool {
        self.before.iter().any(|raw_token| raw_token.kind == RawTokenKind::Mark(mark))
    }

    /// Returns the word before a `.`, `[` or `(` that precedes the position, skipping indices.
    fn owner(&self) -> Option<RawToken> {
        let mut rest = self.before;
        let mut depth = 0usize;
        while let [inner @ .., raw_token] = rest {
            rest = inner;
            match raw_token.kind {
                RawTokenKind::Mark(b']') => depth += 1,
                RawTokenKind::Mark(b'[') => depth = depth.saturating_sub(1),
                // `PRED.rgb(`: the half is not an owner.
                RawTokenKind::Word if depth == 0 && self.last_is(b'(') && follows_dot(inner) => {}
                RawTokenKind::Word if depth == 0 => return Some(*raw_token),
                RawTokenKind::Mark(b'.' | b'(' | b'!') => {}
                _ if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }
}

fn follows_dot(before: &[RawToken]) -> bool {
    before.last().is_some_and(|raw_token| raw_token.kind == RawTokenKind::Mark(b'.'))
}

/// Returns the span of a token in the source itself.
fn span(raw_token: RawToken) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span { file: 0, start: offset(raw_token.start), end: offset(raw_token.end) }
}

/// Returns whether a span of the source itself contains a position, or ends there.
fn touches(span: Span, at: usize) -> bool {
    span.file == 0 && (span.start as usize) <= at && at <= span.end as usize
}
