//! A text cursor with line and column.

use crate::ReadError;

/// A position in a text, and its line and column in the input.
#[derive(Clone, Copy)]
pub(crate) struct Cursor {
    /// Byte in the text.
    pub(crate) at: usize,
    /// Line in the input.
    pub(crate) line: u64,
    /// Where in the text that line begins.
    line_start: usize,
}

impl Cursor {
    /// Returns the start of a text that begins in a line of the input.
    pub(crate) fn start(line: u64) -> Self {
        Self { at: 0, line, line_start: 0 }
    }

    /// Returns a cursor at a later position. Only the text in between is scanned.
    pub(crate) fn to(self, at: usize, text: &[u8]) -> Self {
        let between = &text[self.at..at];
        let lines = between.iter().filter(|&&b| b == b'\n').count() as u64;
        let last = between.iter().rposition(|&b| b == b'\n');
        let line_start = last.map_or(self.line_start, |n| self.at + n + 1);
        Self { at, line: self.line + lines, line_start }
    }

    /// Returns an error here.
    pub(crate) fn of(self, error: ReadError) -> ReadError {
        error.at_line(self.line).at_column((self.at - self.line_start) as u64 + 1)
    }
}
