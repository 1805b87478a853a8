//! `r500 check`.

use serde_json::Value;

use super::{Folder, corpus, r500, with_stdin};

/// Line 3 fetches; 5 reads what is not there yet, after line 4, which nothing reads.
const PENDING: &str = "\
-- a picture, plain
INPUT temp[0] = uv ; US_PIXSIZE = PIX_SIZE(0) ;   -- too little
TEX TEX_SEM_ACQUIRE temp[1].rgba = LD tex[0].rgba temp[0].rgba ;
src0.rgb = temp[0] : temp[0].rg = MAX src0.rgb src0.rgb ;  -- unused
OUT
    src0.rgb = temp[1] : out[0].rgb = MAX src0.rgb src0.rgb, out[0].a = MAX src0.1 src0.1 ;
TEXTURE tex[0] = checker(8, 8, 4) ;
";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn findings_stand_where_the_source_has_them() {
    let folder = Folder::new("check-text");
    let source = folder.write("p.r5", PENDING);
    let run = r500(&["check", &source]).status(1);
    let run = run.shows("5020]: temp[1] is above US_PIXSIZE 0\n --> ");
    // The source has no tabs: a caret is under the first letter of what it points to.
    let lines: Vec<&str> = run.text().lines().collect();
    let at = lines.iter().position(|line| line.starts_with("warning[R5041]")).unwrap();
    assert!(lines[at].ends_with("temp[1].rgb may not be fetched yet"), "{}", lines[at]);
    assert!(lines[at + 1].ends_with("p.r5:6:5"), "{}", lines[at + 1]);
    // In front of it the fetch, two lines above.
    assert!(lines[at + 3].starts_with("3 | TEX TEX_SEM_ACQUIRE"), "{}", lines[at + 3]);
    assert!(lines[at + 4].ends_with("--- fetched here"), "{}", lines[at + 4]);
    let here = at + lines[at..].iter().position(|line| line.starts_with("6 |")).unwrap();
    let column = lines[here].find("src0.rgb = temp[1]").unwrap();
    let marks = format!("{}{}", " ".repeat(column - 3), "^".repeat("src0.rgb = temp[1]".len()));
    assert!(lines[here + 1][3..].starts_with(&marks), "{}\n{}", lines[here], lines[here + 1]);
    assert!(lines[here + 1].ends_with("address 2, ADDR0"));
    let run = run.shows("help: set TEX_SEM_WAIT at address 2 (--fix does it)");
    assert!(run.text().ends_with("1 program: 2 errors, 2 warnings\n"), "{}", run.text());
    assert_eq!(run.stderr, "");
}

#[test]
fn what_has_no_source_shows_address_and_field() {
    let capture = corpus("mesa/if_simple.json");
    let run = r500(&["check", &capture]).status(0);
    let run = run.shows("if_simple.json: address 39, RGB_OMASK\n").shows("39 | OUT TEX_SEM_WAIT ");
    assert!(!run.text().contains(":::"), "{}", run.text());
    r500(&["check", &capture, "--deny", "warnings"]).status(1).shows("error[R5051]: OUT without");
    r500(&["check", &capture, "--deny", "out-without-output"])
        .status(1)
        .shows("--deny makes it an error");
    let allowed = ["--allow", "R5068", "--allow", "R5051", "--deny", "all"];
    let run = r500(&[&["check", &*capture], &allowed[..]].concat()).status(0);
    assert_eq!(run.text(), "1 program: nothing found, 3 allowed\n");
    let both = ["--allow", "R5068", "--deny", "divergent-quad"];
    r500(&[&["check", &*capture], &both[..]].concat()).status(2).says("both allowed and denied");
    r500(&["check", &capture, "--deny", "R9999"]).status(2).says("there is no code `R9999`");
    r500(&["check", "no-such-file"]).status(3).says("cannot read no-such-file");
    r500(&["check"]).status(2);
}

