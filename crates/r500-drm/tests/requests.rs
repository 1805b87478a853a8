//! Requests as a program makes them: numbers and structures of the kernel's headers.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "a program's requests hold addresses")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::fs;
use std::io::{ErrorKind, Read};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use r500_drm::{Device, DrawTime, Errno, EventQueue, Fault, File, Machine, Program, Settings};
use r500_stream::capture::{Event, Limits, Player, Reader};
use r500_stream::{Chip, Submission};
use tempfile::TempDir;

const VERSION: u32 = 0xc040_6400;
const SET_CLIENT_CAP: u32 = 0x4010_640d;
const WAIT_VBLANK: u32 = 0xc018_643a;
const GET_SEQUENCE: u32 = 0xc018_643b;
const QUEUE_SEQUENCE: u32 = 0xc018_643c;
const GET_PROPERTY: u32 = 0xc040_64aa;
const GET_FB: u32 = 0xc01c_64ad;
const GET_PLANES: u32 = 0xc010_64b5;
const OBJECT_PROPERTIES: u32 = 0xc020_64b9;
const GEM_CLOSE: u32 = 0x4008_6409;
const PRIME_HANDLE_TO_FD: u32 = 0xc00c_642d;
const PRIME_FD_TO_HANDLE: u32 = 0xc00c_642e;
const GEM_CREATE: u32 = 0xc020_645d;
const GEM_MMAP: u32 = 0xc020_645e;
const GEM_WAIT_IDLE: u32 = 0x4008_6464;
const CS: u32 = 0xc020_6466;
const INFO: u32 = 0xc010_6467;
const SET_TILING: u32 = 0xc00c_6468;
const GET_TILING: u32 = 0xc00c_6469;
const BUSY: u32 = 0xc008_646a;
const GET_RESOURCES: u32 = 0xc040_64a0;
const GET_CONNECTOR: u32 = 0xc050_64a7;
const ADD_FB: u32 = 0xc01c_64ae;
const PAGE_FLIP: u32 = 0xc018_64b0;

/// Makes a request whose structure is `argument`.
fn request<const N: usize>(
    file: &File,
    number: u32,
    argument: &mut [u32; N],
) -> Result<i32, Errno> {
    assert!((number >> 16 & 0x3fff) as usize <= N * 4);
    // SAFETY: the structure is there and long enough; addresses in it are of live arrays below.
    let program = unsafe { Program::trusted() };
    file.ioctl(&program, number, argument.as_mut_ptr() as u64)
}

fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

fn address<T>(of: &[T]) -> [u32; 2] {
    halves(of.as_ptr() as u64)
}

/// The address of an array that the request fills.
fn address_mut<T>(of: &mut [T]) -> [u32; 2] {
    halves(of.as_mut_ptr() as u64)
}

fn create(file: &File, size: u32) -> u32 {
    let mut create = [size, 0, 4096, 0, 0, 4, 0, 0];
    request(file, GEM_CREATE, &mut create).unwrap();
    create[4]
}

fn submit(file: &File, words: &[u32], relocations: &[[u32; 4]]) -> Result<i32, Errno> {
    let flags = [1_u32, 0];
    let chunk = |id, dwords: usize, [low, high]: [u32; 2]| [id, dwords as u32, low, high];
    let chunks = [
        chunk(2, words.len(), address(words)),
        chunk(1, relocations.len() * 4, address(relocations)),
        chunk(3, flags.len(), address(&flags)),
    ];
    let list: Vec<u64> = chunks.iter().map(|chunk| chunk.as_ptr() as u64).collect();
    let [low, high] = address(&list);
    request(file, CS, &mut [3, 0, low, high, 0, 0, 0, 0])
}

/// Stores the first dword of each submission at the beginning of its first buffer.
#[derive(Debug, Default)]
struct Storing(Arc<Mutex<Vec<Submission>>>);

impl Machine for Storing {
    fn submit(&mut self, submission: &Submission) -> Result<(), Fault> {
        submission.relocations[0].buffer.store(0, submission.words[0]);
        self.0.lock().unwrap().push(submission.clone());
        Ok(())
    }

    fn report(&self, _: bool) -> Vec<String> {
        vec!["stored".to_owned()]
    }

