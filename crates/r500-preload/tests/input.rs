//! Keyboard and mouse: a program reads `/dev/input` with the library preloaded, and the test sends events as the window does.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "system calls")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use r500_drm::{InputDevice, InputEvent, InputListener};

/// `KEY_A`
const KEY_A: u16 = 30;

#[test]
fn a_program_reads_what_the_window_sends() {
    let listener = InputListener::new().unwrap();
    let temporary = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "on_the_card::reads_events", "--nocapture"])
        .env("TMPDIR", temporary.path())
        .env("LD_PRELOAD", common::library())
        .env("R500_CARD_INPUT", listener.name())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program opens the devices at some time.
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            break;
        }
        listener.send(InputDevice::Keyboard, &[InputEvent::key(KEY_A, 1)]);
        // A key that is down is not pressed again.
        listener.send(InputDevice::Keyboard, &[InputEvent::key(KEY_A, 1)]);
        let moves: Vec<_> = InputEvent::movement([3, -4]).collect();
        listener.send(InputDevice::Mouse, &moves);
        listener.release_all();
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
    assert_eq!(std::fs::read_dir(temporary).unwrap().count(), 0, "temporary files are left");
}

#[test]
fn without_a_window_there_is_no_keyboard() {
    let status = Command::new("cat")
        .arg("/dev/input/event0")
        .env("LD_PRELOAD", common::library())
        .env("R500_CARD_INPUT", "r500-input-of-no-process")
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
}

mod on_the_card {
    use std::ffi::{CStr, c_int, c_void};

    // Numbers of linux/input.h: _IOR('E', nr, size) and _IOW.
    const VERSION: u64 = 0x8004_4501;
    const ID: u64 = 0x8008_4502;
    const CLOCK: u64 = 0x4004_45a0;
    const fn name(size: u64) -> u64 {
        0x8000_4506 | size << 16
    }
    const fn bits(kind: u64, size: u64) -> u64 {
        (0x8000_4520 + kind) | (size << 16)
    }
    const fn axis(number: u64) -> u64 {
        0x8018_4540 + number
    }

    /// `struct input_event`: seconds, microseconds, type, code, value.
    type Event = (i64, i64, u16, u16, i32);

