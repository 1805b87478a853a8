//! `libr500_card.so`, an `LD_PRELOAD` library: with it, a program finds a Radeon X1000 at `/dev/dri/card0` and
//! `/dev/dri/renderD128`.
//!
//! The library interposes functions of the C library and of libdrm. [`r500_drm`] executes calls that concern the card.
//! All other calls go to the function that the program would have called without the library, which `dlsym(RTLD_NEXT)`
//! finds. `r500 card` sets the environment variables that [`r500_drm::Settings`] names.
//!
//! Rules for all functions here:
//! - A descriptor of the card is one end of a socket pair, so that it is open, and `read`, `poll` and `epoll` wait for
//!   events of the screen; [`nodes`] records these descriptors.
//! - No panic crosses the boundary: [`guard::guarded`] turns it into an error of the call.
//! - `open`, `openat`, `fcntl` and `ioctl` are variadic in C. Their last argument is an integer or a pointer, which
//!   x86-64 and AArch64 Linux pass like that of a function with fixed arguments. If the caller omitted it, the called
//!   function does not use its value.
//! - Linker and loader also bind this library's own calls of these functions, through `std`, to the functions here.
//!   They forward these calls, because none concerns a descriptor of the card.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "functions for C programs, with C's pointers")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contracts are those of the C functions of the same names"
)]

mod files;
mod guard;
mod inherited;
mod inputs;
mod libdrm;
mod machine;
mod messages;
mod node;
mod nodes;
mod parent;
mod paths;
mod real;
mod requests;
mod status;
mod tree;