    /// One draw a submission, of which vertices took a quarter of the time.
    fn take_draw_times(&mut self) -> Vec<DrawTime> {
        let submissions = self.0.lock().unwrap();
        let end = Instant::now();
        let begin = end - Duration::from_millis(4);
        let ms = Duration::from_millis;
        vec![DrawTime {
            number: submissions.len() as u64 - 1,
            begin,
            end,
            blocks: vec![("vertices", ms(1)), ("fragments", ms(3))],
            counts: vec![("quads", 77)],
        }]
    }
}

fn card(settings: Settings) -> (File, Arc<Mutex<Vec<Submission>>>) {
    let machine = Storing::default();
    let seen = Arc::clone(&machine.0);
    (open(&Device::new(settings, Some(Box::new(machine))).unwrap()).0, seen)
}

/// Opens the card: the file, and the program's end of its event queue, which reads without waiting.
fn open(device: &Arc<Device>) -> (File, fs::File) {
    let (descriptor, events) = EventQueue::new().unwrap();
    rustix::fs::fcntl_setfl(&descriptor, rustix::fs::OFlags::NONBLOCK).unwrap();
    (device.open(Arc::new(events)), fs::File::from(descriptor))
}

#[test]
fn the_driver_names_itself_in_two_steps() {
    let (file, _) = card(Settings::default());
    let mut version = [0; 16];
    request(&file, VERSION, &mut version).unwrap();
    assert_eq!((version[0], version[1], version[4]), (2, 50, 6));
    let mut name = [0_u8; 6];
    [version[6], version[7]] = address_mut(&mut name);
    request(&file, VERSION, &mut version).unwrap();
    assert_eq!(&name, b"radeon");
}

#[test]
fn chips_have_the_ids_of_their_settings() {
    for (chip, id) in [(Chip::Rv515, 0x7140), (Chip::R580, 0x7240)] {
        let (file, _) = card(Settings { chip, ..Settings::default() });
        let mut value = [0_u32];
        let [low, high] = address_mut(&mut value);
        request(&file, INFO, &mut [0, 0, low, high]).unwrap();
        assert_eq!(value[0], id);
        // Pipes are of later chips.
        let error = request(&file, INFO, &mut [0x10, 0, low, high]).unwrap_err();
        assert_eq!(error, Errno(libc::EINVAL));
    }
}

#[test]
fn a_submission_reaches_the_machine_with_its_buffers() {
    // These dwords are not packets.
    let (file, seen) = card(Settings { check: false, ..Settings::default() });
    let (first, second) = (create(&file, 100), create(&file, 8192));
    request(&file, SET_TILING, &mut [second, 3, 256]).unwrap();
    submit(&file, &[7, 8], &[[second, 4, 0, 1], [first, 0, 4, 0]]).unwrap();
    request(&file, GEM_WAIT_IDLE, &mut [second, 0]).unwrap();
    request(&file, BUSY, &mut [first, 0]).unwrap();

    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].words, [7, 8]);
    assert!(seen[0].keeps_tiling());
    let sizes: Vec<usize> = seen[0].relocations.iter().map(|r| r.buffer.size()).collect();
    assert_eq!(sizes, [8192, 4096]);
    let relocation = &seen[0].relocations[0];
    assert_eq!((relocation.tiling.flags, relocation.tiling.pitch), (3, 256));
    assert_eq!((relocation.read_domains, relocation.write_domain, relocation.flags), (4, 0, 1));
    assert_eq!(relocation.buffer.load(0), Some(7));
}

