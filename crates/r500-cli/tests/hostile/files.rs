//! Devices, pipes, folders and long files in the place of files.

use std::fs::File;
use std::process::Stdio;

use super::{Folder, command_line, r500, with_stdin};

const TEXTURE: &str = "TEX temp[1].rgba = LD tex[0].rgba temp[0].rgba ;
OUT LAST TEX_SEM_WAIT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;\n";

#[test]
fn included_devices_and_pipes_are_errors_with_path_and_place() {
    let folder = Folder::new("included");
    folder.pipe("pipe");
    std::os::unix::fs::symlink("/dev/zero", folder.path("link")).unwrap();
    folder.sparse("long", 1 << 40);
    let wanted =
        [("pipe", "a pipe"), ("long", "16777216 bytes"), ("link", "outside"), (".", "a folder")];
    for (name, why) in wanted {
        let main = folder.write("main.r5", format!("\n#include \"{name}\"\n"));
        for command in ["asm", "check", "render"] {
            r500(&command_line(command, &main)).status(1).says(&["main.r5:2:10", name, why]);
        }
    }
    let main = folder.write("main.r5", "#include \"/dev/zero\"\n");
    r500(&["asm", &main]).status(1).says(&["/dev/zero", "outside", "--allow-paths"]);
    r500(&["asm", &main, "--allow-paths"]).status(1).says(&["main.r5:1:10", "a device"]);
}

#[test]
fn texture_files_that_are_none_are_errors_with_path_and_place() {
    let folder = Folder::new("textures");
    folder.pipe("pipe.png");
    folder.sparse("long.dds", 1 << 40);
    for (name, why) in [("pipe.png", "a pipe"), ("long.dds", "402653184 bytes")] {
        let source = format!("\nTEXTURE tex[0] = file \"{name}\" ;\n{TEXTURE}");
        let main = folder.write("main.r5", source);
        for command in ["render", "run", "trace", "convert"] {
            r500(&command_line(command, &main)).status(1).says(&["main.r5, line 2", name, why]);
        }
        r500(&["render", &main, "-o", "-", "--texture", &format!("0={}", folder.path(name))])
            .says(&[name, why]);
    }
    let main = folder.write("main.r5", format!("TEXTURE tex[0] = file \"/dev/zero\" ;\n{TEXTURE}"));
    r500(&["render", &main, "-o", "-"]).status(1).says(&[
        "main.r5, line 1",
        "/dev/zero",
        "outside",
    ]);
    r500(&["render", &main, "-o", "-", "--allow-paths"]).status(1).says(&["/dev/zero", "a device"]);
    let levels = "TEXTURE tex[0] = levels(8_8_8_8, 4, 4) file \"pipe.png\" ;\n";
    let main = folder.write("main.r5", format!("{levels}{TEXTURE}"));
    assert_ne!(r500(&["render", &main, "-o", "-"]).status, 0);
}

#[test]
fn folders_that_hold_pipes_are_read_without_them() {
    let folder = Folder::new("folders");
    for name in ["a.json", "b.r5", "c.asm", "d.log", "e.jsonl.gz"] {
        folder.pipe(name);
    }
    std::os::unix::fs::symlink("/dev/zero", folder.path("zero.r5")).unwrap();
    std::os::unix::fs::symlink(".", folder.path("circle")).unwrap();
    folder.write("good.r5", "OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
    for args in [
        &["check"][..],
        &["stats"],
        &["test"],
        &["fmt", "--check"],
        &["bench", "--size", "8x8", "--seconds", "0.01"],
    ] {
        let args: Vec<String> =
            args.iter().map(|&a| a.to_owned()).chain([folder.path("")]).collect();
        r500(&args).status(0);
    }
}

#[test]
fn what_a_person_names_must_be_a_file() {
    let folder = Folder::new("named");
    let pipe = folder.pipe("pipe");
    let good = folder.write("good.r5", "OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
    for (path, why) in [(&*pipe, "a pipe"), ("/dev/zero", "a device")] {
        let texture = format!("0={path}");
        for args in [
            &["asm", path][..],
            &["render", path, "-o", "-"],
            &["run", path],
            &["run", &good, "--input", path],
            &["render", &good, "--compare", path],
            &["render", &good, "-o", "-", "--texture", &texture],
            &["debug", &good, "--script", path],
            &["check", path],
            &["check", "--fix", path],
            &["test", path],
            &["stats", path],
            &["bench", path],
            &["fmt", "--check", path],
            &["explain", path],
            &["diff", path, &good],
            &["diff", &good, path],
            &["replay", path],
            &["stream", path],
        ] {
            let run = r500(args);
            assert_ne!(run.status, 0, "{args:?}");
            let said = run.text() + &run.messages();
            assert!(said.contains(path) && said.contains(why), "{args:?}: {said}");
        }
    }
}

/// Streams that a shell passes are read, up to a size.
#[test]
fn endless_streams_end_at_a_limit() {
    for args in [
        &["asm", "-"][..],
        &["asm", "/dev/stdin"],
        &["fmt", "-"],
        &["render", "-", "-o", "-", "--from", "assembly"],
        &["render", "/dev/stdin", "-o", "-", "--from", "json"],
        &["check", "-", "--from", "hex"],
    ] {
        let zeros = Stdio::from(File::open("/dev/zero").unwrap());
        let run = with_stdin(args, zeros, b"");
        assert_ne!(run.status, 0, "{args:?}");
        assert!(
            run.messages().contains("limit") || run.messages().contains("zero"),
            "{args:?}: {run:?}"
        );
    }
    let source = b"OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n";
    for path in ["-", "/dev/stdin", "/dev/fd/0"] {
        with_stdin(&["asm", path], Stdio::piped(), source).status(0);
    }
}
