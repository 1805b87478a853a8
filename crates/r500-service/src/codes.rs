//! Codes of errors, warnings and lints in the comments of a source.

use r500_asm::Span;
use r500_asm::ide::{Analysis, Completion, CompletionKind, Hover};
use r500_check::LintCode;

/// Returns the page of a code in Markdown: meaning, evidence and remedy. `None` if there is no such code.
#[must_use]
pub fn explain(code: &str) -> Option<String> {
    if let Some(code) = LintCode::find(code) {
        return Some(crate::lint::page(code));
    }
    let info = r500_asm::DiagnosticCode::from_name(code)?.info();
    let mut page = format!("## {}: {}\n\n{}\n", info.name, info.title, info.explanation);
    if !info.example.is_empty() {
        page.push_str(&format!("\n```text\n{}\n```\n", info.example.trim_end()));
    }
    Some(page)
}

/// Returns the guide page of a code, relative to the guide's root, with the anchor of its heading in mdBook.
#[must_use]
pub fn guide(code: &str) -> Option<String> {
    let (page, number, title) =
        match (LintCode::find(code), r500_asm::DiagnosticCode::from_name(code)) {
            (Some(code), _) => ("checks", code.info().number, code.info().name),
            (None, Some(code)) => ("errors", code.info().name, code.info().title),
            (None, None) => return None,
        };
    let kept = |c: char| c.is_alphanumeric() || "-_ ".contains(c);
    let heading: String = format!("{number} {title}").chars().filter(|c| kept(*c)).collect();
    Some(format!("reference/{page}.html#{}", heading.to_lowercase().replace(' ', "-")))
}

/// Returns the page of the code at a position in a comment.
pub(super) fn hover(analysis: &Analysis, at: usize) -> Option<Hover> {
    let comment = analysis.comment(at)?;
    let text = analysis.text().get(comment.range())?;
    let inside = at - comment.start;
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'-';
    let start = text[..inside].iter().rposition(|b| !part(b)).map_or(0, |before| before + 1);
    let end = text[inside..].iter().position(|b| !part(b)).map_or(text.len(), |n| inside + n);
    let word = std::str::from_utf8(&text[start..end]).ok()?;
    // A number is recognised everywhere; a name only in lists of codes, because names are also ordinary words.
    let number = word.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if !number && !in_allow(&text[..start]) {
        return None;
    }
    let offset = |at: usize| u32::try_from(comment.start + at).unwrap_or(u32::MAX);
    let span = Span { file: 0, start: offset(start), end: offset(end) };
    explain(word).map(|text| Hover { span, text })
}

/// Returns the codes as completions, inside a suppression comment.
pub(super) fn completions(analysis: &Analysis, at: usize) -> Option<Vec<Completion>> {
    let comment = analysis.comment(at)?;
    let head = analysis.text().get(comment.start..at)?;
    if !in_allow(head) {
        return Some(Vec::new());
    }
    let part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'-';
    let start = head.iter().rposition(|b| !part(b)).map_or(0, |before| before + 1);
    let offset = |at: usize| u32::try_from(comment.start + at).unwrap_or(u32::MAX);
    let replace = Span { file: 0, start: offset(start), end: offset(head.len()) };
    let one = |code: &LintCode| {
        let info = code.info();
        Completion {
            label: info.number.to_owned(),
            kind: CompletionKind::Value,
            detail: info.name.to_owned(),
            text: info.meaning.to_owned(),
            insert: info.number.to_owned(),
            replace,
        }
    };
    Some(LintCode::ALL.iter().map(one).collect())
}

/// Returns whether the head of a comment ends inside the brackets of `r500: allow(`.
fn in_allow(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    head.split_once("r500:").is_some_and(|(_, rest)| {
        rest.trim_start().starts_with("allow") && rest.contains('(') && !rest.contains(')')
    })
}
