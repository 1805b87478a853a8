//! `r500 capture` of programs that submit nothing, fail, are killed or fork: what it says, leaves and returns.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stderr)]

#[path = "../../r500-preload/tests/common/mod.rs"]
mod card;
#[path = "support/folder.rs"]
mod folder;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use folder::Folder;

/// A client of the card with the kernel's structures: argument `b` makes a buffer, `s` submits two dwords with one, `f` continues
/// in a child for which the parent waits, `k` ends the process by SIGKILL, a digit is the exit status.
const CLIENT: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int fd = -1;
static uint32_t buffer(void) {
    if (fd < 0) fd = open("/dev/dri/renderD128", O_RDWR);
    uint32_t create[8] = {4096, 0, 0, 0, 0, 4, 0, 0};
    if (fd < 0 || ioctl(fd, 0xc020645dul, create)) _exit(99);
    return create[4];
}

int main(int count, char **arguments) {
    for (const char *at = count > 1 ? arguments[1] : ""; *at; at++) {
        if (*at == 'b') buffer();
        if (*at == 's') {
            uint32_t words[2] = {0x80000000u, 0x80000000u}, relocation[4] = {buffer(), 0, 4, 0};
            uint64_t chunks[2][2] = {{2 | 2ull << 32, (uintptr_t)words}, {1 | 4ull << 32, (uintptr_t)relocation}};
            uint64_t list[2] = {(uintptr_t)chunks[0], (uintptr_t)chunks[1]}, stream[4] = {2, (uintptr_t)list, 0, 0};
            if (ioctl(fd, 0xc0206466ul, stream)) _exit(98);
        }
        if (*at == 'f' && fork()) {
            int status = 0;
            wait(&status);
            return WEXITSTATUS(status);
        }
        if (*at == 'k') raise(SIGKILL);
        if (*at >= '0' && *at <= '9') return *at - '0';
    }
    return 0;
}
"#;

