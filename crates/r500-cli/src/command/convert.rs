//! `r500 convert`: conversion between formats.

use clap::Args;
use r500::formats::Format;
use r500::reader::Language;

use super::exit::{Outcome, Status};
use super::input_args::{self, SourceArgs};
use super::output_args::OutputArgs;
use super::vertex::VertexFile;

/// Write a program in another format.
///
/// Reads assembly, captures and cases (JSON), driver logs, raw dwords, C arrays and hex text,
/// recognised from content; writes all of them but logs. The output's extension picks the format:
/// .bin (little-endian dwords), .inc (C array), .hex, .json, .r5 (assembly). Raw dwords, C arrays and
/// hex hold the instructions only: what else travels with the program is lost, and said so. Of a
/// file with several programs --pick takes one; .json and .jsonl take all.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Convert {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    output: OutputArgs,
}

const AFTER: &str = "\
Examples:
  r500 convert capture.json -o program.bin
  r500 convert fp.log --list                     the programs of a driver's log
  r500 convert fp.log --pick 0 -o program.r5     the first of them as assembly
  r500 convert fp.log -o programs.json           all of them
  r500 convert program.bin --to c-array          to stdout
  r500 convert a.inc --to json | r500 render - -o a.png

Exit status: 0 written, 1 the input has errors, 2 wrong usage, 3 a file cannot be read or written.";

impl Convert {
    /// Converts.
    pub(super) fn run(self) -> Outcome {
        if let Some(vertex) = VertexFile::of_source(&self.source)? {
            return vertex.convert(&self.output);
        }
        let language = self.output.language(Language::Format(Format::Hex))?;
        let Some(jobs) = self.source.read_all()? else { return input_args::LISTED };
        let inputs = self.source.inputs()?;
        if jobs.len() > 1 && !holds_several(language) {
            return Err(input_args::several(self.source.file()?)
                .context(format_args!("{} holds one program", language.name())));
        }
        self.output.write(&jobs, language, &self.output.print_options(), &inputs)?;
        Ok(Status::Fine)
    }
}

/// Returns whether a file of this language can hold several programs.
fn holds_several(language: Language) -> bool {
    matches!(language, Language::Format(format) if format.holds_jobs())
}