#[test]
fn the_verdict_says_what_is_guaranteed() {
    let capture = corpus("mesa/if_simple.json");
    r500(&["check", &capture, "-v"])
        .status(0)
        .shows("if_simple.json: clean\n  structured: ")
        .shows("at most 2 branch levels, 0 loops, 0 calls; aL from 0 to 0");
    let broken = with_stdin(&["check", "-", "-v"], b"OUT : out[0].rgb = OP(6).rgb src0.rgb ;");
    broken.status(1).shows("stdin: it has errors; nothing is guaranteed");
    let count = b"LOOP int[3] ; ENDLOOP ; OUT : out[0].rgb = MAX src0.111 src0.111 ;";
    with_stdin(&["check", "-", "-v"], count).status(0).shows("depends on int[3]");
}

#[test]
fn sources_allow_findings() {
    let folder = Folder::new("check-allow");
    let allowed = PENDING
        .replace("-- unused", "-- r500: allow(dead-write) on purpose")
        .replace("\nOUT\n", "\n-- r500: allow(R5041)\nOUT\n")
        .replace("-- a picture, plain", "-- r500: allow-file(R5020)");
    let source = folder.write("p.r5", &allowed);
    let run = r500(&["check", &source, "--deny", "all"]).status(0);
    assert_eq!(run.text(), "1 program: nothing found, 4 allowed\n");
    // The source's word stands above that of the switches.
    r500(&["check", &source, "--deny", "R5041"]).status(0);

    let wrong = allowed.replace("allow(R5041)", "allow(R5041, R5040, R9999)");
    let source = folder.write("q.r5", wrong);
    let run = r500(&["check", &source]).status(0);
    let run = run.shows("warning: there is no code `R9999`\n").shows("q.r5:5:30");
    let run = run.shows("warning: R5040 is allowed for nothing: there is no such finding");
    assert!(run.text().ends_with("1 program: 2 warnings, 4 allowed\n"), "{}", run.text());
    r500(&["check", &source, "--deny", "warnings"]).status(1).shows("error: there is no code");
}

#[test]
fn many_files_and_folders() {
    let folder = Folder::new("check-many");
    std::fs::create_dir_all(folder.0.join("deep")).unwrap();
    folder.write("deep/a.r5", PENDING);
    folder.write("b.r5", "OUT : out[0].rgb = MAX src0.111 src0.111 ;");
    folder.write("c.r5", "OUT src0.rgb = temp[128] : ;");
    folder.write("notes.txt", "no program at all");
    let path = folder.path(".");
    let run = r500(&["check", &path]).status(1).says("error[E").says("c.r5:1:");
    let run = run.shows("2 programs in 3 files: 2 errors, 2 warnings; 1 file not checked\n");
    assert!(!run.text().contains("notes.txt"));
    let cases = r500(&["check", &corpus("cases"), &corpus("mesa")]).status(1);
    cases.shows("153 programs: 2 errors, ");
    let programs = corpus("piglit/programs.json");
    r500(&["check", &programs]).status(0).shows("(fs-").shows("546 programs in 1 file: ");
}

#[test]
fn answers_for_programs() {
    let folder = Folder::new("check-json");
    let source = folder.write("p.r5", PENDING.replace("-- unused", "-- r500: allow(R5038, R5001)"));
    let run = r500(&["check", &source, "--format", "json"]).status(1);
    let answer = json(run.text());
    assert_eq!(answer["version"], 1);
    assert_eq!(answer["summary"]["errors"], 2);
    assert_eq!(answer["summary"]["allowed"], 1);
    let file = &answer["files"][0];
    assert_eq!((&file["file"], &file["error"]), (&source.clone().into(), &Value::Null));
    assert!(file["comments"][0]["message"].as_str().unwrap().starts_with("R5001 is allowed for"));
    let program = &file["programs"][0];
    assert_eq!((&program["verdict"], &program["name"]), (&"broken".into(), &"p".into()));
    let findings = program["findings"].as_array().unwrap();
    let with = |code: &str| findings.iter().find(|found| found["code"] == code).unwrap();
    assert_eq!(with("R5038")["allowed"], "source");
    let pending = with("R5041");
    assert_eq!(
        (&pending["severity"], &pending["name"]),
        (&"warning".into(), &"not-awaited".into())
    );
    let place = &pending["place"];
    assert_eq!((&place["kind"], &place["address"]), (&"instruction".into(), &2.into()));
    assert_eq!((&place["word"], &place["field"]), (&1.into(), &"ADDR0".into()));
    assert_eq!((&place["source"]["line"], &place["source"]["column"]), (&6.into(), &5.into()));
    let start = PENDING.find("src0.rgb = temp[1]").unwrap() + "-- r500: allow(R5038, R5001)".len();
    assert_eq!(place["source"]["start"], start - "-- unused".len());
    // The fetch, which is the first instruction.
    let fetch = &pending["related"][0];
    assert_eq!((&fetch["why"], &fetch["place"]["address"]), (&"fetched here".into(), &0.into()));
    assert_eq!(fetch["place"]["source"]["line"], 3);
    assert_eq!(pending["fix"]["safe"], true);
    let edit = &pending["fix"]["edits"][0];
    assert_eq!((&edit["field"], &edit["code"]), (&"TEX_SEM_WAIT".into(), &1.into()));

    let clean = r500(&["check", &corpus("mesa/if_simple.json"), "--format", "json"]).status(0);
    let facts = &json(clean.text())["files"][0]["programs"][0]["facts"];
    assert_eq!((&facts["structured"], &facts["targets"]), (&true.into(), &serde_json::json!([0])));
}

