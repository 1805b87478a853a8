//! What the word at a place means, and what may stand there.

use r500::asm::ide::{CompletionKind, Token, TokenKind};
use r500::service;
use serde::Serialize;

use crate::document::{Document, Range};

/// What is said of a place.
#[derive(Debug, Serialize)]
pub struct Hover {
    #[serde(flatten)]
    range: Range,
    /// Markdown.
    text: String,
}

/// Something that may stand at a place.
#[derive(Debug, Serialize)]
pub struct Completion {
    /// What it replaces.
    #[serde(flatten)]
    range: Range,
    label: String,
    kind: &'static str,
    /// What it means, in a line.
    detail: String,
    /// More about it: Markdown.
    text: String,
    /// What to write: a snippet.
    insert: String,
}

/// Returns what the word at a place means.
#[must_use]
pub fn hover(document: &Document, at: usize) -> Option<Hover> {
    let hover = service::hover(&document.analysis, document.byte(at))?;
    Some(Hover { range: document.range(hover.span)?, text: hover.text })
}

/// Returns what may stand at a place.
#[must_use]
pub fn completions(document: &Document, at: usize) -> Vec<Completion> {
    let all = service::completions(&document.analysis, document.byte(at)).into_iter();
    let one = |completion: r500::asm::ide::Completion| {
        Some(Completion {
            range: document.range(completion.replace)?,
            label: completion.label,
            kind: kind(completion.kind),
            detail: completion.detail,
            text: completion.text,
            insert: completion.insert,
        })
    };
    all.filter_map(one).collect()
}

/// Returns what the words of a part of the source are: from, to, and the kind of each in one list,
/// which is shorter than objects.
#[must_use]
pub fn tokens(document: &Document, from: usize, to: usize) -> Vec<(usize, usize, &'static str)> {
    let part = document.byte(from)..document.byte(to);
    let one = |token: &Token| {
        let Range { from, to } = document.range(token.span)?;
        Some((from, to, word(token.kind)))
    };
    document.analysis.tokens(part).iter().filter_map(one).collect()
}

/// Returns what the page calls a word of that kind.
fn word(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Comment => "comment",
        TokenKind::Text => "string",
        TokenKind::Number => "number",
        TokenKind::Directive => "directive",
        TokenKind::Keyword => "keyword",
        TokenKind::Tag => "tag",
        TokenKind::Operation => "operation",
        TokenKind::Register => "register",
        TokenKind::Name => "name",
        TokenKind::Label => "label",
        TokenKind::Channels => "channels",
        TokenKind::Field => "field",
        TokenKind::Value => "value",
    }
}

/// Returns what editors call it.
fn kind(kind: CompletionKind) -> &'static str {
    match kind {
        CompletionKind::Statement | CompletionKind::Keyword => "keyword",
        CompletionKind::Operation => "function",
        CompletionKind::Register | CompletionKind::Name => "variable",
        CompletionKind::Label => "namespace",
        CompletionKind::Channels | CompletionKind::Field => "property",
        CompletionKind::Value => "constant",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn places_are_counted_as_the_page_counts() {
        let text = "-- caf\u{e9} \u{1f600}\n: temp[1].a = RCP src0.r ;";
        let document = Document::new(text.into(), "x".into(), Vec::new());
        let at = text[..text.find("RCP").unwrap()].encode_utf16().count();
        let hover = hover(&document, at + 1).unwrap();
        assert_eq!((hover.range.from, hover.range.to), (at, at + 3));
        assert!(hover.text.contains("RCP"), "{}", hover.text);
        let completions = completions(&document, at + 2);
        let rcp = completions.iter().find(|one| one.label == "RCP").unwrap();
        assert_eq!((rcp.kind, rcp.range.from), ("function", at));
        let tokens = tokens(&document, at, at + 3);
        assert_eq!(tokens, [(at, at + 3, "operation")]);
    }
}
