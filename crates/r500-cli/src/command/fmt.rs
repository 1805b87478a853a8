//! `r500 fmt`: the assembly formatter.

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
use super::{input_args, terminal};

/// Format assembly sources.
///
/// Changes white space only: blocks are indented, words separated by one space, trailing comments
/// aligned, and lines of more than 110 columns broken after `:` and commas. A formatted source
/// assembles to the same program. Files are overwritten; folders are searched for `.r5` and `.asm`.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Fmt {
    /// Files and folders; `-` formats stdin to stdout
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write nothing: print a diff of what would change, and exit with status 1 if it is not empty
    #[arg(long)]
    check: bool,
    /// Print how many files of folders hold no assembly
    #[arg(short, long)]
    verbose: bool,
}

const AFTER: &str = "\
Examples:
  r500 fmt plasma.r5                  format a file in place
  r500 fmt --check examples           print what would change
  r500 disasm capture.json | r500 fmt -

Exit status: 0 formatted; 1 with --check: a file would change, or a source has an invalid token; 2 wrong
usage; 3 a file cannot be read or written.";

impl Fmt {
    /// Formats the files.
    pub(super) fn run(self) -> Outcome {
        let sources = |path: &Path| {
            let name = path.to_string_lossy();
            name.ends_with(".r5") || name.ends_with(".asm")
        };
        let mut status = Status::Fine;
        let mut changed = 0usize;
        let files = input_args::files(&self.files, sources)?;
        if self.verbose {
            let skipped = input_args::files(&self.files, |_| true)?.len() - files.len();
            input_args::note_skipped(skipped, "without assembly");
        }
        for file in &files {
            let before = input_args::source(file)?;
            let name = input_args::show(file);
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
            let same = before == after;
            changed += usize::from(!same);
            if self.check {
                if !same {
                    let text = difference(&before, &after, &name, "formatted");
                    terminal::out().write_all(text.as_bytes())?;
                    status = Status::Failed;
                }
            } else if input_args::is_stdin(file) {
                terminal::data_out().write_all(&after)?;
            } else if !same {
                put(file, &after)?;
            }
        }
        if files.is_empty() {
            let names: Vec<_> = self.files.iter().map(|file| input_args::show(file)).collect();
            let names = names.join(", ");
            return Err(Failure::input(anyhow::anyhow!("no .r5 or .asm file in {names}")));
        }
        if self.check && changed > 0 {
            let files = counted(files.len(), "file");
            terminal::plain(&format!("{changed} of {files} would change"));
        }
        Ok(status)
    }
}

fn describe(name: &str, text: &[u8], error: &Unformatted) -> String {
    let file = File::new(name, text);
    let files = Files { list: vec![file] };
    let place = files.position(error.span);
    format!("{name}:{}:{}: {error}; left as it is", place.line, place.column)
}
