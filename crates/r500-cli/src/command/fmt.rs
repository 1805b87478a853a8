//! `r500 fmt`: assembly in its usual layout.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use r500::asm::format::{Unformatted, format};
use r500::asm::{File, Files};

use super::convert::put;
use super::difference::difference;
use super::exit::{Failure, Outcome, Status};
use super::{source, terminal};

/// Lay out assembly sources.
///
/// Words, comments and lines stay as they are; what changes is the space between them: indentation by
/// blocks, one space between words, comments behind code below each other, lines of more than 110
/// columns broken behind `:` and commas. What a source assembles to is the same. Files are written over;
/// folders are searched for `.r5` and `.asm`.
#[derive(Args, Debug)]
#[command(after_help = AFTER)]
pub(super) struct Fmt {
    /// Files and folders; `-` is stdin, laid out on stdout
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write nothing: show what would change, and exit with 1 if something would
    #[arg(long)]
    check: bool,
}

const AFTER: &str = "\
Examples:
  r500 fmt plasma.r5                  write it over
  r500 fmt --check examples           what would change
  r500 disasm capture.json | r500 fmt -

Exit status: 0 laid out, 1 with --check: something would change; or a source holds what is no word of
any source, 2 wrong usage, 3 a file cannot be read or written.";

impl Fmt {
    /// Lays out.
    pub(super) fn run(self) -> Outcome {
        let sources = |path: &Path| {
            let name = path.to_string_lossy();
            name.ends_with(".r5") || name.ends_with(".asm")
        };
        let mut status = Status::Fine;
        let mut changed = 0usize;
        let files = source::files(&self.files, sources)?;
        for file in &files {
            let before = source::bytes(file)?;
            let name = source::show(file);
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
                    let text = difference(&before, &after, &name, "laid out");
                    std::io::stdout().lock().write_all(text.as_bytes())?;
                    status = Status::Failed;
                }
            } else if source::is_stdin(file) {
                std::io::stdout().lock().write_all(&after)?;
            } else if !same {
                put(file, &after)?;
            }
        }
        if files.is_empty() {
            return Err(Failure::could_not(anyhow::anyhow!("no .r5 or .asm file there")));
        }
        if self.check && changed > 0 {
            let plural = if changed == 1 { "file" } else { "files" };
            terminal::plain(&format!("{changed} of {} {plural} would change", files.len()));
        }
        Ok(status)
    }
}

fn describe(name: &str, text: &[u8], error: &Unformatted) -> String {
    let file = File { name: name.to_owned(), bytes: text.into(), included: None };
    let files = Files { list: vec![file] };
    let place = files.position(error.span);
    format!("{name}:{}:{}: {error}; left as it is", place.line, place.column)
}
