//! JSON: captures, cases, draws, lists of them, programs by name, and JSON lines of any of these.
//!
//! An object with the key `program` is a job. One without is programs by name,
//! `{ "name": [dwords] }`, where a job may stand as well. A list is a list of jobs, or a program if
//! it holds dwords. Unknown keys are ignored; `null` is the same as no key.
//!
//! | key | content |
//! | --- | --- |
//! | `name`, `origin`, `status`, `rationale` | [`Job::name`] and so on. A draw's `test` serves as origin |
//! | `size` | `[width, height]` of the picture |
//! | `us` | the state by register: `US_CONFIG`, `US_PIXSIZE`, `US_FC_CTRL`, `US_FC_BOOL_CONST`, `US_CODE_ADDR`, `US_CODE_RANGE`, `US_CODE_OFFSET`, `US_W_FMT` (a dword each), `US_OUT_FMT` (a list of four), `US_FC_INT_CONST` and `US_FORMAT` (`{ "0": dword }`) |
//! | `program` | a list of instructions of six dwords, or of all dwords |
//! | `constants` | a list of four channels each: bits in hex, or numbers |
//! | `inputs` | a list of objects: `temp`, and either `components` or `values` |
//! | `inputs[].components` | four objects: `name`, and `plane_uv` = `[c, du, dv]` or, with `position`, `vertex_values` at the three vertices |
//! | `inputs[].values` | a vector per pixel; `width` where it is not the picture's |
//! | `position` | clip coordinates of the three vertices |
//! | `bound_textures` | a list of objects: `unit`, `TX_FILTER0` and the other [`Texture`] registers, `US_FORMAT0`, `levels` |
//! | `bound_textures[].levels` | a list of objects: `width`, `height`, `layers`, `bytes` in base64. Without `layers`, the registers say how many |
//! | `uniforms` | a list of objects: `name`, `constant`, `channel`, `channels`. Those without `constant`, as captures have, are ignored |
//! | `coverage` | rows of 0 and 1, or a list of all pixels |
//! | `time` | seconds |
//! | `expect` | `target0` to `target3`: a vector per pixel; `depth`, `coverage`: a value per pixel. `null` is not checked |
//! | `tolerance` | [`Expect::tolerance`]; 0 if not given |
//! | `compare` | `"values"` or `"8-bit"`. If not given: 8-bit for draws, which have `test`, `probes` or `background`; else values |
//! | `background` | a vector per pixel; `null` is 0 |
//! | `sim` | `"fail"`: a faithful machine does not meet the expectations |
//! | `check` | `share`: [`Job::share`] |
//!
//! Dwords are hex digits in strings, with `0x` or all eight, or numbers. Numbers are rounded to
//! float32; `"nan"`, `"inf"`, `"-inf"` and `"0x7fc00001"` (the bits) are numbers too. What is per
//! pixel goes row by row from y = 0, the bottom.
//!
//! [`Texture`]: r500_program::Texture
//! [`Expect::tolerance`]: r500_program::Expect::tolerance

mod job;
mod node;
mod plane;
mod scalar;
mod schema;
mod write;

use std::io::{BufRead, Read};
use std::ops::Range;

use r500_program::{Job, Program};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::lines::Lines;
use crate::{Format, Limits, ReadError};

pub(crate) use write::{write, write_line, write_list};

/// The jobs of a JSON input, one at a time.
///
/// If the first line is a value of its own, the input is lines of JSON, each with its own errors;
/// else it is one document.
pub(crate) struct Jobs<R> {
    /// What is left, line by line; none behind a document.
    lines: Option<Lines<R>>,
    /// Whether it is known to be lines.
    by_line: bool,
    limits: Limits,
    /// The value whose jobs are next.
    value: Value,
}

impl<R: BufRead> Jobs<R> {
    pub(crate) fn new(input: R, format: Format, limits: &Limits) -> Self {
        Self {
            lines: Some(Lines::new(input, limits.document)),
            by_line: format == Format::JsonLines,
            limits: limits.clone(),
            value: Value::default(),
        }
    }

    /// The next value: a line, or the document.
    fn next_value(&mut self) -> Result<Option<Value>, ReadError> {
        loop {
            let Some(lines) = &mut self.lines else { return Ok(None) };
            let (number, line) = match lines.next_bytes() {
                Ok(Some(line)) => line,
                end => {
                    let end = end.map(|_| None);
                    self.lines = None;
                    return end;
                }
            };
            let line = if number == 1 { line.strip_prefix(BOM).unwrap_or(line) } else { line };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let mut text = line.to_vec();
            let whole = self.by_line || serde_json::from_slice::<IgnoredAny>(&text).is_ok();
            if !whole {
                text.push(b'\n');
                if let Some(lines) = self.lines.take() {
                    let most = self.limits.document.saturating_sub(text.len() as u64);
                    let mut rest = lines.into_inner().take(most.saturating_add(1));
                    rest.read_to_end(&mut text).map_err(ReadError::io)?;
                }
                if text.len() as u64 > self.limits.document {
                    return Err(ReadError::limit("bytes in a document", self.limits.document));
                }
            }
            self.by_line = true;
            return Value::parse(text, number).map(Some);
        }
    }
}

/// What some editors put in front of UTF-8.
const BOM: &[u8] = "\u{feff}".as_bytes();

