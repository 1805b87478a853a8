//! Conversion of service results to JSON of the protocol.

use std::collections::HashMap;
use std::ops::Range;

use r500::asm::Span;
use r500::asm::ide::lines::{Encoding, Lines};
use r500::asm::ide::{
    Analysis, CompletionKind, HintKind, OccurrenceRole, OutlineKind, Signature, TextEdit, TokenKind,
};
use r500::check::Severity;
use r500::service::{self, SourceDiagnostic};
use serde_json::{Map, Value, json};
use similar::{DiffTag, TextDiff};

use crate::command::text_diff::PATIENCE;

use super::documents::{uri_of, uri_relative_to};

/// Positions of an analysis, converted for a client.
pub(super) struct PositionMap<'a> {
    analysis: &'a Analysis,
    uri: &'a str,
    encoding: Encoding,
    /// Address of the guide, with a final `/`; empty if unknown.
    guide: &'a str,
    lines: HashMap<u32, Lines>,
}

impl<'a> PositionMap<'a> {
    pub(super) fn new(
        analysis: &'a Analysis,
        uri: &'a str,
        encoding: Encoding,
        guide: &'a str,
    ) -> Self {
        Self { analysis, uri, encoding, guide, lines: HashMap::new() }
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

    /// Returns the URI of a file of the analysis.
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

    /// Returns the span in the source itself for a diagnostic: its own, or that of the `#include` that led to its file.
    fn shown(&self, span: Span) -> Span {
        let files = &self.analysis.assembly().files.list;
        let mut span = span;
        // Files precede the files that they include.
        for _ in 0..files.len() {
            if span.file == 0 {
                break;
            }
            span = files.get(span.file as usize).and_then(|file| file.included).unwrap_or_default();
        }
        span
    }

    pub(super) fn diagnostic(&mut self, problem: &SourceDiagnostic) -> Value {
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
            if let Some(page) = service::guide(problem.code).filter(|_| !self.guide.is_empty()) {
                value["codeDescription"] = json!({ "href": format!("{}{page}", self.guide) });
            }
        }
        if !related.is_empty() {
            value["relatedInformation"] = json!(related);
        }
        value
    }

    /// Returns quick fixes for the problems in a range of the source.
    pub(super) fn actions(&mut self, from: usize, to: usize) -> Vec<Value> {
        let mut list = Vec::new();
        for problem in service::diagnostics(self.analysis) {
            let shown = self.shown(problem.span);
            if shown.start as usize > to || (shown.end as usize) < from {
                continue;
            }
            for repair in &problem.repairs {
                list.push(json!({
                    "title": repair.title,
                    "kind": "quickfix",
                    "diagnostics": [self.diagnostic(&problem)],
                    "isPreferred": repair.resolves,
                    "edit": self.edits(&repair.edits),
                }));
            }
        }
        list
    }

    /// Returns the places in the source that name the same register or symbol as a position.
    pub(super) fn highlights(&mut self, at: usize) -> Value {
        let registers = self.analysis.occurrences(at).into_iter().map(|one| {
            let kind = match one.role {
                OccurrenceRole::Read => 2,
                OccurrenceRole::Write | OccurrenceRole::Definition => 3,
            };
            (one.span, kind)
        });
        let mut all: Vec<(Span, u32)> = registers.collect();
        if all.is_empty() {
            all = self.analysis.references(at, true).into_iter().map(|span| (span, 1)).collect();
        }
        let here = all.into_iter().filter(|(span, _)| span.file == 0);
        here.map(|(span, kind)| json!({ "range": self.range(span), "kind": kind })).collect()
    }

    /// Returns the colour constants.
    pub(super) fn colors(&mut self) -> Value {
        let list = self.analysis.colors().into_iter().map(|color| {
            let [red, green, blue, alpha] = color.value.map(f64::from);
            json!({
                "range": self.range(color.span),
                "color": { "red": red, "green": green, "blue": blue, "alpha": alpha },
            })
        });
        Value::Array(list.collect())
    }

    /// Returns the selection ranges of each position, innermost first, nested as in the protocol.
    pub(super) fn selection(&mut self, at: usize) -> Value {
        let ranges = self.analysis.selection(at);
        let nest = |parent: Value, span: &Span| {
            let mut one = json!({ "range": self.range(*span) });
            if !parent.is_null() {
                one["parent"] = parent;
            }
            one
        };
        ranges.iter().rev().fold(Value::Null, nest)
    }

