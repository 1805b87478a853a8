//! What the services say, as the protocol spells it.

use std::collections::HashMap;

use r500::asm::Span;
use r500::asm::service::lines::{Encoding, Lines};
use r500::asm::service::{Analysis, CompletionKind, HintKind, OutlineKind, TextEdit};
use r500::check::Severity;
use r500::service::{self, Problem};
use serde_json::{Map, Value, json};

use super::documents::uri_of;

/// Places of an analysis for a client.
pub(super) struct Places<'a> {
    analysis: &'a Analysis,
    uri: &'a str,
    encoding: Encoding,
    lines: HashMap<u32, Lines>,
}

impl<'a> Places<'a> {
    pub(super) fn new(analysis: &'a Analysis, uri: &'a str, encoding: Encoding) -> Self {
        Self { analysis, uri, encoding, lines: HashMap::new() }
    }

    fn position(&mut self, file: u32, at: usize) -> Value {
        let files = &self.analysis.assembly().files.list;
        let bytes: &[u8] = files.get(file as usize).map_or(&[], |file| &file.bytes);
        let lines = self.lines.entry(file).or_insert_with(|| Lines::new(bytes));
        let place = lines.position(bytes, at, self.encoding);
        json!({ "line": place.line, "character": place.column })
    }

    pub(super) fn range(&mut self, span: Span) -> Value {
        let start = self.position(span.file, span.start as usize);
        json!({ "start": start, "end": self.position(span.file, span.end as usize) })
    }

    /// The address of a file of the analysis.
    fn uri(&self, file: u32) -> String {
        if file == 0 {
            return self.uri.to_owned();
        }
        let files = &self.analysis.assembly().files.list;
        files.get(file as usize).map_or_else(String::new, |file| uri_of(&file.name))
    }

    pub(super) fn location(&mut self, span: Span) -> Value {
        json!({ "uri": self.uri(span.file), "range": self.range(span) })
    }

    pub(super) fn edits(&mut self, edits: &[TextEdit]) -> Value {
        let mut changes: Map<String, Value> = Map::new();
        for edit in edits {
            let one = json!({ "range": self.range(edit.span), "newText": edit.text });
            let list = changes.entry(self.uri(edit.span.file)).or_insert_with(|| json!([]));
            if let Value::Array(list) = list {
                list.push(one);
            }
        }
        json!({ "changes": changes })
    }

    /// The place in the source itself that a problem is shown at: its own, or the `#include` that led to
    /// its file.
    fn shown(&self, span: Span) -> Span {
        let files = &self.analysis.assembly().files.list;
        let mut span = span;
        // Files are included by those before them.
        for _ in 0..files.len() {
            if span.file == 0 {
                break;
            }
            span = files.get(span.file as usize).and_then(|file| file.included).unwrap_or_default();
        }
        span
    }

    pub(super) fn diagnostic(&mut self, problem: &Problem) -> Value {
        let shown = self.shown(problem.span);
        let mut related: Vec<Value> = Vec::new();
        if shown != problem.span {
            related.push(json!({ "location": self.location(problem.span), "message": "here" }));
        }
        for (span, message) in &problem.related {
            related.push(json!({ "location": self.location(*span), "message": message }));
        }
        let mut message = problem.message.clone();
        for note in &problem.notes {
            message.push('\n');
            message.push_str(note);
        }
        let severity = match problem.severity {
            Severity::Error => 1,
            Severity::Warning => 2,
            Severity::Note => 3,
        };
        let mut value = json!({
            "range": self.range(shown), "severity": severity, "source": "r500", "message": message,
        });
        if !problem.code.is_empty() {
            value["code"] = json!(problem.code);
        }
        if !related.is_empty() {
            value["relatedInformation"] = json!(related);
        }
        value
    }

