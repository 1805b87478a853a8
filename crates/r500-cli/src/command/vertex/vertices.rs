//! Vertices of a program: constants, inputs and limits of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use r500::exec::Limits;
use r500::fast::VertexEngine;
use r500::pvs::{Addressing, INPUTS, OUTPUTS, Program, SrcType};
use r500::row_text::{Names, Row, inline};
use r500::vertex_rows::{VertexRows, VertexRowsError};

use super::VertexFile;
use crate::command::exit::{Failure, Outcome};
use crate::command::float_format;
use crate::command::terminal;

/// Receives the outputs of vertices, in order.
type Receiver<'a> = &'a mut dyn FnMut(&[[f32; 4]; OUTPUTS]) -> Outcome<()>;

/// What ends a run.
enum Stop {
    Failure(Failure),
    Limit(VertexRowsError),
}

impl From<VertexRowsError> for Stop {
    fn from(limit: VertexRowsError) -> Self {
        Self::Limit(limit)
    }
}

/// Returns the failure of a run that exceeds a limit.
fn exceeded(limit: VertexRowsError) -> Failure {
    let switch = match limit {
        VertexRowsError::Instructions(_) => "--limit-instructions",
        VertexRowsError::Time => "--limit-time",
    };
    Failure::could_not(anyhow::anyhow!("{limit}; see {switch}"))
}

/// A vertex program with the constants and inputs of its file and command line.
pub(in crate::command) struct Vertices {
    rows: VertexRows,
    program: Program,
    /// Inputs of vertices that wait for the others of their batch.
    waiting: Vec<[[f32; 4]; INPUTS]>,
    constants: BTreeMap<usize, [u32; 4]>,
    inputs: BTreeMap<u8, [u32; 4]>,
    /// Constants of the last row.
    row_constants: BTreeMap<(usize, usize), u32>,
    /// Whether missing values are reported already.
    reported: bool,
}

impl VertexFile {
    /// Returns the constants of the text and of the command line, as bits.
    pub(super) fn constants_with(
        &self,
        constants: &[String],
    ) -> Outcome<BTreeMap<usize, [u32; 4]>> {
        let given = self.source.constants.iter();
        let mut all = given.map(|(number, bits)| (usize::from(*number), *bits)).collect();
        for text in constants {
            let wrong = |message| Failure::usage(format!("--const: {message}"));
            let row = inline(text, Names::Vertex).map_err(wrong)?;
            if !row.inputs.is_empty() {
                return Err(Failure::usage(format!("--const: `{text}` is not a constant")));
            }
            set(&mut all, &row.constants);
        }
        Ok(all)
    }

    /// Prepares the program for vertices on an engine, or on the interpreter. `constants` are those of the command line.
    pub(in crate::command) fn vertices(
        &self,
        constants: &[String],
        engine: Option<&dyn VertexEngine>,
        limits: Limits,
    ) -> Outcome<Vertices> {
        self.sound()?;
        let all = self.constants_with(constants)?;
        let program = self.source.program.clone();
        let mut rows = VertexRows::new(&program, engine, limits);
        rows.set_constants(&program.constant_memory(&all));
        Ok(Vertices {
            rows,
            program,
            waiting: Vec::new(),
            constants: all,
            inputs: self.source.inputs.clone(),
            row_constants: BTreeMap::new(),
            reported: false,
        })
    }
}

impl VertexFile {
    /// Returns how many vertices the text expects something of.
    pub(in crate::command) fn expectations(&self) -> usize {
        self.source.expectations.len()
    }

    /// Runs the program for vertex `n` of those that the text expects something of, and returns what is not as expected.
    pub(in crate::command) fn judge(&self, n: usize, limits: Limits) -> Outcome<Vec<String>> {
        let expectation = &self.source.expectations[n];
        let channels = |(number, bits): (&u8, &[u32; 4])| {
            let number = usize::from(*number);
            let bits = *bits;
            (0..4).map(move |channel| ((number, channel), bits[channel]))
        };
        let row = Row {
            inputs: expectation
                .inputs
                .iter()
                .map(|(number, bits)| (*number, bits.map(f32::from_bits)))
                .collect(),
            constants: expectation.constants.iter().flat_map(channels).collect(),
        };
        let mut vertices = self.vertices(&[], None, limits)?;
        // A test runs among others: what it lacks reads 0, as the text says.
        vertices.reported = true;
        let mut outputs = [[0.0; 4]; OUTPUTS];
        let mut keep = |found: &[[f32; 4]; OUTPUTS]| {
            outputs = *found;
            Ok(())
        };
        vertices.add(&row, &mut keep)?;
        vertices.finish(&mut keep)?;
        let mut wrong = Vec::new();
        for (output, wanted) in &expectation.outputs {
            let found = outputs[usize::from(*output)];
            for ((letter, found), wanted) in "xyzw".chars().zip(found).zip(wanted) {
                let Some(wanted) = wanted else { continue };
                if !wanted.admits(found, expectation.tolerance) {
                    let value = f32::from_bits(wanted.bits);
                    let (value, found) = match wanted.exact {
                        true => (float_format::bits(value), float_format::bits(found)),
                        false => (float_format::text(value), float_format::text(found)),
                    };
                    wrong.push(format!(
                        "line {}: out[{output}].{letter} is {found}, not {value}",
                        self.lines().position(expectation.span.start).0
                    ));
                }
            }
        }
        Ok(wrong)
    }
}

