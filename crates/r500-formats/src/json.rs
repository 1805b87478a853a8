//! JSON: captures, cases, draws, lists of them, programs by name, and JSON lines of any of these.
//!
//! An object with the key `program` is a job. One without is programs by name,
//! `{ "name": [dwords] }`, where a job may stand as well. A list is a list of jobs, or a program if
//! it holds dwords. `null` is the same as no key. A key that is not in this table is an error, except
//! what describes a capture and is not used: `comment`, `compiler`, `disassembly`, `draw`, `pixels`,
//! `position_only`, `program_name`, `rs`, `source`, `textures`, `window`; a uniform's `type` and `value`;
//! a texture's `width`, `height`, `matches_upload`; the registers `FG_ALPHA_FUNC`, `FG_DEPTH_SRC` and
//! `GA_US_VECTOR_INDEX` in `us`.
//!
//! | key | content |
//! | --- | --- |
//! | `name`, `origin`, `status`, `rationale` | [`Job::name`] and so on. A draw's `test` serves as origin |
//! | `size` | `[width, height]` of the picture |
//! | `us` | the state by register: `US_CONFIG`, `US_PIXSIZE`, `US_FC_CTRL`, `US_FC_BOOL_CONST`, `US_CODE_ADDR`, `US_CODE_RANGE`, `US_CODE_OFFSET`, `US_W_FMT` (a dword each), `US_OUT_FMT` (a list of four), `US_FC_INT_CONST` and `US_FORMAT` (`{ "0": dword }`) |
//! | `program` | a list of instructions of six dwords, or of all dwords |
//! | `constants` | a list of four channels each, bits in hex or numbers; `null` is one that is not given, or a channel that is not |
//! | `inputs` | a list of objects: `temp`, and either `components` or `values` |
//! | `inputs[].components` | four objects: `name`, and `plane_uv` = `[c, du, dv]` or, with `position`, `vertex_values` at the three vertices |
//! | `inputs[].values` | a vector per pixel; `width` where it is not the picture's |
//! | `position` | clip coordinates of the three vertices |
//! | `bound_textures` | a list of objects: `unit`, `TX_FILTER0` and the other [`Texture`] registers, `US_FORMAT0`, `levels` |
//! | `bound_textures[].levels` | a list of objects: `width`, `height`, `layers`, `bytes` in base64. Without `layers`, the registers give the number |
//! | `uniforms` | a list of objects: `name`, `constant`, `channel`, `channels`. Those without `constant`, as captures have, name the constant that alone holds their `value`, for switches only |
//! | `coverage` | rows of 0 and 1, or a list of all pixels |
//! | `time` | seconds |
//! | `expect` | `target0` to `target3`: a vector per pixel; `depth`, `coverage`: a value per pixel. `null` is not checked |
//! | `tolerance` | [`Expect::tolerance`]; 0 if not given |
//! | `compare` | `"values"` or `"8-bit"`. If not given: 8-bit for draws, which have `test`, `probes` or `background`; else values |
//! | `background` | a vector per pixel; `null` is 0 |
//! | `sim` | `"fail"`: a faithful machine does not meet the expectations |
//! | `check` | `share`: [`Job::share`] |
//! | `compilation` | [`Job::compilation`]: `outcome` (`compiled`, `failed`, `dummy`), `reason`, `resource`, `most`, `needed`, `source`, `process`, `constants` (four texts each, such as `literal 4`, `CONST[0][3].x`), `samplers` (a target a unit, such as `2D`) |
//!
//! Dwords are hex digits in strings, with `0x` or all eight, or numbers. Numbers are rounded to
//! float32; `"nan"`, `"inf"`, `"-inf"` and `"0x7fc00001"` (the bits) are numbers too. What is per
//! pixel goes row by row from y = 0, the bottom.
//!
//! [`Texture`]: r500_program::Texture
//! [`Expect::tolerance`]: r500_program::Expect::tolerance

mod compilation;
mod job;
mod json_printer;
mod plane;
mod scalar;
mod schema;
mod value;
mod write;

use std::io::{BufRead, Read};

use r500_program::Job;
use serde::de::IgnoredAny;

use crate::lines::Lines;
use crate::{Format, Limits, ReadError};
use value::Value;

pub(crate) use write::{write, write_line, write_list};

/// The jobs of a JSON input, one at a time.
///
/// If the first line is a complete value with more after it, the input is JSON lines, each with its own errors; else it
/// is one document.
pub(crate) struct Jobs<R> {
    /// The remaining lines; `None` after a document or an error of the input.
    lines: Option<Lines<R>>,
    /// Whether it is known to be lines.
    by_line: bool,
    limits: Limits,
    /// The value whose jobs are next.
    value: Option<Value>,
}

impl<R: BufRead> Jobs<R> {
    pub(crate) fn new(input: R, format: Format, limits: &Limits) -> Self {
        Self {
            lines: Some(Lines::new(input, limits.document)),
            by_line: format == Format::JsonLines,
            limits: limits.clone(),
            value: None,
        }
    }

    /// Returns the next value: a line, or the document.
    fn next_value(&mut self) -> Option<Result<Value, ReadError>> {
        let (number, mut text) = match self.next_line()? {
            Ok(line) => line,
            Err(error) => {
                self.lines = None;
                return Some(Err(error));
            }
        };
        if self.by_line || serde_json::from_slice::<IgnoredAny>(&text).is_ok() {
            self.by_line = true;
            return Some(Value::new(text, number, true));
        }
        let most = self.limits.document;
        text.push(b'\n');
        let left = most.saturating_sub(text.len() as u64);
        let mut rest = self.lines.take()?.into_inner().take(left.saturating_add(1));
        match rest.read_to_end(&mut text) {
            Ok(0) => drop(text.pop()),
            Ok(_) => {}
            Err(error) => return Some(Err(ReadError::io(error))),
        }
        if text.len() as u64 > most {
            return Some(Err(ReadError::limit("bytes in a document", most)));
        }
        Some(Value::new(text, number, false))
    }

    /// Returns the next non-empty line and its number.
    fn next_line(&mut self) -> Option<Result<(u64, Vec<u8>), ReadError>> {
        const BOM: &[u8] = "\u{feff}".as_bytes();
        let lines = self.lines.as_mut()?;
        loop {
            let (number, line) = match lines.next_bytes() {
                Ok(line) => line?,
                Err(error) => return Some(Err(error)),
            };
            // Some editors write a byte order mark.
            let line = if number == 1 { line.strip_prefix(BOM).unwrap_or(line) } else { line };
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Some(Ok((number, line.to_vec())));
            }
        }
    }
}

impl<R: BufRead> Iterator for Jobs<R> {
    type Item = Result<Job, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(value) = &mut self.value {
                if let Some(job) = value.next_job(&self.limits) {
                    return Some(job);
                }
                self.value = None;
            }
            match self.next_value()? {
                Ok(value) => self.value = Some(value),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
