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
fn a_rejected_reading_fails_cases() {
    let run = r500(&["test", &corpus("cases"), "--reading", "break=literal"]).status(1);
    // SEMANTICS 5.3 counts twelve cases that this reading changes.
    let run = run.shows("FAIL ");
    assert!(run.text().contains("--reading break=literal"), "{}", run.text());
}
