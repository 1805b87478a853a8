//! Tests Mesa's unmodified r300 driver on the card with the scenes of `tools/card`. The tests are skipped, with a message, if Mesa or its
//! headers are not installed (Debian: libegl1 libegl-mesa0 libgl1-mesa-dri libgbm1 libegl-dev libgl-dev libgbm-dev gcc).
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stderr)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use r500_stream::capture::{Event, Limits, Player, Reader};
use r500_stream::packets;

/// Builds the program that draws scenes; `None` if this fails.
fn build_scenes(directory: &Path) -> Option<PathBuf> {
    let headers =
        ["EGL/egl.h", "GL/gl.h", "gbm.h"].map(|file| Path::new("/usr/include").join(file));
    if let Some(missing) = headers.iter().find(|file| !file.exists()) {
        eprintln!("skipped: no {}", missing.display());
        return None;
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/card/scenes");
    let program = directory.join("scenes");
    let files = fs::read_dir(sources).unwrap().map(|entry| entry.unwrap().path());
    let c_files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "c")).collect();
    let built = Command::new("cc")
        .arg("-o")
        .arg(&program)
        .args(c_files)
        .args(["-lEGL", "-lGL", "-lgbm", "-lm"])
        .status();
    if !built.is_ok_and(|status| status.success()) {
        eprintln!("skipped: the scenes do not compile here");
        return None;
    }
    // Runs the program without the card, to check for any driver.
    let software = Command::new(&program)
        .args(["draw", directory.to_str().unwrap(), "clear"])
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .output();
    if !software.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no Mesa");
        return None;
    }
    Some(program)
}

fn on_the_card(program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(program)
        .args(arguments)
        .env("LD_PRELOAD", common::library())
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

#[test]
fn the_driver_loads_for_each_chip_and_platform() {
    let temporary = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let directory = temporary.path();
    let Some(program) = build_scenes(directory) else { return };
    let out = directory.to_str().unwrap();
    for platform in ["surfaceless", "gbm"] {
        for (chip, name) in [
            ("rv515", "ATI RV515"),
            ("rv530", "ATI RV530"),
            ("r520", "ATI R520"),
            ("r580", "ATI R580"),
        ] {
            let variables = [("R500_CARD_CHIP", chip), ("SCENES_PLATFORM", platform)];
            let output = on_the_card(&program, &["draw", out, "triangle"], &variables);
            let (text, errors) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(
                output.status.success() && text.starts_with(name),
                "{platform}: {text}{errors}"
            );
            assert!(!errors.contains("r500 card:"), "{errors}");
        }
    }
}

/// Contexts share the registers of the card, as with the kernel's driver, so each context must set its own state.
#[test]
fn contexts_that_take_turns_draw_the_same() {
    let temporary = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let directory = temporary.path();
    let Some(program) = build_scenes(directory) else { return };
    let scenes = ["triangle", "depth-24", "texture", "blend", "target-565", "clip-planes"];
    let pictures = ["1", "2"].map(|contexts| {
        let out = directory.join(contexts);
        fs::create_dir_all(&out).unwrap();
        let arguments = [&["draw", out.to_str().unwrap()], &scenes[..]].concat();
        let output = on_the_card(&program, &arguments, &[("SCENES_CONTEXTS", contexts)]);
        assert!(output.status.success(), "{output:?}");
        scenes.map(|scene| fs::read(out.join(format!("{scene}.pam"))).unwrap())
    });
    for (scene, (one, two)) in scenes.iter().zip(pictures[0].iter().zip(&pictures[1])) {
        assert!(one == two, "{scene}");
    }
}

#[test]
fn all_scenes_are_submitted_and_captured() {
    let temporary = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let directory = temporary.path();
    let Some(program) = build_scenes(directory) else { return };
    let capture = directory.join("scenes.r5cs");
    let variables = [("R500_CARD_CAPTURE", capture.to_str().unwrap()), ("R500_CARD_DRAW", "0")];
    let output = on_the_card(&program, &["draw", directory.to_str().unwrap()], &variables);
    assert!(output.status.success(), "{output:?}");

    let mut player = Player::new(Limits::default());
    let (mut submissions, mut draws) = (0, 0);
    let mut reader = Reader::new(fs::File::open(&capture).unwrap()).unwrap();
    for record in reader.by_ref() {
        if let Some(Event::Submission(submission)) = player.apply(record.unwrap()).unwrap() {
            submissions += 1;
            draws +=
                packets(&submission.words).filter(|p| p.as_ref().unwrap().draw().is_some()).count();
        }
    }
    assert!(!reader.truncated());
    assert!(player.info().program.contains("scenes draw"));
    // Each scene clears, draws and is read back.
    let scenes = fs::read_dir(directory).unwrap().filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "pam")
    });
    let scenes = scenes.count();
    assert!(scenes > 40 && submissions >= scenes && draws >= 3 * scenes, "{submissions} {draws}");
}
