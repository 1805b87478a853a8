//! `r500 stats`.

use std::path::Path;

use serde_json::Value;

use super::{CONSTANT, Folder, TEXTURE, UV, corpus, r500};

fn json(args: &[&str]) -> Value {
    let run = r500(&[&["stats", "--format", "json"], args].concat()).status(0);
    serde_json::from_str(run.text()).unwrap()
}

#[test]
fn one_program_is_a_sheet() {
    let folder = Folder::new("stats-sheet");
    let file = folder.write("texture.inc", TEXTURE);
    let run = r500(&["stats", &file]).status(0);
    // One fetch and an OUT of which both halves count; temporaries 0 and 1.
    for line in [
        "  all                              2",
        "  ALU                              1  (1 of them OUT)",
        "  texture                          1  (0 TEXKILL)",
        "  both                             1  (100.0 % of 1)",
        "  temporaries                      2",
        "  texture indirections             1",
        "  estimated cycles                 2  to issue, at most",
    ] {
        assert!(run.text().lines().any(|l| l == line), "no `{line}` in {}", run.text());
    }
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

#[test]
fn a_table_with_totals_sorted() {
    let folder = Folder::new("stats-table");
    folder.write("a.inc", UV);
    folder.write("b.inc", TEXTURE);
    folder.write("notes.txt", "no program");
    let run =
        r500(&["stats", &folder.path(""), "--sort", "inst", "--columns", "inst,tex"]).status(0);
    let lines: Vec<Vec<&str>> =
        run.text().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["program", "inst", "tex"]);
    assert_eq!(lines[1], ["b.inc", "2", "1"]);
    assert_eq!(lines[2], ["a.inc", "1", "0"]);
    assert_eq!(lines[4], ["total", "of", "2", "programs", "3", "1"]);
    r500(&["stats", &folder.path(""), "--sort", "beauty"]).status(2).says("no column `beauty`");
}

#[test]
fn csv_has_every_column() {
    let folder = Folder::new("stats-csv");
    folder.write("a, b.inc", UV);
    let run = r500(&["stats", &folder.path(""), "--format", "csv"]).status(0);
    let lines: Vec<&str> = run.text().lines().collect();
    assert!(lines[0].starts_with("name,file,index,instructions,"));
    assert!(lines[1].starts_with("\"a, b.inc\","), "{}", lines[1]);
    let after_names = lines[1].rsplit("\",").next().unwrap();
    assert_eq!(after_names.split(',').count() + 2, lines[0].split(',').count());
}

#[test]
fn against_reads_like_a_report() {
    let folder = Folder::new("stats-against");
    for name in ["before/sub", "after/sub"] {
        std::fs::create_dir_all(folder.path(name)).unwrap();
    }
    folder.write("before/sub/helped.inc", TEXTURE);
    folder.write("after/sub/helped.inc", UV);
    folder.write("before/hurt.inc", UV);
    folder.write("after/hurt.inc", TEXTURE);
    folder.write("before/same.inc", CONSTANT);
    folder.write("after/same.inc", CONSTANT);
    folder.write("before/gone.inc", UV);
    folder.write("after/new.inc", UV);
    let (before, after) = (folder.path("before"), folder.path("after"));
    let run = r500(&["stats", &after, "--against", &before]).status(0);
    for line in [
        "  helped  sub/helped.inc: 2 -> 1 (-50.00 %)",
        "  HURT    hurt.inc: 1 -> 2 (+100.00 %)",
        "total instructions in shared programs: 4 -> 4 (+0.00 %)",
        "instructions in affected programs: 3 -> 3 (+0.00 %)",
        "helped: 1 (by 1 to 1, mean 1.00, median 1)",
        "LOST    gone.inc",
        "GAINED  new.inc",
        "3 shared programs, 2 changed; LOST: 1, GAINED: 1",
    ] {
        assert!(run.text().lines().any(|l| l == line), "no `{line}` in {}", run.text());
    }
    // `same` is not printed.
    assert!(!run.text().contains("same.inc"));
    r500(&["stats", &after, "--against", &before, "--fail-on-hurt"]).status(1);
    r500(&["stats", &before, "--against", &before, "--fail-on-hurt"])
        .status(0)
        .shows("4 shared programs, 0 changed; LOST: 0, GAINED: 0");

    let answer = json(&[&after, "--against", &before]);
    let measure = &answer["measures"]["instructions"];
    assert_eq!(measure["fewer"][0]["name"], "sub/helped.inc");
    assert_eq!(
        (&measure["fewer"][0]["before"], &measure["more"][0]["after"]),
        (&2.into(), &2.into())
    );
    assert_eq!((&answer["lost"][0], &answer["gained"][0]), (&"gone.inc".into(), &"new.inc".into()));
    let csv = r500(&["stats", &after, "--against", &before, "--format", "csv"]).status(0);
    assert!(
        csv.text().lines().any(|l| l == "sub/helped.inc,instructions,2,1,-0.5"),
        "{}",
        csv.text()
    );
}

#[test]
fn two_files_are_matched_whatever_they_are_called() {
    let folder = Folder::new("stats-files");
    let (old, new) = (folder.write("old.inc", TEXTURE), folder.write("new.hex", UV));
    r500(&["stats", &new, "--against", &old])
        .status(0)
        .shows("  helped  ")
        .shows("1 shared programs, 1 changed; LOST: 0, GAINED: 0");
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
fn what_cannot_run_is_said() {
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

/// Passes that are not given are one, and said; given ones multiply. REP and its end with five
/// instructions around and between: the language's loop.
#[test]
fn loops_cost_their_passes() {
    let folder = Folder::new("stats-loops");
    let text = |ints: &str| {
        format!(
            "{ints}LOOP int[0] ; src0.rgb = temp[0] : temp[1].rgb = MAX src0.rgb src0.rgb ; ENDLOOP ;\n\
             OUT src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb ;\n"
        )
    };
    let unknown = folder.write("unknown.r5", text(""));
    let given = folder.write("given.r5", text("int[0] = (7, 0, 1) ;\n"));
    let numbers = |file: &str| {
        let program = json(&[file])["programs"][0].clone();
        (
            program["longest_path"].as_u64().unwrap(),
            program["cycles"].as_u64().unwrap(),
            program["unknown_passes"].clone(),
        )
    };
    assert_eq!(numbers(&unknown), (4, 4, serde_json::json!([0])));
    // LOOP, seven times body and ENDLOOP, OUT.
    assert_eq!(numbers(&given), (4, 1 + 7 * 2 + 1, serde_json::json!([])));
    r500(&["stats", &unknown]).status(0).shows("one pass for loops of int[0], not given");
}
