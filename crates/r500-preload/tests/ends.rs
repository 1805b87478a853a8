//! Programs on the card that end in different ways: their captures, exit statuses and temporary files.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "system calls")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use r500_stream::capture::Reader;
use tempfile::TempDir;

/// A program: a test of [`on_the_card`] with the library of this build, and the capture `folder/a.r5cs`.
fn program(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "--nocapture", &format!("on_the_card::{name}")])
        .env("TMPDIR", folder.join("tmp"))
        .env("LD_PRELOAD", common::library())
        .env("R500_CARD_CAPTURE", folder.join("a.r5cs"))
        .env("R500_CARD_DRAW", "0")
        .stdin(Stdio::null());
    command
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(folder.path().join("tmp")).unwrap();
    folder
}

/// Returns the number of submissions in a capture; `None` if it ends inside a record.
fn submissions(path: &Path) -> Option<usize> {
    let mut reader = Reader::new(fs::File::open(path).unwrap()).unwrap();
    let records: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
    let is_submission =
        |record: &&_| matches!(record, r500_stream::capture::Record::Submission { .. });
    let count = records.iter().filter(is_submission).count();
    (!reader.truncated()).then_some(count)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs a program and signals it after a time.
fn signalled(name: &str, folder: &Path, after: Duration, signal: i32) -> ExitStatus {
    let mut command = program(name, folder);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(after);
    // SAFETY: a child that is not waited for yet.
    unsafe { libc::kill(child.id().cast_signed(), signal) };
    child.wait().unwrap()
}

#[test]
fn a_capture_has_its_name_at_the_end() {
    for (name, status) in [("submits", 0), ("leaves_at_once", 7)] {
        let folder = folder();
        let output = program(name, folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert_eq!(submissions(&folder.path().join("a.r5cs")), Some(20), "{name}");
        let all = names(folder.path());
        assert_eq!(all, ["a.r5cs", "tmp"], "{name}");
    }
}

/// `R500_KILLS=100` kills it at 100 moments.
#[test]
fn a_killed_program_leaves_no_part_under_a_name() {
    let kills: u32 = std::env::var("R500_KILLS").map_or(6, |kills| kills.parse().unwrap());
    let whole = folder();
    // The library is built before the time is measured.
    common::library();
    let begin = Instant::now();
    assert!(program("submits", whole.path()).output().unwrap().status.success());
    let took = begin.elapsed();
    for n in 0..kills {
        let (folder, after) = (folder(), took * n / kills.max(1));
        signalled("submits", folder.path(), after, libc::SIGKILL);
        let capture = folder.path().join("a.r5cs");
        if capture.exists() {
            assert_eq!(submissions(&capture), Some(20), "killed after {after:?}");
        }
    }
}

#[test]
fn temporary_files_are_removed_after_a_signal_and_at_the_next_start() {
    common::library();
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let folder = folder();
        let status = signalled("waits", folder.path(), Duration::from_secs(1), signal);
        assert_eq!(status.signal(), Some(signal));
        assert!(names(&folder.path().join("tmp")).is_empty(), "signal {signal}");
    }
    let folder = folder();
    signalled("waits", folder.path(), Duration::from_secs(1), libc::SIGKILL);
    let left = names(&folder.path().join("tmp"));
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(program("looks", folder.path()).output().unwrap().status.success());
    assert!(names(&folder.path().join("tmp")).is_empty());
}

#[test]
fn a_capture_that_cannot_be_written_is_an_exit_status() {
    let folder = folder();
    let mut command = program("submits", folder.path());
    command.env("R500_CARD_CAPTURE", folder.path().join("no folder/a.r5cs"));
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("there is no capture"), "{errors}");
}

#[test]
fn a_frame_that_cannot_be_written_is_an_exit_status() {
    let folder = folder();
    let mut command = program("flips", folder.path());
    let output = command.env("R500_CARD_FRAMES", folder.path().join("missing")).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("cannot write"), "{errors}");
}

