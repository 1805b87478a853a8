//! Rendering of diagnostics as text, in the style of rustc.

#[cfg(feature = "snippets")]
mod snippet;

#[cfg(not(feature = "snippets"))]
use super::visible;
use super::{Diagnostic, DiagnosticCode, Severity};
use crate::source::{Files, Span};

/// Options of rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether to use terminal colours.
    pub color: bool,
}

/// Returns all diagnostics as text, separated by empty lines, with a summary as last line.
#[must_use]
pub fn render_all(diagnostics: &[Diagnostic], files: &Files, options: RenderOptions) -> String {
    render_first(diagnostics, files, options, usize::MAX)
}

/// Returns the first `most` diagnostics as text, separated by empty lines, with a summary of all as last line.
#[must_use]
pub fn render_first(
    diagnostics: &[Diagnostic],
    files: &Files,
    options: RenderOptions,
    most: usize,
) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics.iter().take(most) {
        out.push_str(&render(diagnostic, files, options));
        out.push_str("\n\n");
    }
    let severities = [
        (Severity::Error, "error", DiagnosticCode::TooManyErrors),
        (Severity::Warning, "warning", DiagnosticCode::TooManyWarnings),
    ];
    let counts = severities.into_iter().filter_map(|(severity, what, closing)| {
        let n =
            diagnostics.iter().filter(|d| d.severity() == severity && d.code != closing).count();
        let more = if diagnostics.iter().any(|d| d.code == closing) { "more than " } else { "" };
        (n > 0).then(|| format!("{more}{n} {what}{}", if n == 1 { "" } else { "s" }))
    });
    let counts: Vec<String> = counts.collect();
    if !counts.is_empty() {
        out.push_str(&counts.join(", "));
        if diagnostics.len() > most {
            out.push_str(&format!("; the first {most} are shown"));
        }
        out.push('\n');
    }
    out
}

/// Returns one diagnostic with its source lines, without a final line end.
#[must_use]
pub fn render(diagnostic: &Diagnostic, files: &Files, options: RenderOptions) -> String {
    let mut places = vec![(diagnostic.span, &*diagnostic.label)];
    let related = diagnostic.related.iter().filter(|(_, label)| !label.is_empty());
    places.extend(related.map(|(span, label)| (*span, &**label)));
    let level = match diagnostic.severity() {
        Severity::Error => MessageLevel::Error,
        Severity::Warning => MessageLevel::Warning,
    };
    let message = Message {
        level,
        id: diagnostic.code.name(),
        title: &diagnostic.message,
        excerpt: Excerpt::Source { files, places },
        notes: Vec::new(),
        help: diagnostic.help.iter().map(|help| &**help).collect(),
    };
    message.render(options)
}

/// A message of another tool about a text, rendered like a diagnostic.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The severity.
    pub level: MessageLevel,
    /// Its code; may be empty.
    pub id: &'a str,
    /// The message, one line.
    pub title: &'a str,
    /// The text that it refers to.
    pub excerpt: Excerpt<'a>,
    /// Explanations.
    pub notes: Vec<&'a str>,
    /// Help on how to fix it.
    pub help: Vec<&'a str>,
}

/// A severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageLevel {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// A note.
    Note,
}

/// A text, or part of one, with marked spans.
#[derive(Clone, Debug)]
pub enum Excerpt<'a> {
    /// Spans with labels, the primary one first.
    Source {
        /// The sources.
        files: &'a Files,
        /// The places.
        places: Vec<(Span, &'a str)>,
    },
    /// A line that is not in a file.
    Line {
        /// Its origin.
        origin: &'a str,
        /// Its number and text, if there is one.
        line: Option<(usize, &'a str)>,
        /// The marked range, in bytes.
        mark: std::ops::Range<usize>,
        /// The label.
        label: &'a str,
    },
}

impl Message<'_> {
    /// Returns the message as text, without a final line end: with its source lines if the feature `snippets` is on,
    /// else with the number of the first.
    #[must_use]
    #[cfg_attr(
        not(feature = "snippets"),
        expect(unused_variables, reason = "plain text has no colours")
    )]
    pub fn render(&self, options: RenderOptions) -> String {
        #[cfg(feature = "snippets")]
        let text = snippet::render(self, options);
        #[cfg(not(feature = "snippets"))]
        let text = self.plain();
        text
    }

    #[cfg(not(feature = "snippets"))]
    fn plain(&self) -> String {
        let level = match self.level {
            MessageLevel::Error => "error",
            MessageLevel::Warning => "warning",
            MessageLevel::Note => "note",
        };
        let id = if self.id.is_empty() { String::new() } else { format!("[{}]", self.id) };
        let mut text = format!("{level}{id}: {}", self.title);
        let place = match &self.excerpt {
            Excerpt::Source { files, places } => places.first().and_then(|(span, _)| {
                let file = files.list.get(span.file as usize)?;
                Some(format!("{}:{}", file.name, file.line_at(span.start as usize) + 1))
            }),
            Excerpt::Line { origin, line, .. } => {
                let number = line.map_or_else(String::new, |(number, _)| format!(":{number}"));
                Some(format!("{origin}{number}"))
            }
        };
        let notes = self.notes.iter().map(|note| format!("note: {note}"));
        let help = self.help.iter().map(|help| format!("help: {help}"));
        for line in place.map(|place| format!("--> {place}")).into_iter().chain(notes).chain(help) {
            text += &format!("\n  {line}");
        }
        visible(&text).into_owned()
    }
}