#[test]
fn what_the_kernel_refuses_reaches_no_machine() {
    let (file, seen) = card(Settings::default());
    let handle = create(&file, 4096);
    let relocations = [[handle, 0, 4, 0]];
    // CP_RB_BASE; RB3D_COLOROFFSET0 without a relocation; HiZ without HyperZ.
    for words in [[0x1c0, 0x1234], [0x138a, 0], [0x13c7, 1]] {
        assert_eq!(submit(&file, &words, &relocations), Err(Errno(libc::EINVAL)), "{words:08x?}");
    }
    // The second with its relocation.
    submit(&file, &[0x138a, 0, 0xc000_1000, 0], &relocations).unwrap();
    request(&file, GEM_WAIT_IDLE, &mut [handle, 0]).unwrap();
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[test]
fn wrong_submissions_are_refused() {
    let (file, seen) = card(Settings::default());
    let handle = create(&file, 4096);
    assert_eq!(submit(&file, &[1], &[[handle + 1, 0, 0, 0]]), Err(Errno(libc::ENOENT)));
    assert_eq!(submit(&file, &[], &[]), Err(Errno(libc::EINVAL)));
    assert_eq!(request(&file, CS, &mut [1, 0, 0, 0, 0, 0, 0, 0]), Err(Errno(libc::EFAULT)));
    assert_eq!(request(&file, CS, &mut [1 << 30, 0, 8, 0, 0, 0, 0, 0]), Err(Errno(libc::EINVAL)));
    assert!(seen.lock().unwrap().is_empty());
}

#[test]
fn buffers_map_at_their_offset_until_closed() {
    let (file, _) = card(Settings::default());
    let handle = create(&file, 8192);
    let mut mmap = [handle, 0, 0, 0, 8192, 0, 0, 0];
    request(&file, GEM_MMAP, &mut mmap).unwrap();
    let offset = u64::from(mmap[7]) << 32 | u64::from(mmap[6]);
    let mapping = file.mapping(offset + 4096, 4096).unwrap();
    assert_eq!(mapping.offset, 4096);
    assert_eq!(
        mapping.as_fd().try_clone_to_owned().map(fs::File::from).unwrap().metadata().unwrap().len(),
        8192
    );
    assert!(file.mapping(offset + 4096, 4097).is_err());
    assert!(file.mapping(offset + (1 << 32), 4096).is_err());
    request(&file, GEM_CLOSE, &mut [handle, 0]).unwrap();
    assert!(file.mapping(offset, 4096).is_err());
    assert_eq!(request(&file, GEM_CLOSE, &mut [handle, 0]), Err(Errno(libc::EINVAL)));
}

#[test]
fn more_memory_than_there_is_is_refused() {
    let (file, _) = card(Settings::default());
    let mut create = [0, 1, 0, 0, 0, 4, 0, 0];
    assert_eq!(request(&file, GEM_CREATE, &mut create), Err(Errno(libc::ENOMEM)));
    create[..2].copy_from_slice(&halves(u64::MAX));
    assert_eq!(request(&file, GEM_CREATE, &mut create), Err(Errno(libc::ENOMEM)));
}

#[test]
fn a_dma_buf_is_the_same_buffer() {
    let (file, _) = card(Settings::default());
    let handle = create(&file, 4096);
    request(&file, SET_TILING, &mut [handle, 1, 64]).unwrap();
    let mut prime = [handle, 0, 0];
    request(&file, PRIME_HANDLE_TO_FD, &mut prime).unwrap();
    let descriptor = prime[2];
    let mut back = [0, 0, descriptor];
    request(&file, PRIME_FD_TO_HANDLE, &mut back).unwrap();
    assert_eq!(back[0], handle);
    // Another open of the card has a handle of its own for it.
    let (other, _) = open(file.device());
    let mut back = [0, 0, descriptor];
    request(&other, PRIME_FD_TO_HANDLE, &mut back).unwrap();
    let mut tiling = [back[0], 0, 0];
    request(&other, GET_TILING, &mut tiling).unwrap();
    assert_eq!(tiling[1..], [1, 64]);
    // Another card shares its memory alone.
    let (foreign, _) = card(Settings::default());
    request(&foreign, PRIME_FD_TO_HANDLE, &mut [0, 0, descriptor]).unwrap();
    let none = request(&other, PRIME_FD_TO_HANDLE, &mut [0, 0, u32::MAX]).unwrap_err();
    assert_eq!(none, Errno(libc::EBADF));
}

/// A machine that takes its time.
#[derive(Debug)]
struct Slow;

impl Machine for Slow {
    fn submit(&mut self, submission: &Submission) -> Result<(), Fault> {
        std::thread::sleep(Duration::from_millis(50));
        submission.relocations[0].buffer.store(0, submission.words[0]);
        Ok(())
    }

    fn report(&self, _: bool) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn a_submission_on_a_shared_buffer_is_finished_when_its_request_returns() {
    let settings = Settings { check: false, ..Settings::default() };
    let file = open(&Device::new(settings, Some(Box::new(Slow))).unwrap()).0;
    let handle = create(&file, 4096);
    let is_busy = || request(&file, BUSY, &mut [handle, 0]) == Err(Errno(libc::EBUSY));
    submit(&file, &[7], &[[handle, 0, 4, 0]]).unwrap();
    assert!(is_busy());
    request(&file, PRIME_HANDLE_TO_FD, &mut [handle, 0, 0]).unwrap();
    submit(&file, &[8], &[[handle, 0, 4, 0]]).unwrap();
    assert!(!is_busy());
}

#[test]
fn global_names_are_those_of_one_process() {
    const FLINK: u32 = 0xc008_640a;
    const GEM_OPEN: u32 = 0xc010_640b;
    let [(file, _), (foreign, _)] = [(); 2].map(|()| card(Settings::default()));
    let handle = create(&file, 4096);
    create(&foreign, 8192);
    let mut flink = [handle, 0];
    request(&file, FLINK, &mut flink).unwrap();
    assert_ne!(flink[1], 0);
    let (other, _) = open(file.device());
    let mut named = [flink[1], 0, 0, 0];
    request(&other, GEM_OPEN, &mut named).unwrap();
    assert_eq!(named[2], 4096);
    assert_eq!(request(&foreign, GEM_OPEN, &mut [flink[1], 0, 0, 0]), Err(Errno(libc::ENOENT)));
}

#[test]
fn unknown_requests_are_refused() {
    let (file, _) = card(Settings::default());
    assert_eq!(request(&file, 0xc010_64ff, &mut [0; 4]), Err(Errno(libc::EINVAL)));
    // A terminal's request.
    assert_eq!(request(&file, 0x5401, &mut [0; 16]), Err(Errno(libc::ENOTTY)));
}

#[test]
fn a_screen_shows_frames_and_reports_flips() {
    let frames = TempDir::new().unwrap();
    let settings = Settings {
        mode: [320, 200],
        frames: Some(frames.path().to_owned()),
        check: false,
        ..Settings::default()
    };
    let device = Device::new(settings, Some(Box::new(Storing::default()))).unwrap();
    let (file, mut events) = open(&device);
    let mut resources = [0; 16];
    request(&file, GET_RESOURCES, &mut resources).unwrap();
    assert_eq!(resources[8..12], [0, 1, 1, 1]);
    let mut connector = [0_u32];
    [resources[4], resources[5]] = address_mut(&mut connector);
    request(&file, GET_RESOURCES, &mut resources).unwrap();
    let mut mode = [0_u32; 17];
    let mut query = [0; 20];
    [query[2], query[3]] = address_mut(&mut mode);
    (query[8], query[12]) = (1, connector[0]);
    request(&file, GET_CONNECTOR, &mut query).unwrap();
    assert_eq!((mode[1] & 0xffff, mode[3] >> 16), (320, 200));

    let handle = create(&file, 4 * 4);
    let mut fb = [0, 2, 2, 8, 32, 24, handle];
    request(&file, ADD_FB, &mut fb).unwrap();
    // Red, by the machine.
    submit(&file, &[0x00ff_0000], &[[handle, 0, 4, 0]]).unwrap();
    let mut event = [0; 1024];
    assert_eq!(events.read(&mut event).unwrap_err().kind(), ErrorKind::WouldBlock);
    request(&file, PAGE_FLIP, &mut [1, fb[0], 1, 0, 5, 6]).unwrap();
    assert_eq!(events.read(&mut event).unwrap(), 32);
    assert_eq!(event[..16], [2, 0, 0, 0, 32, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0]);

    let picture =
        fs::File::open(frames.path().join("frame-00000.png")).map(std::io::BufReader::new);
    let mut reader = png::Decoder::new(picture.unwrap()).read_info().unwrap();
    let mut rgb = [0; 12];
    reader.next_frame(&mut rgb).unwrap();
    assert_eq!(rgb, [255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

/// Shows frame buffers of 200x100 black pixels, two of them, and returns the first written frame.
fn shown(overlay: bool) -> (Vec<u8>, Vec<u32>) {
    const SIZE: [usize; 2] = [200, 100];
    let frames = TempDir::new().unwrap();
    let directory = Some(frames.path().to_owned());
    let settings = Settings { overlay, frames: directory, check: false, ..Settings::default() };
    let (file, _) = card(settings);
    let handle = create(&file, (SIZE[0] * SIZE[1] * 4) as u32);
    let mut fb = [0, SIZE[0] as u32, SIZE[1] as u32, SIZE[0] as u32 * 4, 32, 24, handle];
    request(&file, ADD_FB, &mut fb).unwrap();
    submit(&file, &[0x00ff_0000], &[[handle, 0, 4, 0]]).unwrap();
    request(&file, PAGE_FLIP, &mut [1, fb[0], 1, 0, 5, 6]).unwrap();
    let picture =
        fs::File::open(frames.path().join("frame-00000.png")).map(std::io::BufReader::new);
    let mut reader = png::Decoder::new(picture.unwrap()).read_info().unwrap();
    let mut rgb = vec![0; SIZE[0] * SIZE[1] * 3];
    reader.next_frame(&mut rgb).unwrap();
    let mut mmap = [handle, 0, 0, 0, 80_000, 0, 0, 0];
    request(&file, GEM_MMAP, &mut mmap).unwrap();
    let offset = u64::from(mmap[7]) << 32 | u64::from(mmap[6]);
    let mapping = file.mapping(offset, 80_000).unwrap();
    let mut bytes = vec![0; 80_000];
    let memory = mapping.as_fd().try_clone_to_owned().map(fs::File::from).unwrap();
    std::os::unix::fs::FileExt::read_exact_at(&memory, &mut bytes, 0).unwrap();
    let dwords = bytes.as_chunks().0.iter().map(|dword| u32::from_le_bytes(*dword));
    (rgb, dwords.collect())
}

#[test]
fn the_overlay_is_in_the_written_frame_and_not_in_the_programs_buffer() {
    let (plain, before) = shown(false);
    let (drawn, after) = shown(true);
    assert_eq!(before[..2], [0x00ff_0000, 0]);
    assert_eq!(after, before);
    assert_eq!(plain[..3], [255, 0, 0]);
    let changed: Vec<usize> = (0..plain.len()).filter(|n| plain[*n] != drawn[*n]).collect();
    assert!(changed.iter().all(|n| drawn[*n] == 255), "the text is white");
    // The rows of text: frames, draws, and the card's time with that of two blocks, ten pixels each.
    let rows: std::collections::BTreeSet<usize> =
        changed.iter().map(|n| (n / 600 - 8) / 10).collect();
    assert_eq!(rows.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
}

#[test]
fn a_profile_has_submissions_draws_blocks_and_frames() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("out.json");
    for (number, name) in [(0, "out.json"), (1, "out.1.json")] {
        let settings =
            Settings { profile: Some(path.clone()), check: false, ..Settings::default() };
        let (file, _) = card(settings);
        // The draws of the machine begin in the past, but not before the profile.
        std::thread::sleep(Duration::from_millis(20));
        let handle = create(&file, 4096);
        let mut fb = [0, 2, 2, 8, 32, 24, handle];
        request(&file, ADD_FB, &mut fb).unwrap();
        submit(&file, &[7, 7, 7], &[[handle, 0, 4, 0]]).unwrap();
        submit(&file, &[9], &[[handle, 0, 4, 0]]).unwrap();
        request(&file, PAGE_FLIP, &mut [1, fb[0], 0, 0, 5, 6]).unwrap();
        assert!(!folder.path().join(name).exists(), "it gets its name at the end");
        file.device().finish();
        assert!(!file.device().has_failed());
        let text = fs::read_to_string(folder.path().join(name)).unwrap();
        let events: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        let of = |name: &str| {
            let found: Vec<_> = events.iter().filter(|event| event["name"] == name).collect();
            assert_eq!(found.len(), 1, "{name} in run {number}: {text}");
            found[0]
        };
        let time = |event: &serde_json::Value| event["ts"].as_f64().unwrap();
        assert_eq!(of("process_name")["args"]["name"], std::env::args().next().unwrap());
        assert_eq!(of("submission 1")["args"]["dwords"], 3);
        assert_eq!(of("submission 2")["args"]["draws"], 1);
        assert_eq!(of("draw 1")["args"]["quads"], 77);
        assert_eq!(of("draw 1")["dur"], 4000.0);
        // Blocks follow each other within their draw.
        let blocks = |name: &str| {
            events.iter().filter(|event| event["name"] == name).nth(1).unwrap().clone()
        };
        let [vertices, fragments] = ["vertices", "fragments"].map(blocks);
        assert_eq!((&vertices["dur"], &fragments["dur"]), (&1000.0.into(), &3000.0.into()));
        assert!((time(&vertices) - time(of("draw 1"))).abs() < 1e-3);
        assert!((time(&fragments) - time(&vertices) - 1000.0).abs() < 1e-3);
        assert_eq!(vertices["tid"], of("draw 1")["tid"]);
        // The program submits on a thread of its own.
        let submit = events.iter().find(|event| event["name"] == "submit").unwrap();
        assert_ne!(submit["tid"], of("draw 1")["tid"]);
        assert_eq!(of("frame 0")["ph"], "i");
        assert_eq!(of("ms of a frame")["args"]["vertices"], 2.0);
        assert_eq!(of("of a frame")["args"]["draws"], 2);
    }
}

#[test]
fn a_profile_that_cannot_be_written_is_a_failure() {
    let profile = Some("/nonexistent/out.json".into());
    let (file, _) = card(Settings { profile, check: false, ..Settings::default() });
    let handle = create(&file, 4096);
    submit(&file, &[7], &[[handle, 0, 4, 0]]).unwrap();
    file.device().finish();
    assert!(file.device().has_failed());
}

#[test]
fn a_program_chooses_a_mode() {
    const GET_CRTC: u32 = 0xc068_64a1;
    const SET_CRTC: u32 = 0xc068_64a2;
    let (file, _) = card(Settings { mode: [801, 600], ..Settings::default() });
    let mut query = [0; 20];
    query[12] = 3;
    request(&file, GET_CONNECTOR, &mut query).unwrap();
    assert_eq!(query[8], 3);
    let mut modes = [0_u32; 17 * 3];
    [query[2], query[3]] = address_mut(&mut modes);
    request(&file, GET_CONNECTOR, &mut query).unwrap();
    // The preferred one, and of the common sizes those that fit.
    let sizes = [0, 17, 34].map(|n| (modes[n + 1] & 0xffff, modes[n + 3] >> 16));
    assert_eq!(sizes, [(801, 600), (800, 600), (640, 480)]);
    // PREFERRED is a bit of the type, the dword before the name.
    assert_eq!([0, 17, 34].map(|n| modes[n + 8] >> 3 & 1), [1, 0, 0]);

    let handle = create(&file, 640 * 480 * 4);
    let mut fb = [0, 640, 480, 640 * 4, 32, 24, handle];
    request(&file, ADD_FB, &mut fb).unwrap();
    let mut crtc = [0; 26];
    (crtc[3], crtc[4], crtc[8]) = (1, fb[0], 1);
    crtc[9..].copy_from_slice(&modes[34..]);
    request(&file, SET_CRTC, &mut crtc).unwrap();
    let mut now = [0; 26];
    now[3] = 1;
    request(&file, GET_CRTC, &mut now).unwrap();
    assert_eq!((now[4], now[8], now[9..].to_vec()), (fb[0], 1, modes[34..].to_vec()));
    crtc[10] = 0;
    assert_eq!(request(&file, SET_CRTC, &mut crtc), Err(Errno(libc::EINVAL)));
}

#[test]
fn a_capture_holds_what_was_submitted() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.r5cs");
    let settings = Settings { capture: Some(path.clone()), check: false, ..Settings::default() };
    let (file, _) = card(settings);
    let handle = create(&file, 4096);
    submit(&file, &[7], &[[handle, 0, 4, 0]]).unwrap();
    submit(&file, &[9], &[[handle, 0, 4, 0]]).unwrap();
    // It gets its name at the end of the process.
    assert!(!path.exists());
    file.device().finish();
    assert!(!file.device().has_failed());
    drop(file);

    // Another machine of the same kind arrives at the same buffers.
    let mut machine = Storing::default();
    let mut player = Player::new(Limits::default());
    let mut compared = 0;
    for record in Reader::new(fs::File::open(&path).unwrap()).unwrap() {
        match player.apply(record.unwrap()).unwrap() {
            Some(Event::Submission(submission)) => machine.submit(&submission).unwrap(),
            Some(Event::Hashes(hashes)) => {
                assert_eq!(player.mismatches(&hashes, None), Ok(vec![]));
                compared += hashes.len();
            }
            _ => {}
        }
    }
    assert_eq!(compared, 2);
    assert_eq!(player.info().chip, 0x71c0);
}

/// Numbers of vertical blanks rise by one a wait and a flip; each event says which it was.
#[test]
fn vertical_blanks_are_counted() {
    let device = Device::new(Settings::default(), None).unwrap();
    let (file, mut events) = open(&device);
    let mut event = [0; 64];
    // Relative by 2, then absolute in the past, with an event, then the next one.
    for (kind, sequence, wanted) in [(1, 2, 2), (0x0400_0000, 1, 2), (0x1400_0000, 1, 3)] {
        let mut wait = [kind, sequence, 9, 0, 0, 0];
        request(&file, WAIT_VBLANK, &mut wait).unwrap();
        assert_eq!(wait[1], wanted);
    }
    assert_eq!(events.read(&mut event).unwrap(), 64);
    let dword = |n: usize| u32::from_le_bytes(event[4 * n..4 * n + 4].try_into().unwrap());
    assert_eq!([0, 1, 2, 6, 7].map(dword), [1, 32, 9, 2, 1]);
    assert_eq!([8, 14].map(dword), [1, 3]);
    // The second CRTC does not exist.
    assert_eq!(
        request(&file, WAIT_VBLANK, &mut [1 | 1 << 1, 1, 0, 0, 0, 0]),
        Err(Errno(libc::EINVAL))
    );
    let mut sequence = [1, 0, 0, 0, 0, 0];
    request(&file, GET_SEQUENCE, &mut sequence).unwrap();
    assert_eq!(sequence[1..4], [1, 3, 0]);
    request(&file, QUEUE_SEQUENCE, &mut [1, 1, 4, 0, 7, 0]).unwrap();
    assert_eq!(events.read(&mut event).unwrap(), 32);
    let dword = |n: usize| u32::from_le_bytes(event[4 * n..4 * n + 4].try_into().unwrap());
    assert_eq!([0, 1, 2, 6].map(dword), [3, 32, 7, 7]);
}

#[test]
fn objects_of_mode_setting_describe_themselves() {
    let device = Device::new(Settings::default(), None).unwrap();
    let (file, _events) = open(&device);
    // Without the capability there are no planes, with it there is the one of the screen.
    let planes = |wanted: u32| {
        let mut resources = [0, 0, 0, 0];
        request(&file, GET_PLANES, &mut resources).unwrap();
        assert_eq!(resources[2], wanted);
    };
    planes(0);
    request(&file, SET_CLIENT_CAP, &mut [2, 0, 1, 0]).unwrap();
    planes(1);
    assert_eq!(
        request(&file, SET_CLIENT_CAP, &mut [3, 0, 1, 0]),
        Err(Errno(libc::EOPNOTSUPP)),
        "atomic mode setting"
    );
    // Its type is that of a primary plane.
    let (mut ids, mut values) = ([0_u32], [0_u64]);
    let mut query = [0, 0, 0, 0, 1, 4, 0xeeee_eeee, 0];
    [query[0], query[1]] = address_mut(&mut ids);
    [query[2], query[3]] = address_mut(&mut values);
    request(&file, OBJECT_PROPERTIES, &mut query).unwrap();
    let mut names = [[0_u64; 5]; 3];
    let mut property = [0; 16];
    [property[2], property[3]] = address_mut(&mut names);
    (property[4], property[15]) = (ids[0], 3);
    request(&file, GET_PROPERTY, &mut property).unwrap();
    let text: Vec<u8> = property[6..14].iter().flat_map(|dword| dword.to_le_bytes()).collect();
    assert!(text.starts_with(b"type\0"));
    let primary = names.iter().find(|name| name[0] == values[0]).unwrap();
    assert!(
        primary[1..]
            .iter()
            .flat_map(|q| q.to_le_bytes())
            .eq(*b"Primary\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")
    );

    // A frame buffer is what it was made of.
    let handle = create(&file, 4096);
    let mut fb = [0, 16, 8, 64, 32, 24, handle];
    request(&file, ADD_FB, &mut fb).unwrap();
    let mut known = [fb[0], 0, 0, 0, 0, 0, 0];
    request(&file, GET_FB, &mut known).unwrap();
    assert_eq!(known[..6], fb[..6]);
    assert_ne!(known[6], handle);
    assert_eq!(request(&file, GET_FB, &mut [77, 0, 0, 0, 0, 0, 0]), Err(Errno(libc::ENOENT)));
}
