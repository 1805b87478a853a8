//! Input files: reading up to limits, names for messages.

use std::io::Read;
use std::path::Path;

use r500::asm::MAX_SOURCE;
use r500::files::{self as guard, MAX_PICTURE, MAX_TEXT};
use r500_stream::capture::is_capture;
use r500_stream::counted;

use super::exit::{Failure, Outcome};
use super::terminal;

/// Prints the number of skipped files of folders, and their kind.
pub(super) fn note_skipped(skipped: usize, kind: &str) {
    if skipped > 0 {
        terminal::note(&format!("{} {kind} skipped", counted(skipped, "file")));
    }
}

/// Returns whether a file name is that of a program format.
pub(super) fn may_hold_programs(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let extensions =
        [".r5", ".asm", ".json", ".jsonl", ".ndjson", ".bin", ".inc", ".h", ".c", ".hex", ".log"];
    extensions.iter().any(|extension| name.ends_with(extension))
}

/// Returns all bytes of a file or of stdin, up to the document size limit.
pub(super) fn bytes(file: &Path) -> Outcome<Vec<u8>> {
    limited(file, MAX_TEXT)
}

/// Size limit of a capture in bytes (4 GiB): minutes of a game.
const MAX_CAPTURE: u64 = 4 << 30;

/// Returns all bytes of a file or of stdin: of a capture up to a limit of its own, of others up to the document size limit.
pub(super) fn capture_or_document(file: &Path) -> Outcome<Vec<u8>> {
    let read = || {
        let mut input: Box<dyn Read> = match is_stdin(file) {
            true => Box::new(std::io::stdin().lock()),
            false => Box::new(guard::open(file, MAX_CAPTURE)?),
        };
        let mut head = Vec::new();
        input.by_ref().take(HEAD).read_to_end(&mut head)?;
        let limit = if is_capture(&head) { MAX_CAPTURE } else { MAX_TEXT };
        guard::read_limited(head.as_slice().chain(input), limit)
    };
    read().map_err(|error| cannot_read(file, error))
}

/// The first bytes of a file, which say whether it is a capture.
const HEAD: u64 = 64;

/// Returns the assembly in a file or on stdin, up to the source size limit.
pub(super) fn source(file: &Path) -> Outcome<Vec<u8>> {
    limited(file, MAX_SOURCE as u64)
}

fn limited(file: &Path, limit: u64) -> Outcome<Vec<u8>> {
    let read = if is_stdin(file) {
        guard::read_limited(std::io::stdin().lock(), limit)
    } else {
        guard::read(file, limit)
    };
    read.map_err(|error| cannot_read(file, error))
}

/// Returns the text of a file or of stdin, up to the document size limit.
pub(super) fn text(file: &Path) -> Outcome<String> {
    guard::text(bytes(file)?).map_err(|error| cannot_read(file, error))
}

/// Returns the bytes of a picture file.
pub(super) fn picture_bytes(file: &Path) -> Outcome<Vec<u8>> {
    guard::read(file, MAX_PICTURE).map_err(|error| cannot_read(file, error))
}

/// Returns the failure for an unreadable file.
pub(super) fn cannot_read(file: &Path, error: std::io::Error) -> Failure {
    Failure::could_not(error).context(format_args!("cannot read {}", show(file)))
}

/// Returns whether a path is `-`, which stands for stdin.
pub(super) fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

/// Returns a file's name for messages.
pub(super) fn show(file: &Path) -> String {
    if is_stdin(file) { "stdin".to_owned() } else { file.display().to_string() }
}
