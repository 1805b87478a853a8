//! Places in a source, and what is wrong there.

use std::fmt;
use std::ops::Range;

/// A range of bytes of the source as it was given. What a macro expands to has the place of its use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// Returns the range between two bytes.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Returns the range from this place to another.
    #[must_use]
    pub fn to(self, end: Self) -> Self {
        Self { start: self.start.min(end.start), end: self.end.max(end.end) }
    }

    /// Returns the empty range after this one.
    #[must_use]
    pub const fn after(self) -> Self {
        Self { start: self.end, end: self.end }
    }

    /// Returns the line of its first byte, from 0.
    #[must_use]
    pub fn line(self, source: &str) -> usize {
        let before = source.as_bytes().get(..self.start as usize).unwrap_or(source.as_bytes());
        before.iter().filter(|byte| **byte == b'\n').count()
    }

    /// Returns the bytes.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The shader is compiled all the same.
    Warning,
    /// It is not.
    Error,
}

/// An edit that fixes an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Where.
    pub span: Span,
    /// What is wrong: a clause that begins in lower case.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// An edit that does it.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// Returns an error.
    #[must_use]
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, span, message: message.into(), help: None, fix: None }
    }

    /// Returns a warning.
    #[must_use]
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(span, message) }
    }

    /// Returns it with what to do.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// Returns it with an edit, and what the edit does.
    #[must_use]
    pub fn fix(self, help: impl Into<String>, span: Span, text: impl Into<String>) -> Self {
        Self { fix: Some(Fix { span, text: text.into() }), ..self.help(help) }
    }

    /// Returns whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Returns line and column, both from 1; columns are characters.
    #[must_use]
    pub fn line_column(&self, source: &str) -> (usize, usize) {
        let before = source.get(..self.span.start as usize).unwrap_or(source);
        let line = self.span.line(source) + 1;
        let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
        (line, column)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

/// All that is found, in the order in which it is found.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    pub(crate) all: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one, unless its place has an error: what follows from an error is not one.
    pub(crate) fn add(&mut self, diagnostic: Diagnostic) {
        let is_known =
            self.all.iter().any(|other| other.is_error() && other.span == diagnostic.span);
        if !is_known && self.all.len() < 200 {
            self.all.push(diagnostic);
        }
    }
}

/// Returns the candidate that a misspelt name most likely means.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    candidates
        .filter(|candidate| *candidate != name)
        .map(|candidate| (distance(name, candidate), candidate))
        // One of which no character is left is another word.
        .filter(|(distance, _)| *distance <= most && *distance < name.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

/// The number of characters to insert, remove, replace or exchange with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
