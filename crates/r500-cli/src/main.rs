//! The `r500` command: see `r500 help`.
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;

fn main() -> ExitCode {
    command::main()
}
