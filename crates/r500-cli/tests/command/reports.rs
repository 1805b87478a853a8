//! Reports for build servers and code review, baselines, and the guide's recipe for `git bisect`.

use std::process::Command;

use serde_json::Value;

use super::{CONSTANT, Folder, TEXTURE, UV, r500};

/// A source that expects what it draws, and one that does not.
const RIGHT: &str = "SIZE 2 2 ;\nEXPECT coverage at (0, 0) = true ;\nOUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n";
const WRONG: &str = "SIZE 2 2 ;\nEXPECT coverage at (0, 0) = false ;\nOUT LAST : out[0].rgb = MAX src0.111 src0.111 ;\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Returns the levels of the results of a SARIF log.
fn levels(text: &str) -> Vec<String> {
    let log = json(text);
    assert_eq!(log["version"], "2.1.0");
    let results = log["runs"][0]["results"].as_array().unwrap();
    results.iter().map(|result| result["level"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tests_become_reports_of_build_servers() {
    let folder = Folder::new("reports-test");
    folder.write("in/right.r5", RIGHT);
    folder.write("in/wrong <1>.r5", WRONG);
    let path = folder.path("in");
    let run = r500(&["test", &path, "--format", "junit"]).status(1);
    let text = run.text();
    for part in [
        "<testsuites tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\"",
        "wrong &lt;1&gt;",
        "<failure message=\"",
        "</testsuites>",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    let run = r500(&["test", &path, "--format", "sarif"]).status(1);
    assert_eq!(levels(run.text()), ["error"]);
    assert!(run.text().contains("wrong%20%3C1%3E.r5"), "{}", run.text());
}

#[test]
fn failures_of_a_baseline_are_known() {
    let folder = Folder::new("reports-known");
    folder.write("in/right.r5", RIGHT);
    folder.write("in/wrong.r5", WRONG);
    let path = folder.path("in");
    let known =
        folder.write("known.jsonl", r500(&["test", &path, "--format", "json"]).status(1).stdout);
    let against = ["test", &path, "--against", &known];
    r500(&against).status(0).shows("1 passed, 0 failed, 1 known to fail");
    let run = r500(&[&against[..], &["--format", "junit"]].concat()).status(0);
    assert!(
        run.text().contains("skipped=\"1\"") && run.text().contains("known to fail"),
        "{}",
        run.text()
    );
    assert_eq!(
        levels(r500(&[&against[..], &["--format", "sarif"]].concat()).status(0).text()),
        ["note"]
    );
    // Another failure of the same test is not known, and neither is one of another test.
    folder.write("in/wrong.r5", WRONG.replace("(0, 0)", "(1, 1)"));
    r500(&against).status(1).shows("1 failed");
    folder.write("in/wrong.r5", WRONG);
    folder.write("in/right.r5", WRONG);
    r500(&against).status(1).shows("1 failed, 1 known to fail");
    let other = folder.write("other.json", "{\"version\": 1}\n");
    r500(&["test", &path, "--against", &other])
        .status(1)
        .says("--against takes what --format json of r500 test wrote");
}

#[test]
fn differences_of_a_baseline_are_known() {
    let folder = Folder::new("reports-diff");
    for (name, a, b) in [("same", UV, UV), ("other", UV, CONSTANT), ("gone", UV, "")] {
        folder.write(&format!("a/{name}.c"), a);
        if !b.is_empty() {
            folder.write(&format!("b/{name}.c"), b);
        }
    }
    let (a, b) = (folder.path("a"), folder.path("b"));
    for how in [&["--run", "--random", "2"][..], &["--prove"]] {
        let command = [&["diff", &a, &b][..], how].concat();
        let run = |more: &[&str]| r500(&[&command[..], more].concat());
        let text = run(&["--format", "junit"]).status(1);
        assert!(
            text.text().contains("tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\""),
            "{}",
            text.text()
        );
        assert_eq!(levels(run(&["--format", "sarif"]).status(1).text()), ["error", "error"]);
        let known = folder.write("known.json", run(&["--format", "json"]).status(1).stdout);
        run(&["--against", &known]).status(0).shows("2 known");
        let text = run(&["--against", &known, "--format", "junit"]).status(0);
        assert!(
            text.text().contains("failures=\"0\" errors=\"0\" skipped=\"2\""),
            "{}",
            text.text()
        );
        // A pair that was equal.
        folder.write("b/same.c", CONSTANT);
        run(&["--against", &known]).status(1).shows("1 differ");
        folder.write("b/same.c", UV);
        let wrong = folder.write("wrong.json", "{}");
        run(&["--against", &wrong])
            .status(1)
            .says("--against takes what --format json of r500 diff wrote");
    }
    let one = |name: &str| [format!("{a}/{name}.c"), format!("{b}/{name}.c")];
    let [x, y] = one("other");
    r500(&["diff", &x, &y, "--format", "junit"])
        .status(2)
        .says("--format junit and sarif: for folders");
    assert!(TEXTURE.len() > UV.len());
}

/// The script is the guide's. Its repository has a compiler that copies the program, but does not build at one commit.
#[test]
fn the_recipe_for_bisecting_finds_the_commit() {
    let folder = Folder::new("reports-bisect");
    let guide =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/compiler.md"))
            .unwrap();
    let (_, script) = guide.split_once("```sh\n#!/bin/sh\n# bisect.sh").unwrap();
    let script = script.split("```").next().unwrap();
    let script = folder.write("bisect.sh", format!("#{script}"));
    let good =
        folder.write("good.json", std::fs::read(super::corpus("mesa/alu_basic.json")).unwrap());
    let other = std::fs::read(super::corpus("mesa/alu_omod.json")).unwrap();
    let repository = folder.path("compiler");
    std::fs::create_dir(&repository).unwrap();
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@example.org",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(args)
            .current_dir(&repository)
            .env("PATH", path_with_r500())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output();
        let output = output.unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{args:?}: {text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        text
    };
    git(&["init", "-q"]);
    for n in 0..8 {
        let program = if n < 5 { std::fs::read(&good).unwrap() } else { other.clone() };
        folder.write("compiler/program", program);
        folder.write("compiler/build", if n == 3 { "exit 1\n" } else { "cp program now.json\n" });
        folder.write("compiler/number", n.to_string());
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", &format!("commit {n}")]);
    }
    git(&["bisect", "start", "HEAD", "HEAD~7"]);
    let text = git(&["bisect", "run", "sh", &script, &good, "sh", "build"]);
    // The middle is skipped; the search continues around it.
    let (before, _) = text.split_once("is the first bad commit").unwrap();
    let bad = before.split_whitespace().last().unwrap();
    assert_eq!(git(&["log", "-1", "--format=%s", bad]).trim(), "commit 5", "{text}");
}

fn path_with_r500() -> std::ffi::OsString {
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_r500")).parent().unwrap().to_owned();
    let paths = std::env::var_os("PATH").unwrap();
    std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&paths))).unwrap()
}
