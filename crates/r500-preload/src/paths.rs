//! Interposed functions that take paths. They translate paths of the card to the copy of its files
//! ([`tree`](crate::tree)).

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use libc::{size_t, ssize_t};

use crate::files::directory_or_current;
use crate::guard::guarded;
use crate::nodes;
use crate::real::real;
use crate::tree::{listed, original, translated, translated_at};

/// Defines functions that replace the path by its translation.
macro_rules! with_path {
    ($($translated:ident: $name:ident(path $(, $after:ident: $atype:ty)*) -> $result:ty, else $failure:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char $(, $after: $atype)*) -> $result {
            // SAFETY: callers pass a C string.
            let copy = unsafe { $translated(path) };
            let path = copy.as_deref().map_or(path, CStr::as_ptr);
            real!($name(path: *const c_char $(, $after: $atype)*) -> $result, else $failure)
        }
    )*};
}

with_path! {
    listed: opendir(path) -> *mut c_void, else ptr::null_mut();
    listed: scandir(path, list: *mut c_void, filter: *mut c_void, order: *mut c_void) -> c_int, else -1;
    listed: scandir64(path, list: *mut c_void, filter: *mut c_void, order: *mut c_void) -> c_int, else -1;
    translated: fopen(path, mode: *const c_char) -> *mut c_void, else ptr::null_mut();
    translated: fopen64(path, mode: *const c_char) -> *mut c_void, else ptr::null_mut();
    translated: euidaccess(path, mode: c_int) -> c_int, else -1;
    translated: eaccess(path, mode: c_int) -> c_int, else -1;
    translated: access(path, mode: c_int) -> c_int, else -1;
    translated: getxattr(path, name: *const c_char, value: *mut c_void, size: size_t) -> ssize_t, else -1;
    translated: lgetxattr(path, name: *const c_char, value: *mut c_void, size: size_t) -> ssize_t, else -1;
    translated: listxattr(path, list: *mut c_char, size: size_t) -> ssize_t, else -1;
    translated: llistxattr(path, list: *mut c_char, size: size_t) -> ssize_t, else -1;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn faccessat(
    directory: c_int,
    path: *const c_char,
    mode: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: callers pass a C string.
    let copy = unsafe { translated_at(directory, path) };
    let path = copy.as_deref().map_or(path, CStr::as_ptr);
    real!(faccessat(directory: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int)
}

/// Defines `fstatfs` under its two names, whose structures are the same. A descriptor in the copy of `/sys` is one of `sysfs`: libudev
/// looks.
macro_rules! file_systems {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(descriptor: c_int, out: *mut libc::statfs) -> c_int {
            /// `SYSFS_MAGIC`
            const SYSFS: libc::__fsword_t = 0x6265_6572;
            let result = real!($name(descriptor: c_int, out: *mut libc::statfs) -> c_int);
            // SAFETY: the call filled it.
            if let (0, Some(out)) = (result, unsafe { out.as_mut() })
                && guarded(false, || is_in_sys(descriptor))
            {
                out.f_type = SYSFS;
            }
            result
        }
    )*};
}

file_systems! { fstatfs fstatfs64 }

/// Returns whether a descriptor is that of a file in the copy of `/sys`.
fn is_in_sys(descriptor: c_int) -> bool {
    let link = std::fs::read_link(format!("/proc/self/fd/{descriptor}"));
    link.is_ok_and(|link| original(&link).is_some_and(|path| path.starts_with("/sys")))
}

/// Returns the path of a node, if the link in `/proc` is that of one of the node's descriptors.
///
/// # Safety
///
/// `path` is null or a C string.
unsafe fn link_of_descriptor(path: *const c_char) -> Option<&'static CStr> {
    if path.is_null() {
        return None;
    }
    // SAFETY: see above.
    let rest = unsafe { CStr::from_ptr(path) }.to_bytes().strip_prefix(b"/proc/")?;
    guarded(None, || {
        let (process, descriptor) = std::str::from_utf8(rest).ok()?.split_once("/fd/")?;
        let own = process == "self" || process.parse() == Ok(std::process::id());
        let node = own.then(|| nodes::node(descriptor.parse().ok()?)).flatten()?;
        Some(node.path())
    })
}

