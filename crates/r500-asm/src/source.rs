//! Sources: files, spans, and loading of included files.

use std::sync::{Arc, OnceLock};

/// A span: bytes `start..end` of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Number of the file in [`Files`].
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// Returns the span from the start of one to the end of another, if they are in one file and in order.
    #[must_use]
    pub fn to(self, end: Self) -> Self {
        if end.file == self.file && end.end >= self.start {
            Self { end: end.end, ..self }
        } else {
            self
        }
    }

    /// Returns the empty span at the end of this one.
    #[must_use]
    pub fn after(self) -> Self {
        Self { start: self.end, ..self }
    }
}

/// Bytes of a text between two entries of its line index. An entry for each line would take four times the memory of a
/// text of line ends; with blocks, finding a line takes time linear in the block size.
const BLOCK: usize = 1 << 12;

/// The line that contains a byte.
#[derive(Clone, Copy, Debug, Default)]
struct LineAt {
    /// Its number, from 0.
    line: usize,
    /// Its first byte.
    start: usize,
}

impl LineAt {
    /// Returns the line of the byte after `bytes`, whose first byte is byte `at` of the text and in this line.
    fn after(self, at: usize, bytes: &[u8]) -> Self {
        let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => Self { line: self.line + ends, start: at + last + 1 },
            None => self,
        }
    }
}

/// A source text.
#[derive(Clone, Debug)]
pub struct File {
    /// The name, as given by the loader or the caller.
    pub name: String,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// The span of its first inclusion.
    pub included: Option<Span>,
    /// The lines at the start of each block of [`BLOCK`] bytes; computed on first use.
    line_index: OnceLock<Vec<LineAt>>,
}

impl File {
    /// Returns a file that is not included by another.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { name: name.into(), bytes: bytes.into(), included: None, line_index: OnceLock::new() }
    }

    /// Returns the line of a byte, from 0. The first call takes time linear in the text; later ones take constant time.
    #[must_use]
    pub fn line_at(&self, at: usize) -> usize {
        self.line_of(at).line
    }

    fn line_of(&self, at: usize) -> LineAt {
        let index = self.line_index.get_or_init(|| {
            let mut entry = LineAt::default();
            let blocks = self.bytes.chunks(BLOCK).enumerate();
            let entries = blocks.map(|(n, block)| {
                let after = entry.after(n * BLOCK, block);
                std::mem::replace(&mut entry, after)
            });
            entries.collect()
        });
        let at = at.min(self.bytes.len());
        // The end of a text of full blocks is after the last of them.
        let block = (at / BLOCK).min(index.len().saturating_sub(1));
        let entry = index.get(block).copied().unwrap_or_default();
        entry.after(block * BLOCK, &self.bytes[block * BLOCK..at])
    }
}

/// The sources of an assembly: the first is the assembled one, the others are included.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The files, each once however often it is included.
    pub list: Vec<File>,
}

/// A position for display: lines and columns from 1, columns in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

impl Files {
    /// Returns the name of a span's file.
    #[must_use]
    pub fn name(&self, span: Span) -> &str {
        self.list.get(span.file as usize).map_or("", |f| &f.name)
    }

    /// Returns the bytes of a span.
    #[must_use]
    pub fn bytes(&self, span: Span) -> &[u8] {
        self.list
            .get(span.file as usize)
            .and_then(|f| f.bytes.get(span.start as usize..span.end as usize))
            .unwrap_or(&[])
    }

    /// Returns line and column of a span's start.
    #[must_use]
    pub fn position(&self, span: Span) -> Position {
        let Some(file) = self.list.get(span.file as usize) else {
            return Position { line: 1, column: 1 };
        };
        let at = (span.start as usize).min(file.bytes.len());
        let LineAt { line, start } = file.line_of(at);
        let column = at - start;
        let count = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        Position { line: count(line), column: count(column) }
    }
}

/// A file that a [`Loader`] found.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name. The same file must have the same name each time, because cycles are detected by name.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Limits of included files. Two includes of the next file in each of 40 files are 2^40 includes, so depth alone does
/// not bound the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncludeLimits {
    /// Greatest nesting of includes (64).
    pub depth: usize,
    /// Number of all includes; a file counts each time it is included (4096).
    pub count: usize,
    /// Bytes of all included files, counted in the same way (16 MiB).
    pub bytes: u64,
}

impl Default for IncludeLimits {
    fn default() -> Self {
        Self { depth: 64, count: 4096, bytes: 16 << 20 }
    }
}

/// Loads the files of `#include "path"`. The library itself opens none.
pub trait Loader {
    /// Returns the file of `path` in the file called `from`: relative to that file first, then along the search path of
    /// the loader.
    ///
    /// # Errors
    /// A message if there is no such file, such as the paths that were tried.
    fn load(&mut self, path: &str, from: &str) -> Result<Loaded, String>;
}

impl<F: FnMut(&str, &str) -> Result<Loaded, String>> Loader for F {
    fn load(&mut self, path: &str, from: &str) -> Result<Loaded, String> {
        self(path, from)
    }
}

/// A loader that finds no files.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&mut self, _: &str, _: &str) -> Result<Loaded, String> {
        Err("included files are not available here".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with counting from the start, around line ends and block ends.
    #[test]
    fn lines_and_columns_are_those_of_the_text_before() {
        let long = "a".repeat(BLOCK);
        let texts = [
            String::new(),
            "a\nb".to_owned(),
            "\n".repeat(3 * BLOCK),
            format!("{long}\n{long}{long}\nx\n"),
            format!("x\n{}\n{long}", &long[3..]),
        ];
        for text in texts {
            let file = File::new("text", text.as_bytes());
            let files = Files { list: vec![file] };
            let ats = (0..=text.len())
                .filter(|at| at % 97 == 0 || (at + 2) % BLOCK < 4 || *at + 4 > text.len());
            for at in ats {
                let head = &text[..at];
                let line = head.matches('\n').count() + 1;
                let column = at - head.rfind('\n').map_or(0, |end| end + 1) + 1;
                let span = Span { file: 0, start: at as u32, end: at as u32 };
                let wanted = Position { line: line as u32, column: column as u32 };
                assert_eq!(files.position(span), wanted, "byte {at} of {}", text.len());
            }
        }
    }
}
