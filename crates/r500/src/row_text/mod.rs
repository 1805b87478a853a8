//! Rows of values as text: CSV, JSON, or inline. A file of any length is read row by row.
//!
//! ```
//! use std::convert::Infallible;
//! use r500::row_text::{Names, read};
//!
//! let mut inputs = Vec::new();
//! read("i0.x,i0.y\n1,2\n3,4\n".as_bytes(), Names::Vertex, &mut |row| {
//!     inputs.push(row.inputs[&0]);
//!     Ok::<_, Infallible>(())
//! })?;
//! assert_eq!(inputs, [[1.0, 2.0, 0.0, 1.0], [3.0, 4.0, 0.0, 1.0]]);
//! # Ok::<(), r500::row_text::Stop<Infallible>>(())
//! ```

mod json;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Read};

use r500_isa::TEMPORARIES;
use r500_program::{Job, State};
use r500_pvs::{CONSTANTS, INPUTS};
use r500_text::counted;

use crate::register_text::{self, constant_place};

/// What the names of rows mean.
#[derive(Clone, Copy, Debug)]
pub enum Names<'j> {
    /// Temporaries and constants of a fragment program.
    Fragment(&'j Job),
    /// Inputs and constants of a vertex program.
    Vertex,
}

impl Names<'_> {
    /// Returns the register of a row that is a bare list.
    fn first(self) -> &'static str {
        match self {
            Self::Fragment(_) => "t0",
            Self::Vertex => "i0",
        }
    }
}

/// The values of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Temporaries of a fragment program, inputs of a vertex program.
    pub inputs: BTreeMap<u8, [f32; 4]>,
    /// Channels of constants, as float bits.
    pub constants: BTreeMap<(usize, usize), u32>,
}

impl Row {
    /// Stores the row's constants over existing ones.
    pub fn set_constants(&self, state: &mut State) {
        for (&(constant, channel), &bits) in &self.constants {
            state.set_constant(constant, channel, bits);
        }
    }

    /// Sets consecutive channels of a key's register.
    fn set(&mut self, key: &str, place: &RegisterChannels, values: &[f32]) -> Result<(), String> {
        let channels = match place {
            RegisterChannels::Input { channels, .. }
            | RegisterChannels::Constant { channels, .. } => channels,
        };
        if values.len() > channels.len() {
            let (given, room) = (values.len(), channels.len());
            return Err(format!("`{}`: {given} numbers for {room} channels", key.trim()));
        }
        match place {
            RegisterChannels::Constant { constant, .. } => {
                for (&channel, value) in channels.iter().zip(values) {
                    self.constants.insert((*constant, channel), value.to_bits());
                }
            }
            RegisterChannels::Input { input, .. } => {
                let register = self.inputs.entry(*input).or_insert([0.0, 0.0, 0.0, 1.0]);
                for (&channel, value) in channels.iter().zip(values) {
                    register[channel] = *value;
                }
            }
        }
        Ok(())
    }
}

/// The register of a key.
enum RegisterChannels {
    Input { input: u8, channels: Vec<usize> },
    Constant { constant: usize, channels: Vec<usize> },
}

impl RegisterChannels {
    fn of(key: &str, names: Names<'_>) -> Result<Self, String> {
        let key = key.trim();
        let (name, letters) = match key.rsplit_once('.') {
            Some((name, letters)) => (name, Some(letters)),
            None => (key, None),
        };
        let (kind, count) = match names {
            Names::Fragment(_) => ("temp", TEMPORARIES),
            Names::Vertex => ("input", INPUTS),
        };
        let what = match names {
            Names::Fragment(_) => "a temporary",
            Names::Vertex => "an input",
        };
        let (letter, last) = (&kind[..1], count - 1);
        let channels = || match letters {
            None => Ok(vec![0, 1, 2, 3]),
            Some(letters) => register_text::channels(letters)
                .ok_or_else(|| format!("`{key}`: `{letters}` names no channels of rgba")),
        };
        let is_input = name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('['));
        if is_input || bare(name, letter) {
            let input = register_text::register(name, kind, count)
                .and_then(|n| u8::try_from(n).ok())
                .ok_or_else(|| {
                    format!("`{name}` is not {what}; there are {letter}0 to {letter}{last}")
                })?;
            return Ok(Self::Input { input, channels: channels()? });
        }
        let constant = if bare(name, "c") { &key[1..] } else { key };
        match names {
            Names::Fragment(job) => {
                let place = constant_place(job, constant)
                    .map_err(|error| format!("{error}; temporaries are t0 to t{last}"))?;
                Ok(Self::Constant { constant: place.constant, channels: place.channels })
            }
            Names::Vertex => {
                let name = if bare(name, "c") { &name[1..] } else { name };
                let constant = register_text::register(name, "const", CONSTANTS);
                let constant = constant.ok_or_else(|| {
                    format!(
                        "`{name}` is not a register of a vertex; inputs are i0 to i{last}, constants c0 to c{}",
                        CONSTANTS - 1
                    )
                })?;
                Ok(Self::Constant { constant, channels: channels()? })
            }
        }
    }
}

