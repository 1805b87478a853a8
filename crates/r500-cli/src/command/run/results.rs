//! Output of row results: streamed if the format permits, else buffered until the last row.

use std::fmt::Write as _;
use std::io::Write;

use r500::exec::RuntimeWarnings;

use super::{RowFormat, Run};
use crate::command::exit::Outcome;
use crate::command::output_file::OutputFile;
use crate::command::{engine_args, float_format, terminal};

const TARGETS: [&str; 4] = ["A", "B", "C", "D"];
/// Bytes of text that are written at once.
const BLOCK: usize = 1 << 16;

/// What each row has.
pub(super) struct Columns {
    /// Whether rows may be uncovered.
    coverage: bool,
    /// Names of vectors, and letters of their components.
    vectors: Vec<(String, &'static str)>,
    depth: bool,
}

impl Columns {
    /// The colours of targets.
    pub(super) fn of_pixels(targets: &[usize], depth: bool) -> Self {
        let vectors = targets.iter().map(|&target| (TARGETS[target].to_owned(), "rgba"));
        Self { coverage: true, vectors: vectors.collect(), depth }
    }

    /// The outputs of vertices.
    pub(super) fn of_vertices(outputs: &[usize]) -> Self {
        let vectors = outputs.iter().map(|output| (format!("out[{output}]"), "xyzw"));
        Self { coverage: false, vectors: vectors.collect(), depth: false }
    }
}

/// The output of results.
pub(super) struct Results<'r> {
    run: &'r Run,
    columns: Columns,
    rows: usize,
    /// Results that are buffered until the last row.
    kept: Kept,
    /// Text that is not written yet.
    text: String,
    /// The output, opened on the first write, and its file, if it is not stdout.
    to: Option<(Box<dyn Write>, Option<OutputFile>)>,
}

/// Buffered results.
#[derive(Default)]
struct Kept {
    covered: Vec<bool>,
    /// One for each column and row.
    vectors: Vec<[f32; 4]>,
    depth: Vec<f32>,
}

impl<'r> Results<'r> {
    pub(super) fn new(run: &'r Run, columns: Columns) -> Self {
        let mut results =
            Self { run, columns, rows: 0, kept: Kept::default(), text: String::new(), to: None };
        match run.format {
            RowFormat::Csv => results.text = results.names().join(",") + "\n",
            RowFormat::Json => results.text.push_str("{\n  \"rows\": ["),
            RowFormat::Text | RowFormat::JsonLines => {}
        }
        results
    }

    /// Adds the result of the next row: a vector for each column.
    pub(super) fn add(
        &mut self,
        covered: Option<bool>,
        vectors: impl Iterator<Item = [f32; 4]>,
        depth: Option<f32>,
    ) -> Outcome<()> {
        let (text, row, bits) = (&mut self.text, self.rows, self.run.bits);
        self.rows += 1;
        match self.run.format {
            RowFormat::Text => {
                self.kept.covered.extend(covered);
                self.kept.vectors.extend(vectors);
                self.kept.depth.extend(depth);
                return Ok(());
            }
            RowFormat::Csv => {
                // Writing to a string cannot fail, here and below.
                let _ = write!(text, "{row}");
                if let Some(covered) = covered {
                    text.push_str(if covered { ",yes" } else { ",no" });
                }
                for value in vectors.flatten().chain(depth) {
                    text.push(',');
                    push_number(text, value, bits);
                }
                text.push('\n');
            }
            RowFormat::Json | RowFormat::JsonLines => {
                let mut comma = "";
                if self.run.format == RowFormat::JsonLines {
                    let _ = write!(text, "{{\"row\":{row}");
                    comma = ",";
                } else {
                    let _ = write!(text, "{}{{", separator(row));
                }
                if let Some(covered) = covered {
                    let _ = write!(text, "{comma}\"covered\":{covered}");
                    comma = ",";
                }
                for ((name, _), vector) in self.columns.vectors.iter().zip(vectors) {
                    let _ = write!(text, "{comma}\"{name}\":");
                    comma = ",";
                    for (value, before) in vector.into_iter().zip(["[", ",", ",", ","]) {
                        text.push_str(before);
                        push_json(text, value, bits);
                    }
                    text.push(']');
                }
                if let Some(depth) = depth {
                    text.push_str(",\"depth\":");
                    push_json(text, depth, bits);
                }
                text.push('}');
                if self.run.format == RowFormat::JsonLines {
                    text.push('\n');
                }
            }
        }
        if self.text.len() >= BLOCK { self.write() } else { Ok(()) }
    }