    fn open(path: &CStr) -> c_int {
        // SAFETY: a C string.
        let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_NONBLOCK) };
        assert!(fd >= 0, "{}", std::io::Error::last_os_error());
        fd
    }

    fn request(fd: c_int, number: u64, argument: &mut [u8]) -> c_int {
        assert!((number >> 16 & 0x3fff) as usize <= argument.len());
        // SAFETY: the argument has the size that the request encodes.
        unsafe { libc::ioctl(fd, number, argument.as_mut_ptr()) }
    }

    /// Waits for events, and reads as many as there are.
    fn read(fd: c_int) -> Vec<Event> {
        let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure.
        assert_eq!(unsafe { libc::poll(&raw mut poll, 1, 30_000) }, 1);
        let mut bytes = [0_u8; 24 * 64];
        // SAFETY: a buffer of this size.
        let size = unsafe { libc::read(fd, bytes.as_mut_ptr().cast::<c_void>(), bytes.len()) };
        let bytes = &bytes[..usize::try_from(size).unwrap()];
        assert_eq!(bytes.len() % 24, 0, "whole events");
        let event = |bytes: &[u8; 24]| {
            let at = |n: usize| bytes[n..n + 8].try_into().unwrap();
            let half = |n: usize| u16::from_le_bytes([bytes[n], bytes[n + 1]]);
            let value = i32::from_le_bytes(bytes[20..].try_into().unwrap());
            (i64::from_le_bytes(at(0)), i64::from_le_bytes(at(8)), half(16), half(18), value)
        };
        bytes.as_chunks().0.iter().map(event).collect()
    }

    /// Returns the next `count` events from one on that `is_first` names, without times.
    fn events(fd: c_int, count: usize, is_first: (u16, u16, i32)) -> (i64, Vec<(u16, u16, i32)>) {
        let mut seen: Vec<Event> = Vec::new();
        loop {
            let first = seen.iter().position(|event| (event.2, event.3, event.4) == is_first);
            if let Some(first) = first
                && seen.len() >= first + count
            {
                let found = seen[first..first + count].iter();
                let found = found.map(|(_, _, kind, code, value)| (*kind, *code, *value));
                return (seen[first].0, found.collect());
            }
            seen.extend(read(fd));
        }
    }

    #[test]
    #[ignore = "runs with the library, started by the tests above"]
    fn reads_events() {
        let keyboard = open(c"/dev/input/event0");
        // SAFETY: all zeros is a status; the call fills it.
        let status = unsafe {
            let mut status: libc::stat = std::mem::zeroed();
            assert_eq!(libc::fstat(keyboard, &raw mut status), 0);
            status
        };
        assert_eq!(status.st_mode & libc::S_IFMT, libc::S_IFCHR);
        assert_eq!(status.st_rdev, libc::makedev(13, 64));
        let mut text = [0_u8; 32];
        assert_eq!(request(keyboard, name(32), &mut text), 14);
        assert_eq!(&text[..14], b"r500 keyboard\0");
        assert_eq!(request(keyboard, name(4), &mut text), 4);
        let mut four = [0; 4];
        assert_eq!((request(keyboard, VERSION, &mut four), four), (0, [1, 0, 1, 0]));
        let mut id = [0; 8];
        assert_eq!((request(keyboard, ID, &mut id), id[0]), (0, 6));
        let mut set = [0; 8];
        // EV_SYN, EV_KEY, EV_LED, EV_REP
        assert_eq!(
            (request(keyboard, bits(0, 8), &mut set), set[..3].to_vec()),
            (8, vec![3, 0, 0x12])
        );
        let mut keys = [0; 96];
        assert_eq!(request(keyboard, bits(1, 96), &mut keys), 96);
        // KEY_A and KEY_ESC, no button of a mouse.
        assert_eq!((keys[30 / 8] >> (30 % 8) & 1, keys[0] >> 1 & 1, keys[0x110 / 8]), (1, 1, 0));
        assert_eq!(request(keyboard, axis(0), &mut [0; 24]), -1);
        // The monotonic clock.
        assert_eq!(request(keyboard, CLOCK, &mut [1, 0, 0, 0]), 0);
        assert_eq!(request(keyboard, CLOCK, &mut [77, 0, 0, 0]), -1);

        let (seconds, found) = events(keyboard, 4, (1, super::KEY_A, 1));
        assert_eq!(found, [(1, 30, 1), (0, 0, 0), (1, 30, 0), (0, 0, 0)]);
        // SAFETY: a structure to fill.
        let now = unsafe {
            let mut now: libc::timespec = std::mem::zeroed();
            libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now);
            now.tv_sec
        };
        assert!((now - 60..=now).contains(&seconds), "{seconds} at {now}");

        let mouse = open(c"/dev/input/event1");
        let mut set = [0; 8];
        // EV_SYN, EV_KEY, EV_REL; REL_X, REL_Y, REL_HWHEEL, REL_WHEEL
        assert_eq!((request(mouse, bits(0, 8), &mut set), set[0]), (8, 7));
        assert_eq!((request(mouse, bits(2, 8), &mut set), set[..2].to_vec()), (8, vec![0x43, 1]));
        let (_, found) = events(mouse, 3, (2, 0, 3));
        assert_eq!(found, [(2, 0, 3), (2, 1, -4), (0, 0, 0)]);

        // What udev and others read.
        let read = |path: &str| std::fs::read_to_string(path).unwrap();
        assert_eq!(read("/sys/class/input/event1/dev"), "13:65\n");
        assert_eq!(read("/sys/class/input/event0/device/capabilities/ev"), "120003\n");
        assert!(read("/run/udev/data/c13:64").contains("E:ID_INPUT_KEYBOARD=1\n"));
        let names: std::collections::BTreeSet<_> =
            std::fs::read_dir("/dev/input").unwrap().map(|it| it.unwrap().file_name()).collect();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["event0", "event1"]);
    }
}
