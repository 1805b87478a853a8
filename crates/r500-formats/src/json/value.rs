//! Incremental reader of the jobs in one JSON value, with error positions.

use std::ops::Range;

use r500_program::{Job, Program};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::{job, scalar, schema};
use crate::cursor::Cursor;
use crate::excerpt::{beginning, excerpt};
use crate::{Limits, ReadError};

/// A JSON value as text, and the read position.
pub(super) struct Value {
    text: String,
    /// Whether the value is one of several lines.
    one_of_many: bool,
    kind: Kind,
    /// The position of the next read.
    at: usize,
    /// A position before `at` with known line and column, so that each line is counted once.
    cursor: Cursor,
    /// Jobs so far.
    count: u64,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A job, or dwords.
    Job,
    /// A list of jobs.
    List,
    /// Jobs by name.
    Named,
    /// The end.
    Done,
}

/// A job within a value.
struct Part {
    range: Range<usize>,
    /// Its start.
    cursor: Cursor,
    /// Its path; empty for the value itself.
    path: String,
    /// Its name, if it has one.
    name: String,
}

impl Value {
    /// Returns a value that begins in a line of an input: a line of many, or all that follows.
    pub(super) fn new(text: Vec<u8>, line: u64, one_of_many: bool) -> Result<Self, ReadError> {
        let start = Cursor::start(line);
        let text = String::from_utf8(text).map_err(|e| {
            let error = ReadError::syntax("this is not UTF-8").with_help("JSON is UTF-8 text");
            start.to(e.utf8_error().valid_up_to(), e.as_bytes()).of(error)
        })?;
        let kind = Kind::Done;
        let mut value = Self { text, one_of_many, kind, at: 0, cursor: start, count: 0 };
        value.kind = value.find_kind()?;
        Ok(value)
    }

    /// Returns the next of its jobs.
    pub(super) fn next_job(&mut self, limits: &Limits) -> Option<Result<Job, ReadError>> {
        let part = match self.next_part() {
            Ok(part) => part?,
            Err(error) => {
                self.kind = Kind::Done;
                return Some(Err(error));
            }
        };
        Some(self.job(&part, limits))
    }

    fn find_kind(&mut self) -> Result<Kind, ReadError> {
        let text = self.text.trim_start();
        let start = self.text.len() - text.len();
        let inner = text.get(1..).unwrap_or_default().trim_start();
        self.at = start + 1;
        match text.chars().next() {
            Some('[') if inner.starts_with(['{', ']']) => Ok(Kind::List),
            Some('[') => Ok(Kind::Job),
            Some('{') => {
                let probe: schema::Probe = self.deserialize(&self.rest())?;
                let job = probe.program.is_some() || probe.us.is_some() || probe.size.is_some();
                Ok(if job { Kind::Job } else { Kind::Named })
            }
            _ => {
                let error = ReadError::value("this is neither a job nor a list of jobs")
                    .with_help("a job is an object with the key `program`");
                Err(self.cursor.to(start, self.text.as_bytes()).of(error))
            }
        }
    }

    /// Returns the text from the cursor to the end; at first that is all.
    fn rest(&self) -> Part {
        self.part_to(self.text.len())
    }

    /// Returns the text from the cursor on.
    fn part_to(&self, end: usize) -> Part {
        let range = self.cursor.at..end;
        Part { range, cursor: self.cursor, path: String::new(), name: String::new() }
    }

    fn next_part(&mut self) -> Result<Option<Part>, ReadError> {
        let end = match self.kind {
            Kind::Done => return Ok(None),
            Kind::Job => {
                self.kind = Kind::Done;
                return Ok(Some(self.rest()));
            }
            Kind::List => ']',
            Kind::Named => '}',
        };
        self.skip_space();
        if self.skip(end) {
            self.kind = Kind::Done;
            self.skip_space();
            return match self.text[self.at..].chars().next() {
                None => Ok(None),
                Some(_) => Err(self.unexpected("the end")),
            };
        }
        if self.count > 0 && !self.skip(',') {
            return Err(self.unexpected(if end == ']' { "`,` or `]`" } else { "`,` or `}`" }));
        }
        let mut name = String::new();
        let mut path = format!("[{}]", self.count);
        if end == '}' {
            name = self.next_item()?;
            path.clone_from(&name);
            self.skip_space();
            if !self.skip(':') {
                return Err(self.unexpected("`:`"));
            }
        }
        self.next_item::<&RawValue>()?;
        self.count += 1;
        Ok(Some(Part { path, name, ..self.part_to(self.at) }))
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_ascii_start().len();
    }

    fn skip(&mut self, c: char) -> bool {
        let there = self.text[self.at..].starts_with(c);
        self.at += if there { c.len_utf8() } else { 0 };
        there
    }

