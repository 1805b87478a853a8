//! Interposed `open`, `close`, `dup`, `fcntl` and their variants.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::mode_t;

use crate::guard::{answered, guarded};
use crate::inputs;
use crate::node::Node;
use crate::nodes;
use crate::real::real;
use crate::tree::{self, node_of_path};

/// Opens a node.
pub(crate) fn open_node(node: Node, flags: c_int) -> c_int {
    answered(-1, || match node.input() {
        None => nodes::open(node, flags),
        Some(_) => inputs::open(node, flags),
    })
}

/// Returns the node with a name in an open directory, if the directory is the copy of that of the node.
///
/// # Safety
///
/// `path` is null or a C string.
pub(crate) unsafe fn node_in(directory: c_int, path: *const c_char) -> Option<Node> {
    if path.is_null() || directory < 0 {
        return None;
    }
    // SAFETY: see above.
    let name = unsafe { CStr::from_ptr(path) }.to_bytes();
    let node = Node::ALL
        .into_iter()
        .find(|node| node.path().to_bytes().rsplit(|b| *b == b'/').next() == Some(name))?;
    guarded(None, || {
        let link = std::fs::read_link(format!("/proc/self/fd/{directory}")).ok()?;
        let place = Path::new(OsStr::from_bytes(node.path().to_bytes())).parent();
        (Some(tree::original(&link)?) == place).then_some(node)
    })
}

/// Returns the path to open in place of another, if any. A folder whose entries may be read has those of the card among them.
///
/// # Safety
///
/// `path` is null or a C string.
unsafe fn opened(directory: c_int, path: *const c_char, flags: c_int) -> Option<CString> {
    let lists = flags & libc::O_DIRECTORY != 0 && flags & libc::O_PATH == 0;
    // SAFETY: see above.
    let listed = if lists { unsafe { tree::listed(path) } } else { None };
    // SAFETY: see above.
    listed.or_else(|| unsafe { tree::translated_at(directory, path) })
}

/// The folder to which a path is relative: that of a descriptor, or the current one.
macro_rules! directory_or_current {
    () => {
        libc::AT_FDCWD
    };
    ($directory:ident) => {
        $directory
    };
}
pub(crate) use directory_or_current;

/// Defines a function that opens a path, with or without a directory and a mode.
macro_rules! opens {
    ($($name:ident($([$directory:ident: $dtype:ty])? path, flags $(, $mode:ident: $mtype:ty)?);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            $($directory: $dtype,)? path: *const c_char, flags: c_int $(, $mode: $mtype)?
        ) -> c_int {
            $(
                // SAFETY: callers pass a C string.
                if let Some(node) = unsafe { node_in($directory, path) } {
                    return open_node(node, flags);
                }
            )?
            // SAFETY: callers pass a C string.
            if let Some(node) = unsafe { node_of_path(path) } {
                return open_node(node, flags);
            }
            // SAFETY: as above.
            if let Some(descriptor) = unsafe { display_registers(path) } {
                return descriptor;
            }
            // SAFETY: as above.
            let copy = unsafe { opened(directory_or_current!($($directory)?), path, flags) };
            let path = copy.as_deref().map_or(path, CStr::as_ptr);
            real!($name(
                $($directory: $dtype,)? path: *const c_char, flags: c_int $(, $mode: $mtype)?
            ) -> c_int)
        }
    )*};
}

opens! {
    open(path, flags, mode: mode_t);
    open64(path, flags, mode: mode_t);
    __open_2(path, flags);
    __open64_2(path, flags);
    openat([directory: c_int] path, flags, mode: mode_t);
    openat64([directory: c_int] path, flags, mode: mode_t);
    __openat_2([directory: c_int] path, flags);
    __openat64_2([directory: c_int] path, flags);
}

/// Opens a file in place of the display controller's registers, for programs that read them directly, without the
/// kernel. The registers show the beginning of a frame, and no pending surface update.
///
/// # Safety
///
/// `path` is null or a C string.
unsafe fn display_registers(path: *const c_char) -> Option<c_int> {
    use std::os::fd::IntoRawFd;
    const PATH: &CStr = c"/sys/bus/pci/devices/0000:01:00.0/resource2";
    const BYTES: u64 = 64 << 10;
    /// Offsets and values of the two `D1GRPH_...` registers.
    const VALUES: [(u64, u32); 2] = [(0x60ec, 0x100), (0x6144, 0)];
    // SAFETY: see above.
    if path.is_null() || unsafe { CStr::from_ptr(path) } != PATH {
        return None;
    }
    guarded(Some(-1), || {
        let file =
            rustix::fs::memfd_create(c"r500 display", rustix::fs::MemfdFlags::CLOEXEC).ok()?;
        rustix::fs::ftruncate(&file, BYTES).ok()?;
        for (offset, value) in VALUES {
            rustix::io::pwrite(&file, &value.to_le_bytes(), offset).ok()?;
        }
        Some(file.into_raw_fd())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    guarded((), || nodes::remove(fd));
    real!(close(fd: c_int) -> c_int)
}

/// Registers a new descriptor as a duplicate of an old one.
fn duplicated(old: c_int, new: c_int) -> c_int {
    if new >= 0 && new != old {
        guarded((), || match nodes::get(old) {
            Some(open) => nodes::alias(new, open),
            None => nodes::remove(new),
        });
    }
    new
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup(fd: c_int) -> c_int {
    duplicated(fd, real!(dup(fd: c_int) -> c_int))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup2(fd: c_int, new: c_int) -> c_int {
    duplicated(fd, real!(dup2(fd: c_int, new: c_int) -> c_int))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn dup3(fd: c_int, new: c_int, flags: c_int) -> c_int {
    duplicated(fd, real!(dup3(fd: c_int, new: c_int, flags: c_int) -> c_int))
}

/// Returns whether an `fcntl` command returns a new descriptor.
fn duplicates(command: c_int) -> bool {
    matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, value: *mut c_void) -> c_int {
    let result = real!(fcntl(fd: c_int, command: c_int, value: *mut c_void) -> c_int);
    if duplicates(command) { duplicated(fd, result) } else { result }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl64(fd: c_int, command: c_int, value: *mut c_void) -> c_int {
    let result = real!(fcntl64(fd: c_int, command: c_int, value: *mut c_void) -> c_int);
    if duplicates(command) { duplicated(fd, result) } else { result }
}
