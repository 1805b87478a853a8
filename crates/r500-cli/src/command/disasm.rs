//! `r500 disasm`: disassembly of a program.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use r500::asm::PrintOptions;
use r500::program::Job;
use r500::reader::Language;
use r500::writer::{self, Written};
use serde_json::{Value as Json, json};

use super::exit::{Failure, Outcome, Status};
use super::format::Format;
use super::glsl;
use super::input_args::{self, SourceArgs};
use super::output_args::OutputArgs;
use super::output_file::put;
use super::terminal;
use super::vertex::VertexFile;

/// Read a program as assembly.
///
/// Any dwords print to text that assembles back to the same dwords; encodings that compilers emit
/// in their readable, structured form. What travels with the program (constants, inputs, textures,
/// formats) prints as directives, so that the text draws the same picture; larger textures become
/// files next to the output, on stdout names of such files (--inline-textures prints their texels).
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Disasm {
    #[command(flatten)]
    source: SourceArgs,
    /// Where the text goes (default: stdout)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Add addresses, dwords and jump targets as comments; of GLSL that our own compiler takes, the lines that instructions compute, too
    #[arg(short, long)]
    annotate: bool,
    /// Only the instructions, no directives
    #[arg(long)]
    code_only: bool,
    /// On stdout: print the texels of every texture; without it, those of larger ones are left out
    #[arg(long, conflicts_with = "output")]
    inline_textures: bool,
    /// How to answer: assembly, or an object with each instruction by itself, in the general form
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

const AFTER: &str = "\
Examples:
  r500 disasm capture.json
  r500 disasm program.bin --annotate
  r500 disasm dump.txt --skip 16 --endian big    a dump (xxd, od, gdb …) from byte 16 on
  r500 disasm plasma.frag -a                     each line of the shader before its instructions
  r500 disasm capture.json -o program.r5         textures as files beside it
  r500 disasm capture.json --inline-textures     textures as text
  r500 disasm program.bin --format json

Exit status: 0 written, 1 the input has errors, 2 wrong usage, 3 a file cannot be read or written.";

impl Disasm {
    /// Disassembles.
    pub(super) fn run(self) -> Outcome {
        let output = OutputArgs { output: self.output, to: None };
        if self.format == Format::Text
            && let Some(Language::Format(other)) = output.by_extension()
        {
            return Err(Failure::usage(format!(
                "disasm writes assembly (.r5); `r500 convert` writes {}",
                other.name()
            )));
        }
        if let Some(vertex) = VertexFile::of_source(&self.source)? {
            return vertex.disassemble(output.file(), self.annotate, self.code_only, self.format);
        }
        let Some(job) = self.source.read()? else { return input_args::LISTED };
        self.source.refuse_as_output(output.file())?;
        if self.format == Format::Json {
            let text = format!("{:#}\n", instructions(&job));
            match output.file() {
                Some(path) => put(path, text.as_bytes())?,
                None => terminal::out().write_all(text.as_bytes())?,
            }
            return Ok(Status::Fine);
        }
        let mut options = output.print_options();
        options.annotate = self.annotate;
        if self.annotate
            && let [file] = &self.source.inputs()?[..]
        {
            options.comments = glsl::lines(file).map(|lines| lines.listed()).unwrap_or_default();
        }
        options.state = !self.code_only;
        if output.file().is_some() || self.inline_textures {
            output.write(&[job], Language::Assembly, &options, &self.source.inputs()?)?;
            return Ok(Status::Fine);
        }
        let PrintOptions { embed, file_prefix, .. } = PrintOptions::default();
        let options = PrintOptions { embed, file_prefix, ..options };
        let Written { bytes, files, .. } =
            writer::write_all(&[job], Language::Assembly, &options).map_err(Failure::usage)?;
        terminal::out().write_all(&bytes)?;
        if !files.is_empty() {
            let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
            terminal::note(&format!(
                "left out: {}; -o FILE writes them next to it, --inline-textures prints them",
                names.join(", ")
            ));
        }
        Ok(Status::Fine)
    }
}

fn instructions(job: &Job) -> Json {
    let code = job.program.code.iter().enumerate();
    let instructions: Vec<Json> = code
        .map(|(address, &instruction)| {
            let dwords = instruction.0.map(|dword| format!("{dword:08x}"));
            let text = r500::asm::print_instruction(instruction);
            json!({ "address": address, "dwords": dwords, "text": text.trim_end() })
        })
        .collect();
    json!({ "version": 1, "name": job.name, "instructions": instructions })
}
