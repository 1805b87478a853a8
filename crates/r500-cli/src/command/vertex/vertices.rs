//! Vertices of a program: constants, inputs and limits of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use r500::exec::Limits;
use r500::pvs::{Addressing, Execution, INPUTS, Interpreter, Program, SrcType};

use super::VertexFile;
use crate::command::engine_args::EngineArgs;
use crate::command::exit::{Failure, Outcome};
use crate::command::float_format;
use crate::command::rows::{Names, Row, inline};
use crate::command::terminal;

/// A vertex program with the constants and inputs of its file and command line.
pub(in crate::command) struct Vertices {
    interpreter: Interpreter,
    program: Program,
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

    /// Prepares the program for vertices. `constants` are those of the command line.
    pub(in crate::command) fn vertices(&self, constants: &[String]) -> Outcome<Vertices> {
        self.sound()?;
        let all = self.constants_with(constants)?;
        let program = self.source.program.clone();
        Ok(Vertices {
            interpreter: Interpreter::new(&program, &program.constant_memory(&all)),
            program,
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
        let mut vertices = self.vertices(&[])?;
        // A test runs among others: what it lacks reads 0, as the text says.
        vertices.reported = true;
        let mut execution = vertices.start(&row);
        let mut limit = Limit::of(limits);
        while execution.address().is_some() {
            limit.instruction()?;
            execution.step();
        }
        let mut wrong = Vec::new();
        for (output, wanted) in &expectation.outputs {
            let found = execution.outputs()[usize::from(*output)];
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
    /// Begins the program for the vertex of a row.
    pub(in crate::command) fn start(&mut self, row: &Row) -> Execution<'_> {
        if !self.reported {
            self.reported = true;
            self.warn_missing(row);
        }
        if row.constants != self.row_constants {
            let mut constants = self.constants.clone();
            set(&mut constants, &row.constants);
            self.interpreter.set_constants(&self.program.constant_memory(&constants));
            self.row_constants.clone_from(&row.constants);
        }
        self.interpreter.start(&inputs(&self.inputs, [0.0; 4], row))
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
    pub(in crate::command) fn new(machine: &EngineArgs) -> Outcome<Self> {
        Ok(Self::of(machine.options()?.limits))
    }

    /// Begins the run of vertices.
    pub(in crate::command) fn of(limits: Limits) -> Self {
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        Self { instructions: limits.instructions, deadline, executed: 0 }
    }

    /// Begins another vertex.
    pub(in crate::command) fn vertex(&mut self) {
        self.executed = 0;
    }

    /// Counts an instruction of a vertex.
    pub(in crate::command) fn instruction(&mut self) -> Outcome<()> {
        self.executed += 1;
        if self.executed > self.instructions {
            return Err(Failure::could_not(anyhow::anyhow!(
                "a vertex executes more than {} instructions; see --limit-instructions",
                self.instructions
            )));
        }
        let late =
            self.executed % 1024 == 1 && self.deadline.is_some_and(|end| Instant::now() > end);
        if late {
            return Err(Failure::could_not(anyhow::anyhow!("the time is up; see --limit-time")));
        }
        Ok(())
    }
}
