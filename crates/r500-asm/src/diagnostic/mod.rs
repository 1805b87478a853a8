//! Diagnostics: code, message, span, explanation and fix.

mod codes;
mod collector;
mod render;
mod visible;

pub use codes::{DiagnosticCode, DiagnosticInfo, Severity};
pub(crate) use collector::DiagnosticCollector;
pub use render::{Excerpt, Message, MessageLevel, RenderOptions, render, render_all, render_first};
pub use visible::{disturbs_terminal, visible};

use crate::source::Span;

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code, which has a reference page.
    pub code: DiagnosticCode,
    /// The message, one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Explanation at the span; may be empty.
    pub label: String,
    /// Related spans and their messages.
    pub related: Vec<(Span, String)>,
    /// Suggestions for a fix.
    pub help: Vec<String>,
    /// Replacement for the text of `span`, if it is sufficiently certain.
    pub fix: Option<String>,
}

impl Diagnostic {
    #[cold]
    pub(crate) fn new(code: DiagnosticCode, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            message: shortened(message.into()),
            span,
            label: String::new(),
            related: Vec::new(),
            help: Vec::new(),
            fix: None,
        }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = shortened(label.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(shortened(help.into()));
        self
    }

    pub(crate) fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, shortened(label.into())));
        self
    }

    /// Adds a replacement, which is also shown as help.
    pub(crate) fn fix(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.help.push(format!("write `{text}`"));
        self.fix = Some(text);
        self
    }

    /// Adds "did you mean" help, if there is a candidate.
    pub(crate) fn suggest(mut self, word: Option<&str>) -> Self {
        if let Some(word) = word {
            self.help.push(format!("did you mean `{word}`?"));
            self.fix = Some(word.to_owned());
        }
        self
    }

    /// Returns the severity.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.code.info().severity
    }

    /// Returns whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }
}

/// Limit of a message part in characters.
const MOST: usize = 400;

/// Returns bytes of a source as text for a message, with control characters escaped. Only as much of a long run is
/// converted as a message can show: an escape takes up to ten times the memory of its character.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    // A character has at most four bytes, so more than `MOST` of them precede the cut.
    let head = &bytes[..bytes.len().min(4 * (MOST + 1))];
    String::from_utf8_lossy(head).escape_debug().to_string()
}

/// Truncates a part of a message that quotes a very long word.
fn shortened(mut text: String) -> String {
    if text.len() > MOST
        && let Some((at, _)) = text.char_indices().nth(MOST)
    {
        text.truncate(at);
        text.push_str("...");
        text.shrink_to_fit();
    }
    text
}
