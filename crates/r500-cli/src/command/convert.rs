//! `r500 convert`: conversion between formats.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use r500::asm::PrintOptions;
use r500::formats::Format;
use r500::program::Job;
use r500::reader::Language;
use r500::writer::{self, Written};

use super::exit::{Failure, Outcome, Status};
use super::input_args::{self, SourceArgs};
use super::output_file::put_group;
use super::{overwrite, terminal};

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

/// The output of a program.
#[derive(Args, Clone, Debug)]
pub(super) struct OutputArgs {
    /// Where the program goes (default: stdout, as text)
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Its format (default: by the extension of the output): raw, c-array, hex, json, json-lines,
    /// assembly
    #[arg(long, value_name = "FORMAT")]
    pub(super) to: Option<Language>,
}

impl Convert {
    /// Converts.
    pub(super) fn run(self) -> Outcome {
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

impl OutputArgs {
    /// Returns the format to write; `default` without an option or a known extension.
    pub(super) fn language(&self, default: Language) -> Outcome<Language> {
        if let Some(language) = self.to {
            return Ok(language);
        }
        match self.file() {
            None => Ok(default),
            Some(file) => self.by_extension().ok_or_else(|| {
                Failure::usage(format!(
                    "{}: the extension stands for no format; take .bin, .inc, .hex, .json or .r5, \
                     or name the format with --to",
                    file.display()
                ))
            }),
        }
    }

    /// Returns the format that the output's extension stands for.
    pub(super) fn by_extension(&self) -> Option<Language> {
        self.file().and_then(writer::language_of)
    }

    /// Returns how assembly is printed for this output: texture files are named after it.
    pub(super) fn print_options(&self) -> PrintOptions {
        let stem = self.file().and_then(Path::file_stem);
        let prefix = stem.map(|stem| stem.to_string_lossy().into_owned());
        // On stdout there is no next to: texels are part of the text.
        let embed = if prefix.is_some() { PrintOptions::default().embed } else { usize::MAX };
        PrintOptions { file_prefix: prefix.unwrap_or_default(), embed, ..PrintOptions::default() }
    }

    /// Writes jobs, and the files that they refer to next to them, none of them over an input.
    pub(super) fn write(
        &self,
        jobs: &[Job],
        language: Language,
        options: &PrintOptions,
        inputs: &[PathBuf],
    ) -> Outcome<()> {
        let Written { bytes, files, lost } =
            writer::write_all(jobs, language, options).map_err(Failure::usage)?;
        if lost {
            terminal::warn(&format!(
                "{} holds instructions only; constants, inputs and the like are left out \
                 (json and assembly hold everything)",
                language.name()
            ));
        }
        let Some(path) = self.file() else {
            if writer::is_text(language) {
                return Ok(terminal::out().write_all(&bytes)?);
            }
            let mut out = std::io::stdout().lock();
            if out.is_terminal() {
                return Err(Failure::usage("raw dwords are not for a terminal; give -o FILE"));
            }
            return Ok(out.write_all(&bytes)?);
        };
        let textures: Vec<PathBuf> =
            files.iter().map(|file| path.with_file_name(&file.name)).collect();
        let outputs = std::iter::once(path).chain(textures.iter().map(PathBuf::as_path));
        overwrite::refuse(outputs, inputs)?;
        // The file that names the textures gets its name last.
        let textures = textures.iter().map(PathBuf::as_path).zip(files.iter().map(|f| &*f.bytes));
        let group = textures.chain([(path, &*bytes)]);
        put_group(group)
    }

    /// Returns the output, if it is a file.
    pub(super) fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !input_args::is_stdin(path))
    }
}

/// Returns whether a file of this language can hold several programs.
fn holds_several(language: Language) -> bool {
    matches!(language, Language::Format(format) if format.holds_jobs())
}
