//! Scenes as streams for the kernel: the program `examples/scenes/draw.c`, compiled with the header of a scene, draws the pixels that the scene has.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use r500::files::NamedFiles;
use r500_card::Card;
use r500_scene::Scene;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenes")
}

/// Returns the picture of a program without any library, as binary PPM, and that of the scene itself.
fn draw(name: &str, time: f64) -> [Vec<u8>; 2] {
    let path = examples().join(name);
    let text = fs::read_to_string(&path).unwrap();
    let scene = Scene::parse(&text, &path, &NamedFiles::next_to(&path)).unwrap();
    let frame = scene.compile(time).unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(folder.path().join("scene.h"), frame.c_header()).unwrap();
    let [program, picture] = ["draw", "picture.ppm"].map(|name| folder.path().join(name));
    let compiled = Command::new("cc")
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(folder.path())
        .arg("-o")
        .args([&program, &examples().join("draw.c")])
        .status();
    assert!(compiled.unwrap().success());
    let ran = Command::new(&program)
        .arg(&picture)
        .env("TMPDIR", folder.path())
        .env("LD_PRELOAD", common::library())
        .env("R500_CARD_CHIP", "r580")
        .env("R500_CARD_STATS", "1")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{errors}");
    // The virtual card printed this, so it drew.
    assert!(errors.contains("r500 card: "), "{errors}");

    let mut card = Card::new();
    card.submit(&frame.submission).unwrap();
    let own = frame.picture(&card);
    let mut ppm = format!("P6 {} {} 255\n", own.width, own.height).into_bytes();
    ppm.extend(own.pixels.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]));
    [fs::read(picture).unwrap(), ppm]
}

#[test]
fn ten_scenes_draw_the_same_through_the_kernel_interface() {
    let scenes = [
        ("triangle.r5", [0.0].as_slice()),
        ("cube.r5", &[0.0, 0.7, 1.9, 4.2]),
        ("mirror.r5", &[0.0, 0.3, 0.7, 2.0, 5.5]),
    ];
    let mut pictures = Vec::new();
    for (name, times) in scenes {
        for time in times {
            let [program, own] = draw(name, *time);
            assert!(program == own, "{name} at {time}");
            pictures.push(own);
        }
    }
    // No two are the same.
    pictures.sort();
    pictures.dedup();
    assert_eq!(pictures.len(), 10);
}
