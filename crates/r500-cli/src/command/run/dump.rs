//! `--dump-ir` and `--dump-asm`: the IR and machine code of a program.

use std::fmt::Write as _;
use std::io::Write as _;

use r500::check::ExternalReads;
use r500::exec::{Bindings, Draw, Shader};
use r500::fast::codegen::ResourceLayout;
use r500::jit::{Effort, listing};
use r500::lift::{LiftInput, lift};
use r500::program::Job;

use super::batch::{check_quad_constants, check_quads_full, side_by_side};
use super::{Row, Run};
use crate::command::exit::{Failure, Outcome, Status};
use crate::command::output_file::put;
use crate::command::{engine_args, terminal};

impl Run {
    /// Prints the IR or machine code of the program, for the first row and those with the same constants; without rows,
    /// for inputs of any values.
    pub(super) fn dump(&self, shader: &Shader, job: &Job, rows: &[Row]) -> Outcome {
        let any_inputs;
        let rows = if self.input.is_empty() {
            // Undefined inputs would be 0 in every pixel, and folded.
            let inputs = ExternalReads::of(&job.program).inputs;
            let inputs = inputs.into_keys().map(|temp| (temp, [0.0; 4])).collect();
            any_inputs = vec![Row { inputs, ..Row::default() }; if self.quads { 4 } else { 1 }];
            &any_inputs
        } else {
            rows
        };
        if self.quads {
            check_quads_full(rows.len())?;
            check_quad_constants(rows, 0)?;
        }
        let first = rows.first().map(|row| &row.constants);
        let rows = rows.iter().take_while(|row| Some(&row.constants) == first).cloned();
        let (job, width) = side_by_side(job, &rows.collect::<Vec<_>>(), self.quads);
        let bindings = Bindings::new(&job, [width, 2]).map_err(engine_args::not_bound)?;
        let options = self.machine.options()?;
        let draw = Draw::new(shader, &bindings, &options).map_err(engine_args::not_run)?;
        let function =
            LiftInput::of_draw(&draw).and_then(|input| lift(&input)).map_err(|reason| {
                Failure::could_not(anyhow::anyhow!("the reference engine draws it: {reason}"))
            })?;
        let mut describe = |address: u32| {
            let instruction = shader.instruction(address)?;
            // Joined into one line.
            let text = r500::asm::print_instruction(instruction);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            Some(format!("{address}: {text}"))
        };
        let mut text = String::new();
        if self.dump_ir {
            text = function.listing(&mut describe);
        }
        if self.dump_asm {
            let simd = self.machine.simd();
            let sources = ResourceLayout::of(&function, &bindings, &options.readings.texture());
            let code = listing(&function, &sources, simd, Effort::Full, &mut describe);
            let code = code.map_err(|reason| {
                Failure::could_not(anyhow::anyhow!(
                    "no machine code with {}: {reason}",
                    simd.name()
                ))
            })?;
            let _ = write!(text, "{}{code}", if self.dump_ir { "\n" } else { "" });
        }
        match &self.output {
            Some(path) => put(path, text.as_bytes())?,
            None => terminal::out().write_all(text.as_bytes())?,
        }
        Ok(Status::Fine)
    }
}
