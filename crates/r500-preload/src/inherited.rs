//! Descriptors of the card that a program keeps over `exec`: the new program's library recognises them by the address of their
//! socket.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use libc::c_int;
use r500_drm::Errno;
use rustix::net::{SocketAddrUnix, bind, getsockname};

use crate::node::Node;

/// Beginning of the addresses; the node and a number follow.
const PREFIX: &str = "r500-card-node";

/// Gives the program's end of an event queue an address that names the node.
pub(crate) fn mark(descriptor: impl AsFd, node: Node) -> Result<(), Errno> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    /// Other processes may have the same number, and keep descriptors of processes with this number.
    const ATTEMPTS: u32 = 1000;
    for _ in 0..ATTEMPTS {
        let (process, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let name = format!("{PREFIX}/{}/{process}/{number}", node.minor());
        let address = SocketAddrUnix::new_abstract_name(name.as_bytes())?;
        match bind(&descriptor, &address) {
            Err(rustix::io::Errno::ADDRINUSE) => {}
            result => return Ok(result?),
        }
    }
    Err(Errno(libc::EADDRINUSE))
}

/// Returns the node of a descriptor that a program before this one opened.
pub(crate) fn marked(descriptor: BorrowedFd<'_>) -> Option<Node> {
    let address = SocketAddrUnix::try_from(getsockname(descriptor).ok()?).ok()?;
    let name = std::str::from_utf8(address.abstract_name()?).ok()?;
    let mut parts = name.split('/');
    let (prefix, minor) = (parts.next()?, parts.next()?);
    Node::ALL.into_iter().find(|node| prefix == PREFIX && minor == node.minor().to_string())
}

/// Returns the descriptors of this process, but the standard ones.
pub(crate) fn open_descriptors() -> Vec<c_int> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|descriptor| *descriptor > 2).collect()
}
