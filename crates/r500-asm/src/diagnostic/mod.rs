//! Diagnostics: what is wrong with a text, where, why, and what to write instead.

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
    /// The code; its page explains it.
    pub code: DiagnosticCode,
    /// The message, one line.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Why, at that place; may be empty.
    pub label: String,
    /// Other places that matter.
    pub related: Vec<(Span, String)>,
    /// Help on how to fix it.
    pub help: Vec<String>,
    /// Text that would be right in place of `span`, where that is certain enough.
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

    /// Returns a word to write instead, also shown as help.
    pub(crate) fn fix(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.help.push(format!("write `{text}`"));
        self.fix = Some(text);
        self
    }

    /// "Did you mean", if there is something to mean.
    pub(crate) fn suggest(mut self, word: Option<&str>) -> Self {
        if let Some(word) = word {
            self.help.push(format!("did you mean `{word}`?"));
            self.fix = Some(word.to_owned());
        }
        self
    }

    /// Error or warning.
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

/// Characters of a message's part.
const MOST: usize = 400;

/// Returns bytes of a source as text for a message, control characters escaped. Of a run as long as a file only
/// what a message can show is converted: an escape takes up to ten times the memory of its character.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    // A character has at most four bytes, so that more than `MOST` of them lie before the cut.
    let head = &bytes[..bytes.len().min(4 * (MOST + 1))];
    String::from_utf8_lossy(head).escape_debug().to_string()
}

/// Cuts a part of a message that quotes a word of the source as long as a file.
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