    /// Quick fixes of what is wrong in a range of the source.
    pub(super) fn actions(&mut self, from: usize, to: usize) -> Vec<Value> {
        let mut list = Vec::new();
        for problem in service::problems(self.analysis) {
            let shown = self.shown(problem.span);
            if shown.start as usize > to || (shown.end as usize) < from {
                continue;
            }
            for repair in &problem.repairs {
                list.push(json!({
                    "title": repair.title,
                    "kind": "quickfix",
                    "diagnostics": [self.diagnostic(&problem)],
                    "isPreferred": repair.mends,
                    "edit": self.edits(&repair.edits),
                }));
            }
        }
        list
    }

    /// An edit that makes the source another text.
    pub(super) fn whole(&mut self, text: &[u8]) -> Option<TextEdit> {
        let before = self.analysis.text();
        if before == text {
            return None;
        }
        // Only what differs, so that cursors stay where they are. Characters stay whole.
        let boundary =
            |text: &[u8], at: usize| text.get(at).is_none_or(|b| !(0x80..=0xbf).contains(b));
        let mut head = before.iter().zip(text).take_while(|(a, b)| a == b).count();
        while head > 0 && !(boundary(before, head) && boundary(text, head)) {
            head -= 1;
        }
        let (a, b) = (&before[head..], &text[head..]);
        let mut tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        while tail > 0 && !boundary(a, a.len() - tail) {
            tail -= 1;
        }
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span { file: 0, start: offset(head), end: offset(before.len() - tail) };
        let text = String::from_utf8_lossy(&text[head..text.len() - tail]).into_owned();
        Some(TextEdit { span, text })
    }

    pub(super) fn edit(&mut self, edit: &TextEdit) -> Value {
        json!({ "range": self.range(edit.span), "newText": edit.text })
    }

    pub(super) fn symbols(&mut self) -> Value {
        let outline = self.analysis.outline();
        let list = outline.iter().map(|entry| {
            let kind = match entry.kind {
                OutlineKind::Label => 12,
                OutlineKind::Name => 13,
                OutlineKind::Directive => 7,
                OutlineKind::Block => 3,
                OutlineKind::Include => 1,
            };
            let name = if entry.name.is_empty() { "?" } else { &entry.name };
            json!({
                "name": name, "detail": entry.detail, "kind": kind,
                "range": self.range(entry.span), "selectionRange": self.range(entry.name_span),
            })
        });
        Value::Array(list.collect())
    }

    pub(super) fn completions(&mut self, at: usize, snippets: bool) -> Value {
        let list = service::completions(self.analysis, at);
        let items = list.iter().enumerate().map(|(n, item)| {
            let kind = match item.kind {
                CompletionKind::Statement => 15,
                CompletionKind::Keyword => 14,
                CompletionKind::Operation => 3,
                CompletionKind::Register => 6,
                CompletionKind::Channels => 5,
                CompletionKind::Name => 21,
                CompletionKind::Label => 18,
                CompletionKind::Field => 10,
                CompletionKind::Value => 20,
            };
            let text = if snippets { item.insert.clone() } else { item.plain() };
            let mut value = json!({
                "label": item.label, "kind": kind, "detail": item.detail,
                // The usual stands first.
                "sortText": format!("{n:04}"),
                "insertTextFormat": if snippets { 2 } else { 1 },
                "textEdit": { "range": self.range(item.replace), "newText": text },
            });
            if !item.text.is_empty() {
                value["documentation"] = json!({ "kind": "markdown", "value": item.text });
            }
            value
        });
        let items: Vec<Value> = items.collect();
        json!({ "isIncomplete": false, "items": items })
    }

    pub(super) fn hints(&mut self, from: usize, to: usize, addresses: bool, words: bool) -> Value {
        let hints = self.analysis.hints(from..to).into_iter().filter(|hint| match hint.kind {
            HintKind::Address => addresses,
            HintKind::Words => words,
        });
        let list = hints.map(|hint| {
            let position = self.position(0, hint.at);
            let side = match hint.kind {
                HintKind::Address => "paddingRight",
                HintKind::Words => "paddingLeft",
            };
            json!({ "position": position, "label": hint.text, side: true })
        });
        Value::Array(list.collect())
    }
}
