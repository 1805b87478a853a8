//! `r500 bench`. Times differ from run to run; what is counted, and how things hang together, does not.

use r500::jit::Jit;
use serde_json::Value;

use super::{CONSTANT, Folder, Run, UV, corpus, r500};

/// As short as can be.
const QUICK: [&str; 5] = ["bench", "--seconds", "0", "--size", "16x16"];

fn bench(args: &[&str]) -> Run {
    r500(&[&QUICK, args].concat())
}

fn json(args: &[&str]) -> Value {
    let run = bench(&[&["--format", "json"], args].concat()).status(0);
    serde_json::from_str(run.text()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs()
}

/// All engines, two numbers of threads: rows for each, whose rates are those of their times.
#[test]
fn a_row_for_each_way_to_draw() {
    let folder = Folder::new("bench-rows");
    let file = folder.write("uv.inc", UV);
    let answer = json(&[&file, "--engine", "all", "--threads", "1,2"]);
    assert_eq!(answer["version"], 1);
    let rows = answer["rows"].as_array().unwrap();
    let ways: Vec<_> =
        rows.iter().map(|row| (row["engine"].as_str().unwrap(), &row["threads"])).collect();
    let ways: Vec<_> = ways.into_iter().map(|(e, t)| (e, t.as_u64().unwrap())).collect();
    let there = |way: &(&str, u64)| way.0 != "jit" || Jit::new().unavailable().is_none();
    let all = ["jit", "fast", "reference"].map(|engine| [(engine, 1), (engine, 2)]);
    let wanted: Vec<_> = all.concat().into_iter().filter(there).collect();
    assert_eq!(ways, wanted);
    for row in rows {
        assert_eq!(row["drawn_by"], row["engine"]);
        assert_eq!((&row["name"], &row["size"][0]), (&"uv.inc".into(), &16.into()));
        assert!(number(&row["frames"]) >= 3.0);
        assert!(number(&row["best_seconds"]) <= number(&row["median_seconds"]));
        assert!(number(&row["prepare_seconds"]) > 0.0);
        let pixels = number(&row["pixels_per_second"]);
        assert!(close(pixels, 256.0 / number(&row["median_seconds"])));
        // One instruction, OUT, that multiplies by 1 and adds 0.
        assert_eq!(number(&row["instructions_per_pixel"]), 1.0);
        assert_eq!(number(&row["operations_per_pixel"]), 0.0);
        assert!(close(number(&row["instruction_pixels_per_second"]), pixels));
    }
    // Reference and best level are held against the same.
    let peaks = answer["peaks"].as_array().unwrap();
    assert_eq!(peaks.len(), 2);
    assert!(peaks.iter().all(|peak| number(&peak["operations_per_second"]) > 1e7));
    let alone = rows.iter().filter(|row| row["threads"] == 1);
    assert_eq!(alone.clone().count(), wanted.len() / 2);
    for row in alone {
        assert_eq!(row["peak_operations_per_second"], peaks[0]["operations_per_second"]);
    }
}

/// `loop_250` has some instructions before its loop, and every pixel runs 250 iterations of it.
#[test]
fn loops_count_every_pass() {
    let answer = json(&[&corpus("mesa/loop_250.json")]);
    let row = &answer["rows"][0];
    assert!(number(&row["instructions_per_pixel"]) > 250.0 * 2.0, "{row}");
    let share = number(&row["operations_per_second"]) / number(&row["peak_operations_per_second"]);
    assert!(close(number(&row["share_of_peak"]), share));
}

#[test]
fn every_level_of_this_machine() {
    let folder = Folder::new("bench-levels");
    let file = folder.write("uv.inc", UV);
    let answer = json(&[&file, "--simd", "all", "--threads", "1"]);
    let levels: Vec<_> = answer["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["simd"].as_str().unwrap())
        .collect();
    let last = if cfg!(target_arch = "x86_64") { "scalar" } else { "portable" };
    assert_eq!(levels.last(), Some(&last));
    bench(&[&file, "--simd", last]).status(0).shows(last);
    bench(&[&file, "--simd", "mmx"]).status(2).says("`mmx` is not a level");
}

#[test]
fn tables_have_means_and_csv_has_columns() {
    let folder = Folder::new("bench-table");
    folder.write("uv.inc", UV);
    folder.write("constant.inc", CONSTANT);
    folder.write("readme.txt", "no program");
    let path = folder.path(".");
    let run = bench(&[&path, "--threads", "1"])
        .status(0)
        .shows("geometric mean of 2")
        .shows("peak with ");
    let names: Vec<_> =
        run.text().lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names[..3], ["program", "constant.inc", "uv.inc"]);
    bench(&[&path, "--filter", "nothing"]).status(1).says("no program in");

    let run = bench(&[&path, "--threads", "1", "--format", "csv"]).status(0);
    let lines: Vec<Vec<&str>> = run.text().lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((lines.len(), lines[1].len()), (3, lines[0].len()));
    let column = |name| lines[0].iter().position(|title| *title == name).unwrap();
    assert_eq!(lines[1][column("name")], "constant.inc");
    assert_eq!((lines[1][column("width")], lines[1][column("height")]), ("16", "16"));
}

/// A baseline whose pictures took a day makes this run fast; one of no time at all, slow.
#[test]
fn compared_with_a_baseline() {
    let folder = Folder::new("bench-against");
    let file = folder.write("uv.inc", UV);
    let saved = folder.path("saved.json");
    bench(&[&file, "--threads", "1", "--save", &saved]).status(0);
    let mut baseline: Value = serde_json::from_slice(&folder.read("saved.json")).unwrap();
    let then = |baseline: &mut Value, seconds: f64| {
        baseline["rows"][0]["best_seconds"] = seconds.into();
        folder.write("then.json", baseline.to_string())
    };
    let against = |then: &str, more: &[&str]| {
        bench(
            &[&[&file[..], "--threads", "1", "--against", then, "--fail-below", "0.8"], more]
                .concat(),
        )
    };
    let slow = then(&mut baseline, 86_400.0);
    let run = against(&slow, &["--format", "json"]).status(0);
    let answer: Value = serde_json::from_str(run.text()).unwrap();
    let row = &answer["rows"][0];
    assert!(close(number(&row["ratio"]), 86_400.0 / number(&row["best_seconds"])));
    assert_eq!(answer["missing"], serde_json::json!([]));

    let fast = then(&mut baseline, 1e-12);
    against(&fast, &[]).status(1).says("times as fast as then").shows("times then");

    // Another program was measured then.
    baseline["rows"][0]["key"] = "other.inc".into();
    let other = then(&mut baseline, 1.0);
    let run = against(&other, &["--format", "json"]).status(0);
    let answer: Value = serde_json::from_str(run.text()).unwrap();
    assert_eq!(answer["rows"][0]["ratio"], Value::Null);
    assert_eq!(answer["missing"], serde_json::json!(["other.inc"]));
}

#[test]
fn unmeasurable_programs_are_reported() {
    let folder = Folder::new("bench-errors");
    let file = folder.write("uv.inc", UV);
    let nonsense = folder.write("nonsense.json", "{}");
    bench(&[&file, "--against", &nonsense]).status(1).says("not of version 1");
    bench(&[&file, "--against", &folder.path("none.json")]).status(3).says("cannot read");
    bench(&[&file, "--fail-below", "1"]).status(2);
    bench(&[]).status(2);
    // The others are measured anyway.
    folder.write("broken.r5", "garbage ;\n");
    let run = bench(&[&folder.path("."), "--threads", "1", "--format", "csv"]).status(1);
    assert!(run.says("garbage").shows("uv.inc").text().lines().count() == 2);
}

/// `WRITE_INACTIVE` shows which pixels share a program counter. Only the reference engine draws that,
/// once for all levels.
#[test]
fn fallback_to_reference_engine_is_reported() {
    let file = corpus("cases/write_inactive.json");
    let run = bench(&[&file, "--simd", "all", "--threads", "1", "--format", "json"]).status(0);
    let answer: Value = serde_json::from_str(run.text()).unwrap();
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["drawn_by"]), (1, &"reference".into()));
    let why = rows[0]["instead"].as_str().unwrap();
    run.says(&format!("the reference engine draws it: {why}"));
}
