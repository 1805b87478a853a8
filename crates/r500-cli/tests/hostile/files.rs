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
    // It expects something, so that `test` has a test.
    let expect = "SIZE 2 2 ;\nEXPECT coverage at (0, 0) = true ;\n";
    folder.write("good.r5", format!("{expect}OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n"));
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
fn devices_and_pipes_as_inputs_are_refused() {
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

/// A pipe that nothing reads would be waited for without an end.
#[test]
fn pipes_are_written_only_if_something_reads_them() {
    let folder = Folder::new("outputs");
    let good = folder.write("good.r5", "OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
    let capture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures/triangle.r5cs");
    for (name, args) in [
        ("a.png", &["render", &good, "--size", "8x8"][..]),
        ("b.f32", &["render", &good, "--size", "8x8"]),
        ("c.exr", &["render", &good, "--size", "8x8"]),
        ("d.bin", &["asm", &good]),
        ("e.json", &["convert", &good]),
        ("f.csv", &["run", &good]),
        ("g.txt", &["run", &good, "--dump-ir"]),
        ("h.txt", &["stream", capture]),
        ("i.r5", &["disasm", &good]),
        ("j.svg", &["cfg", &good]),
        ("k.json", &["opt", &good]),
    ] {
        let pipe = folder.pipe(name);
        let run = r500(&[args, &["-o", &pipe]].concat()).status(3);
        assert!(run.messages().contains("a pipe that nothing reads"), "{args:?}: {run:?}");
    }
    let pipe = folder.pipe("read.json");
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap())
    };
    // The reader may not have opened it yet.
    let written = (0..500).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        r500(&["convert", &good, "-o", &pipe]).status == 0
    });
    assert!(written);
    assert!(reader.join().unwrap().contains("program"));
    r500(&["render", &good, "--size", "8x8", "-o", &folder.path("folder.png/")]).status(3);
    std::fs::create_dir(folder.path("folder.png")).unwrap();
    r500(&["render", &good, "--size", "8x8", "-o", &folder.path("folder.png")])
        .status(3)
        .says(&["cannot write"]);
}

/// What the kernel makes up has neither a length nor, some of it, an end.
#[test]
fn files_without_a_length_are_refused() {
    let folder = Folder::new("kernel");
    let good = folder.write("good.r5", "OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
    for path in ["/proc/self/environ", "/proc/self/maps", "/proc/cpuinfo", "/proc/self/pagemap"] {
        let main = folder.write("main.r5", format!("#include \"{path}\"\n"));
        let run = r500(&["asm", &main, "--allow-paths"]).status(1);
        assert!(!run.messages().contains("unknown word"), "{path}: {run:?}");
        r500(&["asm", path]).status(3).says(&["cannot read", path]);
        let texture = format!("0={path}");
        r500(&["render", &good, "--size", "8x8", "-o", "-", "--texture", &texture])
            .status(3)
            .says(&["cannot read", path]);
    }
    r500(&["asm", "/proc/self/environ"]).says(&["a file without a length"]);
    let main = folder
        .write("main.r5", format!("TEXTURE tex[0] = file \"/proc/self/pagemap\" ;\n{TEXTURE}"));
    r500(&["render", &main, "-o", "-", "--allow-paths"]).status(1);
    // A real file that is reached by such a path is one.
    let real = format!("/proc/self/root{good}");
    r500(&["asm", &real]).status(0);
}

#[test]
fn links_in_a_circle_are_errors() {
    let folder = Folder::new("circle");
    std::os::unix::fs::symlink("b.r5", folder.path("a.r5")).unwrap();
    std::os::unix::fs::symlink("a.r5", folder.path("b.r5")).unwrap();
    let main = folder.write("main.r5", "#include \"a.r5\"\n");
    r500(&["asm", &main]).status(1).says(&["main.r5:1:10", "a.r5"]);
    r500(&["check", &folder.path("a.r5")]).status(3);
    // The same file by two names.
    std::os::unix::fs::symlink("self.r5", folder.path("other.r5")).unwrap();
    let own = folder.write("self.r5", "#include \"other.r5\"\n");
    r500(&["asm", &own]).status(1).says(&["includes itself"]);
}

/// A file of some kilobytes that unpacks to gigabytes: its header is asked first.
#[test]
fn pictures_that_unpack_to_gigabytes_are_not_unpacked() {
    let folder = Folder::new("pictures");
    let (side, large) = (16384, folder.path("large.png"));
    let mut png = r500::picture::PngWriter::new(
        File::create(&large).unwrap(),
        [side, side],
        r500::picture::PngCompression::Fast,
    )
    .unwrap();
    let rows = vec![[0; 4]; side as usize * 64];
    for _ in 0..side / 64 {
        png.rows(&rows).unwrap();
    }
    png.finish().unwrap();
    assert!(std::fs::metadata(&large).unwrap().len() < 8 << 20);
    let main = folder.write("main.r5", format!("TEXTURE tex[0] = file \"large.png\" ;\n{TEXTURE}"));
    r500(&["render", &main, "-o", "-", "--size", "8x8"])
        .status(1)
        .says(&["16384x16384", "from 1 to 4096"]);
    r500(&["render", &main, "-o", "-", "--size", "8x8", "--texture", &format!("0={large}")])
        .status(1)
        .says(&["16384x16384"]);
    let good = folder.write("good.r5", "OUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
    r500(&["render", &good, "--size", "8x8", "--compare", &large])
        .status(1)
        .says(&["8x8 and 16384x16384"]);
    let case =
        folder.write("large.r5", "SIZE 8 8 ;\nOUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n");
    let run = r500(&["test", &case]).status(1);
    assert!(run.text().contains("8x8 and 16384x16384"), "{run:?}");
}
