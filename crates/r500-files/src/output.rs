//! Atomic output: a file is written under a temporary name in the folder of its final name, and renamed when it is complete.
//!
//! A run that ends early therefore leaves the earlier content of the file, or no file, but never a part of the new one. The
//! temporary file of `out.png` is `.out.png.r500-part`. It is removed if the output is dropped before it is committed, and
//! by [`discard_unfinished`] before a signal ends the process. After `kill -9` it stays; the next output of the same name
//! takes it over. A lock tells such a leftover from the file of a process that is still writing it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufReader, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::parent;

/// Extension of temporary names.
const PART: &str = "r500-part";

/// The temporary files of this process.
static UNFINISHED: Mutex<BTreeMap<u64, PathBuf>> = Mutex::new(BTreeMap::new());

fn unfinished() -> MutexGuard<'static, BTreeMap<u64, PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of all outputs, and blocks every later creation and commit. For the end of the process.
pub fn discard_unfinished() {
    let files = unfinished();
    for path in files.values() {
        // The process ends; a file that cannot be removed stays under its temporary name.
        let _ = std::fs::remove_file(path);
    }
    // Other threads continue until the process has ended, and must not create or rename files any more.
    std::mem::forget(files);
}

/// An output file that appears under its name when [`commit`](Self::commit) is called.
///
/// Links are followed: the file that a link names is replaced, the link stays. A replaced file keeps its permissions and, if
/// the system allows it, its owner; other hard links to it keep the old content. Pipes, devices and descriptors of the
/// process (`/dev/stdout`) are written directly, and so are existing files in folders that take no new file.
#[derive(Debug)]
pub struct Output {
    shared: Arc<Shared>,
    temporary: Option<Temporary>,
}

/// Writes to an [`Output`].
#[derive(Debug, Clone)]
pub struct OutputWriter(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    file: File,
    /// The first failed write. Encoders that drop the error do not commit an incomplete file.
    failure: Mutex<Option<Failure>>,
}

/// A copy of an error of the system.
#[derive(Debug, Clone)]
struct Failure {
    kind: ErrorKind,
    code: Option<i32>,
    text: String,
}

#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    to: PathBuf,
    /// Number in [`UNFINISHED`].
    number: u64,
    replaces: bool,
}

impl Output {
    /// Creates an output. A pipe can be written if it has a reader.
    ///
    /// # Errors
    /// Those of the system, and [`Refusal::NoReader`](crate::Refusal::NoReader).
    pub fn create(path: &Path) -> io::Result<Self> {
        let Some((to, existing)) = replaceable(path)? else {
            return Ok(Self { shared: Shared::new(open_special(path)?), temporary: None });
        };
        if existing.is_some() {
            // A file that this user must not write is not replaced.
            OpenOptions::new().write(true).open(&to)?;
        }
        match Self::temporary(&to, existing.as_ref()) {
            Err(error) if existing.is_some() && is_refused(&error) => {
                Ok(Self { shared: Shared::new(File::create(&to)?), temporary: None })
            }
            output => output,
        }
    }

    /// Creates an output whose name is not taken: there is neither a file of that name nor a temporary one of it, left by
    /// a process that ended early. That one may hold all that is known of a crash.
    ///
    /// # Errors
    /// [`ErrorKind::AlreadyExists`] if the name is taken, and those of the system.
    pub fn create_new(path: &Path) -> io::Result<Self> {
        let taken = || io::Error::from(ErrorKind::AlreadyExists);
        let part = unfinished_path(path);
        if [path, &part].iter().any(|path| std::fs::symlink_metadata(path).is_ok()) {
            return Err(taken());
        }
        let output = Self::temporary(path, None)?;
        // Another process may have been faster.
        if output.temporary.as_ref().is_some_and(|temporary| temporary.path != part) {
            return Err(taken());
        }
        Ok(output)
    }

    fn temporary(to: &Path, existing: Option<&Metadata>) -> io::Result<Self> {
        // Signals remove files that are in the table, so the file enters it when it is created.
        let mut files = unfinished();
        let (path, file) = create_temporary(to)?;
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        files.insert(number, path.clone());
        drop(files);
        let temporary = Temporary { path, to: to.to_owned(), number, replaces: existing.is_some() };
        let output = Self { shared: Shared::new(file), temporary: Some(temporary) };
        if let Some(existing) = existing {
            keep_owner(&output.shared.file, existing);
            output.shared.file.set_permissions(existing.permissions())?;
        }
        Ok(output)
    }