#[test]
fn a_descriptor_is_kept_over_exec() {
    let folder = folder();
    let output = program("executes", folder.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains("opened by the program before exec"), "{errors}");
}

mod on_the_card {
    use std::ffi::CStr;
    use std::io;
    use std::os::unix::process::CommandExt;

    const RENDER: &CStr = c"/dev/dri/renderD128";

    const GEM_CREATE: u64 = 0xc020_645d;
    const CS: u64 = 0xc020_6466;

    fn open(path: &CStr, flags: i32) -> i32 {
        // SAFETY: a C string.
        let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | flags) };
        assert!(fd >= 0, "{}", io::Error::last_os_error());
        fd
    }

    fn request<T>(fd: i32, number: u64, argument: &mut T) {
        assert!((number >> 16 & 0x3fff) as usize <= size_of::<T>());
        // SAFETY: the structure has at least the size that the request encodes.
        let result = unsafe { libc::ioctl(fd, number, std::ptr::from_mut(argument)) };
        assert_eq!(result, 0, "{}", io::Error::last_os_error());
    }

    fn create(fd: i32) -> u32 {
        let mut create = [4096_u32, 0, 0, 0, 0, 4, 0, 0];
        request(fd, GEM_CREATE, &mut create);
        create[4]
    }

    /// Submits two dwords that do nothing, with a buffer.
    fn submit(fd: i32, handle: u32) {
        let words = [0x8000_0000_u32; 2];
        let relocation = [handle, 0, 4, 0];
        let chunk = |id: u64, dwords: u64, data: *const u32| [id | dwords << 32, data as u64];
        let chunks = [chunk(2, 2, words.as_ptr()), chunk(1, 4, relocation.as_ptr())];
        let addresses = chunks.each_ref().map(|chunk| chunk.as_ptr() as u64);
        let mut stream = [2, addresses.as_ptr() as u64, 0, 0];
        request(fd, CS, &mut stream);
    }

    fn submit_all() {
        let fd = open(RENDER, libc::O_CLOEXEC);
        let handle = create(fd);
        for _ in 0..20 {
            submit(fd, handle);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    #[test]
    #[ignore = "runs in a process of its own"]
    fn submits() {
        submit_all();
    }

    #[test]
    #[ignore = "runs in a process of its own"]
    fn leaves_at_once() {
        submit_all();
        // SAFETY: no precondition.
        unsafe { libc::_exit(7) };
    }

    #[test]
    #[ignore = "runs in a process of its own"]
    fn flips() {
        const ADD_FB: u64 = 0xc01c_64ae;
        const PAGE_FLIP: u64 = 0xc018_64b0;
        const CRTC: u32 = 1;
        let fd = open(c"/dev/dri/card0", libc::O_CLOEXEC);
        // 16x16 pixels of 32 bits.
        let mut frame = [0, 16, 16, 64, 32, 24, create(fd)];
        request(fd, ADD_FB, &mut frame);
        let mut flip = [CRTC, frame[0], 0, 0, 0, 0];
        request(fd, PAGE_FLIP, &mut flip);
    }

    #[test]
    #[ignore = "runs in a process of its own"]
    fn looks() {
        assert_eq!(std::fs::read_dir("/sys/class/drm").unwrap().count(), 4);
    }

    #[test]
    #[ignore = "runs in a process of its own"]
    fn waits() {
        let _ = std::fs::read_dir("/sys/class/drm").unwrap().count();
        std::thread::sleep(std::time::Duration::from_secs(60));
    }

    #[test]
    #[ignore = "runs in a process of its own"]
    fn executes() {
        let fd = open(RENDER, 0);
        create(fd);
        let error = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "--nocapture", "on_the_card::inherits"])
            .env("DESCRIPTOR", fd.to_string())
            .exec();
        unreachable!("{error}");
    }

    #[test]
    #[ignore = "runs in a process of its own"]
    fn inherits() {
        let fd = std::env::var("DESCRIPTOR").unwrap().parse().unwrap();
        let handle = create(fd);
        submit(fd, handle);
    }
}
