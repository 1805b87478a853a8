//! `open`, `close`, `dup`, `fcntl`, `read`, `access`.

use std::ffi::{c_char, c_int, c_void};

use libc::{mode_t, size_t, ssize_t};
use r500_drm::Errno;

use crate::guard::{answered, guarded};
use crate::nodes::{self, Node};
use crate::real::real;

/// Opens a node: a descriptor of `/dev/null`.
pub(crate) fn open_node(node: Node, flags: c_int) -> c_int {
    let path = c"/dev/null".as_ptr();
    let flags = libc::O_RDWR | flags & libc::O_CLOEXEC;
    let mode: mode_t = 0;
    let descriptor = real!(open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int);
    if descriptor >= 0 {
        guarded((), || nodes::add(descriptor, node));
    }
    descriptor
}

/// Defines a function that opens a path, with or without a directory and a mode.
macro_rules! opens {
    ($($name:ident($([$directory:ident: $dtype:ty])? path, flags $(, $mode:ident: $mtype:ty)?);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            $($directory: $dtype,)? path: *const c_char, flags: c_int $(, $mode: $mtype)?
        ) -> c_int {
            // SAFETY: callers pass a C string.
            if let Some(node) = unsafe { Node::of_path(path) } {
                return open_node(node, flags);
            }
            // SAFETY: as above.
            if let Some(descriptor) = unsafe { display_registers(path) } {
                return descriptor;
            }
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

/// A file in the place of the display controller's registers, for programs that wait for it without the
/// kernel: it is at the beginning of a frame, and no update of its surface is pending.
///
/// # Safety
///
/// `path` is null or a C string.
unsafe fn display_registers(path: *const c_char) -> Option<c_int> {
    use std::os::fd::IntoRawFd;
    const PATH: &std::ffi::CStr = c"/sys/bus/pci/devices/0000:01:00.0/resource2";
    const BYTES: u64 = 64 << 10;
    /// `D1GRPH_...`: what the two registers must read.
    const VALUES: [(u64, u32); 2] = [(0x60ec, 0x100), (0x6144, 0)];
    // SAFETY: see above.
    if path.is_null() || unsafe { std::ffi::CStr::from_ptr(path) } != PATH {
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

/// Makes a new descriptor what the old one is.
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

/// Commands that give a new descriptor.
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

#[unsafe(no_mangle)]
unsafe extern "C" fn read(fd: c_int, buffer: *mut c_void, count: size_t) -> ssize_t {
    match guarded(None, || nodes::get(fd)) {
        // SAFETY: callers pass `count` writable bytes.
        Some(open) => unsafe { read_events(open, buffer, count) },
        None => real!(read(fd: c_int, buffer: *mut c_void, count: size_t) -> ssize_t),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __read_chk(
    fd: c_int,
    buffer: *mut c_void,
    count: size_t,
    size: size_t,
) -> ssize_t {
    match guarded(None, || nodes::get(fd)) {
        // SAFETY: callers pass `size` writable bytes.
        Some(open) => unsafe { read_events(open, buffer, count.min(size)) },
        None => real!(__read_chk(
            fd: c_int, buffer: *mut c_void, count: size_t, size: size_t
        ) -> ssize_t),
    }
}

/// # Safety
///
/// `buffer` is that of `count` writable bytes.
unsafe fn read_events(open: &nodes::Open, buffer: *mut c_void, count: size_t) -> ssize_t {
    answered(-1, || {
        let events = open.file()?.read(count)?;
        if buffer.is_null() {
            return Err(Errno(libc::EFAULT));
        }
        // SAFETY: `read` gives at most `count` bytes; they are this library's own.
        unsafe { std::ptr::copy_nonoverlapping(events.as_ptr(), buffer.cast(), events.len()) };
        Ok(events.len() as ssize_t)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: callers pass a C string.
    match unsafe { Node::of_path(path) } {
        Some(_) if mode & libc::X_OK == 0 => 0,
        _ => real!(access(path: *const c_char, mode: c_int) -> c_int),
    }
}
