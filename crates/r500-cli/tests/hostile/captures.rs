//! Captures of a few hundred bytes that ask for much: huge frames, hashes, buffers and draws.

use std::time::{Duration, Instant};

use r500_stream::capture::{Info, Picture, Record, Writer};
use r500_stream::{BufferId, PixelFormat};

use super::{Folder, Run, r500};

fn path(name: &str) -> String {
    format!("{}/tests/hostile/captures/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs the command, which must not take much longer than its limit of one second. [`r500`] checks its memory.
#[track_caller]
fn soon(args: &[&str]) -> Run {
    let start = Instant::now();
    let run = r500(&[args, &["--limit-time", "1"]].concat());
    assert!(start.elapsed() < Duration::from_secs(20), "{args:?}: {:?}", start.elapsed());
    run
}

/// Frames of 10,000x10,000 pixels and more are not frames of a screen, which has at most 4096x4096.
#[test]
fn frames_are_no_larger_than_a_screen() {
    let folder = Folder::new("frames");
    for name in ["flip_max.r5cs", "flip_64k.r5cs", "flip_10k.r5cs"] {
        let frames = folder.path("frames");
        soon(&["replay", &path(name), "-o", &frames]).status(1).says(&["frame 0", "4096x4096"]);
        soon(&["replay", &path(name)]).status(0);
        assert_eq!(std::fs::read_dir(&frames).unwrap().count(), 0);
    }
}

/// A thousand frames of the largest size.
#[test]
fn frames_end_at_the_time_limit() {
    let folder = Folder::new("many-frames");
    let mut writer = Writer::new(Vec::new()).unwrap();
    let buffer = BufferId(1);
    writer.write(&Record::Info(Info::default())).unwrap();
    writer.write(&Record::Create { buffer, size: 64 << 20, domain: 4 }).unwrap();
    let format = PixelFormat::XRGB8888.code();
    for _ in 0..1000 {
        let picture =
            Picture { buffer, width: 4096, height: 4096, pitch: 16384, offset: 0, format };
        writer.write(&Record::Flip(picture)).unwrap();
    }
    let capture = folder.write("demo.r5cs", writer.into_inner());
    soon(&["replay", &capture, "-o", &folder.path("frames")]).status(3).says(&["--limit-time"]);
}

/// 16 hashes of a buffer of 2 GiB, which is empty.
#[test]
fn hashes_end_at_the_time_limit() {
    for args in [&["replay"][..], &["replay", "--engine", "reference"]] {
        let run = soon(&[args, &[&*path("big_hash_16.r5cs")]].concat());
        assert!(matches!(run.status, 1 | 3), "{run:?}");
    }
    soon(&["replay", &path("createclose10.r5cs"), "--compare", &path("big_hash_16.r5cs")]);
}

/// Buffers of 2 GiB that nothing uses cost nothing.
#[test]
fn buffers_are_not_touched_to_print_text() {
    let capture = path("createclose10.r5cs");
    for args in [&["stream"][..], &["stream", "--list"], &["stream", "--stats"], &["replay"]] {
        let start = Instant::now();
        r500(&[args, &[&*capture]].concat()).status(0);
        assert!(start.elapsed() < Duration::from_secs(5), "{args:?}: {:?}", start.elapsed());
    }
    let limit = ["--limit-memory", "1000000"];
    for command in ["stream", "replay"] {
        let run = r500(&[&[command, &capture][..], &limit].concat()).status(3);
        run.says(&["the limit is 1000000", "--limit-memory"]);
    }
}

/// One draw of 2^24 vertices: they are processed in pieces.
#[test]
fn vertices_are_not_all_kept() {
    let capture = path("cs_vbuf_16m.r5cs");
    let run = soon(&["replay", &capture]);
    assert!(matches!(run.status, 0 | 1 | 3), "{run:?}");
    soon(&["stream", &capture, "--list"]).status(0);
}
