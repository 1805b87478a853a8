//! `r500 run`.

use r500::fast::Simd;
use r500::jit::{Jit, Settings};

use super::{CONSTANT, Folder, UV, corpus, r500, with_stdin};

#[test]
fn rows_in_rows_out() {
    let folder = Folder::new("run");
    let program = folder.write("uv.inc", UV);
    let run = |args: &[&str]| r500(&[&["run", &program], args].concat());
    let table = run(&["--input", "t0=0.5,0.25,3", "--input", "[[1, 2], [-1e10]]"]).status(0);
    let lines: Vec<Vec<&str>> =
        table.text().lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["row", "covered", "A.r", "A.g", "A.b", "A.a"]);
    assert_eq!(lines[1], ["0", "yes", "0.5", "0.25", "3", "1"]);
    assert_eq!(lines[2], ["1", "yes", "1", "2", "0", "1"]);
    assert_eq!(lines[3], ["2", "yes", "-1e10", "0", "0", "1"]);

    let file = folder.write("values.csv", "t0.r,t0.g\n0.1,nan\n0x40000000,inf\n");
    let json = run(&["--input", &file, "--format", "json"]).status(0);
    let json: serde_json::Value = serde_json::from_str(json.text()).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(json["rows"][0]["A"].to_string(), "[0.1,\"nan\",0.0,1.0]");
    assert_eq!(json["rows"][1]["A"].to_string(), "[2.0,\"inf\",0.0,1.0]");

    let out = folder.path("out.csv");
    run(&["--input", &file, "--format", "csv", "--bits", "-o", &out]).status(0);
    let csv = String::from_utf8(folder.read("out.csv")).unwrap();
    let wanted = "0,yes,0x3dcccccd,0x7fc00000,0x00000000,0x3f800000";
    assert_eq!(csv.lines().nth(1), Some(wanted));
}

#[test]
fn constants_may_change_from_row_to_row() {
    let folder = Folder::new("run-constants");
    let program = folder.write("constant.inc", CONSTANT);
    let values = "c0.r,c0.g\n1,2\n3,4\n3,4\n5,\n";
    let args = ["run", &program, "--input", "-", "--format", "csv", "--const", "0=9,9,9"];
    let run = with_stdin(&args, values.as_bytes()).status(0);
    let rows: Vec<&str> = run.text().lines().skip(1).collect();
    let wanted = ["0,yes,1,2,9,1", "1,yes,3,4,9,1", "2,yes,3,4,9,1", "3,yes,5,9,9,1"];
    assert_eq!(rows, wanted);
}

#[test]
fn rows_do_not_meet_unless_they_form_quads() {
    // The case takes the derivative of temp[0] along x and kills where temp[5] is negative.
    let case = corpus("cases/kill_helper.json");
    let rows = "[{\"t0\":[1]},{\"t0\":[5]},{\"t0\":[2]},{\"t0\":[2], \"t5\":-1}]";
    let run = |args: &[&str]| {
        let base = ["run", &case, "--input", rows, "--format", "csv"];
        let run = r500(&[&base[..], args].concat()).status(0);
        run.text().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let apart = run(&[]);
    assert_eq!(apart[0], "0,yes,0,0,0,0");
    assert_eq!(apart[3], "3,no,0,0,0,0");
    // Top right minus top left, for all four.
    let together = run(&["--quads"]);
    assert_eq!(together[0], "0,yes,4,0,0,0");
    assert_eq!(together[2], "2,yes,4,0,0,0");
    let three = ["run", &case, "--quads", "--input", "[1,2,3]"];
    r500(&three).status(1).says("3 rows do not fill quads");
    let mixed = "[{\"c0\":1},2,3,4]";
    r500(&["run", &case, "--quads", "--input", mixed]).status(1).says("differ in constants");
}

#[test]
fn many_rows() {
    let folder = Folder::new("run-many");
    let program = folder.write("uv.inc", UV);
    let mut csv = String::from("t0.r\n");
    (0..10_000).for_each(|i| csv.push_str(&format!("{i}\n")));
    let file = folder.write("many.csv", csv);
    let run = r500(&["run", &program, "--input", &file, "--format", "csv"]).status(0);
    assert_eq!(run.text().lines().count(), 10_001);
    assert!(run.text().ends_with("9999,yes,9999,0,0,1\n"));
}

#[test]
fn wrong_values_are_told() {
    let folder = Folder::new("run-wrong");
    let program = folder.write("uv.inc", UV);
    let run = |input: &str| r500(&["run", &program, "--input", input]);
    run("t128=1").status(1).says("t0 to t127");
    run("[1").status(1).says("--input: ");
    run("nowhere.csv").status(3).says("cannot read nowhere.csv");
    let file = folder.write("bad.csv", "t0.r,t0.g\n1\n");
    run(&file).status(1).says("line 2: 1 cells for 2 names");
}

/// What faster engines make of a program, with the instructions that it comes from.
#[test]
fn what_is_made_of_a_program_is_shown() {
    let program = corpus("mesa/loop_mandelbrot.json");
    let row = ["--input", "t0=0.5,0.25"];
    let ir = r500(&[&["run", &program, "--dump-ir"], &row[..]].concat()).status(0);
    assert!(ir.text().lines().any(|line| line.trim_start().starts_with("loop ")));
    // Each product has a line somewhere before it that says where it comes from.
    let (mut address, mut products) = (None, 0);
    for line in ir.text().lines().map(str::trim_start) {
        if let Some(comment) = line.strip_prefix("; ") {
            address = comment.split_once(": ").and_then(|(n, _)| n.parse::<u32>().ok()).or(address);
        } else if line.contains(" * ") {
            assert!(address.is_some(), "{line}");
            products += 1;
        }
    }
    assert!(products > 3);
    let asm =
        |simd: &str| r500(&[&["run", &program, "--dump-asm", "--simd", simd], &row[..]].concat());
    if Jit::with(Simd::Avx2, Settings::default()).unavailable().is_none() {
        let asm = asm("avx2").status(0);
        assert!(asm.text().contains("operations are machine code (avx2)\n"));
        for wanted in ["vmulps ymm", "ret\n", " MAD "] {
            assert!(asm.text().contains(wanted), "no {wanted} in\n{}", asm.text());
        }
    } else {
        asm("auto").status(3).says("no machine code");
    }
}
