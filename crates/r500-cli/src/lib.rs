//! The `r500` command: see `r500 help`. A program that embeds an R500 takes the crate `r500`; here is only what
//! `main.rs` calls, apart from it so that cargo compiles it while `r500` is still being made.
#![forbid(unsafe_code)]

mod command;

pub use command::main;
