//! Protection of inputs against overwriting.

use std::path::{Path, PathBuf};

use super::exit::{Failure, Outcome};

/// Refuses outputs that are the same file as an input, also through links or other names.
pub(super) fn refuse<'a>(
    outputs: impl IntoIterator<Item = &'a Path>,
    inputs: &[PathBuf],
) -> Outcome<()> {
    let inputs: Vec<_> =
        inputs.iter().filter_map(|input| Some((input, identity(input)?))).collect();
    for output in outputs {
        // A new file is not an input.
        let Some(own) = identity(output) else { continue };
        if let Some((input, _)) = inputs.iter().find(|(_, identity)| *identity == own) {
            return Err(Failure::usage(format!(
                "-o {}: this is the input {}; write to another file",
                output.display(),
                input.display()
            )));
        }
    }
    Ok(())
}

/// Returns the identity of a file: device and inode. `None` if there is no such file; `-` is stdin or stdout.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    if path == Path::new("-") {
        return None;
    }
    use std::os::unix::fs::MetadataExt;
    let meta = path.metadata().ok()?;
    Some((meta.dev(), meta.ino()))
}

/// Returns the identity of a file: its canonical path.
#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}
