//! The C example, compiled and run: it draws captures as the library does for the command, bit for bit.
#![cfg(unix)]
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

use r500::exec::{Bindings, Options, Shader, draw};

/// The folder of the dynamic library, which this test was built with.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

#[test]
fn the_c_example_draws_what_the_command_draws() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let example = folder.join("render");
    let compiled = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror"])
        .arg("-I")
        .arg(root.join("include"))
        .arg(root.join("examples/render.c"))
        .arg("-L")
        .arg(libraries())
        .arg("-lr500_c")
        .arg("-o")
        .arg(&example)
        .status()
        .unwrap();
    assert!(compiled.success());

    for name in ["scene_plasma", "discard_simple", "tex_mips"] {
        let capture = root.join("../../tests/corpus/mesa").join(name).with_extension("json");
        let out = folder.join(name).with_extension("f32");
        let ran = Command::new(&example)
            .arg(&capture)
            .arg(&out)
            .env("LD_LIBRARY_PATH", libraries())
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));

        let bytes = std::fs::read(&capture).unwrap();
        let job = r500::reader::read(&bytes, None, None, &Default::default()).unwrap().remove(0);
        let shader = Shader::new(&job.program).unwrap();
        let bindings = Bindings::new(&job, job.size.unwrap()).unwrap();
        let reference = r500::exec::reference::Reference;
        let frame = draw(&reference, &shader, &bindings, &Options::default()).unwrap();
        let wanted: Vec<u8> =
            frame.target(0).unwrap().iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        assert!(std::fs::read(&out).unwrap() == wanted, "{name}");
    }
    let missing = Command::new(&example)
        .arg(root.join("Cargo.toml"))
        .arg("none")
        .env("LD_LIBRARY_PATH", libraries())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&missing.stderr);
    assert_eq!(missing.status.code(), Some(1), "{text}");
    // The file, and what is wrong with it.
    assert!(text.contains("Cargo.toml: ") && text.len() > 60, "{text}");
}
