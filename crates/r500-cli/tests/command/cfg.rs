//! `r500 cfg`.

use serde_json::Value;

use super::{Folder, corpus, r500};

fn json(file: &str) -> Value {
    let run = r500(&["cfg", file, "--format", "json"]).status(0);
    serde_json::from_str(run.text()).unwrap()
}

#[test]
fn every_capture_has_a_picture() {
    let folder = Folder::new("cfg-corpus");
    for entry in std::fs::read_dir(corpus("mesa")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let file = path.to_str().unwrap();
        let picture = folder.path("flow.svg");
        r500(&["cfg", file, "-o", &picture]).status(0);
        let svg = String::from_utf8(folder.read("flow.svg")).unwrap();
        let answer = json(file);
        let blocks = answer["blocks"].as_array().unwrap();
        // A box for each block, and the end.
        assert_eq!(svg.matches("<g class=\"box ").count(), blocks.len() + 1, "{file}");
        let arrows: usize = blocks.iter().map(|b| b["successors"].as_array().unwrap().len()).sum();
        assert_eq!(svg.matches("marker-end=").count(), arrows, "{file}");
        let shown: usize = blocks.iter().map(|b| b["instructions"].as_array().unwrap().len()).sum();
        let capture: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert_eq!(shown, capture["program"].as_array().unwrap().len(), "{file}");
    }
}
