//! Folders for files between processes, which are removed when they are no longer used, and when a signal ends the command.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::exit::{Failure, Outcome};

/// The folders that exist.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A new, empty folder; it is removed with its files.
pub(super) struct ScratchFolder(tempfile::TempDir);

impl ScratchFolder {
    /// Makes a folder.
    pub(super) fn new() -> Outcome<Self> {
        let folder = tempfile::Builder::new().prefix("r500-").tempdir();
        let folder = folder.map_err(|error| {
            let place = std::env::temp_dir();
            Failure::could_not(error)
                .context(format!("cannot make a folder in {}", place.display()))
        })?;
        folders().push(folder.path().to_owned());
        Ok(Self(folder))
    }

    /// Returns the path of a file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let path: &Path = self.0.path();
        folders().retain(|folder| folder != path);
    }
}

/// Removes all of them, before the process ends.
pub(super) fn discard() {
    for folder in folders().drain(..) {
        // A folder that is gone is what is wanted; for all else there is no time left.
        let _ = std::fs::remove_dir_all(folder);
    }
}

fn folders() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}
