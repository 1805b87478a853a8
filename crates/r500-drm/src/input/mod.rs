//! Keyboard and mouse of the screen: event devices as the kernel has them (`evdev`).
//!
//! A program's descriptor of an event device is a socket, on which the process with the window writes events as the kernel does: `read`,
//! `poll` and `epoll` work as on a real node. In the other direction go messages of the same size, which choose the clock of
//! the times in events.

mod event;
mod link;
mod requests;

pub use event::{InputDevice, InputEvent};
pub use link::{InputListener, connect_input};
pub use requests::input_ioctl;
