//! `tools/capture-mesa`: what its steps make of a capture. The capturing itself needs a card's library and is replaced by a copy of a capture.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::{Folder, corpus, names, r500};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Runs the script with a command whose `capture` gives the committed capture, and the words of a driver.
fn script(folder: &Folder, args: &[&str]) -> Output {
    let scenes = root().join("tests/captures/scenes.r5cs");
    let (log, capture) = (corpus("logs/tex_grad.log"), scenes.display());
    let r500 = env!("CARGO_BIN_EXE_r500");
    let wrapper = folder.write(
        "wrapper",
        format!(
            "#!/bin/sh\n\
             [ \"$1\" = capture ] || exec '{r500}' \"$@\"\n\
             [ \"$4\" != broken ] || {{ echo 'the program says why' >&2; exit 7; }}\n\
             [ \"$RADEON_DEBUG\" != fp,vp ] || cat '{log}' >&2\n\
             cp '{capture}' \"$3\"\n"
        ),
    );
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut script = Command::new("bash");
    script.arg(root().join("tools/capture-mesa")).args(args);
    script.env("R500", wrapper).current_dir(&folder.0).output().unwrap()
}

#[test]
fn draws_of_a_run_become_jobs() {
    let folder = Folder::new("capture-mesa");
    let run = script(&folder, &["--draws", "2", "out", "program"]);
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let list = String::from_utf8(folder.read("out/draws.txt")).unwrap();
    let count = list.lines().count();
    // Evenly spread, from the first draw.
    let jobs = [0, count / 2].map(|draw| format!("out/draw-{draw}.json"));
    assert!(count > 4 && jobs.iter().all(|job| Path::new(&folder.path(job)).is_file()), "{list}");
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(
        text.contains(&format!("out: {count} draws, 2 of them")) && text.contains("fp0"),
        "{text}"
    );
    let names = names(&folder.0.path().join("out"));
    assert_eq!(names.len(), 5, "{names:?}");
    for job in &jobs {
        let job = folder.path(job);
        r500(&["check", &job]).status(0);
        r500(&["render", &job, "--size", "16x16", "-o", &folder.path("draw.f32")]).status(0);
    }
}

#[test]
fn capture_failures_are_reported() {
    let folder = Folder::new("capture-mesa-wrong");
    for (args, status, text) in [
        (&["out"][..], 2, "tools/capture-mesa [--mesa PREFIX]"),
        (&["--mesa", "nowhere", "out", "program"], 2, "there is no folder `nowhere`"),
        (&["--mesa", ".", "out", "program"], 1, "no r300_dri.so below it"),
        (&["--draws", "0", "out", "program"], 2, "a number from 1"),
        (&["out", "broken"], 1, "the program says why"),
    ] {
        let run = script(&folder, args);
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.code() == Some(status) && said.contains(text), "{args:?}: {said}");
    }
}