/// Returns the path of the client; `None` where there is no C compiler.
fn client(folder: &Folder) -> Option<String> {
    let source = folder.write("client.c", CLIENT);
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let built = Command::new(compiler).args(["-o", &folder.path("client"), &source]).output();
    let Ok(built) = built else {
        eprintln!("skipped: no C compiler");
        return None;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(folder.path("client"))
}

fn command(folder: &Folder, program: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_r500"));
    command.args(["capture", "--no-draw", "-o", "a.r5cs"]).args(program);
    command.env("R500_CARD_LIBRARY", card::library()).env("TMPDIR", folder.0.path());
    command.env("LIBGL_DRIVERS_PATH", driver(folder)).env("NO_COLOR", "1");
    command.current_dir(folder.0.path()).stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    command
}

/// Returns a folder with a driver's name in it, so that nothing is said of a missing one.
fn driver(folder: &Folder) -> String {
    let driver = folder.write("dri/r300_dri.so", "");
    driver.trim_end_matches("/r300_dri.so").to_owned()
}

fn capture(folder: &Folder, program: &[&str]) -> Output {
    command(folder, program).output().unwrap()
}

/// Returns the captures in a folder, whole and unfinished.
fn captures(folder: &Folder) -> Vec<String> {
    let mut names = folder.names();
    names.retain(|name| name.contains(".r5cs"));
    names
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn programs_that_submit_nothing_are_named_and_keep_their_status() {
    let folder = Folder::new("capture-nothing");
    for (program, status) in [(&["true"][..], 0), (&["false"], 1), (&["sh", "-c", "exit 7"], 7)] {
        let output = capture(&folder, program);
        let text =
            format!("warning: {} submitted nothing to the card: there is no a.r5cs (", program[0]);
        assert!(errors(&output).starts_with(&text), "{}", errors(&output));
        assert!(errors(&output).contains("linked statically"), "{}", errors(&output));
        assert_eq!(output.status.code(), Some(status));
        assert!(captures(&folder).is_empty());
    }
}

#[test]
fn a_killed_program_ends_the_command_by_its_signal() {
    let folder = Folder::new("capture-killed");
    for (name, number) in [("KILL", 9), ("SEGV", 11), ("TERM", 15)] {
        let output = capture(&folder, &["sh", "-c", &format!("kill -s {name} $$")]);
        let text = format!("sh was ended by SIG{name} and submitted nothing to the card");
        assert!(errors(&output).contains(&text), "{}", errors(&output));
        assert_eq!(output.status.signal(), Some(number));
        assert!(captures(&folder).is_empty());
    }
}

/// A program without a loader, by hand: an ELF header, a program header that loads the file, and `exit(5)`.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_program_without_a_loader_is_said_to_be_one() {
    let folder = Folder::new("capture-static");
    let mut program = b"\x7fELF\x02\x01\x01".to_vec();
    program.resize(16, 0);
    let code = [0xbf, 5, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05];
    let half = |value: u16| value.to_le_bytes().to_vec();
    let quad = |value: u64| value.to_le_bytes().to_vec();
    let base = 0x40_0000;
    let header =
        [half(2), half(62), vec![1, 0, 0, 0], quad(base + 120), quad(64), quad(0), vec![0; 4]];
    program.extend(header.concat());
    program.extend([64, 56, 1, 0, 0, 0].map(half).concat());
    program.extend([1, 0, 0, 0, 5, 0, 0, 0]);
    program.extend([0, base, base, 132, 132, 0x1000].map(quad).concat());
    program.extend(code);
    let path = folder.write("program", &program);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = capture(&folder, &["./program"]);
    assert_eq!(output.status.code(), Some(5), "{}", errors(&output));
    assert!(errors(&output).contains("(it is linked statically: "), "{}", errors(&output));
}

#[test]
fn captures_without_submissions_do_not_stay() {
    let folder = Folder::new("capture-buffers");
    let Some(client) = client(&folder) else { return };
    let output = capture(&folder, &[&client, "b3"]);
    assert_eq!(output.status.code(), Some(3), "{}", errors(&output));
    assert!(errors(&output).contains("submitted nothing to the card, or"), "{}", errors(&output));
    assert!(captures(&folder).is_empty());
    // What a killed process left is said and stays.
    let output = capture(&folder, &[&client, "bk"]);
    assert_eq!(output.status.signal(), Some(9));
    let text = errors(&output);
    assert!(
        text.contains("was ended by SIGKILL and submitted nothing")
            && text.contains("only .a.r5cs.r500-part"),
        "{text}"
    );
    assert_eq!(captures(&folder), [".a.r5cs.r500-part"]);
    // The next run takes its place.
    let output = capture(&folder, &[&client, "s"]);
    assert_eq!((output.status.code(), errors(&output).as_str()), (Some(0), ""));
    assert_eq!(captures(&folder), ["a.r5cs"]);
}

#[test]
fn submissions_of_all_processes_are_kept() {
    let folder = Folder::new("capture-forks");
    let Some(client) = client(&folder) else { return };
    for (does, status, says, files) in [
        ("s", 0, "", &["a.r5cs"][..]),
        ("s4", 4, "", &["a.r5cs"]),
        // The child submits, then both; the child's status is that of the parent.
        ("fs6", 6, "", &["a.r5cs"]),
        ("sfs6", 6, "", &["a.1.r5cs", "a.r5cs"]),
        ("sfb", 0, "a.1.r5cs has buffers, but no submission", &["a.1.r5cs", "a.r5cs"]),
        (
            "sfsk",
            0,
            ".a.1.r5cs.r500-part is the capture of a process that crashed",
            &[".a.1.r5cs.r500-part", "a.r5cs"],
        ),
    ] {
        let output = capture(&folder, &[&client, does]);
        assert_eq!(output.status.code(), Some(status), "{does}: {}", errors(&output));
        assert!(errors(&output).contains(says), "{does}: {}", errors(&output));
        assert_eq!(errors(&output).is_empty(), says.is_empty(), "{does}: {}", errors(&output));
        assert_eq!(captures(&folder), files, "{does}");
    }
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_program_starts() {
    let folder = Folder::new("capture-unwritable");
    for path in ["missing/a.r5cs", "/dev/null", "."] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_r500"));
        command.args(["capture", "-o", path, "touch", "mark"]).current_dir(folder.0.path());
        let output = command.env("R500_CARD_LIBRARY", card::library()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{path}: {}", errors(&output));
        assert!(errors(&output).contains("cannot write"), "{path}: {}", errors(&output));
        assert!(!folder.names().contains(&"mark".to_owned()));
    }
    assert!(std::path::Path::new("/dev/null").exists());
}

fn wait_for_file(folder: &Folder, name: &str) {
    let begin = Instant::now();
    while !folder.names().iter().any(|file| file == name) {
        assert!(begin.elapsed() < Duration::from_secs(60), "no {name}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}

/// Returns whether this process, and so each that it starts, ignores a signal, as in the background of a shell.
fn is_ignored(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> (number - 1) & 1 != 0
}

/// Starts a shell that waits in small steps, with an action for a signal.
fn shell(folder: &Folder, action: &str) -> Child {
    let script = format!("{action}; echo $$ > pid; mv pid ready; while :; do sleep 0.05; done");
    let child = command(folder, &["sh", "-c", &script]).spawn().unwrap();
    wait_for_file(folder, "ready");
    child
}

#[test]
fn signals_reach_the_program() {
    for (name, number) in
        [("TERM", 15), ("INT", 2), ("HUP", 1), ("QUIT", 3), ("USR1", 10), ("USR2", 12)]
    {
        // The program would ignore it, too.
        if is_ignored(number) {
            continue;
        }
        let folder = Folder::new("capture-signal");
        let child = shell(&folder, &format!("trap 'echo got {name}; exit 9' {name}"));
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            (output.status.code(), text.as_ref()),
            (Some(9), format!("got {name}\n").as_str())
        );
    }
    // Without an action of its own, the program ends by the signal, and the command by the same.
    let folder = Folder::new("capture-terminated");
    let child = shell(&folder, ":");
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(15), "{}", errors(&output));
    assert!(errors(&output).contains("ended by SIGTERM"), "{}", errors(&output));
}

#[test]
fn the_program_does_not_outlive_a_killed_command() {
    let folder = Folder::new("capture-orphan");
    let mut child = shell(&folder, ":");
    let pid = std::fs::read_to_string(folder.path("ready")).unwrap();
    let process = format!("/proc/{}/stat", pid.trim());
    // A process that has ended and is not waited for is a zombie.
    let runs = || std::fs::read_to_string(&process).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(runs());
    child.kill().unwrap();
    child.wait().unwrap();
    let begin = Instant::now();
    while runs() {
        assert!(begin.elapsed() < Duration::from_secs(30), "the program still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}
