//! Sources: files, places in them, and how included files are found.

use std::sync::{Arc, OnceLock};

/// A place in a source: bytes `start..end` of a file.
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
    /// From the start of one to the end of another, if they are of one file and in order.
    #[must_use]
    pub fn to(self, end: Self) -> Self {
        if end.file == self.file && end.end >= self.start {
            Self { end: end.end, ..self }
        } else {
            self
        }
    }

    /// Returns the empty place after this one.
    #[must_use]
    pub fn after(self) -> Self {
        Self { start: self.end, ..self }
    }
}

/// A source text.
#[derive(Clone, Debug)]
pub struct File {
    /// The name, as given by the loader or the caller.
    pub name: String,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// From where it was included the first time.
    pub included: Option<Span>,
    /// Where each line but the first begins; made when a line is first asked for.
    line_starts: OnceLock<Vec<u32>>,
}

impl File {
    /// Returns a text that no other includes.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self {
            name: name.into(),
            bytes: bytes.into(),
            included: None,
            line_starts: OnceLock::new(),
        }
    }

    /// Returns the line of a byte, from 0. The first call takes time linear in the text, others logarithmic.
    #[must_use]
    pub fn line_at(&self, at: usize) -> usize {
        let starts = self.line_starts.get_or_init(|| {
            let ends = self.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            ends.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX)).collect()
        });
        starts.partition_point(|start| *start as usize <= at)
    }
}

/// The sources of an assembly: the first is the assembled one, the others are included.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The files, each once however often it is included.
    pub list: Vec<File>,
}

/// A place as people count: lines and columns from 1, columns in bytes.
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

    /// Line and column of a span's start.
    #[must_use]
    pub fn position(&self, span: Span) -> Position {
        let Some(file) = self.list.get(span.file as usize) else {
            return Position { line: 1, column: 1 };
        };
        let head = &file.bytes[..(span.start as usize).min(file.bytes.len())];
        let line = file.line_at(head.len());
        let column = head.iter().rev().take_while(|b| **b != b'\n').count();
        let count = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        Position { line: count(line), column: count(column) }
    }
}

/// A file that a [`Loader`] found.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Its name; the same file must get the same name each time, for cycles are found by it.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// Limits of what a source may include. Two includes of the next file in each of 40 files are 2^40
/// includes, so depth alone does not bound the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IncludeLimits {
    /// Files that may be open at once besides the source itself (64).
    pub depth: usize,
    /// Includes in all, a file counted as often as it is included (4096).
    pub count: usize,
    /// Bytes of the included files in all, counted in the same way (16 MiB).
    pub bytes: u64,
}

impl Default for IncludeLimits {
    fn default() -> Self {
        Self { depth: 64, count: 4096, bytes: 16 << 20 }
    }
}

/// Loads the files of `#include "path"`. The library itself opens none.
pub trait Loader {
    /// Returns the file that `path` means in the file called `from`: first relative to that file,
    /// then along whatever search path the loader has.
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

/// A loader that finds nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&mut self, _: &str, _: &str) -> Result<Loaded, String> {
        Err("included files are not available here".to_owned())
    }
}
