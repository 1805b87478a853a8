//! Interposed `ioctl` and `mmap`.

use std::ffi::{c_int, c_ulong, c_void};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use libc::{off_t, size_t};
use r500_drm::{Errno, Program};

use crate::guard::{answered, guarded};
use crate::inputs;
use crate::nodes;
use crate::real::real;

#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    /// `DMA_BUF_IOCTL_SYNC`
    const DMA_BUF_SYNC: c_ulong = 0x4008_6200;
    let Some(open) = guarded(None, || nodes::get(fd)) else {
        let input = guarded(None, || inputs::request(fd, request as u32, argument as u64));
        if let Some(answer) = input {
            return answered(-1, || answer);
        }
        if request == DMA_BUF_SYNC && guarded(false, || is_synchronised(fd)) {
            return 0;
        }
        return real!(ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int);
    };
    answered(-1, || {
        // SAFETY: a caller of `ioctl` on a graphics device passes the argument that the request requires, as to the
        // kernel.
        let program = unsafe { Program::trusted() };
        open.file()?.ioctl(&program, request as u32, argument as u64)
    })
}

/// Waits for the card if a descriptor belongs to a buffer. Returns whether it does.
fn is_synchronised(fd: c_int) -> bool {
    // SAFETY: borrowed for one call, which fails if the descriptor is not open; -1 is not passed on.
    let borrowed = (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) });
    let device = nodes::existing_device();
    borrowed.zip(device).is_some_and(|(file, device)| device.synchronise(file))
}

/// Maps part of a buffer, at the node offset that the card assigned to it.
///
/// # Safety
///
/// As for `mmap`.
unsafe fn map_node(
    open: &nodes::Open,
    address: *mut c_void,
    length: size_t,
    protection: c_int,
    flags: c_int,
    offset: off_t,
) -> *mut c_void {
    answered(libc::MAP_FAILED, || {
        let offset = u64::try_from(offset).map_err(|_| Errno(libc::EINVAL))?;
        let mapping = open.file()?.mapping(offset, length as u64)?;
        let (fd, offset) = (mapping.as_fd().as_raw_fd(), mapping.offset as off_t);
        Ok(real!(mmap(
            address: *mut c_void, length: size_t, protection: c_int, flags: c_int, fd: c_int,
            offset: off_t
        ) -> *mut c_void, else libc::MAP_FAILED))
    })
}

/// Defines `mmap` under its two names; both use 64-bit offsets.
macro_rules! maps {
    ($($name:ident)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            address: *mut c_void, length: size_t, protection: c_int, flags: c_int, fd: c_int,
            offset: off_t,
        ) -> *mut c_void {
            match guarded(None, || nodes::get(fd)) {
                // SAFETY: the caller's arguments.
                Some(open) => unsafe { map_node(open, address, length, protection, flags, offset) },
                None => real!($name(
                    address: *mut c_void, length: size_t, protection: c_int, flags: c_int, fd: c_int,
                    offset: off_t
                ) -> *mut c_void, else libc::MAP_FAILED),
            }
        }
    )*};
}

maps! { mmap mmap64 }
