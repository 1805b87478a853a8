//! Rows of values: CSV, JSON, or written out.

use std::collections::BTreeMap;

use r500::isa::TEMPORARIES;
use r500::program::{Job, State};
use serde_json::Value;

use crate::command::binding_args::place;
use crate::command::exit::{Failure, Outcome};
use crate::command::input_args;
use crate::command::syntax;

/// The values of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    /// Temporaries.
    pub(super) temps: BTreeMap<u8, [f32; 4]>,
    /// Channels of constants, as float bits.
    pub(super) constants: BTreeMap<(usize, usize), u32>,
}

impl Row {
    /// Writes the row's constants over those there are.
    pub(super) fn set_constants(&self, state: &mut State) {
        for (&(constant, channel), &bits) in &self.constants {
            state.set_constant(constant, channel, bits);
        }
    }

    /// Sets what `key` names.
    fn set(&mut self, key: &str, values: &[f32], job: &Job) -> Result<(), String> {
        let key = key.trim();
        let (name, letters) = match key.rsplit_once('.') {
            Some((name, letters)) => (name, Some(letters)),
            None => (key, None),
        };
        let is_temp = name.starts_with("temp[") || bare(name, 't');
        if !is_temp {
            let name = if bare(name, 'c') { &key[1..] } else { key };
            let place =
                place(job, name).map_err(|error| format!("{error}; temporaries are t0 to t127"))?;
            fits(key, values.len(), place.channels.len())?;
            for (channel, value) in place.channels.into_iter().zip(values) {
                self.constants.insert((place.constant, channel), value.to_bits());
            }
            return Ok(());
        }
        let temp = syntax::register(name, "temp", TEMPORARIES)
            .and_then(|n| u8::try_from(n).ok())
            .ok_or_else(|| format!("`{name}` is not a temporary; there are t0 to t127"))?;
        let channels = match letters {
            None => vec![0, 1, 2, 3],
            Some(letters) => syntax::channels(letters)
                .ok_or_else(|| format!("`{key}`: `{letters}` names no channels of rgba"))?,
        };
        fits(key, values.len(), channels.len())?;
        let register = self.temps.entry(temp).or_insert([0.0, 0.0, 0.0, 1.0]);
        for (channel, value) in channels.into_iter().zip(values) {
            register[channel] = *value;
        }
        Ok(())
    }
}

/// Returns a letter and a number.
fn bare(name: &str, letter: char) -> bool {
    name.strip_prefix(letter)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

fn fits(key: &str, values: usize, channels: usize) -> Result<(), String> {
    if values > channels {
        Err(format!("`{key}`: {values} numbers for {channels} channels"))
    } else {
        Ok(())
    }
}

/// Reads what `--input` was given.
pub(super) fn read(text: &str, job: &Job) -> Outcome<Vec<Row>> {
    let trimmed = text.trim_start();
    if trimmed.starts_with(['[', '{']) {
        return from_json(trimmed, job).map_err(|m| wrong("--input", &m));
    }
    if text.contains('=') {
        return Ok(vec![from_inline(text, job).map_err(|m| wrong("--input", &m))?]);
    }
    let path = std::path::Path::new(text);
    let content = input_args::text(path)?;
    let content = content.trim_start_matches('\u{feff}');
    let rows = if content.trim_start().starts_with(['[', '{']) {
        from_json(content, job)
    } else {
        from_csv(content, job)
    };
    rows.map_err(|message| wrong(&input_args::show(path), &message))
}

fn wrong(place: &str, message: &str) -> Failure {
    Failure::input(anyhow::anyhow!("{place}: {message}"))
}

/// `t0=1,2; c3.r=4`.
fn from_inline(text: &str, job: &Job) -> Result<Row, String> {
    let mut row = Row::default();
    for part in text.split(';').filter(|part| !part.trim().is_empty()) {
        let (key, values) = part.split_once('=').ok_or_else(|| format!("`{part}` has no `=`"))?;
        let values: Result<Vec<f32>, String> = values.split(',').map(syntax::float).collect();
        row.set(key, &values?, job)?;
    }
    Ok(row)
}

/// Returns the names in the first line, numbers in the others; an empty cell gives no value.
fn from_csv(text: &str, job: &Job) -> Result<Vec<Row>, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some((_, header)) = lines.next() else {
        return Err("there is no line of names".to_owned());
    };
    let names: Vec<&str> = header.split(',').map(unquote).collect();
    let mut rows = Vec::new();
    for (n, line) in lines {
        let at = |message: String| format!("line {}: {message}", n + 1);
        let cells: Vec<&str> = line.split(',').map(unquote).collect();
        if cells.len() != names.len() {
            return Err(at(format!("{} cells for {} names", cells.len(), names.len())));
        }
        let mut row = Row::default();
        for (name, cell) in names.iter().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
            let value = syntax::float(cell).map_err(at)?;
            row.set(name, &[value], job).map_err(at)?;
        }
        rows.push(row);
    }
    Ok(rows)
}

