//! Vertices that a command inspects one by one: those of rows, or of a draw.

use std::collections::{BTreeMap, BTreeSet};

use r500::exec::Limits;
use r500::pvs::{Addressing, CONSTANTS, Program, SrcType};
use r500::row_text::{Names, Row};
use r500::vertex_run::{self, VertexSetup};
use r500_card::DrawInputs;

use super::VertexFile;
use super::vertices::{inputs, missing, set};
use crate::command::exit::{Failure, Outcome};
use crate::command::glsl;
use crate::command::rows;
use crate::command::source_map::SourceMap;

/// A vertex program with all that its vertices read.
pub(in crate::command) struct VertexSet {
    name: String,
    map: SourceMap,
    program: Program,
    /// Constants of all vertices, as bits.
    constants: BTreeMap<usize, [u32; 4]>,
    /// Inputs that all vertices have unless their row gives others, as bits.
    inputs: BTreeMap<u8, [u32; 4]>,
    /// What all other inputs read.
    other_inputs: [f32; 4],
    /// What inputs are called.
    attributes: Vec<(u8, String)>,
    /// The vertices that are kept, by number.
    rows: BTreeMap<u64, Row>,
    /// How many there are.
    count: u64,
}

/// Which rows a command keeps.
#[derive(Clone, Copy, Debug)]
pub(in crate::command) enum Keep {
    /// One.
    Only(u64),
    /// One, and the first [`MOST`].
    AlsoOthers(u64),
}

/// Limit of the vertices that are kept.
const MOST: u64 = 1 << 20;

impl Keep {
    fn keeps(self, n: u64) -> bool {
        match self {
            Self::Only(wanted) => n == wanted,
            Self::AlsoOthers(wanted) => n == wanted || n < MOST,
        }
    }
}

impl VertexFile {
    /// Reads the vertices of `--input` and the constants of `--const`; without input, there is one vertex.
    pub(in crate::command) fn set(
        &self,
        input: &[String],
        constants: &[String],
        keep: Keep,
    ) -> Outcome<VertexSet> {
        let (mut rows, mut count) = (BTreeMap::new(), 0u64);
        rows::all(input, Names::Vertex, &mut |row| {
            if keep.keeps(count) {
                rows.insert(count, row);
            }
            count += 1;
            Ok(())
        })?;
        let (map, attributes) = self.source_map();
        Ok(VertexSet {
            name: self.name().to_owned(),
            map,
            program: self.program().clone(),
            constants: self.constants_with(constants)?,
            inputs: self.source.inputs.clone(),
            other_inputs: [0.0; 4],
            attributes,
            rows,
            count,
        })
    }

    /// Returns the lines of the program's text, of the shader that it was compiled from, or else of its listing; with the names of inputs.
    fn source_map(&self) -> (SourceMap, Vec<(u8, String)>) {
        let first = offset(self.program());
        if let Some(lines) = glsl::lines(self.path()) {
            let glsl::Lines { text, spans, uniforms, attributes, compiled } = lines;
            let map = SourceMap::of_shader(&text, &spans, self.path(), first);
            return (map.with_names(uniforms).with_variables(compiled), attributes);
        }
        let map = match &self.text {
            Some(text) => SourceMap::of_spans(text, &self.source.spans, self.path(), first),
            None => listing(self.program()),
        };
        (map, Vec::new())
    }
}

impl VertexSet {
    /// Makes the set of a draw, whose vertices are numbered in the order in which the draw uses them.
    ///
    /// # Errors
    /// If the draw has no vertex program.
    pub(in crate::command) fn of_draw(name: String, draw: &DrawInputs) -> Outcome<Self> {
        let program = draw.state.vertex_program().ok_or_else(|| {
            Failure::input(anyhow::anyhow!(
                "{name} has no vertex program: its vertices are what one would write"
            ))
        })?;
        let memory = draw.state.pvs.constants();
        let base = usize::from(program.controls().constants.pvs_const_base_offset());
        let read_constants = constants_read_by(&program);
        let constants = (0..CONSTANTS).filter_map(|n| {
            let bits = *memory.get(base + n)?;
            read_constants
                .as_ref()
                .map_or(bits != [0; 4], |read| read.contains(&n))
                .then_some((n, bits))
        });
        let size = draw.inputs.len();
        let row = |place: &u32| {
            let first = *place as usize * size;
            let values = draw.vertices.get(first..first + size).unwrap_or_default();
            let inputs = draw.inputs.iter().copied().zip(values.iter().copied());
            Row { inputs: inputs.collect(), constants: BTreeMap::new() }
        };
        // Vectors without an element are (0, 0, 0, 1), as the card fetches them.
        let other_inputs = [0.0f32, 0.0, 0.0, 1.0];
        let read = inputs_read_by(&program).into_iter();
        Ok(Self {
            name,
            map: listing(&program),
            constants: constants.collect(),
            inputs: read.map(|n| (n, other_inputs.map(f32::to_bits))).collect(),
            other_inputs,
            attributes: Vec::new(),
            rows: (0..).zip(draw.order.iter().map(row)).collect(),
            count: draw.order.len() as u64,
            program,
        })
    }

