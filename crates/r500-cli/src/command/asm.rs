//! `r500 asm`: assembly to dwords.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use r500::asm::{Assembly, Diagnostic, Severity};
use r500::formats::Format as ProgramFormat;
use r500::reader::{Language, assembly};
use serde_json::{Value as Json, json};

use super::exit::{Outcome, Status};
use super::file_kind;
use super::format::Format;
use super::input_args::{self, PathArgs, ReadArgs};
use super::output_args::OutputArgs;
use super::scene::SceneFile;
use super::vertex::VertexFile;
use super::{overwrite, terminal};

/// Assemble a fragment or a vertex program.
///
/// All errors of a source are reported in one run, each with its code, place, reason and fix; `r500
/// explain CODE` says more. Only what is wrong with the language is an error: what the program then
/// does is not read.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Asm {
    /// The source; `-` is stdin
    #[arg(value_name = "SOURCE")]
    source: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
    /// Look for included files here, too, after the folder of the file that includes them
    #[arg(short = 'I', long, value_name = "FOLDER")]
    include: Vec<PathBuf>,
    #[command(flatten)]
    paths: PathArgs,
    /// How to report errors and warnings: on stderr, with the lines of the source, or as an object on
    /// stdout (the program goes to -o only then)
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Report at most this many errors and warnings, and the number of all; 0 reports all. The assembler
    /// stops after 10,000 errors
    #[arg(long, value_name = "N", default_value_t = input_args::MAX_ERRORS)]
    max_errors: usize,
    /// The time of a scene, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    time: f64,
}

const AFTER: &str = "\
Examples:
  r500 asm plasma.r5 -o plasma.bin               little-endian dwords
  r500 asm plasma.r5 -o plasma.inc               a C array
  r500 asm plasma.r5                             hex on stdout
  r500 asm plasma.fs.asm -I lib -o plasma.json   with everything that its directives say
  r500 asm plasma.r5 --format json               errors for a program to read
  r500 asm transform.vs.asm -o transform.inc     a vertex program: its operations begin with VE_ and ME_
  r500 asm cube.r5 -o cube.r5cs                  a scene as a capture; .txt and .ib are its stream, .h is C

Exit status: 0 assembled (there may be warnings), 1 the source has errors, 2 wrong usage, 3 a file
cannot be read or written.";

impl Asm {
    /// Assembles.
    pub(super) fn run(self) -> Outcome {
        let file = input_args::show(&self.source);
        let read = ReadArgs::of_paths(self.paths);
        if let Some(scene) = SceneFile::read(&self.source, read)? {
            return scene.assemble(self.output.file(), self.time);
        }
        let bytes = input_args::source(&self.source)?;
        let files = self.paths.files(&self.source).with_search(&self.include);
        if let Some(vertex) = VertexFile::of(&self.source, &bytes, &files, read.dwords()) {
            return vertex.assemble(&self.output, self.format);
        }
        let assembly = assembly::assemble_with_files(&bytes, &file, &files);
        if !assembly.is_ok() {
            file_kind::refuse_other_than_assembly(&file, &bytes)?;
        }
        let most = if self.max_errors == 0 { usize::MAX } else { self.max_errors };
        match self.format {
            Format::Text => input_args::diagnose_first(&assembly, most),
            Format::Json => {
                writeln!(terminal::out(), "{:#}", answer(&assembly, most))?;
            }
        }
        if !assembly.is_ok() {
            return Ok(Status::Failed);
        }
        let inputs = assembly::files(&assembly).chain([self.source.clone()]).collect::<Vec<_>>();
        overwrite::refuse(self.output.file(), &inputs)?;
        if self.format == Format::Json && self.output.output.is_none() {
            return Ok(Status::Fine);
        }
        let language = self.output.language(Language::Format(ProgramFormat::Hex))?;
        let holds_jobs = match language {
            Language::Format(format) => format.holds_jobs(),
            _ => true,
        };
        // Formats of instructions only need no textures.
        let job = if holds_jobs {
            assembly::job(&assembly, &files)
                .map_err(|error| input_args::unreadable(&self.source, error))?
        } else {
            r500::program::Job::from_program(r500::program::Program::from_code(
                assembly.job.program.code,
            ))
        };
        self.output.write(&[job], language, &self.output.print_options(), &inputs)?;
        Ok(Status::Fine)
    }
}

fn answer(assembly: &Assembly, most: usize) -> Json {
    let diagnostics: Vec<Json> = assembly
        .diagnostics
        .iter()
        .take(most)
        .map(|diagnostic| one(assembly, diagnostic))
        .collect();
    json!({
        "version": 1,
        "ok": assembly.is_ok(),
        "instructions": assembly.job.program.code.len(),
        "diagnostics": diagnostics,
        "omitted": assembly.diagnostics.len().saturating_sub(most),
    })
}

fn one(assembly: &Assembly, diagnostic: &Diagnostic) -> Json {
    let severity = match diagnostic.severity() {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let related: Vec<Json> = diagnostic
        .related
        .iter()
        .map(|(span, message)| json!({ "place": input_args::place_json(assembly, *span), "message": message }))
        .collect();
    json!({
        "code": diagnostic.code.name(),
        "severity": severity,
        "message": diagnostic.message,
        "reason": diagnostic.label,
        "place": input_args::place_json(assembly, diagnostic.span),
        "help": diagnostic.help,
        "fix": diagnostic.fix,
        "related": related,
    })
}
