//! `r500 fmt`: the formatter of assembly and GLSL.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use r500::asm::format::{Unformatted, format};
use r500::asm::{File, Files, Options as AssembleOptions, assemble};
use r500_stream::counted;

use super::exit::{Failure, Outcome, Status};
use super::file_kind;
use super::output_file::put;
use super::text_diff::difference;
use super::{input_args, input_file, terminal};

/// Format assembly and GLSL.
///
/// Changes white space only: blocks are indented, words separated by one space, trailing comments
/// aligned, and lines of more than 110 columns broken after `:` and commas. A formatted source
/// assembles to the same program. In GLSL statements are on lines of their own; breaks inside of
/// statements, comments and lines of the preprocessor stay. Files are overwritten; folders are
/// searched for `.r5`, `.asm`, `.frag`, `.vert` and `.glsl`.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Fmt {
    /// Files and folders; `-` formats stdin to stdout
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write nothing: print a diff of what would change, and exit with status 1 if it is not empty
    #[arg(long)]
    check: bool,
    /// Print how many files of folders hold neither assembly nor GLSL
    #[arg(short, long)]
    verbose: bool,
}

const AFTER: &str = "\
Examples:
  r500 fmt plasma.r5                  format a file in place
  r500 fmt plasma.frag                the same for GLSL
  r500 fmt --check examples           print what would change
  r500 disasm capture.json | r500 fmt -

Exit status: 0 formatted; 1 with --check: a file would change, or a source has an invalid token; 2 wrong
usage; 3 a file cannot be read or written.";

impl Fmt {
    /// Formats the files.
    pub(super) fn run(self) -> Outcome {
        let sources = |path: &Path| {
            let name = path.to_string_lossy();
            [".r5", ".asm", ".frag", ".vert", ".glsl"].iter().any(|end| name.ends_with(end))
        };
        let mut status = Status::Fine;
        let mut changed = 0usize;
        let files = input_args::files(&self.files, sources)?;
        if self.verbose {
            let skipped = input_args::files(&self.files, |_| true)?.len() - files.len();
            input_args::note_skipped(skipped, "without assembly or GLSL");
        }
        for file in &files {
            let before = input_args::source(file)?;
            let name = input_args::show(file);
            if let Some(after) = shader(file, &before) {
                match after {
                    Ok(after) => self.finish(file, &before, after.as_bytes(), &mut changed)?,
                    Err(error) => {
                        terminal::error(&format!("{name}:{error}; left as it is"));
                        status = Status::Failed;
                    }
                }
                continue;
            }
            // White space in a text of another kind may have a meaning.
            if !assemble(&before, AssembleOptions::default()).is_ok()
                && let Err(failure) = file_kind::refuse_other_than_assembly(&name, &before)
            {
                failure.report();
                status = Status::Failed;
                continue;
            }
            let after = match format(&before) {
                Ok(after) => after,
                Err(error) => {
                    terminal::error(&describe(&name, &before, &error));
                    status = Status::Failed;
                    continue;
                }
            };
            self.finish(file, &before, &after, &mut changed)?;
        }
        if self.check && changed > 0 {
            status = Status::Failed;
        }
        if files.is_empty() {
            let names: Vec<_> = self.files.iter().map(|file| input_args::show(file)).collect();
            let names = names.join(", ");
            return Err(Failure::input(anyhow::anyhow!(
                "no .r5 or .asm file, and no shader, in {names}"
            )));
        }
        if self.check && changed > 0 {
            let files = counted(files.len(), "file");
            terminal::plain(&format!("{changed} of {files} would change"));
        }
        Ok(status)
    }

    /// Writes a formatted source, or what would change, which is counted.
    fn finish(
        &self,
        file: &Path,
        before: &[u8],
        after: &[u8],
        changed: &mut usize,
    ) -> Result<(), Failure> {
        let same = before == after;
        *changed += usize::from(!same);
        if self.check {
            if !same {
                let text = difference(before, after, &input_args::show(file), "formatted");
                terminal::out().write_all(text.as_bytes())?;
            }
        } else if input_args::is_stdin(file) {
            terminal::data_out().write_all(after)?;
        } else if !same {
            put(file, after)?;
        }
        Ok(())
    }
}

/// Returns a text that is GLSL, by its name or its content, formatted, or its error with the place; `None` for others.
fn shader(file: &Path, text: &[u8]) -> Option<Result<String, String>> {
    let named = r500_mesa::shader::stage_of_name(file).is_some()
        || file.extension().is_some_and(|extension| extension == "glsl");
    let text = std::str::from_utf8(text).ok()?;
    let is_other = r500::compile::is_assembly(text) || input_file::may_hold_programs(file);
    if is_other || !named && r500::compile::stage_of(text).is_none() {
        return None;
    }
    Some(r500::compile::format(text).map_err(|error| {
        let (line, column) = error.line_column(text);
        format!("{line}:{column}: {error}")
    }))
}

fn describe(name: &str, text: &[u8], error: &Unformatted) -> String {
    let file = File::new(name, text);
    let files = Files { list: vec![file] };
    let place = files.position(error.span);
    format!("{name}:{}:{}: {error}; left as it is", place.line, place.column)
}