    /// Reads the next value and leaves the cursor before it.
    fn next_item<'a, T: Deserialize<'a>>(&'a mut self) -> Result<T, ReadError> {
        self.skip_space();
        self.cursor = self.cursor.to(self.at, self.text.as_bytes());
        let part = self.rest();
        let mut items = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter();
        match items.next() {
            Some(Ok(item)) => {
                self.at += items.byte_offset();
                Ok(item)
            }
            Some(Err(error)) => Err(self.error(&error, "", &part)),
            None => Err(self.unexpected("a value")),
        }
    }

    fn unexpected(&self, wanted: &str) -> ReadError {
        let error = match self.text[self.at..].chars().next() {
            Some(c) => ReadError::syntax(format!("this is not JSON: `{c}` instead of {wanted}")),
            None => ends_within(),
        };
        self.cursor.to(self.at, self.text.as_bytes()).of(error)
    }

    fn job(&self, part: &Part, limits: &Limits) -> Result<Job, ReadError> {
        let text = &self.text[part.range.clone()];
        let mut job = if text.trim_start().starts_with('{') {
            job::from_entry(self.deserialize(part)?, limits)
                .map_err(|e| self.at_start(e.below(&part.path), part))?
        } else {
            let code: Result<scalar::Code, _> = self.deserialize(part);
            let scalar::Code(code) = code.map_err(|e| match part.name.as_str() {
                "" => e,
                _ => e.with_help("an object without `program` is taken for programs by name"),
            })?;
            if code.len() as u64 > limits.instructions {
                let error = ReadError::limit("instructions", limits.instructions);
                return Err(self.at_start(error.below(&part.path), part));
            }
            Job::from_program(Program::from_code(code))
        };
        if job.name.is_empty() {
            job.name.clone_from(&part.name);
        }
        Ok(job)
    }

    fn deserialize<'a, T: Deserialize<'a>>(&'a self, part: &Part) -> Result<T, ReadError> {
        let mut json = serde_json::Deserializer::from_str(&self.text[part.range.clone()]);
        let value = serde_path_to_error::deserialize(&mut json).map_err(|e| {
            // The placeholder for a path without keys carries no information.
            let path = e.path().to_string();
            let path = if path == "." || path == "?" { "" } else { &path };
            self.error(e.inner(), path, part)
        })?;
        json.end().map_err(|e| self.error(&e, "", part))?;
        Ok(value)
    }

    /// Returns an error of the deserialiser, which counts lines and columns from the start of the
    /// part.
    fn error(&self, error: &serde_json::Error, path: &str, part: &Part) -> ReadError {
        let text = error.to_string();
        let message = match text.rsplit_once(" at line ") {
            Some((message, _)) if error.line() > 0 => message,
            _ => &text,
        };
        let missing = message.strip_prefix("missing field `").and_then(|m| m.strip_suffix('`'));
        let result = match (error.classify(), missing) {
            (Category::Data, Some(key)) => ReadError::missing(key),
            (Category::Data, None) if message.starts_with("unknown field `") => {
                unknown_key(message)
            }
            (Category::Data, None) => ReadError::value(beginning(message, 400)),
            (Category::Eof, _) => ends_within(),
            _ => ReadError::syntax(format!("this is not JSON: {message}")),
        };
        let result = result.at_path(path).below(&part.path);
        let Some(line) = error.line().checked_sub(1) else { return self.at_start(result, part) };
        let text = &self.text[part.range.clone()];
        let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(n, _)| n + 1));
        let line = starts.nth(line).unwrap_or(text.len());
        let at = part.range.start + line + error.column().saturating_sub(1);
        part.cursor.to(at.min(self.text.len()), self.text.as_bytes()).of(result)
    }

    /// Returns an error with a path only. The line is included only to distinguish values.
    fn at_start(&self, error: ReadError, part: &Part) -> ReadError {
        if self.one_of_many || !part.path.is_empty() {
            error.at_line(part.cursor.line)
        } else {
            error
        }
    }
}

/// Returns the error for an unknown key, with the most similar known one. The deserialiser's message has the key and
/// then all known ones, each between backticks.
fn unknown_key(message: &str) -> ReadError {
    let mut names = message.split('`').skip(1).step_by(2);
    let key = names.next().unwrap_or_default();
    let known: Vec<&str> = names.collect();
    let distance = |name: &str| strsim::damerau_levenshtein(key, name);
    let nearest = known.iter().copied().min_by_key(|name| distance(name));
    let error = ReadError::value(format!("unknown key `{}`", excerpt(key)));
    match nearest.filter(|name| distance(name) <= name.len().max(key.len()) / 3) {
        Some(name) => error.with_help(format!("did you mean `{name}`?")),
        None => error.with_help(format!("the keys here are {}", known.join(", "))),
    }
}

fn ends_within() -> ReadError {
    ReadError::truncated("the text ends within a JSON value")
}
