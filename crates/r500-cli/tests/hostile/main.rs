//! Hostile inputs: each command answers soon, in little memory, with an error that names the place, and writes
//! nothing that controls a terminal.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::expect_used, clippy::panic)]

#[path = "../support/folder.rs"]
mod folder;

mod captures;
mod command_lines;
mod disk;
mod escapes;
mod files;
mod includes;
mod interrupted;
mod limits;
mod paths;

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use folder::Folder;

/// What a run of the command gave.
#[derive(Debug)]
struct Run {
    status: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Most memory that it had, in KiB.
    memory: u64,
}

/// Seconds of processors after which a command is taken to run without an end. A release build takes two at most; tests
/// run unoptimised.
const PROCESSOR_SECONDS: u64 = 20;

/// Time after which it is taken to wait without an end, on a machine that may be busy with other things.
const PATIENCE: Duration = Duration::from_secs(120);

/// Memory that no refusal takes, in KiB.
const MEMORY: u64 = 200 << 10;

impl Run {
    /// Returns the run, which must have ended with that status.
    #[track_caller]
    fn status(self, wanted: i32) -> Self {
        assert_eq!(self.status, wanted, "{}\n{}", self.text(), self.messages());
        self
    }

    /// Returns the run, whose messages must hold these texts.
    #[track_caller]
    fn says(self, wanted: &[&str]) -> Self {
        let messages = self.messages();
        for wanted in wanted {
            assert!(messages.contains(wanted), "no `{wanted}` in stderr: {messages}");
        }
        self
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    fn messages(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Runs the command.
#[track_caller]
fn r500<S: AsRef<OsStr>>(args: &[S]) -> Run {
    with_stdin(args, Stdio::null(), b"")
}

/// Returns the arguments for a subcommand over a program, with what else it needs.
fn command_line<'a>(subcommand: &'a str, program: &'a str) -> Vec<&'a str> {
    let mut args = vec![subcommand, program];
    match subcommand {
        "render" => args.extend(["-o", "-", "--size", "8x8"]),
        "trace" | "debug" => args.extend(["--size", "8x8", "--pixel", "3,3"]),
        _ => {}
    }
    args
}

/// Runs the command with what it reads from stdin.
#[track_caller]
fn with_stdin<S: AsRef<OsStr>>(args: &[S], stdin: Stdio, input: &[u8]) -> Run {
    let shown: Vec<_> =
        args.iter().map(|arg| arg.as_ref().to_string_lossy().into_owned()).collect();
    let mut child = Command::new(env!("CARGO_BIN_EXE_r500"))
        .env_remove("R500_ENGINE")
        .env_remove("R500_SIMD")
        .env("NO_COLOR", "1")
        .args(args)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    if let Some(mut pipe) = child.stdin.take() {
        // A command that does not read its input closes it.
        let _ = pipe.write_all(input);
    }
    let reader = |mut from: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).unwrap();
            bytes
        })
    };
    let stdout = reader(Box::new(child.stdout.take().unwrap()));
    let stderr = reader(Box::new(child.stderr.take().unwrap()));
    let (status, memory) = wait(&mut child, &shown);
    let run =
        Run { status, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap(), memory };
    assert!(!run.messages().contains("panicked"), "{shown:?}: {}", run.messages());
    assert!(run.memory < MEMORY, "{shown:?} took {} KiB", run.memory);
    run
}

/// Waits for the end of a command: its status, and the most memory that it had, in KiB.
#[track_caller]
fn wait(child: &mut Child, shown: &[String]) -> (i32, u64) {
    let (start, status) = (Instant::now(), format!("/proc/{}/status", child.id()));
    let mut memory = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let most = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let most = most.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        memory = memory.max(most.unwrap_or(0));
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code().unwrap_or_else(|| panic!("{shown:?}: {status}")), memory);
        }
        let busy = processor_seconds(child.id());
        if start.elapsed() > PATIENCE || busy > PROCESSOR_SECONDS {
            child.kill().unwrap();
            panic!("{shown:?} did not end in {:?}, {busy} s of processors", start.elapsed());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the seconds that a process has run on processors, 0 if it is gone.
fn processor_seconds(id: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // User and system time in ticks of 10 ms are fields 14 and 15; the name before them, field 2, may hold spaces.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() / 100
}

impl Folder {
    /// Makes a pipe that has no writer.
    fn pipe(&self, name: &str) -> String {
        let path = self.path(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    /// Makes a file of that many zeros, which takes no space.
    fn sparse(&self, name: &str, length: u64) -> String {
        let path = self.path(name);
        std::fs::File::create(&path).unwrap().set_len(length).unwrap();
        path
    }
}