/// SARIF 2.1.0: what its schema requires of the parts that are used here.
#[test]
fn sarif_is_whole() {
    let folder = Folder::new("check-sarif");
    let text = PENDING.replace("-- a picture, plain", "-- \u{e9}\u{1f600} r500: allow-file(R5038)");
    let text = text.replace("OUT\n", "/OUT\n").replace('/', "");
    folder.write("\u{e9} p.r5", text.replace("-- \u{e9}\u{1f600} r500", "-- r500"));
    folder.write("broken.r5", "OUT src0.rgb = temp[128] : ;");
    let run =
        r500(&["check", &folder.path("."), &corpus("mesa/if_simple.json"), "--format", "sarif"]);
    let log = json(run.status(1).text());
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().contains("sarif-2.1.0"));
    let [sarif] = &log["runs"].as_array().unwrap()[..] else { panic!("{log}") };
    let rules = sarif["tool"]["driver"]["rules"].as_array().unwrap();
    let levels = ["error", "warning", "note"];
    for rule in rules {
        assert!(rule["id"].as_str().unwrap().starts_with("R5"));
        for text in ["shortDescription", "fullDescription", "help"] {
            assert!(!rule[text]["text"].as_str().unwrap().is_empty());
        }
        assert!(levels.contains(&rule["defaultConfiguration"]["level"].as_str().unwrap()));
    }
    let results = sarif["results"].as_array().unwrap();
    assert_eq!(results.len(), 7);
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(levels.contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let location = &result["locations"][0];
        let uri = location["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.is_ascii() && !uri.contains(' '), "{uri}");
        if uri.ends_with("%C3%A9%20p.r5") {
            let region = &location["physicalLocation"]["region"];
            let n = |key: &str| region[key].as_u64().unwrap();
            assert!(n("startLine") >= 1 && n("startColumn") >= 1 && n("endLine") >= n("startLine"));
        }
        assert!(location["logicalLocations"][0]["name"].as_str().is_some());
    }
    let suppressed: Vec<_> = results.iter().filter(|r| r.get("suppressions").is_some()).collect();
    assert_eq!(suppressed.len(), 1);
    assert_eq!(suppressed[0]["suppressions"][0]["kind"], "inSource");
    let waits = results.iter().find(|r| r["ruleId"] == "R5041").unwrap();
    let fetch = &waits["relatedLocations"][0];
    assert_eq!(fetch["message"]["text"], "fetched here");
    assert_eq!(fetch["physicalLocation"]["region"]["startLine"], 3);
    let change = &waits["fixes"][0]["artifactChanges"][0];
    let replacement = &change["replacements"][0];
    assert_eq!(replacement["insertedContent"]["text"], " TEX_SEM_WAIT");
    let region = &replacement["deletedRegion"];
    assert_eq!(region["startColumn"], region["endColumn"]);
    assert_eq!((&region["startLine"], &region["startColumn"]), (&5.into(), &4.into()));
    let invocation = &sarif["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"].as_array().unwrap().len(), 1);
}

