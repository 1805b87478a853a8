//! The `r500` command: see `r500 help`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    r500_cli::main()
}
