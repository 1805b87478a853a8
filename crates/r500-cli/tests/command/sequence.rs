//! `r500 render --frames`.

use super::{CONSTANT, Folder, floats, r500};

#[test]
fn a_file_a_frame() {
    let folder = Folder::new("frames");
    let program = folder.write("constant.inc", CONSTANT);
    let base = ["render", &program, "--size", "1x1", "--time-to", "0.r", "--fps", "2"];
    let pattern = folder.path("f##.f32");
    r500(&[&base[..], &["-o", &pattern, "--frames", "1..4"]].concat()).status(0);
    assert_eq!(folder.names(), ["constant.inc", "f01.f32", "f02.f32", "f03.f32"]);
    // Frame n is at n/2 seconds, which is red.
    assert_eq!(floats(&folder.read("f01.f32"))[0], 0.5);
    assert_eq!(floats(&folder.read("f03.f32"))[0], 1.5);
    let later = [&base[..], &["-o", &pattern, "--frames", "1..=1", "--time", "10"]].concat();
    r500(&later).status(0);
    assert_eq!(floats(&folder.read("f01.f32"))[0], 10.5);
    // Without a pattern the number stands before the extension.
    r500(&[&base[..], &["-o", &folder.path("g.png"), "--frames", "7..8"]].concat()).status(0);
    assert!(folder.names().contains(&"g-0007.png".to_owned()));
}

#[test]
fn shards_share_the_frames() {
    let folder = Folder::new("shards");
    let program = folder.write("constant.inc", CONSTANT);
    let pattern = folder.path("f#.png");
    let base = [
        "render",
        &program,
        "--size",
        "1x1",
        "--time-to",
        "0.r",
        "-o",
        &pattern,
        "--frames",
        "0..5",
    ];
    r500(&[&base[..], &["--shard", "1/2"]].concat()).status(0);
    assert_eq!(folder.names(), ["constant.inc", "f0.png", "f2.png", "f4.png"]);
    // What is there already is not drawn again.
    folder.write("f1.png", "mine");
    r500(&[&base[..], &["--shard", "2/2"]].concat()).status(0);
    assert_eq!(folder.names(), ["constant.inc", "f0.png", "f1.png", "f2.png", "f3.png", "f4.png"]);
    assert_eq!(folder.read("f1.png"), b"mine");
}

#[test]
fn animations() {
    let folder = Folder::new("animations");
    let program = folder.write("constant.inc", CONSTANT);
    let base = ["render", &program, "--size", "4x4", "--time-to", "0.r", "--frames", "0..3"];
    r500(&[&base[..], &["-o", &folder.path("out.gif")]].concat()).status(0);
    assert_eq!(&folder.read("out.gif")[..6], b"GIF89a");
    r500(&[&base[..], &["-o", &folder.path("out.apng")]].concat()).status(0);
    let apng = folder.read("out.apng");
    // The animation control chunk: three frames, for ever.
    assert!(apng.windows(12).any(|w| w == b"acTL\0\0\0\x03\0\0\0\0"));
}

#[test]
fn frames_that_would_be_equal_are_refused() {
    let folder = Folder::new("equal-frames");
    let program = folder.write("constant.inc", CONSTANT);
    let out = folder.path("out.gif");
    r500(&["render", &program, "-o", &out, "--frames", "0..3"]).status(2).says("--time-to");
    r500(&["render", &program, "--frames", "0..3", "--time-to", "0.r"]).status(2).says("needs -o");
    r500(&["render", &program, "-o", &out, "--frames", "3..3"]).status(2).says("no frames");
    r500(&[
        "render",
        &program,
        "-o",
        &out,
        "--frames",
        "0..3",
        "--time-to",
        "0.r",
        "--shard",
        "1/2",
    ])
    .status(2)
    .says("an animation is one file");
}
