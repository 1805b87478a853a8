//! Guarded file access: regular files only, up to a size limit; files that a source names only below its folder; outputs
//! that appear under their name when they are complete.
//!
//! Every file that the library, its bindings, the command or the virtual card reads or writes is opened here. A device or a
//! pipe may be endless, and opening a pipe waits for its writer; an untrusted source must not read files that its author
//! could not; a command that is interrupted must not leave half a file. The `clippy.toml` of these crates disallows other
//! ways to open files.

mod output;

pub use output::{
    Output, OutputWriter, discard_unfinished, remove, unfinished_path, write, write_group,
};

use std::collections::BTreeMap;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Size limit of a source, a script or a document in bytes (128 MiB, as the limit of documents in `r500-formats`).
pub const MAX_TEXT: u64 = 128 << 20;

/// Size limit of a texture or picture file in bytes (384 MiB): 4096x4096 texels of 16 bytes with their smaller levels.
pub const MAX_PICTURE: u64 = 384 << 20;

/// Why an existing file is refused. It is the source of the [`io::Error`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A device, a pipe, a socket or a folder.
    #[error("this is {0}, not a regular file")]
    NotRegular(&'static str),
    /// A file above the size limit.
    #[error("there are more than {limit} bytes: this is the limit")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// A pipe to write to that has no reader.
    #[error("this is a pipe that nothing reads; start its reader first")]
    NoReader,
    /// A path in a source that leads out of its folder.
    #[error("this is outside of the source's folder; copy the file there, or allow such paths{}", in_brackets(.remedy))]
    Outside {
        /// What allows them; empty if there is nothing. See [`NamedFiles::with_remedy`].
        remedy: &'static str,
    },
}

fn in_brackets(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        let kind = match refusal {
            Refusal::NotRegular(_) => ErrorKind::InvalidInput,
            Refusal::TooLarge { .. } => ErrorKind::FileTooLarge,
            Refusal::NoReader => ErrorKind::NotConnected,
            Refusal::Outside { .. } => ErrorKind::PermissionDenied,
        };
        Self::new(kind, refusal)
    }
}

/// Opens a file that the user named: a regular file of at most `limit` bytes, or a stream that a shell passes as a
/// descriptor of this process (`/dev/stdin`, `/dev/fd/63`), whose length is unknown.
///
/// # Errors
/// Those of the system, and [`Refusal`].
pub fn open(path: &Path, limit: u64) -> io::Result<File> {
    if is_descriptor(path) {
        let file = File::open(path)?;
        return if file.metadata()?.is_dir() {
            Err(Refusal::NotRegular("a folder").into())
        } else {
            Ok(file)
        };
    }
    open_regular(path, limit)
}

/// Returns all bytes of a file that the user named. See [`open`].
///
/// # Errors
/// As [`open`], also if more than `limit` bytes arrive.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open(path, limit)?;
    // Preallocates, because growing would briefly take twice the length. A stream has the length 0.
    let mut bytes = Vec::with_capacity(file.metadata()?.len().min(limit) as usize);
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    within(bytes, limit)
}

/// Returns all bytes of a stream.
///
/// # Errors
/// Those of the stream, and [`Refusal::TooLarge`].
pub fn read_limited(input: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    within(bytes, limit)
}

fn within(bytes: Vec<u8>, limit: u64) -> io::Result<Vec<u8>> {
    if bytes.len() as u64 > limit { Err(Refusal::TooLarge { limit }.into()) } else { Ok(bytes) }
}

/// Returns the text of a file that the user named. See [`read`].
///
/// # Errors
/// As [`read`], and if it is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    text(read(path, limit)?)
}

/// Converts bytes to text.
///
/// # Errors
/// If they are not UTF-8.
pub fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

fn open_regular(path: &Path, limit: u64) -> io::Result<File> {
    // Opening some devices has side effects, so the type is checked before; the file may be replaced in between, so it
    // is checked again after.
    check(&std::fs::metadata(path)?, limit)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        // Without this flag, a pipe without a writer would block. It has no effect on regular files.
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK);
    }
    let file = options.open(path)?;
    let meta = file.metadata()?;
    check(&meta, limit)?;
    #[cfg(unix)]
    if meta.len() == 0 {
        // Files of /proc and /sys have no length, and some are endless.
        use std::os::unix::fs::FileExt;
        if file.read_at(&mut [0; 64], 0).is_ok_and(|bytes| bytes > 0) {
            return Err(Refusal::NotRegular("a file without a length, as those of /proc").into());
        }
    }
    Ok(file)
}

