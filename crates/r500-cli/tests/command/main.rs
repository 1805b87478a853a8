//! The command as a person runs it: files in, files and exit status out.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

#[path = "../support/folder.rs"]
mod folder;

mod assembly;
mod bench;
#[cfg(unix)]
mod c_example;
#[cfg(unix)]
mod capture_mesa;
mod cfg;
mod check;
mod convert;
mod dap;
mod debug;
mod diff;
mod disasm;
mod explain;
mod feedback;
mod find;
mod lsp;
mod manual;
mod render;
mod replay;
#[cfg(unix)]
mod reports;
mod run;
mod sequence;
mod stats;
mod stream;
mod test;
mod texture;
mod trace;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use folder::Folder;

/// `OUT`: out[0] = (red of temp[0], green, blue, 1), as C source. With no input given temp[0] is
/// (u, v, 0, 1).
const UV: &str = "0x00078101, 0x00000000, 0x00000080, 0x00db0220, 0x00c18003, 0x00490000,\n";

/// The same of constant 0.
const CONSTANT: &str = "0x00078101, 0x00000100, 0x00000080, 0x00db0220, 0x00c18003, 0x00490000,\n";

/// `TEX temp[1].rgba = LD tex[0].rgba temp[0].rgba`, then as [`UV`] of temp[1], but alpha of temp[1],
/// too (`MAX src0.a src0.a`).
const TEXTURE: &str = "\
    0x00007803, 0x02400000, 0xe401e400, 0x00000000, 0x00000000, 0x00000000,
    0x00078105, 0x00000001, 0x00000001, 0x00db0220, 0x0060c003, 0x00490000,\n";

/// What a run of the command gave.
struct Run {
    status: i32,
    stdout: Vec<u8>,
    stderr: String,
}

impl Run {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Returns the run, which must have ended with that status.
    fn status(self, wanted: i32) -> Self {
        assert_eq!(self.status, wanted, "stdout: {}\nstderr: {}", self.text(), self.stderr);
        self
    }

    /// Returns the run, whose messages must hold this text.
    fn says(self, wanted: &str) -> Self {
        assert!(self.stderr.contains(wanted), "no `{wanted}` in stderr: {}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Returns the run, whose output must hold this text.
    fn shows(self, wanted: &str) -> Self {
        assert!(self.text().contains(wanted), "no `{wanted}` in stdout: {}", self.text());
        self
    }
}

fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_r500"));
    command.env_remove("R500_ENGINE").env_remove("R500_SIMD").env("NO_COLOR", "1");
    command
}

fn r500(args: &[&str]) -> Run {
    with_stdin(args, b"")
}

fn with_stdin(args: &[&str], input: &[u8]) -> Run {
    let mut child = command()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that does not read its input closes it; that is its right.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    Run {
        status: output.status.code().expect("ended by a signal"),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Folder {
    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    fn picture(&self, name: &str) -> r500::picture::Picture {
        r500::picture::decode_png(&self.read(name)).unwrap()
    }
}

/// Returns the names of the files in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn corpus(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name);
    path.to_str().unwrap().to_owned()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let words = bytes.chunks_exact(4);
    words.map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn help_names_every_subcommand_with_examples() {
    let run = r500(&["--help"]).status(0);
    for name in [
        "render", "run", "trace", "debug", "test", "bench", "asm", "disasm", "convert", "check",
        "stats", "cfg", "explain",
    ] {
        assert!(run.text().contains(name));
        let help = r500(&[name, "--help"]).status(0).shows("Examples:").shows("Exit status:");
        assert!(help.text().contains(&format!("r500 {name} ")));
    }
    for name in ["run", "disasm", "convert"] {
        r500(&[name]).status(2).says("the program is missing");
    }
    r500(&["no-such-command"]).status(2);
    r500(&[]).status(2);
}

/// A reader that goes away is not an error, and no panic.
#[test]
fn a_closed_pipe_is_quiet() {
    let probes = corpus("piglit/probes.jsonl.gz");
    let plasma = corpus("mesa/scene_plasma.json");
    // Pictures in one piece and in strips.
    for args in [
        &["test", &probes, "--list"][..],
        &["render", &plasma, "-o", "-"],
        &["render", &plasma, "--size", "2048x1024", "-o", "-"],
    ] {
        let mut command = command();
        let mut child =
            command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

/// A device without room is an error, also if a picture is written while it is drawn.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let folder = Folder::new("full-device");
    let plasma = corpus("mesa/scene_plasma.json");
    for size in ["64x64", "2048x1024"] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let run =
            command().args(["render", &plasma, "--size", size, "-o", "-"]).stdout(full).output();
        let run = run.unwrap();
        let said = String::from_utf8(run.stderr).unwrap();
        assert_eq!(said, "error: cannot write the output: No space left on device (os error 28)\n");
        assert_eq!(run.status.code(), Some(3), "{size}");
        for name in ["full.png", "full.f32", "full.raw", "full.exr", "full.apng", "full.gif"] {
            let path = folder.path(name);
            let _ = std::fs::remove_file(&path);
            std::os::unix::fs::symlink("/dev/full", &path).unwrap();
            let mut args = vec!["render", &plasma, "--size", size, "-o", &path];
            if name.ends_with("apng") || name.ends_with("gif") {
                args.extend(["--frames", "0..2", "--time-to", "0.r"]);
            }
            r500(&args).status(3).says(&format!("cannot write {path}: No space left on device"));
        }
    }
}
