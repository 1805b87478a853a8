//! Open event devices: sockets to the process with the window, recognised by their address.

use std::ffi::c_int;
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::sync::OnceLock;

use r500_drm::{Errno, Program, Settings, connect_input, input_ioctl};
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::inherited::{mark, marked};
use crate::node::Node;

/// Returns the name of the listener for keyboard and mouse; `None` if the card has none.
fn listener() -> Option<&'static str> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    let settings = || Settings::from_variables(|name| std::env::var_os(name)).ok()?.input;
    NAME.get_or_init(settings).as_deref()
}

/// Returns whether the card has a keyboard and a mouse.
pub(crate) fn are_there() -> bool {
    listener().is_some()
}

/// Opens an event device.
pub(crate) fn open(node: Node, flags: c_int) -> Result<c_int, Errno> {
    let missing = Errno(libc::ENODEV);
    let (device, name) = (node.input().ok_or(missing)?, listener().ok_or(missing)?);
    let close = flags & libc::O_CLOEXEC != 0;
    let mut kind = if close { SocketFlags::CLOEXEC } else { SocketFlags::empty() };
    kind.set(SocketFlags::NONBLOCK, flags & libc::O_NONBLOCK != 0);
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, kind, None)?;
    mark(&socket, node)?;
    // The window is gone.
    connect_input(&socket, name, device).map_err(|_| missing)?;
    Ok(socket.into_raw_fd())
}

/// Returns the node of an open event device.
pub(crate) fn node(descriptor: c_int) -> Option<Node> {
    if descriptor < 0 || !are_there() {
        return None;
    }
    // SAFETY: borrowed for a call, which fails if it is not open; not -1.
    marked(unsafe { BorrowedFd::borrow_raw(descriptor) }).filter(|node| node.input().is_some())
}

/// Answers a request, if a descriptor is that of an event device.
pub(crate) fn request(
    descriptor: c_int,
    request: u32,
    argument: u64,
) -> Option<Result<c_int, Errno>> {
    if request >> 8 & 0xff != u32::from(b'E') {
        return None;
    }
    let device = node(descriptor)?.input()?;
    // SAFETY: a caller of `ioctl` on an event device passes the argument that the request requires, as to the kernel.
    let program = unsafe { Program::trusted() };
    // SAFETY: open, for it has a node; not -1. Borrowed for the call.
    let socket = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Some(input_ioctl(socket, device, &program, request, argument))
}
