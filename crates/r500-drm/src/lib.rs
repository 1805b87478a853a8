//! A virtual Radeon X1000 as a Linux graphics device: the radeon DRM driver, implemented in the program's own process.
//!
//! A [`Device`] is the card. A [`File`] is an open file of its node, with its own buffer handles. [`File::ioctl`]
//! answers requests as the kernel does, with memory files as buffers, and passes submissions to a [`Machine`].
//! [`Settings`] select the chip, and the destination of submissions and frames. `libr500_card.so` redirects a program's
//! system calls to this crate.
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
mod input;
mod kms;
mod lock;
pub mod log;
mod machine;
mod memory;
mod mode_objects;
mod objects;
mod profile;
mod program;
mod properties;
mod requests;
mod screen;
mod settings;
mod vblank;
mod vblank_requests;
mod worker;

pub use capture::capture_path;
pub use device::{Device, File};
pub use display::mode_sizes;
pub use errno::Errno;
pub use events::EventQueue;
pub use frame_link::{Frame, FrameListener, FrameReader};
pub use gem::Mapping;
pub use input::{InputDevice, InputEvent, InputListener, connect_input, input_ioctl};
pub use machine::{DrawTime, Fault, Machine};
pub use program::Program;
pub use settings::{Settings, SettingsError};
