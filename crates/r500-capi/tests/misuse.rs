//! A program in C forks, shares a drawing between threads, and frees handles twice.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the program for a scenario. Returns `None` where there is no C compiler.
fn build(scenario: &str) -> Option<PathBuf> {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("there is no C compiler: skipped");
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let exe = std::env::current_exe().unwrap();
    // The tests link the library for Rust, and Cargo builds a library in all its forms at once, next to the test.
    let libraries = exe.parent().unwrap();
    assert!(libraries.join("libr500_c.so").is_file(), "no library in {}", libraries.display());
    // Tests run at the same time: each has its own file.
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("misuse-{scenario}"));
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]).arg(&to);
    if cfg!(debug_assertions) {
        cc.arg("-DDEBUG_ASSERTIONS");
    }
    cc.arg(root.join("tests/misuse.c")).arg("-I").arg(root.join("include"));
    cc.arg("-L").arg(libraries).arg("-lr500_c").arg(format!("-Wl,-rpath,{}", libraries.display()));
    assert!(cc.status().unwrap().success(), "the C program does not compile");
    Some(to)
}

/// Runs a scenario of the program. Returns its output; `None` where there is no C compiler.
fn run(scenario: &str) -> Option<String> {
    let program = build(scenario)?;
    let shader = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/plasma.r5");
    let output = Command::new(program).arg(scenario).arg(shader).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {text}\n{errors}", output.status);
    Some(text)
}

#[test]
fn a_child_process_draws_with_every_engine() {
    let Some(text) = run("forks") else { return };
    assert_eq!(text, "jit: the child drew\nfast: the child drew\nreference: the child drew\n");
}

#[test]
fn a_drawing_used_by_four_threads_is_an_error_of_the_later_calls() {
    let Some(text) = run("threads") else { return };
    assert_eq!(text, "160 calls, other errors 0, some drawn\n");
}

#[test]
fn handles_are_freed_once() {
    let Some(text) = run("frees") else { return };
    let mut lines = text.lines();
    for _ in 0..3 {
        assert_eq!(lines.next(), Some("1 1"));
    }
    let found: Vec<&str> = lines.collect();
    let expected: &[&str] = if cfg!(debug_assertions) {
        &[
            "0 drawing was freed before",
            "0 drawing was freed before",
            "0 text was freed before",
            "0 program was freed before",
            "0 program was freed before",
        ]
    } else {
        &[]
    };
    assert_eq!(found, expected);
}

#[test]
fn a_card_belongs_to_a_thread_and_is_freed_once() {
    let Some(text) = run("cards") else { return };
    let mut expected = vec!["1600 calls, other errors 0, some written", "1 1", "1 1"];
    if cfg!(debug_assertions) {
        expected.extend([
            "0 card was freed before",
            "0 card was freed before",
            "0 capture was freed before",
            "0 capture was freed before",
        ]);
    }
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_picture_without_pixels_is_an_error() {
    let Some(text) = run("empty") else { return };
    let line = |size: &str| format!("0 a picture of {size} has no pixels\n");
    assert_eq!(text, ["0x0", "0x8", "8x0"].map(line).concat());
}
