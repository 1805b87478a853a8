//! Defines `cfg` aliases for the targets with machine code.
#![allow(clippy::print_stdout, reason = "that is how a build script gives them to cargo")]

use cfg_aliases::cfg_aliases;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    cfg_aliases! {
        x86_code: { all(target_arch = "x86_64", any(unix, windows)) },
        aarch64_code: { all(target_arch = "aarch64", any(target_os = "linux", target_os = "macos")) },
        wasm_code: { all(target_arch = "wasm32", feature = "wasm-host") },
        // Code that the processor executes directly.
        native_code: { any(x86_code, aarch64_code) },
    }
}