/// The keys of a file, each resolved once.
struct Keys<'j> {
    names: Names<'j>,
    known: HashMap<String, RegisterChannels>,
}

impl<'j> Keys<'j> {
    fn new(names: Names<'j>) -> Self {
        Self { names, known: HashMap::new() }
    }

    fn set(&mut self, row: &mut Row, key: &str, values: &[f32]) -> Result<(), String> {
        if let Some(place) = self.known.get(key) {
            return row.set(key, place, values);
        }
        let place = RegisterChannels::of(key, self.names)?;
        row.set(key, &place, values)?;
        // A limit, because a file with many different keys would fill the memory.
        if self.known.len() < 1024 {
            self.known.insert(key.to_owned(), place);
        }
        Ok(())
    }
}

/// Why reading rows stopped.
#[derive(Debug, thiserror::Error)]
pub enum Stop<E> {
    /// The rows have errors: where, and which one.
    #[error("{0}")]
    Wrong(String),
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(io::Error),
    /// The consumer of the rows failed.
    #[error("the consumer of the rows failed")]
    Failed(E),
}

impl<E> From<String> for Stop<E> {
    fn from(message: String) -> Self {
        Self::Wrong(message)
    }
}

impl<E> From<io::Error> for Stop<E> {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// A consumer of rows.
pub type Take<'t, E> = &'t mut dyn FnMut(Row) -> Result<(), E>;

/// Returns whether a name is a letter and a number.
fn bare(name: &str, letter: &str) -> bool {
    name.strip_prefix(letter)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Calls `take` for the rows that a text writes out: JSON, or `t0=1,2; c3.r=4`, which is one row; `None` for another text, such as the name of a
/// file.
///
/// # Errors
/// The text has errors, or `take` failed.
pub fn read_written<E>(
    text: &str,
    names: Names<'_>,
    take: Take<'_, E>,
) -> Option<Result<(), Stop<E>>> {
    let trimmed = text.trim_start();
    if trimmed.starts_with(['[', '{']) {
        return Some(json::from_text(trimmed, names, take));
    }
    text.contains('=').then(|| take(inline(text, names)?).map_err(Stop::Failed))
}

/// Reads CSV, or JSON, which begins with a bracket.
///
/// # Errors
/// The file cannot be read or has errors, or `take` failed.
pub fn read<E>(input: impl BufRead, names: Names<'_>, take: Take<'_, E>) -> Result<(), Stop<E>> {
    let mut lines = Lines::new(input);
    // Counts empty lines at the start, for line numbers in messages about JSON.
    let mut blank = String::new();
    let first = loop {
        match lines.next()? {
            Some(line) if line.trim().is_empty() => blank.push_str(line),
            line => break line.unwrap_or_default().to_owned(),
        }
    };
    match first.trim_start().chars().next() {
        Some('[') => json::from_list(blank + &first, lines.input, names, take),
        Some('{') => json::from_lines(first, lines, names, take),
        _ => from_csv(first, lines, names, take),
    }
}

/// The lines of a text, with line ends. A byte order mark at the start is dropped.
struct Lines<R> {
    input: R,
    bytes: Vec<u8>,
    /// The number of the last line.
    number: u64,
}

/// Limit of the bytes of a line.
const LINE: u64 = 1 << 24;

impl<R: BufRead> Lines<R> {
    fn new(input: R) -> Self {
        Self { input, bytes: Vec::new(), number: 0 }
    }

    fn next<E>(&mut self) -> Result<Option<&str>, Stop<E>> {
        self.bytes.clear();
        let length = (&mut self.input).take(LINE).read_until(b'\n', &mut self.bytes)?;
        if length == 0 {
            return Ok(None);
        }
        self.number += 1;
        if length as u64 == LINE && self.bytes.last() != Some(&b'\n') {
            let number = self.number;
            return Err(Stop::Wrong(format!("line {number}: it is longer than {LINE} bytes")));
        }
        let bytes = match self.number {
            1 => self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes),
            _ => &self.bytes,
        };
        let text = std::str::from_utf8(bytes);
        let number = self.number;
        text.map(Some).map_err(|_| Stop::Wrong(format!("line {number}: it is not UTF-8")))
    }
}

/// Parses `t0=1,2; c3.r=4`; numbers may be in parentheses.
///
/// # Errors
/// The first error.
pub fn inline(text: &str, names: Names<'_>) -> Result<Row, String> {
    let (mut row, mut keys) = (Row::default(), Keys::new(names));
    for part in text.split(';').filter(|part| !part.trim().is_empty()) {
        let (key, values) = part.split_once('=').ok_or_else(|| format!("`{part}` has no `=`"))?;
        let values = values.trim();
        let inside = values.strip_prefix('(').and_then(|values| values.strip_suffix(')'));
        let values = inside.unwrap_or(values).split(',').map(register_text::float);
        keys.set(&mut row, key, &values.collect::<Result<Vec<f32>, String>>()?)?;
    }
    Ok(row)
}

/// Reads names from the first line and numbers from the others; an empty cell sets no value.
fn from_csv<E>(
    first: String,
    mut lines: Lines<impl BufRead>,
    names: Names<'_>,
    take: Take<'_, E>,
) -> Result<(), Stop<E>> {
    let is_data = |line: &str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    };
    let mut header = first;
    while !is_data(&header) {
        match lines.next()? {
            Some(line) => header = line.to_owned(),
            None => return Err(Stop::Wrong("there is no line of names".to_owned())),
        }
    }
    let header: Vec<&str> = header.split(',').map(unquote).collect();
    // Names are resolved at the first cell that has a value.
    let mut keys = Keys::new(names);
    while let Some(line) = lines.next()? {
        if !is_data(line) {
            continue;
        }
        let (mut row, mut cells) = (Row::default(), 0);
        let mut result = Ok(());
        for (n, cell) in line.split(',').map(unquote).enumerate() {
            cells += 1;
            if let Some(name) = header.get(n)
                && !cell.is_empty()
                && result.is_ok()
            {
                let value = register_text::float(cell);
                result = value.and_then(|value| keys.set(&mut row, name, &[value]));
            }
        }
        if cells != header.len() {
            result =
                Err(format!("{} for {}", counted(cells, "cell"), counted(header.len(), "name")));
        }
        let number = lines.number;
        result.map_err(|message| format!("line {number}: {message}"))?;
        take(row).map_err(Stop::Failed)?;
    }
    Ok(())
}

