//! Diagnostics as text for people, in the manner of rustc.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::visible::{disturbs_terminal, visible};
use super::{Diagnostic, DiagnosticCode, Severity};
use crate::source::{File, Files, Span};

/// Options of rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether with colours, as terminals understand them.
    pub color: bool,
}

/// Returns all of them, an empty line between two, and a last line that counts them.
#[must_use]
pub fn render_all(diagnostics: &[Diagnostic], files: &Files, options: RenderOptions) -> String {
    render_first(diagnostics, files, options, usize::MAX)
}

/// Returns the first `most` of them, an empty line between two, and a last line that counts all.
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

/// Returns one diagnostic with the lines it concerns, without a line end after the last.
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

/// A message about a text from another tool, rendered like a diagnostic.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The severity.
    pub level: MessageLevel,
    /// Its code; may be empty.
    pub id: &'a str,
    /// The message, one line.
    pub title: &'a str,
    /// The text that it is about.
    pub excerpt: Excerpt<'a>,
    /// Why.
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

/// A text, or part of one, with places in it.
#[derive(Clone, Debug)]
pub enum Excerpt<'a> {
    /// Spans with labels, the primary one first.
    Source {
        /// The sources.
        files: &'a Files,
        /// The places.
        places: Vec<(Span, &'a str)>,
    },
    /// A line that stands in no file.
    Line {
        /// The origin, as text.
        origin: &'a str,
        /// Its number and text, if there is one.
        line: Option<(usize, &'a str)>,
        /// The part of it that is meant, in bytes.
        mark: std::ops::Range<usize>,
        /// The label.
        label: &'a str,
    },
}

impl Message<'_> {
    /// Returns as text, without a line end after the last line.
    #[must_use]
    pub fn render(&self, options: RenderOptions) -> String {
        let renderer = if options.color { Renderer::styled() } else { Renderer::plain() };
        let level = match self.level {
            MessageLevel::Error => Level::ERROR,
            MessageLevel::Warning => Level::WARNING,
            MessageLevel::Note => Level::NOTE,
        };
        let title = level.primary_title(visible(self.title));
        let title = if self.id.is_empty() { title } else { title.id(visible(self.id)) };
        let mut group = Group::with_title(title);
        let windows;
        match &self.excerpt {
            Excerpt::Source { files, places } => {
                windows = self::windows(places, files);
                for window in &windows {
                    let mut snippet = Snippet::source(&*window.text)
                        .line_start(window.line)
                        .path(visible(&window.file.name))
                        .fold(true);
                    for (kind, range, label) in &window.marks {
                        snippet = snippet.annotation(annotation(*kind, range.clone(), label));
                    }
                    group = group.element(snippet);
                }
            }
            Excerpt::Line { origin, line, mark, label } => {
                group = group.element(Origin::path(visible(origin)));
                if let Some((number, text)) = line {
                    let text = printable(text.as_bytes());
                    let mark = floor(&text, mark.start)..ceil(&text, mark.end.max(mark.start));
                    let mark = annotation(AnnotationKind::Primary, mark, label);
                    group =
                        group.element(Snippet::source(text).line_start(*number).annotation(mark));
                }
            }
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(visible(note)));
        }
        for help in &self.help {
            group = group.element(Level::HELP.message(visible(help)));
        }
        let text = renderer.render(&[group]);
        match self.excerpt {
            Excerpt::Source { .. } => text,
            Excerpt::Line { .. } => without_gap(&text),
        }
    }
}

/// Without the line of colons that stands for a missing file name.
fn without_gap(text: &str) -> String {
    let gap = |line: &&str| {
        let marks = line.trim_end_matches("\u{1b}[0m").trim_end();
        marks.ends_with(":::") && !line.contains('|')
    };
    text.lines().filter(|line| !gap(line)).collect::<Vec<_>>().join("\n")
}

fn annotation<'a>(
    kind: AnnotationKind,
    range: std::ops::Range<usize>,
    label: &'a str,
) -> Annotation<'a> {
    let annotation = kind.span(range);
    if label.is_empty() { annotation } else { annotation.label(visible(label)) }
}

/// The part of a file that is shown.
struct Window<'a> {
    file: &'a File,
    text: String,
    line: usize,
    marks: Vec<(AnnotationKind, std::ops::Range<usize>, &'a str)>,
}

/// Returns the lines around each place, so that rendering costs what is shown and not the whole
/// file.
fn windows<'a>(places: &[(Span, &'a str)], files: &'a Files) -> Vec<Window<'a>> {
    let mut windows: Vec<Window<'a>> = Vec::new();
    let mut done = vec![false; places.len()];
    for first in 0..places.len() {
        if done[first] {
            continue;
        }
        let Some(file) = files.list.get(places[first].0.file as usize) else { continue };
        // Places of the same file that are near share a window.
        let near = |span: Span| {
            span.file == places[first].0.file && span.start.abs_diff(places[first].0.start) < 4096
        };
        let members: Vec<usize> =
            (first..places.len()).filter(|i| !done[*i] && near(places[*i].0)).collect();
        let low = members.iter().map(|i| places[*i].0.start as usize).min().unwrap_or(0);
        let high = members.iter().map(|i| places[*i].0.end as usize).max().unwrap_or(0);
        let length = file.bytes.len();
        let (low, high) = (low.min(length), high.min(length));
        let start = line_start(&file.bytes, low);
        let end = line_end(&file.bytes, high);
        let text = printable(&file.bytes[start..end]);
        let marks = members
            .iter()
            .map(|i| {
                done[*i] = true;
                let (span, label) = places[*i];
                let kind = if *i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let clip = |at: u32| (at as usize).clamp(start, end) - start;
                let (from, to) = (clip(span.start), clip(span.end));
                (kind, floor(&text, from)..ceil(&text, to.max(from)), label)
            })
            .collect();
        let line = file.line_at(start) + 1;
        windows.push(Window { file, text, line, marks });
    }
    windows
}

/// Characters of a long line that are shown on each side.
const LONG: usize = 512;

fn line_start(bytes: &[u8], at: usize) -> usize {
    let far = at.saturating_sub(LONG);
    bytes[far..at].iter().rposition(|b| *b == b'\n').map_or(far, |i| far + i + 1)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    let far = (at + LONG).min(bytes.len());
    bytes[at..far].iter().position(|b| *b == b'\n').map_or(far, |i| at + i)
}

/// Text of the same length: what is not UTF-8, or would disturb a terminal, becomes `?`.
fn printable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut chars = chunk.valid().chars().peekable();
        while let Some(c) = chars.next() {
            if disturbs_terminal(c) && !(c == '\r' && chars.peek() == Some(&'\n')) {
                out.extend(std::iter::repeat_n('?', c.len_utf8()));
            } else {
                out.push(c);
            }
        }
        out.extend(chunk.invalid().iter().map(|_| '?'));
    }
    out
}

fn floor(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