    /// Returns the edits that change the lines of a range to those of another text.
    pub(super) fn lines(&mut self, text: &[u8], from: usize, to: usize) -> Value {
        let before = String::from_utf8_lossy(self.analysis.text()).into_owned();
        let after = String::from_utf8_lossy(text);
        let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(&*before, &*after);
        let starts: Vec<usize> = std::iter::once(0)
            .chain(diff.old_slices().iter().scan(0, |at, line| {
                *at += line.len();
                Some(*at)
            }))
            .collect();
        let new = diff.new_slices();
        let mut edits = Vec::new();
        for op in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
            let (start, end) = (starts[op.old_range().start], starts[op.old_range().end]);
            if start <= to && from <= end {
                let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                let span = Span { file: 0, start: offset(start), end: offset(end) };
                edits.push(self.edit(&TextEdit { span, text: new[op.new_range()].concat() }));
            }
        }
        Value::Array(edits)
    }

    pub(super) fn edit(&mut self, edit: &TextEdit) -> Value {
        json!({ "range": self.range(edit.span), "newText": edit.text })
    }

    /// Returns the outline as a tree.
    pub(super) fn symbols(&mut self) -> Value {
        let mut all: Vec<Value> = Vec::new();
        // Open blocks: their ends, and their entries with children so far.
        let mut open: Vec<(u32, Value)> = Vec::new();
        for entry in self.analysis.outline() {
            while open.last().is_some_and(|(end, _)| *end <= entry.span.start) {
                close(&mut open, &mut all);
            }
            let kind = match entry.kind {
                OutlineKind::Label | OutlineKind::Macro => 12,
                OutlineKind::Name => 13,
                OutlineKind::Directive => 7,
                OutlineKind::Block => 3,
                OutlineKind::Include => 1,
            };
            let name = if entry.name.is_empty() { "?" } else { &entry.name };
            let symbol = json!({
                "name": name, "detail": entry.detail, "kind": kind,
                "range": self.range(entry.span), "selectionRange": self.range(entry.name_span),
            });
            open.push((entry.span.end, symbol));
            if !matches!(entry.kind, OutlineKind::Block | OutlineKind::Macro) {
                close(&mut open, &mut all);
            }
        }
        while !open.is_empty() {
            close(&mut open, &mut all);
        }
        Value::Array(all)
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
                // The most common completion first.
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

    /// Returns the semantic tokens of a range in relative encoding: five numbers each.
    pub(super) fn tokens(&mut self, part: Range<usize>) -> Value {
        let text = self.analysis.text();
        let lines = Lines::new(text);
        let mut data: Vec<u32> = Vec::new();
        let (mut line, mut column) = (0, 0);
        for token in self.analysis.tokens(part) {
            let place = |at: u32| lines.position(text, at as usize, self.encoding);
            let (start, end) = (place(token.span.start), place(token.span.end));
            let after = if start.line == line { start.column - column } else { start.column };
            let kind = TokenKind::ALL.iter().position(|kind| *kind == token.kind);
            data.extend([
                start.line - line,
                after,
                end.column.saturating_sub(start.column),
                kind.and_then(|kind| u32::try_from(kind).ok()).unwrap_or(0),
                u32::from(token.definition),
            ]);
            (line, column) = (start.line, start.column);
        }
        json!({ "data": data })
    }

    /// Returns the folding ranges by lines.
    pub(super) fn folds(&mut self) -> Value {
        let list = self.analysis.folds().into_iter().map(|fold| {
            let range = self.range(fold.span);
            let mut value = json!({
                "startLine": range["start"]["line"], "endLine": range["end"]["line"],
            });
            if fold.comment {
                value["kind"] = json!("comment");
            }
            value
        });
        Value::Array(list.collect())
    }

    /// Returns links to included files, and to texture files, relative to the files that name them.
    pub(super) fn links(&mut self) -> Value {
        let assembly = self.analysis.assembly();
        let includes = assembly.includes.iter().map(|include| (include.span, include.file));
        let mut links: Vec<(Span, String)> =
            includes.map(|(span, file)| (span, self.uri(file))).collect();
        for texture in &assembly.textures {
            if let Some(path) = uri_relative_to(self.uri, &texture.path) {
                links.push((texture.span, path));
            }
        }
        links.retain(|(span, _)| span.file == 0);
        links.sort();
        let list = links
            .into_iter()
            .map(|(span, target)| json!({ "range": self.range(span), "target": target }));
        Value::Array(list.collect())
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

/// Closes the innermost open entry and adds it to its parent.
fn close(open: &mut Vec<(u32, Value)>, all: &mut Vec<Value>) {
    let Some((_, done)) = open.pop() else { return };
    match open.last_mut() {
        Some((_, around)) => match &mut around["children"] {
            Value::Array(children) => children.push(done),
            none => *none = json!([done]),
        },
        None => all.push(done),
    }
}

/// Returns signature help. After the last parameter none is active, because clients would highlight the first. Labels
/// are ASCII, so that bytes are units.
pub(super) fn signature(signature: &Signature, markdown: bool) -> Value {
    let Some(active) = signature.active else { return Value::Null };
    let parts: Vec<Value> =
        signature.parts.iter().map(|part| json!({ "label": [part.start, part.end] })).collect();
    let kind = if markdown { "markdown" } else { "plaintext" };
    json!({
        "signatures": [{
            "label": signature.label,
            "documentation": { "kind": kind, "value": signature.text },
            "parameters": parts,
        }],
        "activeSignature": 0,
        "activeParameter": active,
    })
}

/// Returns the protocol's names of token kinds, in the order of [`TokenKind::ALL`]. Not all clients know `label`.
pub(super) fn token_types(labels: bool) -> Vec<&'static str> {
    let name = |kind: &TokenKind| match kind {
        TokenKind::Comment => "comment",
        TokenKind::Text => "string",
        TokenKind::Number => "number",
        TokenKind::Directive => "macro",
        TokenKind::Keyword => "keyword",
        TokenKind::Flag => "modifier",
        TokenKind::Operation => "function",
        TokenKind::Register => "variable",
        TokenKind::Name => "parameter",
        TokenKind::Label => {
            if labels {
                "label"
            } else {
                "namespace"
            }
        }
        TokenKind::Channels | TokenKind::Field => "property",
        TokenKind::Value => "enumMember",
    };
    TokenKind::ALL.iter().map(name).collect()
}

/// Returns the text of a colour as a constant's value.
pub(super) fn color_presentation(color: &Value) -> Value {
    let channel = |name: &str| color[name].as_f64().unwrap_or(0.0) as f32;
    // Three decimals distinguish 8-bit colours.
    let rounded = |name: &str| f64::from((channel(name) * 1000.0).round()) / 1000.0;
    let values = ["red", "green", "blue", "alpha"].map(|name| rounded(name).to_string());
    json!([{ "label": format!("({})", values.join(", ")) }])
}
