//! Symbols for profilers: `perf report` finds the names of machine code in `/tmp/perf-PID.map`.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::x86::compile::Line;

/// The map of this process.
#[derive(Debug)]
pub(crate) struct PerfMap {
    file: Mutex<File>,
}

impl PerfMap {
    /// Opens the map.
    ///
    /// # Errors
    /// If the file cannot be created, or is a symbolic link.
    pub(crate) fn open() -> io::Result<Self> {
        Self::open_at(format!("/tmp/perf-{}.map", std::process::id()).as_ref())
    }

    fn open_at(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.create(true).append(true);
        #[cfg(unix)]
        {
            // The folder is world-writable and the name is predictable: a symbolic link could point to another file of this user.
            use std::os::unix::fs::OpenOptionsExt;
            // Opening a pipe would block.
            options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).mode(0o600);
        }
        let file = options.open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Self { file: Mutex::new(file) })
    }

    /// Adds code, with a symbol for each of its lines. Write errors are ignored.
    pub(crate) fn add(&self, code: &[u8], lines: &[Line]) {
        let text = entries(code.as_ptr().addr(), code.len(), lines);
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = file.write_all(text.as_bytes());
    }
}

/// Returns start, size and name of each line, in perf's format.
fn entries(start: usize, length: usize, lines: &[Line]) -> String {
    let mut text = String::new();
    let first = lines.first().map_or(length, |line| line.offset as usize);
    let mut add = |from: usize, to: usize, name: &str| {
        if from < to {
            text.push_str(&format!("{:x} {:x} {name}\n", start + from, to - from));
        }
    };
    add(0, first, "r500 entry");
    for (n, line) in lines.iter().enumerate() {
        let end = lines.get(n + 1).map_or(length, |next| next.offset as usize);
        add(line.offset as usize, end, &format!("r500 address {}", line.address));
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = tempfile::TempDir::new().unwrap();
        let [target, link] = ["target", "link"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(PerfMap::open_at(&link).is_err());
        assert!(!target.exists());
        PerfMap::open_at(&target).unwrap();
        assert!(PerfMap::open_at(&link).is_err());
    }

    #[test]
    fn each_line_has_a_name() {
        let lines = [(16, 3), (16, 4), (40, 5)].map(|(offset, address)| Line { offset, address });
        let wanted = "1000 10 r500 entry\n1010 18 r500 address 4\n1028 8 r500 address 5\n";
        assert_eq!(entries(0x1000, 48, &lines), wanted);
    }
}