    /// Returns a writer. Its writes are unbuffered.
    #[must_use]
    pub fn writer(&self) -> OutputWriter {
        OutputWriter(Arc::clone(&self.shared))
    }

    /// Gives the file its name. All writers must have been flushed.
    ///
    /// # Errors
    /// The first error of a writer, and those of the system. The file is then removed.
    pub fn commit(mut self) -> io::Result<()> {
        self.shared.check()?;
        let Some(temporary) = self.temporary.take() else { return Ok(()) };
        let mut files = unfinished();
        let result = match std::fs::rename(&temporary.path, &temporary.to) {
            Err(_) if temporary.replaces => {
                // The name cannot be given to another file: it is a mount point, or in a folder with restricted deletion.
                let copied = copy_over(&temporary);
                let _ = std::fs::remove_file(&temporary.path);
                copied
            }
            Err(error) => {
                let _ = std::fs::remove_file(&temporary.path);
                Err(error)
            }
            Ok(()) => Ok(()),
        };
        files.remove(&temporary.number);
        result
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let mut files = unfinished();
            // The failure that prevented the commit is reported; this one would add nothing.
            let _ = std::fs::remove_file(&temporary.path);
            files.remove(&temporary.number);
        }
    }
}

impl Shared {
    fn new(file: File) -> Arc<Self> {
        Arc::new(Self { file, failure: Mutex::new(None) })
    }

    fn keep<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            if error.kind() != ErrorKind::Interrupted {
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                failure.get_or_insert_with(|| Failure {
                    kind: error.kind(),
                    code: error.raw_os_error(),
                    text: error.to_string(),
                });
            }
        })
    }

    fn check(&self) -> io::Result<()> {
        match &*self.failure.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(()),
            Some(Failure { code: Some(code), .. }) => Err(io::Error::from_raw_os_error(*code)),
            Some(Failure { kind, text, .. }) => Err(io::Error::new(*kind, text.clone())),
        }
    }
}

impl Write for OutputWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.keep((&self.0.file).write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.keep((&self.0.file).flush())
    }
}

impl Seek for OutputWriter {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.0.file).seek(to)
    }
}

/// Removes a file, and the temporary file that an output of this name left. Returns whether there was one of them.
///
/// # Errors
/// Those of the system.
pub fn remove(path: &Path) -> io::Result<bool> {
    let mut found = false;
    for path in [path, &unfinished_path(path)] {
        match std::fs::remove_file(path) {
            Ok(()) => found = true,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Writes a file that the user named. See [`Output`].
///
/// # Errors
/// As [`Output::create`] and [`Output::commit`].
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    write_group([(path, bytes)]).map_err(|(_, error)| error)
}

/// Writes files that belong together: none gets its name before all are complete. The last one should be the file that names
/// the others, because names are given in order.
///
/// # Errors
/// The file that cannot be written, and why.
pub fn write_group<'a, B: AsRef<[u8]>>(
    files: impl IntoIterator<Item = (&'a Path, B)>,
) -> Result<(), (PathBuf, io::Error)> {
    let mut complete = Vec::new();
    for (path, bytes) in files {
        let written = Output::create(path).and_then(|output| {
            output.writer().write_all(bytes.as_ref())?;
            Ok(output)
        });
        complete.push((path, written.map_err(|error| (path.to_owned(), error))?));
    }
    complete
        .into_iter()
        .try_for_each(|(path, output)| output.commit().map_err(|error| (path.to_owned(), error)))
}

/// Opens a pipe, a device or a descriptor of this process.
fn open_special(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
        if std::fs::metadata(path).is_ok_and(|meta| meta.file_type().is_fifo()) {
            // Without the flag this would wait for a reader. The flag stays set on the descriptor, so the pipe is
            // opened again while the first descriptor keeps it open.
            let mut options = OpenOptions::new();
            let probe = options.write(true).custom_flags(libc::O_NONBLOCK).open(path);
            let _open = probe.map_err(|error| match error.raw_os_error() {
                Some(libc::ENXIO) => crate::Refusal::NoReader.into(),
                _ => error,
            })?;
            return OpenOptions::new().write(true).open(path);
        }
    }
    File::create(path)
}

/// Returns the path of a regular file after links, and its metadata if it exists; `None` for what a rename would replace by a
/// regular file.
fn replaceable(path: &Path) -> io::Result<Option<(PathBuf, Option<Metadata>)>> {
    /// Links that the kernel follows.
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..=LINKS {
        if is_of_process(&path) {
            return Ok(None);
        }
        match std::fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_symlink() => path = parent(&path).join(std::fs::read_link(&path)?),
            Ok(meta) if meta.is_file() => return Ok(Some((path, Some(meta)))),
            Ok(_) => return Ok(None),
            // A name that ends in a separator is a folder, and not there; the system has the message.
            Err(error) if error.kind() == ErrorKind::NotFound && path.file_name().is_some() => {
                return Ok(Some((path, None)));
            }
            Err(error) => return Err(error),
        }
    }
    // A cycle, for which the system has an error.
    Ok(None)
}

