//! Line and column positions, in bytes or in UTF-16 units.

/// The unit of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Units of UTF-16, as JavaScript and most editors do.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

/// Line and column, both from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineColumn {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// The line starts of a text. A line ends after its `\n`; a `\r` before it does not count for columns.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
    /// Whether all characters are ASCII, so that bytes and units are the same.
    ascii: bool,
}

impl Lines {
    /// Indexes the lines of a text.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let ends = text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(ends).collect(), ascii: text.is_ascii() }
    }

    /// Returns the number of lines: one more than the number of line ends.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // there is always one
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns line and column of a byte of the indexed text.
    #[must_use]
    pub fn position(&self, text: &[u8], at: usize, encoding: Encoding) -> LineColumn {
        let at = at.min(text.len());
        let line = self.starts.partition_point(|start| *start <= at) - 1;
        let head = text.get(self.starts[line]..at).unwrap_or_default();
        let column = if self.ascii { head.len() } else { units(head, encoding) };
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        LineColumn { line: count(line), column: count(column) }
    }

    /// Returns the byte at a line and column. Columns after the end of a line are clamped to that end, lines after the
    /// text to its end; a column inside a character is rounded to its start.
    #[must_use]
    pub fn offset(&self, text: &[u8], at: LineColumn, encoding: Encoding) -> usize {
        let line = at.line as usize;
        let Some(&start) = self.starts.get(line) else { return text.len() };
        let end = self.starts.get(line + 1).map_or(text.len(), |next| next - 1);
        let inside = text.get(start..end).unwrap_or_default();
        let inside = inside.strip_suffix(b"\r").unwrap_or(inside);
        let column = at.column as usize;
        if self.ascii {
            return start + column.min(inside.len());
        }
        let mut left = column;
        let mut offset = 0;
        for (bytes, width) in characters(inside, encoding) {
            if left < width {
                break;
            }
            left -= width;
            offset += bytes;
        }
        start + offset
    }
}

/// Returns the position of a byte in a text in units of an encoding.
#[must_use]
pub fn units(text: &[u8], encoding: Encoding) -> usize {
    if encoding == Encoding::Utf8 {
        return text.len();
    }
    characters(text, encoding).map(|(_, width)| width).sum()
}

/// Returns the characters of a text as numbers of bytes and of units. An invalid byte counts as one character, as it is
/// shown as U+FFFD.
fn characters(text: &[u8], encoding: Encoding) -> impl Iterator<Item = (usize, usize)> + '_ {
    text.utf8_chunks().flat_map(move |chunk| {
        let valid = chunk.valid().chars().map(move |c| {
            let width = match encoding {
                Encoding::Utf8 => c.len_utf8(),
                Encoding::Utf16 => c.len_utf16(),
                Encoding::Utf32 => 1,
            };
            (c.len_utf8(), width)
        });
        let invalid = chunk.invalid().len();
        let wrong = match encoding {
            Encoding::Utf8 => (invalid, invalid),
            _ => (invalid, 1),
        };
        valid.chain((invalid > 0).then_some(wrong))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_units() {
        // é: 2 bytes, 1 unit; 😀: 4 bytes, 2 units.
        let text = "-- é😀x\r\nb\n".as_bytes();
        let lines = Lines::new(text);
        assert_eq!(lines.len(), 3);
        let at = |line, column| LineColumn { line, column };
        let x = 3 + 2 + 4;
        for (encoding, column) in [(Encoding::Utf8, 9), (Encoding::Utf16, 6), (Encoding::Utf32, 5)]
        {
            assert_eq!(lines.position(text, x, encoding), at(0, column));
            assert_eq!(lines.offset(text, at(0, column), encoding), x);
        }
        // Inside the surrogate pair, after the line, after the text.
        assert_eq!(lines.offset(text, at(0, 5), Encoding::Utf16), 5);
        assert_eq!(lines.offset(text, at(0, 99), Encoding::Utf16), x + 1);
        assert_eq!(lines.offset(text, at(1, 1), Encoding::Utf16), x + 4);
        assert_eq!(lines.offset(text, at(7, 0), Encoding::Utf16), text.len());
        assert_eq!(lines.position(text, 999, Encoding::Utf16), at(2, 0));
    }

    #[test]
    fn invalid_utf8_bytes_are_counted() {
        let text = b"\xff\xe2\x82x";
        let lines = Lines::new(text);
        let at = LineColumn { line: 0, column: 2 };
        assert_eq!(lines.position(text, 3, Encoding::Utf16), at);
        assert_eq!(lines.offset(text, at, Encoding::Utf16), 3);
    }
}