#[test]
fn codes_are_explained() {
    let page = r500(&["check", "--explain", "r5041"]).status(0);
    assert_eq!(page.text(), r500::lint::page(r500::check::LintCode::NotAwaited));
    let page =
        page.shows("## R5041: not-awaited").shows("`--fix` does it").shows("*Evidence:* ctm");
    r500(&["check", "--explain", "not-awaited"]).status(0).shows(page.text());
    let all = r500(&["check", "--explain", "all"]).status(0);
    let count = all.text().lines().filter(|line| line.starts_with("## R5")).count();
    assert_eq!(count, r500::check::LintCode::ALL.len());
    r500(&["check", "--explain", "R5000"]).status(2).says("there is no code `R5000`");
}

#[test]
fn fixes_are_shown_or_written() {
    let folder = Folder::new("check-fix");
    let source = folder.write("p.r5", PENDING);
    let expected =
        PENDING.replace("PIX_SIZE(0)", "PIX_SIZE(1)").replace("OUT\n", "OUT TEX_SEM_WAIT\n");
    let shown =
        r500(&["check", &source, "--fix"]).status(0).says("3 to fix; then 1 program: 1 warn");
    let shown = shown.shows("\n-OUT\n+OUT TEX_SEM_WAIT\n").shows("\n@@ -1,7 +1,7 @@\n");
    assert!(shown.stderr.contains("warning[R5038]"), "{}", shown.stderr);
    assert_eq!(folder.read("p.r5"), PENDING.as_bytes());

    let out = folder.path("out.r5");
    r500(&["check", &source, "--fix", "-o", &out]).status(0).says("3 fixed");
    assert_eq!(String::from_utf8(folder.read("out.r5")).unwrap(), expected);
    let piped = r500(&["check", &source, "--fix", "-o", "-"]).status(0);
    assert_eq!(piped.text(), expected);
    let piped = with_stdin(&["check", "-", "--fix", "-o", "-"], PENDING.as_bytes()).status(0);
    assert_eq!(piped.text(), expected);

    // Nothing to fix is allowed: nothing is touched.
    let allowed = folder.write("a.r5", format!("-- r500: allow-file(R5020, R5041)\n{PENDING}"));
    r500(&["check", &allowed, "--fix", "--in-place"]).status(0).says("0 fixed");
    assert!(folder.read("a.r5").ends_with(PENDING.as_bytes()));

    r500(&["check", &source, "--fix", "--in-place"]).status(0).says("3 fixed");
    assert_eq!(String::from_utf8(folder.read("p.r5")).unwrap(), expected);
    r500(&["check", &source]).status(0);

    let answer = r500(&["check", &allowed, "--fix", "--format", "json"]).status(0);
    assert_eq!(json(answer.text())["files"][0]["written"], Value::Null);
    r500(&["check", &source, "--fix", "--format", "sarif"]).status(2).says("SARIF");
    r500(&["check", &source, &out, "--fix", "-o", &out]).status(2).says("2 files");
    r500(&["check", "-", "--fix", "--in-place"]).status(2).says("stdin");
    r500(&["check", &source, "--in-place"]).status(2).says("--fix");
}

#[test]
fn other_formats_are_fixed_through_their_writers() {
    let folder = Folder::new("check-fix-formats");
    let source = folder.write("p.r5", PENDING);
    for name in ["p.json", "p.bin", "p.inc", "p.hex"] {
        let path = folder.path(name);
        r500(&["convert", &source, "-o", &path]).status(0);
        let before = folder.read(name);
        let run = r500(&["check", &path, "--fix"]).shows("set TEX_SEM_WAIT at address 2");
        assert_eq!(run.status, 0, "{name}: {}", run.stderr);
        assert_eq!(folder.read(name), before);
        r500(&["check", &path, "--fix", "--in-place"]).status(0).says(" fixed");
        let again = r500(&["check", &path, "--format", "json"]).status(0);
        assert!(!again.text().contains("R5041"), "{name}");
        assert_ne!(folder.read(name), before);
    }
    let json: Value = serde_json::from_slice(&folder.read("p.json")).unwrap();
    assert_eq!(json["us"]["US_PIXSIZE"], "00000001");
    // The extension of -o picks the format.
    r500(&["convert", &source, "-o", &folder.path("q.json")]).status(0);
    r500(&["check", &folder.path("q.json"), "--fix", "-o", &folder.path("q.r5")]).status(0);
    assert!(String::from_utf8(folder.read("q.r5")).unwrap().contains("OUT TEX_SEM_WAIT src0"));
}