impl<R: BufRead> Iterator for Jobs<R> {
    type Item = Result<Job, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(part) = self.value.parts.next() {
                return Some(self.value.job(&part, &self.limits));
            }
            match self.next_value() {
                Ok(Some(value)) => self.value = value,
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// A JSON value with jobs in it, and where they are. They are read when their turn comes.
#[derive(Default)]
struct Value {
    text: String,
    /// Line of the input that it begins in.
    line: u64,
    parts: std::vec::IntoIter<Part>,
}

/// A job within a value.
struct Part {
    /// Its text.
    range: Range<usize>,
    /// Path to it; empty for the value itself.
    path: String,
    /// Its name, if it stands under one.
    name: String,
}

impl Value {
    fn parse(text: Vec<u8>, line: u64) -> Result<Self, ReadError> {
        let text = String::from_utf8(text).map_err(|e| {
            let good = &e.as_bytes()[..e.utf8_error().valid_up_to()];
            let error = ReadError::syntax("this is no UTF-8").with_help("JSON is UTF-8 text");
            place(error, good, line)
        })?;
        let mut value = Self { text, line, parts: Vec::new().into_iter() };
        value.parts = value.find_parts()?.into_iter();
        Ok(value)
    }

    fn find_parts(&self) -> Result<Vec<Part>, ReadError> {
        let text = self.text.as_str();
        let whole = Part { range: 0..text.len(), path: String::new(), name: String::new() };
        let syntax = |error: &serde_json::Error| self.error(error, "", &whole);
        match text.trim_start().chars().next() {
            Some('[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| syntax(&e))?;
                if items.first().is_some_and(|item| !item.get().starts_with('{')) {
                    return Ok(vec![whole]);
                }
                let part = |(n, item): (usize, &RawValue)| Part {
                    range: self.range_of(item),
                    path: format!("[{n}]"),
                    name: String::new(),
                };
                Ok(items.into_iter().enumerate().map(part).collect())
            }
            Some('{') => {
                let probe: schema::Probe = serde_json::from_str(text).map_err(|e| syntax(&e))?;
                if probe.program.is_some() || probe.us.is_some() || probe.size.is_some() {
                    return Ok(vec![whole]);
                }
                let Named(entries) = serde_json::from_str(text).map_err(|e| syntax(&e))?;
                let part = |(name, value): (String, &RawValue)| Part {
                    range: self.range_of(value),
                    path: name.clone(),
                    name,
                };
                Ok(entries.into_iter().map(part).collect())
            }
            _ => {
                serde_json::from_str::<IgnoredAny>(text).map_err(|e| syntax(&e))?;
                Err(ReadError::value("this is neither a job nor a list of jobs")
                    .at_line(self.line)
                    .with_help("a job is an object with the key `program`"))
            }
        }
    }

    /// Where a part of the text lies in it.
    fn range_of(&self, part: &RawValue) -> Range<usize> {
        let start = part.get().as_ptr() as usize - self.text.as_ptr() as usize;
        start..start + part.get().len()
    }

    fn job(&self, part: &Part, limits: &Limits) -> Result<Job, ReadError> {
        let text = &self.text[part.range.clone()];
        let mut job = if text.trim_start().starts_with('{') {
            job::from_entry(self.deserialize(text, part)?, limits)
                .map_err(|e| self.at_start(e.below(&part.path), part))?
        } else {
            let scalar::Code(code) = self.deserialize(text, part)?;
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

    fn deserialize<'de, T: Deserialize<'de>>(
        &self,
        text: &'de str,
        part: &Part,
    ) -> Result<T, ReadError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let value = serde_path_to_error::deserialize(&mut json).map_err(|e| {
            let path = e.path().to_string();
            self.error(e.inner(), if path == "." { "" } else { &path }, part)
        })?;
        json.end().map_err(|e| self.error(&e, "", part))?;
        Ok(value)
    }

    /// An error of the deserialiser, which counts lines and columns from the start of the part.
    fn error(&self, error: &serde_json::Error, path: &str, part: &Part) -> ReadError {
        let message = error.to_string();
        let message = match message.rsplit_once(" at line ") {
            Some((message, _)) if error.line() > 0 => message,
            _ => &message,
        };
        let result = match error.classify() {
            serde_json::error::Category::Data => ReadError::value(message),
            serde_json::error::Category::Eof => {
                ReadError::truncated("the text ends within a JSON value")
            }
            _ => ReadError::syntax(format!("no JSON: {message}")),
        };
        let result = match message.strip_prefix("missing field ") {
            Some(_) => result.with_help("see the schema of captures and cases"),
            None => result,
        };
        let result = result.at_path(path).below(&part.path);
        let text = &self.text[part.range.clone()];
        let Some(line) = error.line().checked_sub(1) else { return self.at_start(result, part) };
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(n, _)| n + 1));
        let line = starts.clone().nth(line).unwrap_or(text.len());
        let at = (part.range.start + line + error.column().saturating_sub(1)).min(self.text.len());
        place(result, &self.text.as_bytes()[..at], self.line)
    }

    /// An error of a part, where it begins. Within a value that is one line, the path says more.
    fn at_start(&self, error: ReadError, part: &Part) -> ReadError {
        let before = &self.text.as_bytes()[..part.range.start];
        error.at_line(self.line + newlines(before))
    }
}

/// An error at the end of `before`, which begins in `line`.
fn place(error: ReadError, before: &[u8], line: u64) -> ReadError {
    let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1);
    error.at_line(line + newlines(before)).at_column((before.len() - start) as u64 + 1)
}

fn newlines(text: &[u8]) -> u64 {
    text.iter().filter(|&&b| b == b'\n').count() as u64
}

/// The entries of an object, in order.
struct Named<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Named<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NamedVisitor;
        impl<'de> Visitor<'de> for NamedVisitor {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("programs by name")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(NamedVisitor).map(Self)
    }
}
