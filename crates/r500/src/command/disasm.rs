//! `r500 disasm`: a program as assembly.

use std::io::Write;

use clap::{Args, ValueEnum};
use r500::reader::Language;
use serde_json::json;

use super::convert::OutputArgs;
use super::exit::{Outcome, Status};
use super::source::{self, SourceArgs};

/// Read a program as assembly.
///
/// Any dwords print to text that assembles back to the same dwords; encodings that compilers emit in
/// their readable, structured form. What travels with the program (constants, inputs, textures,
/// formats) prints as directives, so that the text draws the same picture; larger textures become
/// files beside the output.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Disasm {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Add addresses, dwords and jump targets as comments
    #[arg(short, long)]
    annotate: bool,
    /// Only the instructions, no directives
    #[arg(long)]
    code_only: bool,
    /// How to answer: assembly, or an object for each instruction
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

const AFTER: &str = "\
Examples:
  r500 disasm capture.json
  r500 disasm program.bin --annotate
  r500 disasm capture.json -o program.r5         textures as files beside it
  r500 disasm program.bin --format json

Exit status: 0 written, 1 the input has errors, 2 wrong usage, 3 a file cannot be read or written.";

impl Disasm {
    /// Disassembles.
    pub(super) fn run(self) -> Outcome {
        let Some(job) = self.source.read()? else { return source::LISTED };
        if self.format == Format::Json {
            let code = job.program.code.iter().enumerate();
            let instructions: Vec<_> = code
                .map(|(address, &instruction)| {
                    let dwords = instruction.0.map(|dword| format!("{dword:08x}"));
                    let text = r500::asm::print_instruction(instruction);
                    json!({ "address": address, "dwords": dwords, "text": text.trim_end() })
                })
                .collect();
            let answer = json!({ "version": 1, "name": job.name, "instructions": instructions });
            writeln!(std::io::stdout().lock(), "{answer:#}")?;
            return Ok(Status::Fine);
        }
        let mut options = self.output.print_options();
        options.annotate = self.annotate;
        options.state = !self.code_only;
        let language = self.output.to.unwrap_or(Language::Assembly);
        self.output.write(&job, language, &options)?;
        Ok(Status::Fine)
    }
}
