//! Editor services: the meaning of a word, completion, definitions, references, renaming, formatting.

use r500::asm::ide::{CompletionKind, Token, TokenKind};
use r500::service;
use serde::Serialize;

use crate::document::{Document, Range, TextEdit};

/// The description of a place.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hover {
    #[serde(flatten)]
    range: Range,
    /// Markdown.
    text: String,
}

/// A completion.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Completion {
    /// The part that it replaces.
    #[serde(flatten)]
    range: Range,
    label: String,
    kind: &'static str,
    /// Its meaning, in a line.
    detail: String,
    /// Its description in Markdown.
    text: String,
    /// The text to insert, a snippet.
    insert: String,
}

/// Returns the meaning of the word at a position.
#[must_use]
pub fn hover(document: &Document, at: usize) -> Option<Hover> {
    let hover = service::hover(&document.analysis, document.byte(at))?;
    Some(Hover { range: document.range(hover.span)?, text: hover.text })
}

/// Returns the completions at a position.
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

/// A name that can be renamed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Renamable {
    #[serde(flatten)]
    range: Range,
    /// The name, without a label's `@`.
    name: String,
}

/// Returns the definition of the name, label or register at a position; `None` if it is in an included file.
#[must_use]
pub fn definition(document: &Document, at: usize) -> Option<Range> {
    document.range(document.analysis.definition(document.byte(at))?)
}

/// Returns the uses and the definition of the name, label or register at a position, in the source itself.
#[must_use]
pub fn references(document: &Document, at: usize) -> Vec<Range> {
    let found = document.analysis.references(document.byte(at), true).into_iter();
    found.filter_map(|span| document.range(span)).collect()
}

/// Returns the name at a position that [`rename`] can change.
#[must_use]
pub fn renamable(document: &Document, at: usize) -> Option<Renamable> {
    let span = document.analysis.renamable(document.byte(at))?;
    let name = document.text.get(span.start as usize..span.end as usize)?;
    Some(Renamable { range: document.range(span)?, name: name.to_owned() })
}

/// Returns the source after renaming the name at a position.
///
/// # Errors
/// The reason why it cannot have that name.
pub fn rename(document: &Document, at: usize, name: &str) -> Result<Vec<TextEdit>, String> {
    let edits = document.analysis.rename(document.byte(at), name).map_err(|why| why.to_string())?;
    document.edits(&edits).ok_or_else(|| "it stands in an included file, too".to_owned())
}

/// Returns the source after formatting.
///
/// # Errors
/// The reason why it cannot be formatted.
pub fn format(document: &Document) -> Result<Vec<TextEdit>, String> {
    let text = r500::asm::format(document.text.as_bytes()).map_err(|why| why.to_string())?;
    Ok(document.replaced(&text))
}

/// Returns the source after all safe fixes of the checker.
#[must_use]
pub fn fix_all(document: &Document) -> Vec<TextEdit> {
    let again = |text: &[u8]| document.with_text(&String::from_utf8_lossy(text));
    let fixed = service::fix_all(&document.analysis, again);
    fixed.map_or_else(Vec::new, |text| document.replaced(&text))
}

/// Returns the kinds of the words in a part of the source: from, to, and kind of each in one list, which is shorter
/// than objects.
#[must_use]
pub fn tokens(document: &Document, from: usize, to: usize) -> Vec<(usize, usize, &'static str)> {
    let part = document.byte(from)..document.byte(to);
    let one = |token: &Token| {
        let Range { from, to } = document.range(token.span)?;
        Some((from, to, word(token.kind)))
    };
    document.analysis.tokens(part).iter().filter_map(one).collect()
}

/// Returns the page's name for a kind of token.
fn word(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Comment => "comment",
        TokenKind::Text => "string",
        TokenKind::Number => "number",
        TokenKind::Directive => "directive",
        TokenKind::Keyword => "keyword",
        TokenKind::Flag => "tag",
        TokenKind::Operation => "operation",
        TokenKind::Register => "register",
        TokenKind::Name => "name",
        TokenKind::Label => "label",
        TokenKind::Channels => "channels",
        TokenKind::Field => "field",
        TokenKind::Value => "value",
    }
}

/// Returns the editor's name for a kind of completion.
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

    #[test]
    fn names_are_found_and_renamed_and_the_source_is_formatted() {
        let text = "-- caf\u{e9}\nDEF eye = temp[1] ;\nsrc0.rgb = eye : eye.a = RCP src0.r ;\n";
        let document = Document::new(text.into(), "x".into(), Vec::new());
        let at = text[..text.rfind("eye").unwrap()].encode_utf16().count();
        let defined = definition(&document, at).unwrap();
        assert_eq!(references(&document, at).len(), 4);
        assert_eq!(references(&document, at)[0], defined);
        assert_eq!(renamable(&document, at).unwrap().name, "eye");
        let renamed = document.applied(&rename(&document, at, "place").unwrap());
        assert_eq!(renamed, text.replace("eye", "place"));
        assert!(rename(&document, at, "LOOP").is_err());
        let spaced = Document::new(text.replace(": eye.a", ":    eye.a"), "x".into(), Vec::new());
        assert_eq!(spaced.applied(&format(&spaced).unwrap()), text);
        assert!(format(&document).unwrap().is_empty());
    }
}