fn unquote(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell)
}

/// Returns a list of rows, a single row, or rows one after the other.
fn from_json(text: &str, job: &Job) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        match value.map_err(|error| error.to_string())? {
            Value::Array(list) => {
                for (i, value) in list.iter().enumerate() {
                    let row = json_row(value, job).map_err(|m| format!("row {i}: {m}"))?;
                    rows.push(row);
                }
            }
            value => rows.push(json_row(&value, job)?),
        }
    }
    Ok(rows)
}

fn json_row(value: &Value, job: &Job) -> Result<Row, String> {
    let mut row = Row::default();
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                row.set(key, &numbers(value)?, job)?;
            }
        }
        other => row.set("t0", &numbers(other)?, job)?,
    }
    Ok(row)
}

fn numbers(value: &Value) -> Result<Vec<f32>, String> {
    match value {
        Value::Array(list) => list.iter().map(json_number).collect(),
        other => Ok(vec![json_number(other)?]),
    }
}

fn json_number(value: &Value) -> Result<f32, String> {
    match value {
        // By way of the decimal, so that it is rounded once.
        Value::Number(number) => syntax::float(&number.to_string()),
        Value::String(text) => syntax::float(text),
        other => Err(format!("`{other}` is not a number")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn job() -> Job {
        Job::default()
    }

    #[test]
    fn the_three_ways_agree() {
        let inline = from_inline("t0=0.5,0.25; t1.a=2; c3.r=4", &job()).unwrap();
        assert_eq!(inline.temps[&0], [0.5, 0.25, 0.0, 1.0]);
        assert_eq!(inline.temps[&1], [0.0, 0.0, 0.0, 2.0]);
        assert_eq!(inline.constants[&(3, 0)], 4.0f32.to_bits());
        let csv = "t0.r,t0.g,temp[1].a,const[3].r\n0.5,0.25,2,4\n";
        let from_csv = from_csv(csv, &job()).unwrap();
        assert_eq!(from_csv, std::slice::from_ref(&inline));
        let json = r#"[{"t0": [0.5, 0.25], "t1.a": 2, "c3.r": 4}]"#;
        assert_eq!(from_json(json, &job()).unwrap(), [inline]);
    }

    #[test]
    fn bare_lists_are_t0() {
        let rows = from_json(r#"[[1, 2], 3, ["nan", "-inf"]]"#, &job()).unwrap();
        assert_eq!(rows[0].temps[&0], [1.0, 2.0, 0.0, 1.0]);
        assert_eq!(rows[1].temps[&0], [3.0, 0.0, 0.0, 1.0]);
        assert!(rows[2].temps[&0][0].is_nan());
        assert_eq!(from_json("{\"t0\":1}\n{\"t0\":2}", &job()).unwrap().len(), 2);
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(from_csv("t0.r\n1,2\n", &job()).unwrap_err().starts_with("line 2: 2 cells"));
        assert!(from_csv("t0.r\none\n", &job()).unwrap_err().starts_with("line 2: `one`"));
        assert!(from_csv("", &job()).is_err());
        assert!(from_inline("t128=1", &job()).unwrap_err().contains("t0 to t127"));
        assert!(from_inline("t0=1,2,3,4,5", &job()).unwrap_err().contains("5 numbers for 4"));
        assert!(from_inline("t0.rg=1,2,3", &job()).unwrap_err().contains("3 numbers for 2"));
        assert!(from_json("[{\"t0\": null}]", &job()).unwrap_err().starts_with("row 0: `null`"));
        assert!(from_json("[1", &job()).is_err());
    }
}
