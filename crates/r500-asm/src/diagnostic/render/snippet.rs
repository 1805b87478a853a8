//! Source snippets: messages with their source lines, in the style of rustc.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::{Excerpt, Message, MessageLevel, RenderOptions};
use crate::diagnostic::{disturbs_terminal, visible};
use crate::source::{File, Files, Span};

/// Returns a message as text, without a final line end.
pub(super) fn render(message: &Message<'_>, options: RenderOptions) -> String {
    let renderer = if options.color { Renderer::styled() } else { Renderer::plain() };
    let level = match message.level {
        MessageLevel::Error => Level::ERROR,
        MessageLevel::Warning => Level::WARNING,
        MessageLevel::Note => Level::NOTE,
    };
    let title = level.primary_title(visible(message.title));
    let title = if message.id.is_empty() { title } else { title.id(visible(message.id)) };
    let mut group = Group::with_title(title);
    let windows;
    match &message.excerpt {
        Excerpt::Source { files, places } => {
            windows = windows_of(places, files);
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
                group = group.element(Snippet::source(text).line_start(*number).annotation(mark));
            }
        }
    }
    for note in &message.notes {
        group = group.element(Level::NOTE.message(visible(note)));
    }
    for help in &message.help {
        group = group.element(Level::HELP.message(visible(help)));
    }
    let text = renderer.render(&[group]);
    match message.excerpt {
        Excerpt::Source { .. } => text,
        Excerpt::Line { .. } => without_gap(&text),
    }
}

/// Removes the line of colons that stands for a missing file name.
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

/// The displayed part of a file.
struct Window<'a> {
    file: &'a File,
    text: String,
    line: usize,
    marks: Vec<(AnnotationKind, std::ops::Range<usize>, &'a str)>,
}

/// Returns the lines around each span, so that the cost depends on the displayed part, not on the file.
fn windows_of<'a>(places: &[(Span, &'a str)], files: &'a Files) -> Vec<Window<'a>> {
    let mut windows: Vec<Window<'a>> = Vec::new();
    let mut done = vec![false; places.len()];
    for first in 0..places.len() {
        if done[first] {
            continue;
        }
        let Some(file) = files.list.get(places[first].0.file as usize) else { continue };
        // Nearby spans of the same file share a window.
        let near = |span: Span| {
            span.file == places[first].0.file && span.start.abs_diff(places[first].0.start) < 4096
        };
        let members: Vec<usize> =
            (first..places.len()).filter(|i| !done[*i] && near(places[*i].0)).collect();
        let end = |span: Span| span.end.min(span.start.saturating_add(MOST_MARKED));
        let (mut low, mut high) = (file.bytes.len(), 0);
        for span in members.iter().map(|i| places[*i].0) {
            low = low.min(span.start as usize);
            high = high.max(end(span) as usize);
        }
        let high = high.min(file.bytes.len());
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

/// Limit of displayed bytes of a span: a word may be as long as the file, and each of its characters would be drawn.
const MOST_MARKED: u32 = 8192;

/// Displayed characters of a long line on each side.
const LONG: usize = 512;

fn line_start(bytes: &[u8], at: usize) -> usize {
    let far = at.saturating_sub(LONG);
    bytes[far..at].iter().rposition(|b| *b == b'\n').map_or(far, |i| far + i + 1)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    let far = (at + LONG).min(bytes.len());
    bytes[at..far].iter().position(|b| *b == b'\n').map_or(far, |i| at + i)
}

/// Returns text of the same length, with `?` for invalid UTF-8 and for characters that would disturb a terminal.
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