fn unquote(cell: &str) -> &str {
    let cell = cell.trim();
    cell.strip_prefix('"').and_then(|cell| cell.strip_suffix('"')).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn rows(text: &str) -> Result<Vec<Row>, String> {
        let (job, mut rows) = (Job::default(), Vec::new());
        let result = read(text.as_bytes(), Names::Fragment(&job), &mut |row| {
            rows.push(row);
            Ok::<_, std::convert::Infallible>(())
        });
        match result {
            Ok(()) => Ok(rows),
            Err(Stop::Wrong(message)) => Err(message),
            Err(Stop::Unreadable(error)) => Err(error.to_string()),
            Err(Stop::Failed(never)) => match never {},
        }
    }

    #[test]
    fn the_ways_agree() {
        let job = Job::default();
        let names = Names::Fragment(&job);
        let inline = inline("t0=0.5,0.25; t1.a=2; c3.r=4", names).unwrap();
        assert_eq!(inline.inputs[&0], [0.5, 0.25, 0.0, 1.0]);
        assert_eq!(inline.inputs[&1], [0.0, 0.0, 0.0, 2.0]);
        assert_eq!(inline.constants[&(3, 0)], 4.0f32.to_bits());
        let object = r#"{"t0": [0.5, 0.25], "t1.a": 2, "c3.r": 4}"#;
        for text in [
            "t0.r,t0.g,temp[1].a,const[3].r\n0.5,0.25,2,4\n",
            "\u{feff}\r\n# names\r\nt0.r,t0.g,temp[1].a,const[3].r\r\n\r\n0.5,0.25,2,4",
            &format!("[{object}]"),
            &format!("\u{feff}\n [ {object}\n]\n"),
            object,
            &object.replace(", ", ",\n  "),
        ] {
            assert_eq!(rows(text).unwrap(), std::slice::from_ref(&inline), "{text}");
        }
        let many = format!("{object}{object}\n{object}\n[{object}, {object}]\n{object}");
        assert_eq!(rows(&many).unwrap(), vec![inline.clone(); 6]);
        let many = format!("[{object},{object}]\n[{object}]{object}\n{object}");
        assert_eq!(rows(&many).unwrap(), vec![inline; 5]);
    }

    #[test]
    fn vertices_have_inputs_and_constants() {
        let vertex = |text| inline(text, Names::Vertex);
        let row = vertex("i0=1,2; input[31].w=3; c255.yx=4,5; const[0]=6").unwrap();
        assert_eq!(row.inputs[&0], [1.0, 2.0, 0.0, 1.0]);
        assert_eq!(row.inputs[&31], [0.0, 0.0, 0.0, 3.0]);
        assert_eq!(row.constants[&(255, 1)], 4.0f32.to_bits());
        assert_eq!(row.constants[&(255, 0)], 5.0f32.to_bits());
        assert_eq!(row.constants[&(0, 0)], 6.0f32.to_bits());
        let written = vertex("input[0] = (1, 2); input[1].w=(3); c0 = (4, 5, 6, 7)").unwrap();
        assert_eq!(written, vertex("i0=1,2; i1.w=3; c0=4,5,6,7").unwrap());
        for (text, wanted) in [
            ("i32=1", "i0 to i31"),
            ("input[32]=1", "i0 to i31"),
            ("t0=1", "`t0` is not a register of a vertex"),
            ("c256=1", "c0 to c255"),
            ("i0.q=1", "names no channels"),
        ] {
            assert!(vertex(text).unwrap_err().contains(wanted), "{text}");
        }
    }

    #[test]
    fn bare_lists_are_t0() {
        let rows = rows(r#"[[1, 2], 3, ["nan", "-inf"]]"#).unwrap();
        assert_eq!(rows[0].inputs[&0], [1.0, 2.0, 0.0, 1.0]);
        assert_eq!(rows[1].inputs[&0], [3.0, 0.0, 0.0, 1.0]);
        assert!(rows[2].inputs[&0][0].is_nan());
    }

    #[test]
    fn unreadable_rows_are_reported_with_line() {
        assert!(rows("t0.r\n1,2\n").unwrap_err().starts_with("line 2: 2 cells"));
        assert!(rows("t0.r\none\n").unwrap_err().starts_with("line 2: `one`"));
        assert!(rows("").is_err());
        let job = Job::default();
        let inline = |text| inline(text, Names::Fragment(&job)).unwrap_err();
        assert!(inline("t128=1").contains("t0 to t127"));
        assert!(inline("t0=1,2,3,4,5").contains("5 numbers for 4"));
        assert!(inline("t0.rg=1,2,3").contains("3 numbers for 2"));
        assert!(rows("[{\"t0\": null}]").unwrap_err().starts_with("row 0: `null`"));
        assert!(rows("{\"t0\": 1}\n{\"t0\": [[]]}").unwrap_err().starts_with("line 2: a list"));
        assert!(rows("{\"t0\": 1}\n\n{\"t0\": 1").unwrap_err().starts_with("line 3: EOF"));
        assert!(rows("[1").is_err());
        assert!(rows("[1] x").is_err());
    }
}
