//! `r500 replay`.

use r500::chip::zb::{ZbZpassAddr, ZbZpassData};
use r500::jit::Jit;
use r500_stream::capture::{Info, Picture, Record, Recorder, Writer, buffer_hash};
use r500_stream::{Buffer, BufferId, Relocation, StreamWriter, Submission, Tiling};

use super::{Folder, corpus, r500};

/// A submission that stores a count at the beginning of a buffer.
fn storing(count: u32, buffer: &Buffer) -> Submission {
    let mut stream = StreamWriter::default();
    stream.set(ZbZpassData(count)).set(ZbZpassAddr(0)).relocation(0);
    let relocation = Relocation {
        buffer: buffer.clone(),
        read_domains: 0,
        write_domain: 4,
        flags: 0,
        tiling: Tiling::default(),
    };
    Submission { words: stream.into_words(), flags: 1, relocations: vec![relocation] }
}

/// Two submissions and a frame of one pixel, with the results `stored` that a card is said to have left.
fn capture(stored: [u32; 2]) -> Vec<u8> {
    let buffer = Buffer::zeroed(BufferId(1), 4096);
    let mut recorder = Recorder::new(Vec::new(), Info::default()).unwrap();
    recorder.create(&buffer, 4).unwrap();
    for (count, stored) in [0x00ff_8000, 0x0000_00ff].into_iter().zip(stored) {
        let submission = storing(count, &buffer);
        recorder.submission(&submission).unwrap();
        buffer.store(0, stored);
        recorder.executed(&submission).unwrap();
    }
    let format = u32::from_le_bytes(*b"XR24");
    let buffer = BufferId(1);
    let picture = Picture { buffer, width: 1, height: 1, pitch: 4, offset: 0, format };
    recorder.flip(picture).unwrap();
    recorder.into_inner()
}

#[test]
fn a_replay_arrives_at_the_same_buffers_and_frames() {
    let folder = Folder::new("replay");
    let file = folder.write("demo.r5cs", capture([0x00ff_8000, 0x0000_00ff]));
    for engine in ["reference", "fast", "jit"] {
        let frames = folder.path(engine);
        let run = r500(&["replay", &file, "-o", &frames, "--engine", engine]).status(0);
        run.shows("2 submissions, 1 frame").shows("2 buffers compared, 0 differ");
        let picture = folder.picture(&format!("{engine}/frame-00000.png"));
        assert_eq!(picture.pixels, [[0, 0, 255, 255]]);
    }
    r500(&["replay", &file, "--submissions", "1"]).status(0).shows("1 submission, 0 frames");
}

/// A capture with a draw: every engine runs its fragment program itself.
#[test]
fn statistics_say_which_engine_drew() {
    let file = corpus("../captures/triangle.r5cs");
    for engine in ["reference", "fast", "jit"] {
        if engine == "jit" && Jit::new().unavailable().is_some() {
            continue;
        }
        let run = r500(&["replay", &file, "--engine", engine, "--stats"]).status(0);
        run.shows("0 differ").shows(&format!("1 draw by the {engine} engine\n"));
    }
    // Only the reference engine has other denormals; its draws are reported without --stats, too.
    let file = corpus("../captures/readings.r5cs");
    r500(&["replay", &file, "--reading", "denormals=keep"])
        .says("by the reference engine: the reading denormals=keep, which ");
    let run = r500(&["replay", &file]).status(0);
    assert!(!run.stderr.contains("engine"), "{}", run.stderr);
}

#[test]
fn a_frame_is_not_written_over_a_capture() {
    let folder = Folder::new("replay-own-input");
    let bytes = capture([0x00ff_8000, 0x0000_00ff]);
    let file = folder.write("frame-00000.png", &bytes);
    let compare = folder.write("compare/frame-00000.png", &bytes);
    let refused = "this is the input";
    r500(&["replay", &file, "-o", &folder.path("")]).status(2).says(refused);
    let other = folder.write("demo.r5cs", &bytes);
    r500(&["replay", &other, "-o", &folder.path("compare"), "--compare", &compare])
        .status(2)
        .says(refused);
    assert_eq!(folder.read("frame-00000.png"), bytes);
    assert_eq!(folder.read("compare/frame-00000.png"), bytes);
}

#[test]
fn another_result_is_reported() {
    let folder = Folder::new("replay-differs");
    let right = folder.write("right.r5cs", capture([0x00ff_8000, 0x0000_00ff]));
    let wrong = folder.write("wrong.r5cs", capture([0x00ff_8000, 0x0000_00fe]));
    r500(&["replay", &wrong]).status(1).says("after submission 1 buffer 1 differs");
    r500(&["replay", &right, "--compare", &wrong]).status(1).says("after submission 1 buffer 1");
    r500(&["replay", &wrong, "--compare", &right]).status(0).shows("2 buffers compared, 0 differ");
}

#[test]
fn damaged_captures_are_input_errors() {
    let folder = Folder::new("replay-damaged");
    let text = folder.write("text.r5cs", "not a capture");
    r500(&["replay", &text]).status(1).says("not a capture");
    r500(&["replay", &folder.path("none.r5cs")]).status(3).says("cannot read");
    let whole = capture([1, 2]);
    let short = folder.write("short.r5cs", &whole[..whole.len() - 3]);
    r500(&["replay", &short]).status(1).says("ends inside a record");
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.write(&Record::Close { buffer: BufferId(9) }).unwrap();
    let closed = folder.write("closed.r5cs", writer.into_inner());
    r500(&["replay", &closed]).status(1).says("buffer 9 does not exist");
    // Without hashes there is nothing to compare with.
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.write(&Record::Info(Info::default())).unwrap();
    let empty = folder.write("empty.r5cs", writer.into_inner());
    r500(&["replay", &empty]).status(0).shows("no hashes");
    let buffer = Buffer::zeroed(BufferId(0), 4);
    assert_ne!(buffer_hash(&buffer), 0);
}