    /// Writes the remaining results.
    pub(super) fn finish(mut self, findings: &RuntimeWarnings) -> Outcome<()> {
        match self.run.format {
            RowFormat::Csv | RowFormat::JsonLines => {}
            RowFormat::Text => self.table()?,
            RowFormat::Json => self.end_document(findings),
        }
        self.write()?;
        let Some((mut to, file)) = self.to else { return Ok(()) };
        to.flush()?;
        file.map_or(Ok(()), OutputFile::commit)
    }

    /// Appends the part of a JSON document after the rows.
    fn end_document(&mut self, findings: &RuntimeWarnings) {
        let findings = engine_args::findings_json(findings);
        let findings = findings.as_array().map_or(&[][..], Vec::as_slice);
        let text = &mut self.text;
        text.push_str(list_end(self.rows));
        text.push_str(",\n  \"findings\": [");
        for (n, finding) in findings.iter().enumerate() {
            let _ = write!(text, "{}{finding}", separator(n));
        }
        text.push_str(list_end(findings.len()));
        text.push_str(",\n  \"version\": 1\n}\n");
    }

    fn write(&mut self) -> Outcome<()> {
        let (to, _) = match &mut self.to {
            Some(to) => to,
            none => none.insert(open(self.run)?),
        };
        to.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }

    /// Returns the column names.
    fn names(&self) -> Vec<String> {
        let mut names = vec!["row".to_owned()];
        if self.columns.coverage {
            names.push("covered".to_owned());
        }
        for (name, letters) in &self.columns.vectors {
            names.extend(letters.chars().map(|c| format!("{name}.{c}")));
        }
        if self.columns.depth {
            names.push("depth".to_owned());
        }
        names
    }

    /// Returns the cells of a buffered row.
    fn cells(&self, row: usize) -> Vec<String> {
        let number = |value| {
            let mut text = String::new();
            push_number(&mut text, value, self.run.bits);
            text
        };
        let mut cells = vec![row.to_string()];
        let covered = self.kept.covered.get(row);
        cells.extend(covered.map(|covered| if *covered { "yes" } else { "no" }.to_owned()));
        cells.extend(self.vectors(row).as_flattened().iter().map(|&value| number(value)));
        cells.extend(self.kept.depth.get(row).map(|&value| number(value)));
        cells
    }

    fn vectors(&self, row: usize) -> &[[f32; 4]] {
        let columns = self.columns.vectors.len();
        &self.kept.vectors[row * columns..(row + 1) * columns]
    }

    /// Prints a table with columns as wide as their widest cell. Cells are formatted twice instead of being stored.
    fn table(&mut self) -> Outcome<()> {
        let names = self.names();
        let mut widths: Vec<usize> = names.iter().map(String::len).collect();
        for row in 0..self.rows {
            for (width, cell) in widths.iter_mut().zip(self.cells(row)) {
                *width = (*width).max(cell.len());
            }
        }
        for row in 0..=self.rows {
            let cells = row.checked_sub(1).map_or_else(|| names.clone(), |row| self.cells(row));
            for (n, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                let gap = if n == 0 { "" } else { "  " };
                let _ = write!(self.text, "{gap}{cell:>width$}");
            }
            self.text.push('\n');
            if self.text.len() >= BLOCK {
                self.write()?;
            }
        }
        Ok(())
    }
}

fn open(run: &Run) -> Outcome<(Box<dyn Write>, Option<OutputFile>)> {
    let Some(path) = &run.output else { return Ok((Box::new(terminal::out()), None)) };
    let file = OutputFile::create(path)?;
    Ok((Box::new(file.writer()), Some(file)))
}

fn push_number(text: &mut String, value: f32, bits: bool) {
    if bits {
        text.push_str(&float_format::bits(value));
    } else {
        float_format::push(text, value);
    }
}

/// Returns the separator before element `n` of a list in a JSON document, which has one element a line.
fn separator(n: usize) -> &'static str {
    if n == 0 { "\n    " } else { ",\n    " }
}

/// Returns the end of a list of `elements`.
fn list_end(elements: usize) -> &'static str {
    if elements == 0 { "]" } else { "\n  ]" }
}

/// Appends a number in JSON; non-finite numbers and bits are strings. Numbers have a point or an exponent, because
/// readers with integers drop the sign of `-0`.
fn push_json(text: &mut String, value: f32, bits: bool) {
    match value {
        _ if bits => {
            let _ = write!(text, "\"{}\"", float_format::bits(value));
        }
        _ if value.is_nan() => text.push_str("\"nan\""),
        _ if value.is_infinite() => {
            text.push_str(if value > 0.0 { "\"inf\"" } else { "\"-inf\"" });
        }
        _ => {
            let _ = write!(text, "{value:?}");
        }
    }
}
