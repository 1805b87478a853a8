//! `--reduce` of vertex programs.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use r500::equivalence::reduce::{ReducedVertices, VertexReduction};
use r500::equivalence::{VertexDifference, VertexSearch};
use r500::pvs::{Fill, GivenConstants, Program, Source, SrcType};
use serde_json::{Value as Json, json};

use super::reduce::{TIME, print_counts, print_programs};
use crate::command::exit::Outcome;
use crate::command::output_file::{create_folder, put};
use crate::command::{float_format, overwrite, terminal};

/// A reduced pair as text.
pub(super) struct VertexReport {
    /// Instructions of the programs before.
    before: [usize; 2],
    reduced: ReducedVertices,
    written: [String; 2],
    /// The files that were written.
    files: Vec<PathBuf>,
}

impl VertexReport {
    /// Reduces a pair and writes it to a folder, if one is given.
    pub(super) fn new(
        programs: [(&Program, &GivenConstants); 2],
        found: &VertexDifference,
        search: VertexSearch,
        folder: Option<&Path>,
        inputs: &[PathBuf],
    ) -> Outcome<Self> {
        let deadline = search.deadline.or_else(|| Instant::now().checked_add(TIME));
        let before = programs.map(|(program, _)| program.instructions().1.len());
        let bar = terminal::progress((before[0] + before[1]) as u64, "instructions removed");
        let progress = |now: [usize; 2], _: u64| {
            let left = (now[0] + now[1]) as u64;
            // NOPs for instructions with flow control are no more than there were.
            bar.set_position(bar.length().unwrap_or(left).saturating_sub(left));
        };
        let search = VertexSearch { deadline, ..search };
        let reduced = VertexReduction { search, progress: &progress }.run(programs, found);
        bar.finish_and_clear();
        let written = [0, 1].map(|side| text(&reduced, side));
        let mut files = Vec::new();
        if let Some(folder) = folder {
            create_folder(folder)?;
            files = ["A.vs.r5", "B.vs.r5"].map(|name| folder.join(name)).to_vec();
            overwrite::refuse(files.iter().map(PathBuf::as_path), inputs)?;
            for (path, text) in files.iter().zip(&written) {
                put(path, text.as_bytes())?;
            }
        }
        Ok(Self { before, reduced, written, files })
    }

    fn after(&self) -> [usize; 2] {
        self.reduced.programs.each_ref().map(|program| program.instructions().1.len())
    }

    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let ReducedVertices { runs, complete, .. } = self.reduced;
        print_counts(out, [self.before, self.after()], runs, complete)?;
        let VertexDifference { output, component, values, .. } = &self.reduced.difference;
        let letter = ["x", "y", "z", "w"][usize::from(*component)];
        writeln!(
            out,
            "out[{output}].{letter} is {} in A and {} in B",
            value(values[0]),
            value(values[1])
        )?;
        print_programs(out, self.written.each_ref().map(String::as_str), &self.files)
    }

    pub(super) fn json(&self) -> Json {
        let VertexDifference { output, component, .. } = &self.reduced.difference;
        let files: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
        json!({
            "instructions_before": self.before,
            "instructions": self.after(),
            "runs": self.reduced.runs,
            "complete": self.reduced.complete,
            "output": output,
            "component": component,
            "a": self.written[0],
            "b": self.written[1],
            "files": files,
        })
    }
}

/// Returns a program as text, with the inputs and constants that it reads.
fn text(reduced: &ReducedVertices, side: usize) -> String {
    let program = reduced.programs[side].clone();
    let found = &reduced.difference;
    let (mut constants, mut inputs) = (BTreeMap::new(), BTreeMap::new());
    for (kind, number) in registers_read(&program) {
        let given = reduced.given[side].get(&number).copied();
        let of = |vectors: &[[f32; 4]]| {
            vectors.get(usize::from(number)).map(|vector| vector.map(f32::to_bits))
        };
        match kind {
            SrcType::INPUT => inputs.extend(of(&found.inputs).map(|bits| (number, bits))),
            SrcType::CONSTANT => {
                constants.extend(given.or_else(|| of(&found.constants)).map(|bits| (number, bits)));
            }
            _ => {}
        }
    }
    let source = Source {
        program,
        name: None,
        constants,
        inputs,
        expectations: Vec::new(),
        fill: Fill::Unused,
        spans: Vec::new(),
    };
    source.to_string()
}

/// Returns the registers that instructions name as sources, by kind and number.
pub(super) fn registers_read(program: &Program) -> impl Iterator<Item = (SrcType, u8)> {
    let sources = program.instructions().1.iter().flat_map(|inst| inst.read_sources());
    sources.flatten().map(|source| (source.reg_type(), source.offset()))
}

/// Returns a number, with its bits where the decimal does not say them.
pub(super) fn value(x: f32) -> String {
    match x == 0.0 && x.is_sign_positive() || x.abs() >= 1e-4 && x.abs() < 1e7 {
        true => float_format::text(x),
        false => float_format::bits(x),
    }
}
