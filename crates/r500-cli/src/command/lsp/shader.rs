//! GLSL documents: errors and warnings of our own compiler with their fixes, and what each line costs.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use r500::asm::ide::lines::{Encoding, Lines};
use r500::compile::{self, Diagnostic, Span};
use r500_mesa::{Stage, shader};
use r500_stream::counted;
use serde_json::{Value, json};

/// Returns whether a document is GLSL: by the language that the editor names, or by its name.
pub(super) fn is_shader(language: &str, uri: &str) -> bool {
    let path = Path::new(uri);
    let glsl = path.extension().is_some_and(|extension| extension == "glsl");
    language == "glsl" || glsl || shader::stage_of_name(path).is_some()
}

/// A compiled GLSL document.
pub(super) struct ShaderDocument {
    text: Arc<[u8]>,
    /// For each instruction the places that it computes; none if there are errors.
    spans: Vec<Vec<Span>>,
    problems: Vec<Diagnostic>,
}

impl ShaderDocument {
    /// Compiles a text.
    pub(super) fn of(text: Arc<[u8]>, uri: &str) -> Self {
        let source = String::from_utf8_lossy(&text).into_owned();
        let stage = shader::stage_of_name(Path::new(uri));
        let is_vertex = stage.unwrap_or_else(|| shader::stage_of_text(&source)) == Stage::Vertex;
        let result = match is_vertex {
            true => compile::vertex::compile(&source, None).map(|c| (c.spans, c.warnings)),
            false => compile::compile(&source).map(|c| (c.spans, c.warnings)),
        };
        let (spans, problems) = result.unwrap_or_else(|errors| (Vec::new(), errors));
        Self { text, spans, problems }
    }

    /// Returns the problems as diagnostics of the protocol.
    pub(super) fn diagnostics(&self, encoding: Encoding) -> Vec<Value> {
        let places = Places { text: &self.text, lines: Lines::new(&self.text), encoding };
        self.problems.iter().map(|problem| places.diagnostic(problem)).collect()
    }

    /// Answers a request; `range` is that of the request, if it has one.
    pub(super) fn answer(
        &self,
        what: &str,
        uri: &str,
        encoding: Encoding,
        range: Option<Range<usize>>,
    ) -> Value {
        let places = Places { text: &self.text, lines: Lines::new(&self.text), encoding };
        let range = range.unwrap_or(0..self.text.len());
        match what {
            "codeAction" => self.fixes(&places, uri, &range),
            "inlayHint" => self.costs(&places, &range),
            "formatting" => self.format(&places),
            "semanticTokens/full" | "semanticTokens/range" => json!({ "data": [] }),
            "hover" | "definition" | "prepareRename" | "rename" | "signatureHelp" => Value::Null,
            _ => json!([]),
        }
    }

    fn fixes(&self, places: &Places<'_>, uri: &str, range: &Range<usize>) -> Value {
        let mut list = Vec::new();
        for problem in &self.problems {
            let span = problem.span.range();
            let Some(fix) =
                problem.fix.as_ref().filter(|_| span.start <= range.end && span.end >= range.start)
            else {
                continue;
            };
            let edit = json!({ "range": places.range(fix.span.range()), "newText": fix.text });
            list.push(json!({
                "title": problem.help.as_deref().unwrap_or("Fix it"),
                "kind": "quickfix",
                "diagnostics": [places.diagnostic(problem)],
                "isPreferred": true,
                "edit": { "changes": { uri: [edit] } },
            }));
        }
        Value::Array(list)
    }

    /// The edit that formats the whole document; none if it has invalid tokens, or is formatted.
    fn format(&self, places: &Places<'_>) -> Value {
        let source = String::from_utf8_lossy(&self.text);
        if compile::is_assembly(&source) {
            return json!([]);
        }
        match compile::format(&source) {
            Ok(text) if text != source => {
                json!([{ "range": places.range(0..self.text.len()), "newText": text }])
            }
            _ => json!([]),
        }
    }

    /// What each line costs, after it.
    fn costs(&self, places: &Places<'_>, range: &Range<usize>) -> Value {
        let lines = compile::instructions_of(&String::from_utf8_lossy(&self.text), &self.spans);
        let mut start = 0;
        let mut hints = Vec::new();
        for (n, line) in self.text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let end = start + line.strip_suffix(b"\n").unwrap_or(line).len();
            if let Some(list) =
                lines.get(&(n + 1)).filter(|_| start <= range.end && end >= range.start)
            {
                let all: Vec<String> = list.iter().map(ToString::to_string).collect();
                hints.push(json!({
                    "position": places.position(end),
                    "label": counted(list.len(), "instruction"),
                    "tooltip": format!("at {}", all.join(", ")),
                    "paddingLeft": true,
                }));
            }
            start += line.len();
        }
        Value::Array(hints)
    }
}

/// Places of a text, converted for a client.
struct Places<'a> {
    text: &'a [u8],
    lines: Lines,
    encoding: Encoding,
}

impl Places<'_> {
    fn position(&self, at: usize) -> Value {
        let place = self.lines.position(self.text, at, self.encoding);
        json!({ "line": place.line, "character": place.column })
    }

    fn range(&self, range: Range<usize>) -> Value {
        json!({ "start": self.position(range.start), "end": self.position(range.end) })
    }

    fn diagnostic(&self, problem: &Diagnostic) -> Value {
        let mut message = problem.message.clone();
        if let Some(help) = &problem.help {
            message.push('\n');
            message.push_str(help);
        }
        json!({
            "range": self.range(problem.span.range()),
            "severity": if problem.is_error() { 1 } else { 2 },
            "source": "r500",
            "message": message,
        })
    }
}
