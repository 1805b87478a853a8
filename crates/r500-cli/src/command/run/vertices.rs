//! `r500 run` of vertex programs: each row is a vertex.

use super::Run;
use super::results::{Columns, Results};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::rows;
use crate::command::terminal;
use crate::command::vertex::VertexFile;
use r500::pvs::OUTPUTS;
use r500::row_text::Names;

impl Run {
    /// Runs a vertex program for all rows.
    pub(super) fn run_vertices(&self, file: &VertexFile) -> Outcome {
        file.sound()?;
        self.refuse_for_vertices()?;
        self.refuse_inputs()?;
        let limits = self.machine.options()?.limits;
        let engine = self.machine.rows_engine();
        let mut vertices = file.vertices(&self.state.constants, engine.as_deref(), limits)?;
        if let Some(why) = vertices.declined() {
            terminal::note(&format!("the interpreter runs the vertices: {why}"));
        }
        let outputs = file.program().written_outputs();
        let mut results = Results::new(self, Columns::of_vertices(&outputs));
        let mut add = |vertex: &[[f32; 4]; OUTPUTS]| {
            results.add(None, outputs.iter().map(|&output| vertex[output]), None)
        };
        rows::all(&self.input, Names::Vertex, &mut |row| vertices.add(&row, &mut add))?;
        vertices.finish(&mut add)?;
        results.finish(&Default::default())?;
        Ok(Status::Fine)
    }

    /// Refuses options without a meaning for vertices.
    fn refuse_for_vertices(&self) -> Outcome<()> {
        let given = [
            ("--quads", self.quads),
            ("--findings", self.findings),
            ("--dump-ir", self.dump_ir),
            ("--dump-asm", self.dump_asm),
        ];
        let given = given.iter().find(|(_, given)| *given).map(|(name, _)| *name);
        match given.or_else(|| self.state_args().given_for_fragments()) {
            Some(name) => Err(Failure::usage(format!("{name} is for fragment programs"))),
            None => Ok(()),
        }
    }
}
