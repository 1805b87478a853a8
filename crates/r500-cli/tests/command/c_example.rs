//! The C example, compiled and run: it draws captures as the command does, byte for byte.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Folder, corpus, r500};

/// Returns the folder of the C library, which this test was built with.
fn libraries() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Compiles the example; `None` where there is no C compiler.
#[allow(clippy::print_stdout, reason = "a test that is skipped says so")]
fn compile(folder: &Folder) -> Option<String> {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    if let Err(error) = Command::new(&compiler).arg("--version").output() {
        println!("skipped: {}: {error}", compiler.display());
        return None;
    }
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../r500-capi");
    let example = folder.path("render");
    let compiled = Command::new(compiler)
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(library.join("include"))
        .arg(library.join("examples/render.c"))
        .arg("-L")
        .arg(libraries())
        .args(["-lr500_c", "-o", &example])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Some(example)
}

#[test]
fn the_c_example_draws_what_the_command_draws() {
    let folder = Folder::new("c-example");
    let Some(example) = compile(&folder) else { return };
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
