//! A JSON value with jobs in it, which are found and read one by one, and where its errors are.

use std::ops::Range;

use r500_program::{Job, Program};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::{job, scalar, schema};
use crate::{Limits, ReadError};

/// A JSON value as text, and how far it is read.
pub(super) struct Value {
    text: String,
    /// Line of the input that it begins in.
    line: u64,
    /// Whether other values stand in other lines.
    one_of_many: bool,
    kind: Kind,
    /// Where reading goes on.
    at: usize,
    /// Jobs so far.
    count: u64,
}

#[derive(Clone, Copy)]
enum Kind {
    /// It is a job, or dwords.
    Job,
    /// It is a list of jobs.
    List,
    /// It is jobs by name.
    Named,
    /// Nothing is left.
    Done,
}

/// A job within a value.
#[derive(Default)]
struct Part {
    range: Range<usize>,
    /// Path to it; empty for the value itself.
    path: String,
    /// Its name, if it stands under one.
    name: String,
}

impl Value {
    /// A value that begins in a line of an input: a line of many, or all that follows.
    pub(super) fn new(text: Vec<u8>, line: u64, one_of_many: bool) -> Result<Self, ReadError> {
        let text = String::from_utf8(text).map_err(|e| {
            let good = &e.as_bytes()[..e.utf8_error().valid_up_to()];
            let error = ReadError::syntax("this is not UTF-8").with_help("JSON is UTF-8 text");
            place(error, good, line)
        })?;
        let kind = Kind::Done;
        let mut value = Self { text, line, one_of_many, kind, at: 0, count: 0 };
        value.kind = value.find_kind()?;
        Ok(value)
    }

    /// The next of its jobs.
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
                let whole = Part { range: 0..self.text.len(), ..Part::default() };
                let probe: schema::Probe = self.deserialize(&whole)?;
                let job = probe.program.is_some() || probe.us.is_some() || probe.size.is_some();
                Ok(if job { Kind::Job } else { Kind::Named })
            }
            _ => {
                let error = ReadError::value("this is neither a job nor a list of jobs")
                    .with_help("a job is an object with the key `program`");
                Err(place(error, &self.text.as_bytes()[..start], self.line))
            }
        }
    }

    fn next_part(&mut self) -> Result<Option<Part>, ReadError> {
        let end = match self.kind {
            Kind::Done => return Ok(None),
            Kind::Job => {
                self.kind = Kind::Done;
                return Ok(Some(Part { range: 0..self.text.len(), ..Part::default() }));
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
        let mut part = Part::default();
        if end == ']' {
            part.path = format!("[{}]", self.count);
        } else {
            part.name = self.next_item::<String>()?;
            part.path.clone_from(&part.name);
            self.skip_space();
            if !self.skip(':') {
                return Err(self.unexpected("`:`"));
            }
        }
        self.skip_space();
        let start = self.at;
        self.next_item::<&RawValue>()?;
        part.range = start..self.at;
        self.count += 1;
        Ok(Some(part))
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

    /// Reads what begins here, whatever is behind it.
    fn next_item<'a, T: Deserialize<'a>>(&'a mut self) -> Result<T, ReadError> {
        let part = Part { range: self.at..self.text.len(), ..Part::default() };
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
        place(error, &self.text.as_bytes()[..self.at], self.line)
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
            let path = e.path().to_string();
            self.error(
                e.inner(),
                if [".", "?"].contains(&path.as_str()) { "" } else { &path },
                part,
            )
        })?;
        json.end().map_err(|e| self.error(&e, "", part))?;
        Ok(value)
    }

    /// An error of the deserialiser, which counts lines and columns from the start of the part.
    fn error(&self, error: &serde_json::Error, path: &str, part: &Part) -> ReadError {
        let text = error.to_string();
        let message = match text.rsplit_once(" at line ") {
            Some((message, _)) if error.line() > 0 => message,
            _ => &text,
        };
        let missing = message.strip_prefix("missing field `").and_then(|m| m.strip_suffix('`'));
        let result = match (error.classify(), missing) {
            (Category::Data, Some(key)) => ReadError::missing(key),
            (Category::Data, None) => ReadError::value(message),
            (Category::Eof, _) => ends_within(),
            _ => ReadError::syntax(format!("this is not JSON: {message}")),
        };
        let result = result.at_path(path).below(&part.path);
        let Some(line) = error.line().checked_sub(1) else { return self.at_start(result, part) };
        let text = &self.text[part.range.clone()];
        let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(n, _)| n + 1));
        let line = starts.nth(line).unwrap_or(text.len());
        let at = part.range.start + line + error.column().saturating_sub(1);
        place(result, &self.text.as_bytes()[..at.min(self.text.len())], self.line)
    }

    /// An error that is known by its path alone. A line is given only to tell values apart.
    fn at_start(&self, error: ReadError, part: &Part) -> ReadError {
        if self.one_of_many || part.range.start > 0 {
            let before = &self.text.as_bytes()[..part.range.start];
            return error.at_line(self.line + newlines(before));
        }
        error
    }
}

fn ends_within() -> ReadError {
    ReadError::truncated("the text ends within a JSON value")
}

/// An error at the end of `before`, which begins in `line`.
fn place(error: ReadError, before: &[u8], line: u64) -> ReadError {
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1);
    error.at_line(line + newlines(before)).at_column((before.len() - start) as u64 + 1)
}

fn newlines(text: &[u8]) -> u64 {
    text.iter().filter(|&&b| b == b'\n').count() as u64
}
