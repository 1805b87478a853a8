//! Full disks: every command says so, with status 3, and leaves no part of a file.

use std::process::{Command, Stdio};

use super::{Folder, r500};

const PLAIN: &str = "OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n";

/// Runs the command where a file may have no more than 512 bytes.
fn with_small_files(args: &[&str]) -> (i32, String) {
    // Without a trap the signal would end the process.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_r500")])
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let status = output.status.code().unwrap_or_else(|| panic!("{args:?}: {}", output.status));
    (status, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_full_disk_leaves_no_file() {
    let folder = Folder::new("disk");
    let long = PLAIN.replace(";\n", "").replace(" LAST", "") + ";\n";
    let main = folder.write("main.r5", long.repeat(200) + PLAIN);
    let moving = folder.write("moving.r5", "UNIFORM \"time\" = const[0].a ;\n".to_owned() + PLAIN);
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures/texture.r5cs");
    let plasma = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/plasma.r5");
    let noise = "0=noise,size=64x64";
    let before = folder.names();
    let out = |name: &str| folder.path(name);
    let commands: Vec<Vec<String>> = [
        vec!["render", &main, "--size", "64x64", "--texture", noise, "-o", &out("a.f32")],
        vec!["render", &main, "--size", "64x64", "-o", &out("a.exr")],
        vec!["render", &main, "--size", "2048x1024", "-o", &out("a.png")],
        vec!["render", &main, "--size", "2048x1024", "-o", &out("b.f32")],
        vec!["render", &main, "--size", "2048x1024", "-o", &out("b.exr")],
        vec!["render", &moving, "--size", "256x256", "--frames", "0..40", "-o", &out("a.gif")],
        vec!["render", &moving, "--size", "256x256", "--frames", "0..40", "-o", &out("a.apng")],
        vec!["render", &moving, "--size", "64x64", "--frames", "0..4", "-o", &out("f-##.f32")],
        vec!["asm", &main, "-o", &out("a.bin")],
        vec!["convert", &main, "-o", &out("a.json")],
        vec!["disasm", &main, "-o", &out("a.asm")],
        vec!["cfg", &main, "-o", &out("a.svg")],
        vec!["run", plasma, "--dump-ir", "-o", &out("a.ir")],
        vec!["stream", capture, "-o", &out("a.txt")],
        vec!["stream", capture, "--list", "--format", "json", "-o", &out("b.txt")],
        vec!["stream", capture, "--draw", "0", "-o", &out("draw.json")],
        vec!["opt", plasma, "-o", &out("opt.json")],
    ]
    .iter()
    .map(|args| args.iter().map(|arg| (*arg).to_owned()).collect())
    .collect();
    for args in &commands {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (status, messages) = with_small_files(&args);
        assert_eq!(status, 3, "{args:?}: {messages}");
        assert!(messages.contains("cannot write"), "{args:?}: {messages}");
        assert_eq!(folder.names(), before, "{args:?}");
    }
    let frames = out("frames");
    let (status, messages) = with_small_files(&["man", "--folder", &frames]);
    assert_eq!(status, 3, "{messages}");
    assert_eq!(std::fs::read_dir(&frames).unwrap().count(), 0);
}

#[test]
fn a_full_device_is_an_error() {
    let folder = Folder::new("device");
    let main = folder.write("main.r5", PLAIN);
    for args in [
        &["render", &main, "-o", "/dev/full"][..],
        &["asm", &main, "-o", "/dev/full"],
        &["disasm", &main, "-o", "/dev/full"],
    ] {
        let run = r500(args);
        assert!(matches!(run.status, 2 | 3), "{args:?}: {run:?}");
    }
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures/texture.r5cs");
    for args in [
        &["render", &main, "-o", "-"][..],
        &["run", &main],
        &["asm", &main, "-o", "-"],
        &["disasm", &main],
        &["convert", &main],
        &["check", &main],
        &["cfg", &main],
        &["stats", &main],
        &["stream", capture],
        &["stream", capture, "--list"],
        &["replay", capture],
        &["trace", &main, "--pixel", "0,0"],
        &["explain", "MAD"],
        &["man"],
        &["completions", "bash"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_r500"))
            .args(args)
            .stdin(Stdio::null())
            .stdout(full)
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{args:?}: {messages}");
    }
}