/// Returns the entries of a folder, none if it cannot be read.
#[must_use]
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn check(meta: &Metadata, limit: u64) -> Result<(), Refusal> {
    if !meta.is_file() {
        return Err(Refusal::NotRegular(kind(meta.file_type())));
    }
    if meta.len() > limit { Err(Refusal::TooLarge { limit }) } else { Ok(()) }
}

fn kind(file: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if file.is_fifo() {
            return "a pipe";
        }
        if file.is_char_device() || file.is_block_device() {
            return "a device";
        }
        if file.is_socket() {
            return "a socket";
        }
    }
    if file.is_dir() { "a folder" } else { "something else" }
}

/// Returns whether a path names a descriptor of this process.
fn is_descriptor(path: &Path) -> bool {
    let number = |folder: &str| {
        let rest = path.strip_prefix(folder).ok().and_then(Path::to_str);
        rest.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    cfg!(unix) && (path == Path::new("/dev/stdin") || number("/dev/fd") || number("/proc/self/fd"))
}

/// Access to the files that a source names: its includes and textures.
///
/// After links are resolved, they must be regular files in the folder of the source or below it, or in a folder of the
/// search path. The author of an untrusted source must not choose other files for the command to read and show.
#[derive(Clone, Debug)]
pub struct NamedFiles {
    /// Folders whose files may be read; `None` allows all.
    roots: Option<Vec<PathBuf>>,
    search: Vec<PathBuf>,
    remedy: &'static str,
    /// The only files that there are, by name, where there is no file system.
    given: Option<Arc<BTreeMap<PathBuf, Vec<u8>>>>,
}

impl NamedFiles {
    /// Allows the folder of a source and everything below it; for a source without a file, the working folder.
    #[must_use]
    pub fn next_to(source: &Path) -> Self {
        Self::below(parent(source))
    }

    /// Allows a folder and everything below it.
    #[must_use]
    pub fn below(folder: &Path) -> Self {
        Self { roots: Some(vec![folder.to_owned()]), search: Vec::new(), remedy: "", given: None }
    }

    /// Allows every path.
    #[must_use]
    pub fn anywhere() -> Self {
        Self { roots: None, search: Vec::new(), remedy: "", given: None }
    }

    /// Sets what errors for other paths name as the way to allow them, such as a switch of a command.
    #[must_use]
    pub fn with_remedy(self, remedy: &'static str) -> Self {
        Self { remedy, ..self }
    }

    /// Allows these files, and no others: the file system is not read.
    #[must_use]
    pub fn given(files: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> Self {
        let files = files.into_iter().map(|(path, bytes)| (without_dots(&path), bytes));
        let given = Some(Arc::new(files.collect()));
        Self { roots: Some(Vec::new()), search: Vec::new(), remedy: "", given }
    }

    /// Adds folders in which included files are searched, and allows everything below them.
    #[must_use]
    pub fn with_search(self, folders: &[PathBuf]) -> Self {
        let mut files = self.and_below(folders);
        files.search.extend_from_slice(folders);
        files
    }

    /// Also allows everything below other folders.
    #[must_use]
    pub fn and_below(mut self, folders: &[PathBuf]) -> Self {
        if let Some(roots) = &mut self.roots {
            roots.extend_from_slice(folders);
        }
        self
    }

    /// Returns the folders in which included files are searched after the folder of the including file.
    #[must_use]
    pub fn search(&self) -> &[PathBuf] {
        &self.search
    }

    /// Returns the bytes of a file that a source names.
    ///
    /// # Errors
    /// Those of the system, and [`Refusal`].
    pub fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let real = self.resolve(path)?;
        match &self.given {
            Some(files) => read_limited(files.get(&real).map_or(&[][..], Vec::as_slice), limit),
            None => read_limited(open_regular(&real, limit)?, limit),
        }
    }

    /// Returns the path with links resolved, if it is allowed.
    ///
    /// # Errors
    /// [`Refusal::Outside`], and if there is no such file.
    pub fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        if let Some(files) = &self.given {
            let path = without_dots(path);
            let missing = || io::Error::new(ErrorKind::NotFound, "no such file was given");
            return if files.contains_key(&path) { Ok(path) } else { Err(missing()) };
        }
        let Some(roots) = &self.roots else { return std::fs::canonicalize(path) };
        // The error does not reveal whether a file outside exists.
        let text = without_dots(path);
        let named = |root: &PathBuf| is_below(&text, &without_dots(root));
        if !roots.iter().any(named) {
            return Err(self.outside());
        }
        let real = std::fs::canonicalize(path)?;
        let holds = |root: &PathBuf| {
            let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
            std::fs::canonicalize(root).is_ok_and(|root| real.starts_with(root))
        };
        if roots.iter().any(holds) { Ok(real) } else { Err(self.outside()) }
    }

    fn outside(&self) -> io::Error {
        Refusal::Outside { remedy: self.remedy }.into()
    }
}