impl Vertices {
    /// Adds the vertex of a row, and passes the outputs of a batch to `result` when it is complete.
    pub(in crate::command) fn add(&mut self, row: &Row, result: Receiver<'_>) -> Outcome<()> {
        if !self.reported {
            self.reported = true;
            self.warn_missing(row);
        }
        if row.constants != self.row_constants {
            self.finish(result)?;
            let mut constants = self.constants.clone();
            set(&mut constants, &row.constants);
            self.rows.set_constants(&self.program.constant_memory(&constants));
            self.row_constants.clone_from(&row.constants);
        }
        self.waiting.push(inputs(&self.inputs, [0.0; 4], row));
        match self.waiting.len() >= self.rows.batch_size() {
            true => self.finish(result),
            false => Ok(()),
        }
    }

    /// Passes the outputs of the vertices that wait to `result`.
    pub(in crate::command) fn finish(&mut self, result: Receiver<'_>) -> Outcome<()> {
        let ran = self.rows.run(&self.waiting, |outputs| result(outputs).map_err(Stop::Failure));
        self.waiting.clear();
        ran.map_err(|stop| match stop {
            Stop::Failure(failure) => failure,
            Stop::Limit(limit) => exceeded(limit),
        })
    }

    /// Returns why the interpreter runs the program although an engine was given.
    pub(in crate::command) fn declined(&self) -> Option<&str> {
        self.rows.declined()
    }

    /// Warns of registers that the program reads and that have no value.
    fn warn_missing(&self, row: &Row) {
        if let Some(missing) = missing(&self.program, &self.constants, &self.inputs, row) {
            terminal::warn(&missing);
        }
    }
}

/// Returns the inputs of a vertex: those of its row, else those of all vertices, else the same for all others.
pub(super) fn inputs(
    all: &BTreeMap<u8, [u32; 4]>,
    others: [f32; 4],
    row: &Row,
) -> [[f32; 4]; INPUTS] {
    let mut inputs = [others; INPUTS];
    for (number, bits) in all {
        inputs[usize::from(*number)] = bits.map(f32::from_bits);
    }
    for (number, value) in &row.inputs {
        inputs[usize::from(*number)] = *value;
    }
    inputs
}

/// Returns which registers a program reads that neither all vertices nor a row give; `None` if there are none.
pub(super) fn missing(
    program: &Program,
    constants: &BTreeMap<usize, [u32; 4]>,
    inputs: &BTreeMap<u8, [u32; 4]>,
    row: &Row,
) -> Option<String> {
    let mut missing = BTreeSet::new();
    for inst in program.instructions().1 {
        for src in inst.read_sources().into_iter().flatten() {
            let reads = src.swizzle().iter().any(|select| select.code() < 4);
            if !reads || src.addressing() != Addressing::Absolute {
                continue;
            }
            let number = src.offset();
            let (name, given) = match src.reg_type() {
                SrcType::CONSTANT => {
                    let wanted = usize::from(number);
                    let given = row.constants.keys().any(|(n, _)| *n == wanted);
                    ("const", given || constants.contains_key(&wanted))
                }
                SrcType::INPUT => {
                    let given = row.inputs.contains_key(&number);
                    ("input", given || inputs.contains_key(&number))
                }
                _ => continue,
            };
            if !given {
                missing.insert((name, number));
            }
        }
    }
    if missing.is_empty() {
        return None;
    }
    let names: Vec<String> =
        missing.iter().map(|(name, number)| format!("{name}[{number}]")).collect();
    Some(format!(
        "read and not provided: {}; what is missing reads as 0 (--const, --input and `const[0] = (…) ;` in the text provide it)",
        names.join(", ")
    ))
}

/// Adds channels of constants.
pub(super) fn set(
    constants: &mut BTreeMap<usize, [u32; 4]>,
    channels: &BTreeMap<(usize, usize), u32>,
) {
    for (&(number, channel), &bits) in channels {
        constants.entry(number).or_default()[channel] = bits;
    }
}

/// The limits of a run.
pub(in crate::command) struct Limit {
    instructions: u64,
    deadline: Option<Instant>,
    executed: u64,
}

impl Limit {
    /// Begins the run of vertices.
    pub(in crate::command) fn of(limits: Limits) -> Self {
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        Self { instructions: limits.instructions, deadline, executed: 0 }
    }

    /// Counts an instruction of a vertex.
    pub(in crate::command) fn instruction(&mut self) -> Outcome<()> {
        self.executed += 1;
        if self.executed > self.instructions {
            return Err(exceeded(VertexRowsError::Instructions(self.instructions)));
        }
        let late =
            self.executed % 1024 == 1 && self.deadline.is_some_and(|end| Instant::now() > end);
        if late {
            return Err(exceeded(VertexRowsError::Time));
        }
        Ok(())
    }
}