/// Defines functions that read a link.
macro_rules! read_links {
    ($($name:ident([$($before:ident: $btype:ty)?] $(, $after:ident)?);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            $($before: $btype,)? path: *const c_char, out: *mut c_char, size: size_t $(, $after: size_t)?
        ) -> ssize_t {
            // SAFETY: callers pass a C string.
            if let Some(node) = unsafe { link_of_descriptor(path) } && !out.is_null() {
                let length = node.to_bytes().len().min(size);
                // SAFETY: the caller's buffer has `size` bytes.
                unsafe { ptr::copy_nonoverlapping(node.as_ptr(), out, length) };
                return length as ssize_t;
            }
            // SAFETY: as above.
            let copy = unsafe { translated_at(directory_or_current!($($before)?), path) };
            let path = copy.as_deref().map_or(path, CStr::as_ptr);
            real!($name(
                $($before: $btype,)? path: *const c_char, out: *mut c_char, size: size_t
                $(, $after: size_t)?
            ) -> ssize_t)
        }
    )*};
}

read_links! {
    readlink([]);
    readlinkat([directory: c_int]);
    __readlink_chk([], room);
    __readlinkat_chk([directory: c_int], room);
}

/// Resolves a path of the card; `None` for all other paths, and on failure.
///
/// # Safety
///
/// `path` is null or a C string; `out` is null or has room for `PATH_MAX` bytes.
unsafe fn resolved(path: *const c_char, out: *mut c_char) -> Option<*mut c_char> {
    // SAFETY: as this function's.
    let copy = unsafe { translated(path) }?;
    guarded(None, || {
        let found = std::fs::canonicalize(Path::new(OsStr::from_bytes(copy.to_bytes()))).ok()?;
        let path = match original(&found) {
            Some(path) => CString::new(path.as_os_str().as_bytes()).ok()?,
            // SAFETY: a node, whose path was not null.
            None => unsafe { CStr::from_ptr(path) }.to_owned(),
        };
        if out.is_null() {
            // SAFETY: a C string.
            return Some(unsafe { libc::strdup(path.as_ptr()) });
        }
        let bytes = path.as_bytes_with_nul();
        if bytes.len() > libc::PATH_MAX as usize {
            return None;
        }
        // SAFETY: see above.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr().cast(), out, bytes.len()) };
        Some(out)
    })
}

/// Defines functions that resolve all links of a path.
macro_rules! resolve {
    ($($name:ident(path, out $(, $after:ident)?);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            path: *const c_char, out: *mut c_char $(, $after: size_t)?
        ) -> *mut c_char {
            // SAFETY: the caller's arguments.
            match unsafe { resolved(path, out) } {
                Some(path) => path,
                None => real!($name(
                    path: *const c_char, out: *mut c_char $(, $after: size_t)?
                ) -> *mut c_char, else ptr::null_mut()),
            }
        }
    )*};
}

resolve! {
    realpath(path, out);
    __realpath_chk(path, out, room);
}

/// Defines `glob` under its two names. Patterns of the card's paths are searched in the copy, and the results are
/// translated back.
macro_rules! globs {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            pattern: *const c_char, flags: c_int, error: *mut c_void, out: *mut libc::glob_t
        ) -> c_int {
            // SAFETY: callers pass a C string.
            let copy = unsafe { translated(pattern) };
            let pattern = copy.as_deref().map_or(pattern, CStr::as_ptr);
            let result = real!($name(
                pattern: *const c_char, flags: c_int, error: *mut c_void, out: *mut libc::glob_t
            ) -> c_int);
            // SAFETY: the call filled it.
            if copy.is_some() && result == 0 && let Some(found) = unsafe { out.as_mut() } {
                guarded((), || {
                    for n in 0..found.gl_pathc {
                        // SAFETY: after the reserved slots there are this many C strings, allocated with `malloc`.
                        unsafe { restore(*found.gl_pathv.add(found.gl_offs * usize::from(flags & libc::GLOB_DOOFFS != 0) + n)) };
                    }
                });
            }
            result
        }
    )*};
}

globs! { glob glob64 }

/// Replaces a path in the copy by its original, which is shorter.
///
/// # Safety
///
/// `path` is null or a C string that may be changed.
unsafe fn restore(path: *mut c_char) {
    if path.is_null() {
        return;
    }
    // SAFETY: see above.
    let text = unsafe { CStr::from_ptr(path) }.to_bytes_with_nul();
    let short = original(Path::new(OsStr::from_bytes(&text[..text.len() - 1])));
    if let Some(short) = short.map(|short| short.as_os_str().len()) {
        // SAFETY: the end of the string with its terminator is moved to the beginning.
        unsafe { ptr::copy(path.add(text.len() - 1 - short), path, short + 1) };
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn canonicalize_file_name(path: *const c_char) -> *mut c_char {
    // SAFETY: the caller's argument.
    match unsafe { resolved(path, ptr::null_mut()) } {
        Some(path) => path,
        None => real!(canonicalize_file_name(path: *const c_char) -> *mut c_char,
            else ptr::null_mut()),
    }
}
