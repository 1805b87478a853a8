//! `libr500_card.so`: with this library in `LD_PRELOAD`, a program finds a Radeon X1000 at
//! `/dev/dri/card0` and `/dev/dri/renderD128`.
//!
//! The library defines functions of the C library and of libdrm. A call that concerns the card is
//! answered by [`r500_drm`]; all others call the function that the program would have called,
//! which `dlsym(RTLD_NEXT)` finds. `r500 card` sets the environment variables that
//! [`r500_drm::Settings`] names.
//!
//! Rules that hold in every function here:
//! - A descriptor of the card is one end of a socket pair, so that it is open, and `read`, `poll` and `epoll` wait for events
//!   of the screen; [`nodes`] knows which descriptors these are.
//! - No panic leaves: [`guard::guarded`] turns it into an error of the call.
//! - `open`, `openat`, `fcntl` and `ioctl` are variadic in C. Their last argument is an integer or a
//!   pointer, which x86-64 and AArch64 Linux pass as they pass that of a function with fixed
//!   arguments; if the caller left it out, its value is not used by the function that gets it.
//! - Linker and loader bind what this library itself calls of these functions, through `std`, to the
//!   functions here; they pass it on, because it never concerns a descriptor of the card.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "functions for C programs, with C's pointers")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contracts are those of the C functions of the same names"
)]

mod files;
mod guard;
mod libdrm;
mod machine;
mod node;
mod nodes;
mod paths;
mod real;
mod requests;
mod status;
mod tree;
