//! A Radeon X1000 as a Linux graphics device: what the kernel's radeon driver does for a program,
//! done in the program's own process.
//!
//! A [`Device`] is the card. A [`File`] is one open of its node, with its handles of buffers;
//! [`File::ioctl`] answers requests as the kernel does, with buffers that are memory files, and hands
//! submissions to a [`Machine`]. [`Settings`] say which chip it is and what becomes of submissions and
//! frames. How a program's system calls get here is not its business: that is `libr500_card.so`.
//!
//! Requests and their structures are those of the Linux headers `drm.h`, `drm_mode.h` and
//! `radeon_drm.h`, of radeon driver 2.50.0. The unsafe code is in two modules: `program` reads and writes
//! the memory of the program, `memory` maps buffers.
#![cfg(target_os = "linux")]

mod abi;
mod capture;
mod command_stream;
mod device;
mod display;
mod errno;
mod events;
mod frame_link;
mod gem;
mod info;
mod kms;
pub mod log;
mod machine;
mod memory;
mod mode_objects;
mod objects;
mod program;
mod properties;
mod requests;
mod screen;
mod settings;
mod vblank;
mod vblank_requests;
mod worker;

pub use device::{Device, File};
pub use errno::Errno;
pub use events::EventQueue;
pub use frame_link::{Frame, FrameListener, FrameReader};
pub use gem::Mapping;
pub use machine::{Fault, Machine};
pub use program::Program;
pub use settings::{EngineName, Settings, SettingsError, UnknownEngine};
