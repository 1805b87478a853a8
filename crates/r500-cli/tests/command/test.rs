//! `r500 test`.

use super::{Folder, corpus, r500};

fn failing(folder: &Folder) -> String {
    let case = std::fs::read_to_string(corpus("cases/kill_helper.json")).unwrap();
    let mut case: serde_json::Value = serde_json::from_str(&case).unwrap();
    case["name"] = "wrong".into();
    case["expect"]["target0"][6][0] = 7.into();
    folder.write("wrong.json", case.to_string())
}

#[test]
fn the_corpus_passes() {
    let run = r500(&["test", &corpus("cases"), &corpus("piglit")]).status(0);
    assert!(
        run.text().starts_with("5058 passed, 0 failed, 1 known to fail, 546 without expectations"),
        "{}",
        run.text()
    );
}

#[test]
fn captures_are_compared_with_the_picture_beside_them() {
    let folder = Folder::new("test-capture");
    let capture = std::fs::read(corpus("mesa/alu_basic.json")).unwrap();
    let file = folder.write("alu_basic.json", capture);
    r500(&["test", &file]).status(0).shows("1 without expectations");
    folder.write("alu_basic.png", std::fs::read(corpus("mesa/alu_basic.png")).unwrap());
    r500(&["test", &file]).status(0).shows("1 passed");
    folder.write("alu_basic.png", std::fs::read(corpus("mesa/alu_cmp.png")).unwrap());
    r500(&["test", &file]).status(1).shows("pixels differ from the reference").shows("1 failed");
}

#[test]
fn a_failure_tells_pixel_values_rule_and_the_next_step() {
    let folder = Folder::new("test-failure");
    let file = failing(&folder);
    let run = r500(&["test", &file, "--poison"]).status(1);
    let run = run
        .shows("FAIL wrong (")
        .shows("pixel 2,1: target0 wanted (7, 0, 1, 0), got (1, 0, 1, 0)")
        .shows("the rule: a killed pixel goes on computing, so its neighbours' differences stay right (derived)")
        .shows("0 passed, 1 failed");
    // The command that it names works.
    let look = run.text().lines().find_map(|line| line.trim().strip_prefix("look:")).unwrap();
    let words: Vec<&str> = look.split_whitespace().collect();
    assert_eq!(words[..2], ["r500", "trace"]);
    r500(&words[1..]).status(0).shows("pixel 2,1 of 4x4");
    assert_eq!(words.last(), Some(&"--poison"));
}

#[test]
fn a_known_failure_must_fail() {
    let folder = Folder::new("test-known");
    let file = failing(&folder);
    r500(&["test", &file, "--known-failure", "wrong"]).status(0).shows("1 known to fail");
    let passing = corpus("cases/kill_helper.json");
    r500(&["test", &passing, "--known-failure", "kill_helper"])
        .status(1)
        .shows("remove it from the list");
}

#[test]
fn shards_add_up() {
    let probes = corpus("piglit/probes.jsonl.gz");
    let mut names = Vec::new();
    for shard in ["1/3", "2/3", "3/3"] {
        let run = r500(&["test", &probes, "--shard", shard, "--format", "json"]).status(0);
        for line in run.text().lines() {
            let test: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(test["version"], 1);
            assert_ne!(test["status"], "failed");
            names.push(test["index"].as_u64().unwrap());
        }
    }
    names.sort_unstable();
    assert_eq!(names, (0..4959).collect::<Vec<_>>());
}

#[test]
fn filters_and_lists() {
    let cases = corpus("cases");
    let run = r500(&["test", &cases, "--filter", "op_*x", "-v"]).status(0);
    assert!(run.text().contains("pass op_min_max"), "{}", run.text());
    assert!(run.text().contains("filtered out"));
    let list = r500(&["test", &cases, "--list"]).status(0);
    assert_eq!(list.text().lines().count(), 100);
    r500(&["test", &cases, "--filter", "no such case"]).status(0).says("nothing was tested");
}

#[test]
fn a_rejected_reading_fails_cases() {
    let run = r500(&["test", &corpus("cases"), "--reading", "break=literal"]).status(1);
    // SEMANTICS 5.3 counts twelve cases that this reading changes.
    let run = run.shows("FAIL ");
    assert!(run.text().contains("--reading break=literal"), "{}", run.text());
}

#[test]
fn broken_files_fail_and_the_rest_goes_on() {
    let folder = Folder::new("test-broken");
    folder.write("a.json", "{ \"program\": 7 }");
    folder.write("b.json", std::fs::read(corpus("cases/kill_helper.json")).unwrap());
    folder.write("notes.txt", "ignored");
    let run = r500(&["test", &folder.path("")]).status(1);
    let run = run.shows("FAIL ").shows("1 passed, 1 failed");
    assert!(run.text().contains("a.json"));
    r500(&["test", &folder.path("none.json")]).status(3).says("cannot read");
    r500(&["test"]).status(2);
}