/// Returns whether a path names a descriptor of a process, or another file that the kernel makes up.
fn is_of_process(path: &Path) -> bool {
    let made_up = ["/proc", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"];
    cfg!(unix) && made_up.iter().any(|folder| path.starts_with(folder))
}

/// Returns whether a folder takes no new file.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Creates the temporary file of an output and locks it. One that another process left is truncated.
fn create_temporary(to: &Path) -> io::Result<(PathBuf, File)> {
    /// Processes that write the same file at the same time.
    const NUMBERS: u32 = 1000;
    for number in 0..NUMBERS {
        let path = to.with_file_name(temporary_name(to, number));
        // A few attempts, because another process may rename or remove the file at any time.
        for _ in 0..8 {
            let created = OpenOptions::new().write(true).read(true).create_new(true).open(&path);
            let (file, new) = match created {
                Ok(file) => (file, true),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    if !std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
                        break;
                    }
                    match OpenOptions::new().write(true).read(true).open(&path) {
                        Ok(file) => (file, false),
                        Err(error) if error.kind() == ErrorKind::NotFound => continue,
                        // It is another user's.
                        Err(_) => break,
                    }
                }
                Err(error) => return Err(error),
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => break,
                // A file system without locks: only a new file is certainly not in use.
                Err(TryLockError::Error(_)) if new => return Ok((path, file)),
                Err(TryLockError::Error(_)) => break,
            }
            // The previous owner of the lock may have renamed or removed the file before it released the lock.
            if !is_at(&file, &path) {
                continue;
            }
            file.set_len(0)?;
            return Ok((path, file));
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "too many processes write this file"))
}

/// Returns the path of the temporary file of an output, which stays if the process is killed.
#[must_use]
pub fn unfinished_path(path: &Path) -> PathBuf {
    path.with_file_name(temporary_name(path, 0))
}

/// Returns the temporary name for a file: `.out.png.r500-part`, and with a number if that is in use.
fn temporary_name(to: &Path, number: u32) -> OsString {
    /// Names have at most 255 bytes; characters of a name may have three bytes after conversion.
    const MOST: usize = 200;
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=MOST.min(name.len())).rev().find(|&end| name.is_char_boundary(end));
    let name = &name[..end.unwrap_or(0)];
    match number {
        0 => format!(".{name}.{PART}").into(),
        _ => format!(".{name}.{number}.{PART}").into(),
    }
}

/// Returns whether a path still names an open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |meta: Metadata| (meta.dev(), meta.ino());
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => identity(open) == identity(named),
        _ => false,
    }
}

/// An open file is neither renamed nor removed on these systems.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.is_file()
}

/// Gives a file the owner and the group of the file that it replaces, as far as the system allows.
fn keep_owner(file: &File, existing: &Metadata) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let Ok(own) = file.metadata() else { return };
        let changed = |own: u32, existing: u32| (own != existing).then_some(existing);
        // Only root changes owners; groups of the user are allowed. What is refused stays the user's.
        for (user, group) in
            [(None, changed(own.gid(), existing.gid())), (changed(own.uid(), existing.uid()), None)]
        {
            if user.is_some() || group.is_some() {
                let _ = fchown(file, user, group);
            }
        }
    }
    #[cfg(not(unix))]
    let _ = (file, existing);
}

