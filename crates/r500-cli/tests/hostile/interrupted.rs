//! Interrupted commands: whenever a command is killed, a file under a final name is whole.
//!
//! `R500_KILLS=100` kills each command at 100 moments, in place of a few.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use r500_stream::capture::{Info, Picture, Recorder};
use r500_stream::{Buffer, BufferId, PixelFormat, Submission};

use super::Folder;

/// Files of a folder and below it, by path.
type Files = BTreeMap<String, Vec<u8>>;

/// Extension of files that are not complete.
const PART: &str = ".r500-part";

fn files(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                files.insert(name, bytes);
            }
        }
    }
    files
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

fn start(args: &[String], folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_r500"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    // It may have ended.
    let _ = Command::new("kill").args(["-s", name, &id]).stderr(Stdio::null()).status();
}

/// Kills a command at random moments in folders that hold `before`; then completes the last folder.
fn kill(name: &str, command: &str, before: &Files) {
    let kills: u64 = std::env::var("R500_KILLS").map_or(6, |kills| kills.parse().unwrap());
    let args: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let place = |n: u64| {
        let folder = Folder::new(&format!("{name}-{n}"));
        for (name, bytes) in before {
            folder.write(name, bytes);
        }
        folder
    };
    let whole = place(0);
    let begin = Instant::now();
    let status = start(&args, whole.0.path()).wait().unwrap();
    assert!(status.success(), "{command}: {status}");
    let (took, after) = (begin.elapsed(), files(whole.0.path()));
    assert_ne!(&after, before, "{command} writes nothing");
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ command.len() as u64);
    let mut folder = place(1);
    let mut interrupted = 0;
    for n in 0..kills {
        let moment = Duration::from_micros(random.below(took.as_micros() as u64 * 11 / 10));
        let how = ["KILL", "TERM", "INT", "HUP"][random.below(4) as usize];
        let mut parts = files(folder.0.path());
        parts.retain(|name, _| name.ends_with(PART));
        let mut child = start(&args, folder.0.path());
        std::thread::sleep(moment);
        signal(&child, how);
        let status = child.wait().unwrap();
        interrupted += u64::from(status.signal().is_some());
        let found = files(folder.0.path());
        for (name, bytes) in &found {
            if name.ends_with(PART) {
                let left = how == "KILL" || parts.contains_key(name);
                assert!(left, "{command}: {name} stays, {how} after {moment:?} of {took:?}");
                continue;
            }
            let is = |files: &Files| files.get(name) == Some(bytes);
            assert!(
                is(before) || is(&after),
                "{command}: {name} has {} bytes of a part, {how} after {moment:?} of {took:?}",
                bytes.len()
            );
        }
        // Some runs begin anew, others with what the killed one left.
        if n % 3 == 2 {
            folder = place(n);
        }
    }
    let status = start(&args, folder.0.path()).wait().unwrap();
    assert!(status.success(), "{command}: {status}");
    let completed = files(folder.0.path());
    let names: Vec<&String> = completed.keys().collect();
    assert!(completed == after, "{command}: completed as {names:?}");
    // The machine may be busy: a command that is never hit proves nothing.
    assert!(kills < 20 || interrupted > kills / 20, "{command}: {interrupted} of {kills}");
}

fn one(name: &str, bytes: impl Into<Vec<u8>>) -> Files {
    Files::from([(name.to_owned(), bytes.into())])
}

fn root(path: &str) -> Vec<u8> {
    fs::read(format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Plasma, with an earlier content of the outputs.
fn plasma(output: &str) -> Files {
    let mut files = one("plasma.r5", root("examples/plasma.r5"));
    if !output.is_empty() {
        files.insert(output.to_owned(), b"what was there before".to_vec());
    }
    files
}

#[test]
fn pictures_are_whole_or_not_there() {
    for (name, size) in
        [("a.png", "640x480"), ("a.png", "2048x1024"), ("a.exr", "2048x512"), ("a.f32", "2048x512")]
    {
        kill("picture", &format!("render plasma.r5 --size {size} -o {name}"), &plasma(name));
    }
    kill(
        "raw",
        "render plasma.r5 --size 512x512 --register US_OUT_FMT[0]=0x3900 -o a.raw",
        &plasma(""),
    );
}

#[test]
fn animations_and_frames_are_whole_or_not_there() {
    for name in ["a.gif", "a.apng"] {
        let command = format!("render plasma.r5 --size 200x200 --frames 0..12 -o {name}");
        kill("animation", &command, &plasma(name));
    }
    kill("frames", "render plasma.r5 --size 200x200 --frames 0..12 -o f-##.png", &plasma(""));
    // Shards skip frames that are there.
    kill(
        "shard",
        "render plasma.r5 --size 200x200 --frames 0..12 --shard 1/1 -o f-##.png",
        &plasma(""),
    );
}

#[test]
fn programs_are_whole_or_not_there() {
    let mut sources = Files::new();
    for name in ["tex_mips", "tex_grad", "alu_basic"] {
        let bytes = root(&format!("tests/corpus/mesa/{name}.json"));
        sources.insert(format!("in/{name}.json"), bytes);
    }
    // The textures are files next to the program.
    kill("convert", "convert in/tex_mips.json -o a.r5", &sources);
    kill("opt", "opt in -o out", &sources);
    kill("asm", "asm plasma.r5 -o a.bin", &plasma("a.bin"));
    kill("cfg", "cfg plasma.r5 -o a.svg", &plasma("a.svg"));
    kill("rows", "run plasma.r5 --format csv -o a.csv", &plasma("a.csv"));
    kill("man", "man --folder man", &plasma(""));
    let untidy = String::from_utf8(root("examples/plasma.r5")).unwrap().replace(' ', "   ");
    kill("fmt", "fmt plasma.r5", &one("plasma.r5", untidy));
}

#[test]
fn frames_of_a_replay_are_whole_or_not_there() {
    let (width, height) = (256, 256);
    let buffer = Buffer::zeroed(BufferId(1), width * height * 4);
    let mut recorder = Recorder::new(Vec::new(), Info::default()).unwrap();
    recorder.create(&buffer, 4).unwrap();
    for n in 0..12 {
        for at in 0..width * height {
            buffer.store(at * 4, (at as u32).wrapping_mul(0x9e37_79b9 + n));
        }
        let relocations = vec![r500_stream::Relocation {
            buffer: buffer.clone(),
            read_domains: 4,
            write_domain: 0,
            flags: 0,
            tiling: r500_stream::Tiling::default(),
        }];
        let submission = Submission { words: vec![0x8000_0000; 8], flags: 0, relocations };
        recorder.submission(&submission).unwrap();
        let picture = Picture {
            buffer: BufferId(1),
            width: width as u32,
            height: height as u32,
            pitch: width as u32 * 4,
            offset: 0,
            format: PixelFormat::XRGB8888.code(),
        };
        recorder.flip(picture).unwrap();
    }
    let capture = one("demo.r5cs", recorder.into_inner());
    kill("replay", "replay demo.r5cs -o frames", &capture);
    kill("stream", "stream demo.r5cs -o a.txt", &capture);
}
