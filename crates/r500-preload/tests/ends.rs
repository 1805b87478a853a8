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

/// Runs a program, with its frames in the folder if `frames`, and signals it after a time.
fn signalled(name: &str, folder: &Path, frames: bool, after: Duration, signal: i32) -> ExitStatus {
    let mut command = program(name, folder);
    if frames {
        command.env("R500_CARD_FRAMES", folder);
    }
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

/// How many times each program is killed: `R500_KILLS=100` kills it at 100 moments, in place of a few.
fn kills() -> u64 {
    std::env::var("R500_KILLS").map_or(6, |kills| kills.parse().unwrap())
}

/// Numbers for moments: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }
}

/// Kills a program at random moments of its run; `check` gets the folder of each. Returns how often it was still running.
fn kill(name: &str, frames: bool, check: impl Fn(&Path, Duration, i32)) -> u64 {
    // The library is built before the time is measured.
    common::library();
    let whole = folder();
    let begin = Instant::now();
    let mut command = program(name, whole.path());
    if frames {
        command.env("R500_CARD_FRAMES", whole.path());
    }
    assert!(command.output().unwrap().status.success());
    let took = begin.elapsed();
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ name.len() as u64);
    let mut interrupted = 0;
    for _ in 0..kills() {
        let folder = folder();
        let after = Duration::from_micros(random.below(took.as_micros() as u64 * 11 / 10));
        let signals = [libc::SIGKILL, libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
        let signal = signals[random.below(4) as usize];
        let status = signalled(name, folder.path(), frames, after, signal);
        interrupted += u64::from(status.signal().is_some());
        check(folder.path(), after, signal);
    }
    interrupted
}

#[test]
fn a_killed_program_leaves_no_part_under_a_name() {
    let interrupted = kill("submits", false, |folder, after, signal| {
        let capture = folder.join("a.r5cs");
        if capture.exists() {
            assert_eq!(submissions(&capture), Some(20), "signal {signal} after {after:?}");
        }
    });
    // The machine may be busy: a program that is never hit proves nothing.
    assert!(kills() < 20 || interrupted > kills() / 20, "{interrupted}");
}

/// `card --frames`: what is under the name of a frame is all of a frame.
#[test]
fn a_killed_program_leaves_no_part_of_a_frame() {
    let whole = folder();
    let mut command = program("flips_often", whole.path());
    assert!(command.env("R500_CARD_FRAMES", whole.path()).output().unwrap().status.success());
    let frames = |folder: &Path| names(folder).into_iter().filter(|name| name.ends_with(".png"));
    let expected: Vec<(String, Vec<u8>)> = frames(whole.path())
        .map(|name| (name.clone(), fs::read(whole.path().join(name)).unwrap()))
        .collect();
    assert_eq!(expected.len(), 12);
    let interrupted = kill("flips_often", true, |folder, after, signal| {
        for name in frames(folder) {
            let bytes = fs::read(folder.join(&name)).unwrap();
            let whole = expected.iter().any(|(frame, all)| *frame == name && *all == bytes);
            assert!(whole, "{name}: {} bytes, signal {signal} after {after:?}", bytes.len());
        }
    });
    assert!(kills() < 20 || interrupted > kills() / 20, "{interrupted}");
}

/// Returns whether this process, and so each that it starts, ignores a signal.
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action, the call writes the old one to memory that is large enough and valid as zeros.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

#[test]
fn temporary_files_are_removed_after_a_signal_and_at_the_next_start() {
    common::library();
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // As under nohup: programs that ignore a signal are not ended by it.
        if is_ignored(signal) {
            continue;
        }
        let folder = folder();
        let status = signalled("waits", folder.path(), false, Duration::from_secs(1), signal);
        assert_eq!(status.signal(), Some(signal));
        assert!(names(&folder.path().join("tmp")).is_empty(), "signal {signal}");
    }
    let folder = folder();
    signalled("waits", folder.path(), false, Duration::from_secs(1), libc::SIGKILL);
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

    fn create(fd: i32, bytes: u32) -> u32 {
        let mut create = [bytes, 0, 0, 0, 0, 4, 0, 0];
        request(fd, GEM_CREATE, &mut create);
        create[4]
    }

    /// Maps a buffer, as dwords.
    fn map(fd: i32, handle: u32, bytes: u32) -> *mut u32 {
        const GEM_MMAP: u64 = 0xc020_645e;
        let mut mmap = [handle, 0, 0, 0, bytes, 0, 0, 0];
        request(fd, GEM_MMAP, &mut mmap);
        let offset = i64::from(mmap[7]) << 32 | i64::from(mmap[6]);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address that the system chooses.
        let memory = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes as usize, access, libc::MAP_SHARED, fd, offset)
        };
        assert_ne!(memory, libc::MAP_FAILED, "{}", io::Error::last_os_error());
        memory.cast()
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
        let handle = create(fd, 4096);
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

    const ADD_FB: u64 = 0xc01c_64ae;
    const PAGE_FLIP: u64 = 0xc018_64b0;
    const CRTC: u32 = 1;

    /// Returns a frame buffer of 32 bits a pixel over a buffer.
    fn frame_buffer(fd: i32, handle: u32, [width, height]: [u32; 2]) -> u32 {
        let mut frame = [0, width, height, width * 4, 32, 24, handle];
        request(fd, ADD_FB, &mut frame);
        frame[0]
    }

    fn flip(fd: i32, frame: u32) {
        let mut flip = [CRTC, frame, 0, 0, 0, 0];
        request(fd, PAGE_FLIP, &mut flip);
    }

    #[test]
    #[ignore = "runs in a process of its own"]
    fn flips() {
        let fd = open(c"/dev/dri/card0", libc::O_CLOEXEC);
        flip(fd, frame_buffer(fd, create(fd, 4096), [16, 16]));
    }

    #[test]
    #[ignore = "runs in a process of its own"]
    fn flips_often() {
        const SIDE: u32 = 512;
        const BYTES: u32 = SIDE * SIDE * 4;
        let fd = open(c"/dev/dri/card0", libc::O_CLOEXEC);
        let handle = create(fd, BYTES);
        let frame = frame_buffer(fd, handle, [SIDE, SIDE]);
        let pixels = map(fd, handle, BYTES);
        for n in 0..12_u32 {
            // Pixels that do not compress, so that a file takes time to write.
            for at in 0..SIDE * SIDE {
                let noise = at.wrapping_mul(0x9e37_79b9 + (n << 8));
                // SAFETY: inside of the mapping, which nothing else writes.
                unsafe { pixels.add(at as usize).write(noise ^ noise >> 15) };
            }
            flip(fd, frame);
        }
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
        create(fd, 4096);
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
        let handle = create(fd, 4096);
        submit(fd, handle);
    }
}