/// Copies a complete file over another, whose name stays.
fn copy_over(temporary: &Temporary) -> io::Result<()> {
    let mut from = BufReader::with_capacity(1 << 16, File::open(&temporary.path)?);
    let mut to = File::create(&temporary.to)?;
    io::copy(&mut from, &mut to).map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tempfile::TempDir;

    use super::*;

    fn names(folder: &TempDir) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn names_appear_at_the_commit() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("out.png");
        let output = Output::create(&path).unwrap();
        output.writer().write_all(b"new").unwrap();
        assert_eq!(names(&folder), [".out.png.r500-part"]);
        output.commit().unwrap();
        assert_eq!(names(&folder), ["out.png"]);
        // An output that is dropped leaves the file as it was.
        let output = Output::create(&path).unwrap();
        output.writer().write_all(b"half").unwrap();
        drop(output);
        assert_eq!(names(&folder), ["out.png"]);
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn leftovers_are_taken_over_and_files_in_use_are_not() {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join(".out.r500-part"), b"a longer text of a killed run")
            .unwrap();
        let path = folder.path().join("out");
        let first = Output::create(&path).unwrap();
        let second = Output::create(&path).unwrap();
        assert_eq!(names(&folder), [".out.1.r500-part", ".out.r500-part"]);
        first.writer().write_all(b"first").unwrap();
        second.writer().write_all(b"2").unwrap();
        first.commit().unwrap();
        second.commit().unwrap();
        assert_eq!(names(&folder), ["out"]);
        assert_eq!(std::fs::read(&path).unwrap(), b"2");
    }

    #[test]
    fn new_files_leave_those_of_crashes_alone() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("out");
        let first = Output::create_new(&path).unwrap();
        assert_eq!(Output::create_new(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        first.commit().unwrap();
        assert_eq!(Output::create_new(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(names(&folder), ["out"]);
        std::fs::write(folder.path().join(".out.r500-part"), b"crash").unwrap();
        assert!(remove(&path).unwrap());
        assert!(!remove(&path).unwrap());
        assert!(names(&folder).is_empty());
    }

    #[test]
    fn files_of_a_group_appear_together() {
        let folder = TempDir::new().unwrap();
        let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
        let missing = folder.path().join("no folder/c");
        let (path, error) = write_group([(&*a, "1"), (&*b, "2"), (&*missing, "3")]).unwrap_err();
        assert_eq!((path, error.kind()), (missing, ErrorKind::NotFound));
        assert!(names(&folder).is_empty());
        write_group([(&*a, "1"), (&*b, "2")]).unwrap();
        assert_eq!(names(&folder), ["a", "b"]);
    }

    #[test]
    fn long_names_have_temporary_names() {
        let folder = TempDir::new().unwrap();
        for name in ["x".repeat(255), "\u{e9}".repeat(127)] {
            write(&folder.path().join(&name), b"1").unwrap();
            assert_eq!(names(&folder), [name.as_str()]);
            std::fs::remove_file(folder.path().join(&name)).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, b"old").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o604)).unwrap();
        symlink("file", folder.path().join("link")).unwrap();
        symlink("link", folder.path().join("link of a link")).unwrap();
        write(&folder.path().join("link of a link"), b"new").unwrap();
        assert_eq!(names(&folder), ["file", "link", "link of a link"]);
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o604);
        // A link to a file that is not there yet.
        symlink("later", folder.path().join("ahead")).unwrap();
        write(&folder.path().join("ahead"), b"1").unwrap();
        assert_eq!(std::fs::read(folder.path().join("later")).unwrap(), b"1");
        assert!(folder.path().join("ahead").is_symlink());
        symlink("cycle", folder.path().join("cycle")).unwrap();
        assert!(write(&folder.path().join("cycle"), b"1").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_folders_are_not_replaced() {
        let folder = TempDir::new().unwrap();
        write(Path::new("/dev/null"), b"1").unwrap();
        assert!(write(folder.path(), b"1").is_err());
        assert!(write(&folder.path().join("missing/"), b"1").is_err());
        #[cfg(target_os = "linux")]
        {
            let full = Output::create(Path::new("/dev/full")).unwrap();
            // An encoder that ignores the error.
            let _ = full.writer().write_all(b"1");
            assert_eq!(full.commit().unwrap_err().kind(), ErrorKind::StorageFull);
        }
        assert!(names(&folder).is_empty());
    }
}
