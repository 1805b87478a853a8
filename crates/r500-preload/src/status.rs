//! Interposed `stat` and its variants: nodes are character devices with the numbers of graphics
//! and input devices.

use std::ffi::{CStr, c_char, c_int, c_uint};

use libc::{stat as Status, statx as ExtendedStatus};

use crate::files::node_in;
use crate::guard::guarded;
use crate::node::Node;
use crate::nodes;
use crate::real::real;
use crate::tree::{node_of_path, translated, translated_at};

const NULL: &CStr = c"/dev/null";
const MODE: u32 = libc::S_IFCHR | 0o666;

/// Turns the status of `/dev/null` into that of a node.
///
/// # Safety
///
/// `out` is null or the address of a status that was filled.
unsafe fn become_node(node: Node, out: *mut Status) {
    // SAFETY: see above.
    if let Some(out) = unsafe { out.as_mut() } {
        out.st_mode = MODE;
        out.st_rdev = libc::makedev(node.major(), node.minor());
    }
}

/// Defines functions for the status of a path; the old functions have a version argument before it.
/// On these systems `stat64` is `stat`.
macro_rules! by_path {
    ($($name:ident($([$before:ident: $btype:ty])? path, out);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            $($before: $btype,)? path: *const c_char, out: *mut Status
        ) -> c_int {
            // SAFETY: callers pass a C string.
            let node = unsafe { node_of_path(path) };
            // SAFETY: as above.
            let copy = unsafe { translated(path) };
            let path = copy.as_deref().or(node.map(|_| NULL)).map_or(path, CStr::as_ptr);
            let result = real!($name(
                $($before: $btype,)? path: *const c_char, out: *mut Status
            ) -> c_int);
            if let (Some(node), 0) = (node, result) {
                // SAFETY: the call filled it.
                unsafe { become_node(node, out) };
            }
            result
        }
    )*};
}

by_path! {
    stat(path, out);
    stat64(path, out);
    lstat(path, out);
    lstat64(path, out);
    __xstat([version: c_int] path, out);
    __xstat64([version: c_int] path, out);
    __lxstat([version: c_int] path, out);
    __lxstat64([version: c_int] path, out);
}

/// Defines functions for the status of a descriptor.
macro_rules! by_descriptor {
    ($($name:ident($([$version:ident: $vtype:ty])? fd, out);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($version: $vtype,)? fd: c_int, out: *mut Status) -> c_int {
            let result = real!($name($($version: $vtype,)? fd: c_int, out: *mut Status) -> c_int);
            if let (0, Some(node)) = (result, guarded(None, || nodes::node(fd))) {
                // SAFETY: the call filled it.
                unsafe { become_node(node, out) };
            }
            result
        }
    )*};
}

by_descriptor! {
    fstat(fd, out);
    fstat64(fd, out);
    __fxstat([version: c_int] fd, out);
    __fxstat64([version: c_int] fd, out);
}

/// Returns the node of a path, or of a descriptor if the path is empty and the flags allow this.
///
/// # Safety
///
/// `path` is null or a C string.
unsafe fn node_at(fd: c_int, path: *const c_char, flags: c_int) -> Option<Node> {
    // SAFETY: see above; a C string has a first byte.
    let empty = path.is_null() || unsafe { *path } == 0;
    if empty && flags & libc::AT_EMPTY_PATH != 0 {
        return guarded(None, || nodes::node(fd));
    }
    // SAFETY: see above.
    unsafe { node_in(fd, path).or_else(|| node_of_path(path)) }
}

/// Defines functions for the status of a path in a directory.
macro_rules! at_directory {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            fd: c_int, path: *const c_char, out: *mut Status, flags: c_int
        ) -> c_int {
            // SAFETY: callers pass a C string.
            let node = unsafe { node_at(fd, path, flags) };
            // SAFETY: as above.
            let copy = unsafe { translated_at(fd, path) };
            let path = copy.as_deref().or(node.map(|_| NULL)).map_or(path, CStr::as_ptr);
            let result = real!($name(
                fd: c_int, path: *const c_char, out: *mut Status, flags: c_int
            ) -> c_int);
            if let (Some(node), 0) = (node, result) {
                // SAFETY: the call filled it.
                unsafe { become_node(node, out) };
            }
            result
        }
    )*};
}

at_directory! { fstatat fstatat64 }

#[unsafe(no_mangle)]
unsafe extern "C" fn statx(
    fd: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    out: *mut ExtendedStatus,
) -> c_int {
    // SAFETY: callers pass a C string.
    let node = unsafe { node_at(fd, path, flags) };
    // SAFETY: as above.
    let copy = unsafe { translated_at(fd, path) };
    let path = copy.as_deref().or(node.map(|_| NULL)).map_or(path, CStr::as_ptr);
    let result = real!(statx(
        fd: c_int, path: *const c_char, flags: c_int, mask: c_uint, out: *mut ExtendedStatus
    ) -> c_int);
    // SAFETY: the call filled it.
    if let (Some(node), 0, Some(out)) = (node, result, unsafe { out.as_mut() }) {
        out.stx_mode = MODE as u16;
        (out.stx_rdev_major, out.stx_rdev_minor) = (node.major(), node.minor());
    }
    result
}
