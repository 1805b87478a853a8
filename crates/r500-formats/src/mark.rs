//! Where reading stands in a text.

use crate::ReadError;

/// A place in a text, and its line and column in the input.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    /// Byte in the text.
    pub(crate) at: usize,
    /// Line in the input.
    pub(crate) line: u64,
    /// Where in the text that line begins.
    line_start: usize,
}

impl Mark {
    /// The start of a text that begins in a line of the input.
    pub(crate) fn start(line: u64) -> Self {
        Self { at: 0, line, line_start: 0 }
    }

    /// A place behind this one. Only what lies between is looked at.
    pub(crate) fn to(self, at: usize, text: &[u8]) -> Self {
        let between = &text[self.at..at];
        let lines = between.iter().filter(|&&b| b == b'\n').count() as u64;
        let last = between.iter().rposition(|&b| b == b'\n');
        let line_start = last.map_or(self.line_start, |n| self.at + n + 1);
        Self { at, line: self.line + lines, line_start }
    }

    /// An error here.
    pub(crate) fn of(self, error: ReadError) -> ReadError {
        error.at_line(self.line).at_column((self.at - self.line_start) as u64 + 1)
    }
}