    /// Returns the name of the program.
    pub(in crate::command) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the lines of the program.
    pub(in crate::command) fn map(&self) -> &SourceMap {
        &self.map
    }

    /// Returns the lines of the shader, if the program was compiled from one.
    pub(in crate::command) fn shader(&self) -> Option<&SourceMap> {
        Some(&self.map).filter(|map| map.is_shader)
    }

    /// Returns the program.
    pub(in crate::command) fn program(&self) -> &Program {
        &self.program
    }

    /// Returns how many vertices there are.
    pub(in crate::command) fn count(&self) -> u64 {
        self.count
    }

    /// Returns what an input is called; empty if that is not known.
    pub(in crate::command) fn attribute(&self, input: u8) -> &str {
        let named = self.attributes.iter().find(|(number, _)| *number == input);
        named.map_or("", |(_, name)| name)
    }

    /// Returns a vertex with all that it reads.
    ///
    /// # Errors
    /// Which vertices there are, if there is no such vertex.
    pub(in crate::command) fn setup(&self, n: u64, limits: Limits) -> Result<VertexSetup, String> {
        let row = self.row(n)?;
        Ok(VertexSetup {
            program: self.program.clone(),
            constants: self.program.constant_memory(&self.constants_of(row)),
            inputs: inputs(&self.inputs, self.other_inputs, row),
            limits,
        })
    }

    /// Returns the inputs of a vertex that have a value: those of its row, and others that the text gives; of a draw, those that the program
    /// reads, too.
    pub(in crate::command) fn given_inputs(&self, n: u64) -> BTreeSet<u8> {
        let row = self.row(n).ok().into_iter().flat_map(|row| row.inputs.keys());
        row.chain(self.inputs.keys()).copied().collect()
    }

    /// Returns the constants of a vertex that have a value, by number.
    pub(in crate::command) fn given_constants(&self, n: u64) -> Vec<usize> {
        let constants = self.row(n).map(|row| self.constants_of(row));
        constants.map(|all| all.into_keys().collect()).unwrap_or_default()
    }

    /// Returns which registers the program reads that have no value; `None` if all have one.
    pub(in crate::command) fn missing(&self, n: u64) -> Option<String> {
        missing(&self.program, &self.constants, &self.inputs, self.row(n).ok()?)
    }

    fn row(&self, n: u64) -> Result<&Row, String> {
        self.rows.get(&n).ok_or_else(|| match self.count {
            0 => "there are no vertices".to_owned(),
            1 => "there is one vertex, 0".to_owned(),
            count if n < count => format!(
                "only the first {MOST} of {count} vertices are kept, and the one that --vertex names"
            ),
            count => format!("there are vertices 0 to {}", count - 1),
        })
    }

    fn constants_of(&self, row: &Row) -> BTreeMap<usize, [u32; 4]> {
        let mut constants = self.constants.clone();
        set(&mut constants, &row.constants);
        constants
    }
}

/// Returns the address of the first instruction.
fn offset(program: &Program) -> u32 {
    vertex_run::address(program.instructions().0)
}

fn listing(program: &Program) -> SourceMap {
    let lines = program.instructions().1.iter().map(ToString::to_string);
    SourceMap::of_listing(lines.collect(), offset(program))
}

/// Returns the constants that a program reads; `None` if it reads relative to an address.
fn constants_read_by(program: &Program) -> Option<BTreeSet<usize>> {
    let sources = program.instructions().1.iter().flat_map(|inst| inst.read_sources());
    let mut read = BTreeSet::new();
    for source in sources.flatten().filter(|source| source.reg_type() == SrcType::CONSTANT) {
        if source.addressing() != Addressing::Absolute {
            return None;
        }
        read.insert(usize::from(source.offset()));
    }
    Some(read)
}

/// Returns the inputs that a program reads, by the numbers in its instructions.
fn inputs_read_by(program: &Program) -> BTreeSet<u8> {
    let sources = program.instructions().1.iter().flat_map(|inst| inst.read_sources());
    let inputs = sources.flatten().filter(|source| source.reg_type() == SrcType::INPUT);
    inputs.map(|source| source.offset()).collect()
}
