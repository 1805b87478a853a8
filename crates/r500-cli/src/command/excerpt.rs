//! Messages with the line of a text that they are about.

use std::io;
use std::ops::Range;

use r500::asm::RenderOptions;
use r500::asm::diagnostic::{Excerpt, Message, MessageLevel};

use super::terminal;

/// A text and the name of its file.
pub(super) struct Text<'a> {
    pub(super) name: &'a str,
    /// `None` for a file without text: messages have no line.
    pub(super) text: Option<&'a str>,
}

impl Text<'_> {
    /// Returns a message with the line of a place in the text.
    pub(super) fn message(
        &self,
        level: MessageLevel,
        id: &str,
        title: &str,
        span: Range<usize>,
        help: Vec<&str>,
    ) -> String {
        let text = self.text.unwrap_or_default();
        let (number, _) = self.position(span.start);
        let begin = self.line_start(span.start);
        let line = text[begin..].lines().next().unwrap_or_default();
        let place = |at: usize| at.saturating_sub(begin).min(line.len());
        let message = Message {
            level,
            id,
            title,
            excerpt: Excerpt::Line {
                origin: self.name,
                line: self.text.is_some().then_some((number, line)),
                mark: place(span.start)..place(span.end),
                label: "",
            },
            notes: Vec::new(),
            help,
        };
        message.render(RenderOptions { color: terminal::colors(&io::stderr()) })
    }

    /// Returns line and column of a place, from 1; columns are characters.
    pub(super) fn position(&self, at: usize) -> (usize, usize) {
        let begin = self.line_start(at);
        let text = self.text.unwrap_or_default();
        let line = text[..begin].matches('\n').count() + 1;
        (line, text[begin..at.clamp(begin, text.len())].chars().count() + 1)
    }

    fn line_start(&self, at: usize) -> usize {
        let text = self.text.unwrap_or_default();
        text[..at.min(text.len())].rfind('\n').map_or(0, |end| end + 1)
    }
}
