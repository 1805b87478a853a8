//! Line-by-line reading within limits.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use crate::ReadError;

/// Lines and their numbers.
pub(crate) struct Lines<R> {
    input: R,
    /// The line, without its end.
    line: Vec<u8>,
    /// Its number, from 1.
    number: u64,
    most: u64,
}

impl<R: BufRead> Lines<R> {
    /// Returns the lines of at most `most` bytes.
    pub(crate) fn new(input: R, most: u64) -> Self {
        Self { input, line: Vec::new(), number: 0, most }
    }

    /// Returns the next line; `None` at the end.
    pub(crate) fn next_bytes(&mut self) -> Result<Option<(u64, &[u8])>, ReadError> {
        self.line.clear();
        self.number += 1;
        let mut input = self.input.by_ref().take(self.most.saturating_add(1));
        input.read_until(b'\n', &mut self.line).map_err(ReadError::io)?;
        if self.line.is_empty() {
            return Ok(None);
        }
        if self.line.len() as u64 > self.most {
            return Err(ReadError::limit("bytes in a line", self.most).at_line(self.number));
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        Ok(Some((self.number, line.strip_suffix(b"\r").unwrap_or(line))))
    }

    /// Returns the next line as text, with invalid UTF-8 replaced.
    pub(crate) fn next_lossy(&mut self) -> Result<Option<(u64, Cow<'_, str>)>, ReadError> {
        let line = self.next_bytes()?;
        Ok(line.map(|(number, bytes)| (number, String::from_utf8_lossy(bytes))))
    }

    /// Returns the unread rest of the input.
    pub(crate) fn into_inner(self) -> R {
        self.input
    }
}
