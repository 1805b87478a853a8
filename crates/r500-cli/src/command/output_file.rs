//! Output files: each appears under its name when it is complete.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use r500::files::{Output, OutputWriter};

use super::exit::{Failure, Outcome};

/// A file that is written in pieces. It is removed unless it is committed.
#[derive(Debug)]
pub(super) struct OutputFile {
    path: PathBuf,
    output: Output,
}

impl OutputFile {
    /// Creates a file.
    pub(super) fn create(path: &Path) -> Outcome<Self> {
        let output = Output::create(path).map_err(|error| cannot_write(path, error))?;
        Ok(Self { path: path.to_owned(), output })
    }

    /// Returns a buffered writer.
    pub(super) fn writer(&self) -> BufWriter<OutputWriter> {
        BufWriter::with_capacity(1 << 16, self.output.writer())
    }

    /// Returns the path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the complete file its name. Its writers must have been flushed or dropped.
    pub(super) fn commit(self) -> Outcome<()> {
        let Self { path, output } = self;
        output.commit().map_err(|error| cannot_write(&path, error))
    }
}

/// Writes a file.
pub(super) fn put(path: &Path, bytes: &[u8]) -> Outcome<()> {
    r500::files::write(path, bytes).map_err(|error| cannot_write(path, error))
}

/// Writes files that belong together; the last one names the others.
pub(super) fn put_group<'a>(files: impl IntoIterator<Item = (&'a Path, &'a [u8])>) -> Outcome<()> {
    r500::files::write_group(files).map_err(|(path, error)| cannot_write(&path, error))
}

/// Creates a folder for outputs, and the folders above it.
pub(super) fn create_folder(folder: &Path) -> Outcome<()> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::could_not(error).context(format_args!("cannot create {}", folder.display()))
    })
}

/// Returns the failure for a file that cannot be written.
pub(super) fn cannot_write(path: &Path, error: std::io::Error) -> Failure {
    Failure::could_not(error).context(format_args!("cannot write {}", path.display()))
}