/// Returns the folder of a file.
#[must_use]
pub fn parent(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

fn is_below(path: &Path, root: &Path) -> bool {
    let climbs = |path: &Path| path.components().next() == Some(Component::ParentDir);
    if root.as_os_str().is_empty() {
        return path.is_relative() && !climbs(path);
    }
    path.starts_with(root) && path.strip_prefix(root).is_ok_and(|rest| !climbs(rest))
}

/// Returns the regular files with a wanted path in a folder and below it, sorted by name.
///
/// Links to folders are not followed, because they may be cyclic. Pipes and devices are left out.
///
/// # Errors
/// The folder that cannot be read, and why.
pub fn walk(
    folder: &Path,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        let entries = std::fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        for entry in entries.map_err(|error| (folder, error))? {
            let path = entry.path();
            // The file may have been removed in the meantime.
            let Ok(meta) = std::fs::metadata(&path) else { continue };
            if meta.is_dir() {
                if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                    pending.push(path);
                }
            } else if meta.is_file() && wanted(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Returns a path with `.` and `..` resolved lexically.
#[must_use]
pub fn without_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tempfile::TempDir;

    use super::*;

    fn refusal(error: &io::Error) -> Option<&Refusal> {
        error.get_ref()?.downcast_ref()
    }

    #[test]
    fn texts_of_paths_decide_before_the_disk_is_asked() {
        let below = |path: &str, root: &str| {
            is_below(&without_dots(Path::new(path)), &without_dots(Path::new(root)))
        };
        assert!(below("a/b.inc", "a") && below("a/x/../b.inc", "a") && below("b.inc", ""));
        assert!(below("../lib/b.inc", "../lib") && below("./b.inc", "."));
        assert!(!below("a/../b.inc", "a") && !below("../b.inc", "") && !below("/etc/hosts", ""));
        assert!(!below("../../b.inc", "..") && !below("ab/c.inc", "a"));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri opens no file with flags of the system")]
    fn sizes_are_limited_before_reading() {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        let path = folder.join("file");
        std::fs::write(&path, b"12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        let error = read(&path, 4).unwrap_err();
        assert_eq!(refusal(&error), Some(&Refusal::TooLarge { limit: 4 }));
        assert!(matches!(
            refusal(&read(folder, 4).unwrap_err()),
            Some(Refusal::NotRegular("a folder"))
        ));
        assert!(read_limited(io::repeat(0), 100).is_err());
    }

    #[cfg(unix)]
    #[test]
    #[cfg_attr(miri, ignore = "Miri opens no file with flags of the system")]
    fn devices_are_refused_and_links_followed_inside_only() {
        let folder = TempDir::new().unwrap();
        let folder = folder.path();
        std::fs::create_dir(folder.join("inner")).unwrap();
        let error = read(Path::new("/dev/zero"), 4).unwrap_err();
        assert_eq!(refusal(&error), Some(&Refusal::NotRegular("a device")));
        std::fs::write(folder.join("inner/file"), b"1").unwrap();
        std::fs::write(folder.join("outer"), b"2").unwrap();
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(folder.join(to), folder.join("inner").join(name)).unwrap();
        };
        link("inner/file", "in");
        link("outer", "out");
        let files = NamedFiles::below(&folder.join("inner"));
        assert_eq!(files.read(&folder.join("inner/in"), 9).unwrap(), b"1");
        for path in ["inner/out", "inner/../outer", "outer", "not there"] {
            let error = files.read(&folder.join(path), 9).unwrap_err();
            assert_eq!(refusal(&error), Some(&Refusal::Outside { remedy: "" }), "{path}");
        }
        let error =
            files.clone().with_remedy("a switch").read(&folder.join("outer"), 9).unwrap_err();
        assert!(error.to_string().ends_with("or allow such paths (a switch)"), "{error}");
        assert_eq!(NamedFiles::anywhere().read(&folder.join("inner/out"), 9).unwrap(), b"2");
        let given = NamedFiles::given([(PathBuf::from("./a/b.txt"), b"3".to_vec())]);
        assert_eq!(given.read(Path::new("a/c/../b.txt"), 9).unwrap(), b"3");
        for path in [folder.join("inner/file"), PathBuf::from("b.txt")] {
            assert_eq!(given.read(&path, 9).unwrap_err().kind(), ErrorKind::NotFound);
        }
        let wider = files.with_search(&[folder.to_owned()]);
        assert_eq!(wider.read(&folder.join("inner/../outer"), 9).unwrap(), b"2");
    }
}
