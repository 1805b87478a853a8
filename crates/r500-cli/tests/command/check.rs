//! `r500 check`.

use serde_json::Value;

use super::{Folder, corpus, r500};

/// Line 3 fetches; line 5 reads before the fetch has arrived; nothing reads the result of line 4.
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
        let id = rule["id"].as_str().unwrap();
        assert!(id.starts_with("R5") || id == "compilation", "{id}");
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
    let of_library = r500::lint::page(r500::check::LintCode::NotAwaited);
    // The command adds its own switch.
    let switch = "\n`r500 check FILE --fix` makes the change.\n";
    assert_eq!(page.text(), format!("{of_library}{switch}"));
    let all = r500(&["check", "--explain", "all"]).status(0);
    let count = all.text().lines().filter(|line| line.starts_with("## R5")).count();
    assert_eq!(count, r500::check::LintCode::ALL.len());
}
