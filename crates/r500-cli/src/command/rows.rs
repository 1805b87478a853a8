//! Rows of values from the arguments of `--input`: written out, or in files.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use r500::files as guard;
use r500::row_text::{self, Names, Row, Stop, Take};

use super::exit::{Failure, Outcome};
use super::input_args;

/// Calls `take` for the rows of all `--input`s, in order; for one row without values if there is none.
pub(super) fn all(inputs: &[String], names: Names<'_>, take: Take<'_, Failure>) -> Outcome<()> {
    if inputs.is_empty() {
        return take(Row::default());
    }
    let mut some = false;
    for text in inputs {
        each(text, names, &mut |row| {
            some = true;
            take(row)
        })?;
    }
    let none = || Failure::input(anyhow::anyhow!("--input holds no rows"));
    if some { Ok(()) } else { Err(none()) }
}

/// Calls `take` for the rows of an `--input`, in order.
fn each(text: &str, names: Names<'_>, take: Take<'_, Failure>) -> Outcome<()> {
    if let Some(result) = row_text::read_written(text, names, take) {
        return result.map_err(|stop| failure(Path::new("--input"), stop));
    }
    let path = Path::new(text);
    let result = if input_args::is_stdin(path) {
        row_text::read(io::stdin().lock(), names, take)
    } else {
        open(path)
            .map_err(Stop::from)
            .and_then(|file| row_text::read(BufReader::new(file), names, take))
    };
    result.map_err(|stop| failure(path, stop))
}

/// Opens a file of any length: at most one row of it is in memory.
fn open(path: &Path) -> io::Result<File> {
    guard::open(path, u64::MAX)
}

fn failure(path: &Path, stop: Stop<Failure>) -> Failure {
    match stop {
        Stop::Wrong(message) => {
            Failure::input(anyhow::anyhow!("{}: {message}", input_args::show(path)))
        }
        Stop::Unreadable(error) => input_args::cannot_read(path, error),
        Stop::Failed(failure) => failure,
    }
}
