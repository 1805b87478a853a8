//! Event queue of an open file, as a socket pair: the program polls and reads one end, the card writes the other.

use std::os::fd::OwnedFd;
use std::sync::Mutex;

use bytemuck::Pod;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};

use crate::lock::locked;
use crate::memory::out_of_the_way;
use crate::{Errno, log};

/// The card's end of an event queue.
#[derive(Debug)]
pub struct EventQueue(Mutex<Option<OwnedFd>>);

impl EventQueue {
    /// Creates a queue. The descriptor is for the program: `read`, `poll`, `select` and `epoll` work as on a graphics
    /// device. It is closed on `exec`.
    pub fn new() -> Result<(OwnedFd, Self), Errno> {
        let (program, card) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )?;
        Ok((program, Self(Mutex::new(Some(out_of_the_way(card))))))
    }

    /// Closes the card's end.
    pub fn close(&self) {
        *locked(&self.0) = None;
    }

    /// Moves the queue into a child process, after the fork. If another thread of the parent used it at
    /// that moment, the child gets no events.
    pub fn after_fork(&self) -> Self {
        Self(Mutex::new(self.0.try_lock().ok().and_then(|mut queue| queue.take())))
    }

    /// Adds an event. If the queue is full, because the program does not read events, the event is dropped.
    pub(crate) fn send<T: Pod>(&self, event: &T) {
        let queue = locked(&self.0);
        let Some(queue) = &*queue else { return };
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        if rustix::net::send(queue, bytemuck::bytes_of(event), flags).is_err() {
            log::print_once("events of the screen are lost: the program does not read them");
        }
    }
}
