//! The `r500` command: see `r500 help`. Programs that embed an R500 use the crate `r500`. This crate is separate from
//! `main.rs` so that cargo can compile it in parallel with `r500`.
#![forbid(unsafe_code)]

mod command;

pub use command::main;
#[doc(hidden)]
pub use command::{serve_dap, serve_lsp};
