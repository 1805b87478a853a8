//! Interposed `recvmsg`: descriptors of the card that another process sends, as an X server does to its clients (DRI3).

use std::ffi::c_int;

use libc::{msghdr, ssize_t};

use crate::guard::guarded;
use crate::nodes;
use crate::real::real;

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    let result = real!(recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t);
    if result >= 0 && flags & libc::MSG_PEEK == 0 {
        // SAFETY: the call filled the caller's structure.
        unsafe { take_descriptors(message) };
    }
    result
}

/// Lets descriptors in a message be those of this process's card.
///
/// # Safety
///
/// `message` is null or a message that was received.
unsafe fn take_descriptors(message: *const msghdr) {
    if message.is_null() {
        return;
    }
    // SAFETY: see above. The macros of the C library walk the control data, whose length the kernel has set.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while let Some(part) = header.as_ref() {
            if (part.cmsg_level, part.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let bytes = part.cmsg_len.saturating_sub(libc::CMSG_LEN(0) as usize);
                let data = libc::CMSG_DATA(header).cast::<c_int>();
                for n in 0..bytes / size_of::<c_int>() {
                    let descriptor = data.add(n).read_unaligned();
                    if descriptor >= 0 {
                        guarded((), || nodes::adopt_received(descriptor));
                    }
                }
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
}
