//! `r500 stats`.

use std::path::Path;

use serde_json::Value;

use super::{Folder, TEXTURE, UV, corpus, r500};

fn json(args: &[&str]) -> Value {
    let run = r500(&[&["stats", "--format", "json"], args].concat()).status(0);
    serde_json::from_str(run.text()).unwrap()
}

/// Types of instructions are the lowest two bits of the first dword: 0 ALU, 1 OUT, 2 FC, 3 TEX.
/// Captures hold nothing that is never reached, but what follows an endless jump.
#[test]
fn types_of_the_corpus() {
    let answer = json(&[&corpus("mesa")]);
    let programs = answer["programs"].as_array().unwrap();
    assert_eq!((answer["version"].as_u64(), programs.len()), (Some(1), 53));
    let mut total = 0;
    for program in programs {
        let text = std::fs::read(program["file"].as_str().unwrap()).unwrap();
        let capture: Value = serde_json::from_slice(&text).unwrap();
        let types: Vec<u32> = capture["program"]
            .as_array()
            .unwrap()
            .iter()
            .map(|words| u32::from_str_radix(words[0].as_str().unwrap(), 16).unwrap() & 3)
            .collect();
        let count = |wanted: &[u32]| types.iter().filter(|ty| wanted.contains(ty)).count() as u64;
        let number = |name: &str| program[name].as_u64().unwrap();
        let name = &program["name"];
        assert_eq!(number("instructions") + number("unreached"), types.len() as u64, "{name}");
        if number("unreached") == 0 {
            assert_eq!(number("alu"), count(&[0, 1]), "{name}");
            assert_eq!(number("outputs"), count(&[1]), "{name}");
            assert_eq!(number("flow"), count(&[2]), "{name}");
            assert_eq!(number("textures") + number("kills"), count(&[3]), "{name}");
        }
        assert_eq!(program["structured"], true, "{name}");
        total += number("instructions");
    }
    assert_eq!(answer["total"]["instructions"], total);
}

/// Programs of one file are matched by name, those without one or with another's by number.
#[test]
fn programs_of_one_file() {
    let folder = Folder::new("stats-several");
    let words = |text: &str| -> Vec<String> {
        let text = text.replace("0x", "").replace(',', "");
        text.split_whitespace().map(str::to_owned).collect()
    };
    let job = |name: &str, text: &str| serde_json::json!({ "name": name, "program": words(text) });
    let old = serde_json::json!([job("a", UV), job("b", UV), job("b", TEXTURE), job("", UV)]);
    let new = serde_json::json!([job("b", UV), job("a", TEXTURE), job("b", UV), job("", UV)]);
    let (old, new) =
        (folder.write("old.json", old.to_string()), folder.write("new.json", new.to_string()));
    let answer = json(&[&new, "--against", &old]);
    assert_eq!((&answer["shared"], &answer["changed"]), (&4.into(), &2.into()));
    let measure = &answer["measures"]["instructions"];
    let name = |change: &str| measure[change][0]["name"].as_str().unwrap().to_owned();
    assert!(name("more").ends_with("new.json:a") && name("fewer").ends_with("new.json:b#2"));
}

/// A window that holds no instruction: nothing can run, and the others are counted anyway.
#[test]
fn unrunnable_programs_are_reported() {
    let folder = Folder::new("stats-broken");
    folder.write("good.inc", UV);
    let words = UV.replace("0x", "").replace(',', "");
    let words: Vec<&str> = words.split_whitespace().collect();
    let job = serde_json::json!({ "program": [words], "us": { "US_CODE_ADDR": "00050005" } });
    folder.write("window.json", job.to_string());
    folder.write("torn.json", "{ \"program\": [");
    let run = r500(&["stats", &folder.path(""), "--format", "json"]).status(1).says("torn.json");
    let answer: Value = serde_json::from_str(run.text()).unwrap();
    let programs = answer["programs"].as_array().unwrap();
    assert_eq!((programs.len(), &answer["total"]["instructions"]), (2, &1.into()));
    assert!(programs[1]["error"].is_string(), "{}", programs[1]);
    r500(&["stats", &folder.path("nowhere")]).status(3);
    r500(&["stats"]).status(2);
    assert!(Path::new(&folder.path("good.inc")).exists());
}
