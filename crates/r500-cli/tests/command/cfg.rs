//! `r500 cfg`.

use serde_json::Value;

use super::{Folder, UV, corpus, r500};

fn json(file: &str) -> Value {
    let run = r500(&["cfg", file, "--format", "json"]).status(0);
    serde_json::from_str(run.text()).unwrap()
}

/// A loop with a break: LOOP, comparison, IF, BREAK, ENDIF, ENDLOOP, OUT.
const LOOP: &str = "\
    int[0] = (4, 0, 1) ;
    LOOP int[0] ;
        src0.rgb = temp[0] : alu[lt].r = MAD src0.rgb src0.111 src0.000 ;
        IF alu ;
            BREAK ;
        ENDIF ;
    ENDLOOP ;
    OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;
";

#[test]
fn blocks_and_statements() {
    let folder = Folder::new("cfg-blocks");
    let answer = json(&folder.write("loop.r5", LOOP));
    let blocks = answer["blocks"].as_array().unwrap();
    // Blocks begin at what is jumped to and after what jumps: LOOP | test, IF | BREAK | ENDIF |
    // ENDLOOP | OUT, where ENDIF is jumped to and its own jump leads to the next instruction.
    let first: Vec<u64> = blocks.iter().map(|b| b["first"].as_u64().unwrap()).collect();
    assert!(first.starts_with(&[0, 1, 3, 4]) && first.ends_with(&[6]), "{first:?}");
    assert_eq!(answer["structured"], true);
    let main = &answer["structure"]["main"];
    assert_eq!(
        (&main[0]["statement"], &main[0]["address"], &main[0]["end"]),
        (&"loop".into(), &0.into(), &5.into())
    );
    let branch = &main[0]["body"][1];
    assert_eq!(
        (&branch["statement"], &branch["address"], &branch["endif"]),
        (&"if".into(), &2.into(), &4.into())
    );
    assert_eq!(branch["then"][0], serde_json::json!({ "statement": "break", "address": 3 }));
    let header = answer["loops"][0]["header"].as_u64().unwrap() as usize;
    assert_eq!(blocks[header]["first"], 1);
    assert!(blocks[header]["instructions"][1]["text"].as_str().unwrap().starts_with("IF alu"));
    let last = blocks.last().unwrap();
    assert_eq!(last["successors"][0], serde_json::json!({ "kind": "end", "block": null }));
}

#[test]
fn text_reads_as_blocks_and_outline() {
    let folder = Folder::new("cfg-text");
    let run = r500(&["cfg", &folder.write("loop.r5", LOOP)]).status(0);
    for line in [
        "block 0, the start",
        "    3  BREAK",
        "  LOOP @0",
        "    IF @2",
        "      BREAK @3",
        "    ENDIF @4",
        "  ENDLOOP @5",
    ] {
        assert!(run.text().lines().any(|l| l == line), "no `{line}` in {}", run.text());
    }
    assert!(run.text().contains("1 loop; structured"));
}

/// Two jumps into the middle of a cycle, decided by pixels, without branch levels.
#[test]
fn what_is_not_structured_says_why() {
    let folder = Folder::new("cfg-unstructured");
    let source = "\
        src0.rgb = temp[0] : alu[lt].r = MAD src0.rgb src0.111 src0.000 ;
        FC JUMP JUMP_FUNC(0x0f) -> 3 ;
        src0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ;
        FC JUMP JUMP_FUNC(0x0f) -> 2 ;
        OUT src0.rgb = temp[0] : out[0].rgb = MAX src0.rgb src0.rgb ;
    ";
    let file = folder.write("odd.r5", source);
    let answer = json(&file);
    assert_eq!((&answer["structured"], &answer["structure"]), (&false.into(), &Value::Null));
    assert_eq!(answer["irreducible"], true);
    assert!(answer["unstructured"]["reason"].is_string());
    r500(&["cfg", &file]).status(0).shows("cycles with several ways in; not structured: at @");
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

#[test]
fn the_output_tells_the_format() {
    let folder = Folder::new("cfg-output");
    let file = folder.write("uv.inc", UV);
    r500(&["cfg", &file, "-o", &folder.path("flow.dot")]).status(0);
    assert!(folder.read("flow.dot").starts_with(b"digraph program {"));
    r500(&["cfg", &file, "-o", &folder.path("flow.json")]).status(0);
    assert!(folder.read("flow.json").starts_with(b"{"));
    r500(&["cfg", &file, "-o", &folder.path("flow.svg"), "--format", "text"]).status(0);
    assert!(folder.read("flow.svg").starts_with(b"program: 1 instruction, 1 block, 0 loops"));
    r500(&["cfg", &file, "-o", &folder.path("flow.png")]).status(2).says("stands for no format");
}
