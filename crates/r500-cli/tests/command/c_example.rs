//! The C examples, compiled and run: they draw programs and captures as the command does, byte for byte.

use std::path::{Path, PathBuf};
use std::process::Command;

use r500_stream::capture::{Picture, Reader, Record, Writer};

use super::{Folder, corpus, r500};

/// Returns the folder of the C library, which this test was built with.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Returns the switches of the compiler: those of the pkg-config file, as installed, where there is pkg-config.
fn switches(folder: &Folder) -> Vec<String> {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../r500-capi");
    let include = library.join("include").canonicalize().unwrap();
    let plain = [format!("-I{}", include.display()), format!("-L{}", libraries().display())];
    let prefix = folder.path("prefix");
    let config = std::fs::read_to_string(library.join("r500.pc.in")).unwrap();
    let config =
        config.replace("@PREFIX@", &prefix).replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    folder.write("prefix/lib/pkgconfig/r500.pc", config);
    let installed =
        [("include", &include), ("lib/libr500_c.so", &libraries().join("libr500_c.so"))];
    for (name, place) in installed {
        std::os::unix::fs::symlink(place, Path::new(&prefix).join(name)).unwrap();
    }
    let asked = Command::new("pkg-config")
        .args(["--cflags", "--libs", &format!("r500 = {}", env!("CARGO_PKG_VERSION"))])
        .env("PKG_CONFIG_PATH", format!("{prefix}/lib/pkgconfig"))
        .output();
    let Ok(asked) = asked else {
        return plain.into_iter().chain(["-lr500_c".to_owned()]).collect();
    };
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let switches = String::from_utf8(asked.stdout).unwrap();
    assert!(switches.contains(&prefix), "{switches}");
    switches.split_whitespace().map(str::to_owned).collect()
}

/// Compiles an example; `None` where there is no C compiler.
#[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
fn compile(folder: &Folder, name: &str) -> Option<String> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    if let Err(error) = Command::new(&compiler).arg("--version").output() {
        println!("skipped: {}: {error}", compiler.display());
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../r500-capi/examples");
    let source = source.join(format!("{name}.c"));
    let example = folder.path(name);
    let compiled = Command::new(compiler)
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror"])
        .arg(source)
        .args(["-o", &example])
        .args(switches(folder))
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Some(example)
}

#[test]
fn the_c_example_draws_what_the_command_draws() {
    let folder = Folder::new("c-example");
    let Some(example) = compile(&folder, "render") else { return };
    let run = |program: &str, output: &str| {
        let mut example = Command::new(&example);
        example.args([program, output]).env("LD_LIBRARY_PATH", libraries()).output().unwrap()
    };
    for name in ["scene_plasma", "discard_simple", "tex_mips"] {
        let capture = corpus(&format!("mesa/{name}.json"));
        let (own, wanted) = (folder.path("c.f32"), folder.path("command.f32"));
        let ran = run(&capture, &own);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        r500(&["render", &capture, "-o", &wanted]).status(0);
        let own = std::fs::read(own).unwrap();
        assert!(!own.is_empty() && own == std::fs::read(wanted).unwrap(), "{name}");
    }
    let wrong = folder.write("wrong.txt", "This is prose; nothing else.");
    let ran = run(&wrong, "none");
    let text = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{text}");
    // The file, and what is wrong with it.
    assert!(text.starts_with(&format!("{wrong}: the format is unknown")), "{text}");
}

/// The pixels of a picture in the format that the example writes: `P6`, columns, rows, 255, bytes.
fn pixels_of_ppm(bytes: &[u8]) -> (String, &[u8]) {
    let end = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(2).unwrap().0;
    let (head, pixels) = bytes.split_at(end + 1);
    (String::from_utf8(head.to_vec()).unwrap(), pixels)
}

/// The captures of `examples/card`, which draw 256x256 pixels into a buffer, with a frame of them.
fn with_frame(name: &str) -> Vec<u8> {
    let bytes = std::fs::read(corpus(&format!("../captures/{name}.r5cs"))).unwrap();
    let mut writer = Writer::new(Vec::new()).unwrap();
    for record in Reader::new(bytes.as_slice()).unwrap() {
        let record = record.unwrap();
        // The buffer that the submission writes.
        let target = match &record {
            Record::Submission { relocations, .. } => {
                relocations.iter().rev().find(|relocation| relocation.write_domain != 0)
            }
            _ => None,
        };
        let flip = target.map(|target| {
            let format = u32::from_le_bytes(*b"XR24");
            let buffer = target.buffer;
            Picture { buffer, width: 256, height: 256, pitch: 1024, offset: 0, format }
        });
        writer.write(&record).unwrap();
        if let Some(picture) = flip {
            writer.write(&Record::Flip(picture)).unwrap();
        }
    }
    writer.into_inner()
}

#[test]
fn the_c_example_draws_the_frames_that_replay_draws() {
    let folder = Folder::new("c-replay");
    let Some(example) = compile(&folder, "replay") else { return };
    let run = |capture: &str, output: &str| {
        let mut example = Command::new(&example);
        example.args([capture, output]).env("LD_LIBRARY_PATH", libraries()).output().unwrap()
    };
    for name in ["triangle", "texture"] {
        let capture = folder.write(&format!("{name}.r5cs"), with_frame(name));
        let (own, wanted) = (folder.path(&format!("{name}-c")), folder.path(name));
        std::fs::create_dir(&own).unwrap();
        let ran = run(&capture, &own);
        let text = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{text}");
        assert!(!text.contains("other bytes"), "{text}");
        r500(&["replay", &capture, "-o", &wanted]).status(0).shows("1 frame");
        let picture = folder.picture(&format!("{name}/frame-00000.png"));
        let ppm = std::fs::read(folder.path(&format!("{name}-c/frame-00000.ppm"))).unwrap();
        let (head, pixels) = pixels_of_ppm(&ppm);
        assert_eq!(head, format!("P6\n{} {}\n255\n", picture.width, picture.height));
        let rgb: Vec<u8> = picture.pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect();
        assert!(pixels == rgb, "{name}");
        // A frame of one colour would say little.
        assert!(rgb.as_chunks::<3>().0.iter().any(|pixel| pixel[..] != rgb[..3]), "{name}");
    }
    let wrong = folder.write("wrong.r5cs", "This is prose; nothing else.");
    let ran = run(&wrong, "none");
    assert_eq!(ran.status.code(), Some(1));
    let text = String::from_utf8_lossy(&ran.stderr);
    assert!(text.starts_with(&format!("{wrong}: ")), "{text}");
}
